//! Gives up work: when a deadline has passed, or the caller has gone.
//!
//! Loops over data count their steps, and the clock is read once in some thousands of them.

use std::fmt;

use super::Result;

/// Steps after which an interrupt is asked: well below a millisecond of work.
const STEPS: usize = 4096;

/// Tells whether work is to be given up.
pub trait Interrupt: fmt::Debug + Sync {
    /// An error if it is.
    fn check(&self) -> Result<()>;
}

/// Never.
impl Interrupt for () {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// The steps of some work since its interrupt was asked last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps<'a> {
    interrupt: Option<&'a dyn Interrupt>,
    done: usize,
}

impl<'a> Steps<'a> {
    /// Work that ends when `interrupt` says so.
    pub fn until(interrupt: &'a dyn Interrupt) -> Steps<'a> {
        Steps {
            interrupt: Some(interrupt),
            done: 0,
        }
    }

    /// Counts steps: each costs about as much as reading a posting.
    #[inline]
    pub fn count(&mut self, steps: usize) -> Result<()> {
        self.done = self.done.saturating_add(steps);
        if self.done < STEPS {
            Ok(())
        } else {
            self.ask()
        }
    }

    #[cold]
    fn ask(&mut self) -> Result<()> {
        self.done = 0;
        self.interrupt.map_or(Ok(()), |interrupt| interrupt.check())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::base::Error;

    #[derive(Debug, Default)]
    struct Third(AtomicUsize);

    impl Interrupt for Third {
        fn check(&self) -> Result<()> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Ok(()),
                _ => Err(Error::invalid("given up")),
            }
        }
    }

    #[test]
    fn an_interrupt_is_asked_once_in_some_thousand_steps() {
        let third = Third::default();
        let mut steps = Steps::until(&third);
        let done = (0..usize::MAX).take_while(|_| steps.count(1).is_ok());
        assert_eq!(done.count(), 3 * STEPS - 1);
        assert!(steps.count(STEPS).is_err() && steps.count(1).is_ok());
        assert!(Steps::default().count(usize::MAX).is_ok());
    }
}
