//! Passes over parts of the keys, where all of them do not fit.
//!
//! A part has the keys whose hashes have the same remainder. The first pass tries all keys at once.
//! Where they do not fit, the rest of the pass only counts documents, so that the share which did
//! fit says into how many parts to cut.

/// The most parts. More passes than these take longer than anyone waits.
const PARTS_MAX: u64 = 64;

/// The part of a pass, and those of later ones.
#[derive(Clone, Debug)]
pub(crate) struct Partitions {
    own: Part,
    later: Vec<Part>,
    /// Documents of the pass before memory was short.
    failed_after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    remainder: u64,
    of: u64,
}

impl Default for Partitions {
    fn default() -> Partitions {
        Partitions {
            own: Part {
                remainder: 0,
                of: 1,
            },
            later: Vec::new(),
            failed_after: None,
        }
    }
}

impl Partitions {
    /// Returns if a key is in the part of this pass.
    pub(crate) fn has(&self, hash: u64) -> bool {
        // The lowest bits choose the place in a hash table, so others choose the part.
        self.own.of == 1 || (hash >> 40) % self.own.of == self.own.remainder
    }

    /// Returns if the part has all keys.
    pub(crate) fn is_one(&self) -> bool {
        self.own.of == 1
    }

    /// Notes that the part did not fit, after so many documents of the pass.
    pub(crate) fn fail(&mut self, documents: u64) {
        self.failed_after = Some(documents);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed_after.is_some()
    }

    /// Returns if a part cannot be cut any more.
    pub(crate) fn is_least(&self) -> bool {
        self.own.of >= PARTS_MAX
    }

    /// Cuts the part that did not fit, given the documents of the whole pass.
    pub(crate) fn cut(&mut self, documents: u64) {
        let Some(after) = self.failed_after.take() else {
            return;
        };
        let wanted = (documents / after.max(1) + 1).next_power_of_two();
        let into = wanted.clamp(2, PARTS_MAX / self.own.of.min(PARTS_MAX / 2));
        let of = self.own.of * into;
        let remainder = self.own.remainder;
        let parts = (0..into).map(|number| Part {
            remainder: remainder + number * self.own.of,
            of,
        });
        self.later.extend(parts.rev());
        self.take_next();
    }

    /// Goes on to the next part. Returns if there is none.
    pub(crate) fn next(&mut self) -> bool {
        if self.has_failed() {
            return false;
        }
        !self.take_next()
    }

    fn take_next(&mut self) -> bool {
        match self.later.pop() {
            Some(next) => {
                self.own = next;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Partitions;

    /// However often parts are cut, every key is in exactly one of them.
    #[test]
    fn every_key_is_in_one_part() {
        let hashes: Vec<u64> = (0..1_000_u64).map(|own| own << 40).collect();
        let mut seen = vec![0; hashes.len()];
        let mut partitions = Partitions::default();
        for pass in 0.. {
            if pass < 5 && !partitions.is_least() {
                partitions.fail(10);
                partitions.cut(15 * (pass + 1));
                continue;
            }
            for (hash, seen) in hashes.iter().zip(&mut seen) {
                *seen += u32::from(partitions.has(*hash));
            }
            if partitions.next() {
                break;
            }
        }
        assert!(seen.iter().all(|own| *own == 1), "{seen:?}");
    }
}
