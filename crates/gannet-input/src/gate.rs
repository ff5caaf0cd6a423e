//! Limits the bytes that are under way at once; one batch alone may exceed the limit.
//!
//! The reader takes a permit for each batch; it is given back when the batch is written and
//! dropped. The oldest batch always has a permit, so the pipeline cannot lock up.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::Asked;

/// The time it waits before it looks whether the caller asked for the end.
const LOOK_UP: Duration = Duration::from_millis(20);

/// The count of what is under way.
pub struct Gate {
    bytes_max: usize,
    under_way: Mutex<UnderWay>,
    less: Condvar,
}

#[derive(Default)]
struct UnderWay {
    batches: usize,
    bytes: usize,
}

/// The right of one batch to be under way.
pub struct Permit {
    gate: Arc<Gate>,
    bytes: usize,
}

impl Gate {
    /// A gate with nothing under way.
    pub fn new(bytes_max: usize) -> Arc<Gate> {
        Arc::new(Gate {
            bytes_max,
            under_way: Mutex::default(),
            less: Condvar::new(),
        })
    }

    /// Waits until a batch of `bytes` bytes may go; gives nothing if the caller asked for the end
    /// before.
    pub fn enter(self: &Arc<Gate>, bytes: usize, asked: &Asked) -> Option<Permit> {
        let mut under_way = self.lock();
        while !self.admits(&under_way, bytes) {
            let waited = self.less.wait_timeout(under_way, LOOK_UP);
            drop(waited.unwrap_or_else(|e| e.into_inner()));
            if asked() {
                return None;
            }
            under_way = self.lock();
        }
        under_way.batches += 1;
        under_way.bytes += bytes;
        Some(Permit {
            gate: Arc::clone(self),
            bytes,
        })
    }

    fn admits(&self, under_way: &UnderWay, bytes: usize) -> bool {
        under_way.batches == 0 || under_way.bytes + bytes <= self.bytes_max
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        // Counts are right even if a thread panicked while it held them.
        self.under_way.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut under_way = self.gate.lock();
        under_way.batches -= 1;
        under_way.bytes -= self.bytes;
        self.gate.less.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_large_batch_goes_alone() {
        let gate = Gate::new(100);
        let never: Asked = Arc::new(|| false);
        let large = gate.enter(1_000, &never);
        assert!(!gate.admits(&gate.lock(), 1));
        drop(large);
        let _small = [gate.enter(30, &never), gate.enter(30, &never)];
        assert!(gate.admits(&gate.lock(), 40) && !gate.admits(&gate.lock(), 41));
    }
}
