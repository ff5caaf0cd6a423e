//! One process writes the file of answers, the others read it: they look for later blocks, and one
//! takes over when the writer has ended.

use std::sync::Arc;
use std::time::Duration;

use super::AnswerFile;
use super::reading;
use super::state::AnswerContents;
use crate::base::Error;
use crate::device::{Access, Device, PagePool};

/// The intervals of looks for blocks that another process has written, and for the end of that
/// process.
const LOOKS: Duration = Duration::from_millis(50);
const TRIES: Duration = Duration::from_millis(100);

impl AnswerFile {
    /// Takes in what another process has written since the last look. Tells whether there was
    /// anything.
    pub(super) fn look_again(&self) -> bool {
        let mut state = self.state();
        if state.writes || !AnswerContents::is_time(&mut state.looked_at, LOOKS) {
            return false;
        }
        let device = Arc::clone(&state.device);
        // The file may have been made anew.
        device.close_files();
        let mut has_news = false;
        loop {
            let (newest, sequence) = state.places.newest().unwrap_or((0, 0));
            let next = (newest + 1) % state.places.blocks() as u32;
            let (mut is_later, buffers) = (false, PagePool::new(1));
            for block in [newest, next, 0] {
                let Some(header) = reading::header(&device, block, &buffers) else {
                    continue;
                };
                if state.places.is_news(&header) {
                    state.places.take_in(&header);
                    has_news = true;
                }
                is_later |= header.name.sequence > sequence;
            }
            if !is_later {
                return has_news;
            }
        }
    }

    /// Returns true if this process may write the file. Takes over from a writer that has ended.
    pub(super) fn can_write(&self) -> bool {
        let mut state = self.state();
        if state.stopped.is_some() {
            return false;
        }
        if state.writes {
            return true;
        }
        if !AnswerContents::is_time(&mut state.tried_at, TRIES) {
            state.counts.passed_over += 1;
            return false;
        }
        match (self.open)(Access::Write) {
            Ok(device) => self.take_over(&mut state, device),
            Err(Error::Locked { .. }) => {
                state.counts.passed_over += 1;
                false
            }
            Err(error) => {
                state.stopped = Some(error.to_string());
                false
            }
        }
    }

    fn take_over(&self, state: &mut AnswerContents, device: Arc<dyn Device>) -> bool {
        let blocks = state.places.blocks();
        if let Err(error) = reading::make_ready(&device, blocks) {
            state.stopped = Some(error.to_string());
            return false;
        }
        (0..blocks as u32).for_each(|block| state.places.clear(block));
        let newest = reading::scan(&device, &mut state.places, &self.buffers);
        state.go_on(newest);
        (state.device, state.writes) = (device, true);
        true
    }
}
