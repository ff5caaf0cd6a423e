//! Reads the keys of some documents of a piece, which ascend: what one of them needs serves the
//! next.

use super::keys::{BLOCK, Keys};
use super::presence::Presence;
use super::starts::{Starts, StartsPlace};

/// Reads keys of documents that ascend.
pub(super) struct AscendingKeys<'p, 'a> {
    presence: &'p Presence<'a>,
    starts: Option<&'p Starts<'a>>,
    keys: &'p Keys<'a>,
    place: StartsPlace,
    /// The block that was decoded last, if single keys are not read in place.
    block: Option<usize>,
    decoded: [u64; BLOCK],
}

impl<'p, 'a> AscendingKeys<'p, 'a> {
    pub(super) fn new(
        presence: &'p Presence<'a>,
        starts: Option<&'p Starts<'a>>,
        keys: &'p Keys<'a>,
    ) -> AscendingKeys<'p, 'a> {
        AscendingKeys {
            presence,
            starts,
            keys,
            place: StartsPlace::default(),
            block: None,
            decoded: [0; BLOCK],
        }
    }

    /// Calls `each` with the keys of a document, which is behind the one before.
    pub(super) fn each(&mut self, document: usize, mut each: impl FnMut(u64)) {
        let Some(ordinal) = self.presence.ordinal(document) else {
            return;
        };
        let numbers = match self.starts {
            None => ordinal..ordinal + 1,
            Some(starts) => starts.of_from(ordinal, &mut self.place),
        };
        for number in numbers {
            each(self.key(number));
        }
    }

    fn key(&mut self, number: usize) -> u64 {
        if self.keys.has_single() {
            return self.keys.get(number);
        }
        let block = number / BLOCK;
        if self.block != Some(block) {
            self.decoded = self.keys.block(block);
            self.block = Some(block);
        }
        self.decoded[number % BLOCK]
    }
}
