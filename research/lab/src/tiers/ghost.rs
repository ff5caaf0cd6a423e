//! Keys of what was not admitted, without its content.

use std::collections::{HashMap, VecDeque};

use super::Key;

/// The keys of entries of so many bytes at most; the oldest are forgotten first.
#[derive(Debug)]
pub struct Ghost {
    capacity: u64,
    bytes: u64,
    /// Keys with the time at which they came, the oldest first. A key that was taken out since is
    /// skipped when it is met.
    order: VecDeque<(Key, u64)>,
    /// The bytes of each key, and when it came.
    known: HashMap<Key, (u64, u64)>,
    time: u64,
}

impl Ghost {
    /// No keys yet.
    pub fn new(capacity: u64) -> Ghost {
        Ghost {
            capacity,
            bytes: 0,
            order: VecDeque::new(),
            known: HashMap::new(),
            time: 0,
        }
    }

    /// Whether a key is there, which takes it out. One that is not there is from now on.
    pub fn is_second(&mut self, key: Key, bytes: u64) -> bool {
        if let Some((bytes, _)) = self.known.remove(&key) {
            self.bytes -= bytes;
            return true;
        }
        self.time += 1;
        self.bytes += bytes;
        self.known.insert(key, (bytes, self.time));
        self.order.push_back((key, self.time));
        while self.bytes > self.capacity {
            self.forget_oldest();
        }
        false
    }

    fn forget_oldest(&mut self) {
        let Some((key, time)) = self.order.pop_front() else {
            return;
        };
        if let Some((bytes, came)) = self.known.get(&key).copied()
            && came == time
        {
            self.known.remove(&key);
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_touch_is_told_unless_too_much_came_between() {
        let mut ghost = Ghost::new(30);
        assert!(!ghost.is_second(1, 10));
        assert!(ghost.is_second(1, 10));
        assert!(!ghost.is_second(1, 10), "it was taken out");
        for key in 2..5 {
            assert!(!ghost.is_second(key, 10));
        }
        assert!(!ghost.is_second(1, 10), "three others came since");
        assert_eq!((ghost.bytes, ghost.known.len()), (30, 3));
        assert!(!ghost.is_second(9, 31), "larger than all");
        assert_eq!((ghost.bytes, ghost.order.len()), (0, 0));
    }
}
