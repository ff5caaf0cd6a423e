//! Lines that were rejected: the first are told one by one, the others counted.

use std::io::{self, Write};

use gannet_input::Rejection;

use crate::size::counted;

/// How many rejections are told in full.
const TOLD_MAX: u64 = 20;

/// Tells rejections on standard error.
#[derive(Debug, Default)]
pub struct Rejections {
    count: u64,
}

impl Rejections {
    /// Notes one; what is to be said of it.
    pub fn note(&mut self, rejection: &Rejection) -> Option<String> {
        self.count += 1;
        (self.count <= TOLD_MAX).then(|| format!("gannet: rejected {rejection}"))
    }

    /// Says how many were not told.
    pub fn close(&self) {
        if let Some(more) = self.count.checked_sub(TOLD_MAX).filter(|more| *more > 0) {
            // The count is in the summary too, if standard error is closed.
            let _ = writeln!(
                io::stderr(),
                "gannet: rejected {}",
                counted(more, "more line")
            );
        }
    }
}
