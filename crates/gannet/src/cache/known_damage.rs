//! Pages that did not prove themselves, so that a check does not read them again for each of the
//! terms and documents that refer to them.
//!
//! They are known for as long as somebody notes them: a page that could not be read once may be
//! read later, so searches ask the device anew.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::base::{Error, PageAddress, Result, ZoneNumber};
use crate::device::FileId;

/// Pages that are known to be damaged, with a bit for each page of a zone.
#[derive(Default)]
pub struct KnownDamage {
    /// The number of notes at present.
    notes: AtomicUsize,
    zones: Mutex<HashMap<ZoneNumber, Vec<u64>>>,
}

/// The right to note pages. When the last one goes, all are forgotten.
pub struct DamageNotes<'p>(&'p KnownDamage);

impl KnownDamage {
    /// Begins to note pages.
    pub fn note(&self) -> DamageNotes<'_> {
        self.notes.fetch_add(1, Ordering::Relaxed);
        DamageNotes(self)
    }

    /// Fails for a page that is known to be damaged.
    pub fn check(&self, address: PageAddress) -> Result<()> {
        let is_noted = self.notes.load(Ordering::Relaxed) > 0 && self.has(address);
        if is_noted {
            Err(Error::damaged(
                format!("page {} of {}", address.page, FileId::Zone(address.zone)),
                "it did not prove itself when it was read before",
            ))
        } else {
            Ok(())
        }
    }

    fn has(&self, address: PageAddress) -> bool {
        let (word, bit) = place(address);
        let zones = self.zones();
        let words = zones.get(&address.zone);
        words.is_some_and(|words| words.get(word).is_some_and(|bits| bits & bit != 0))
    }

    fn zones(&self) -> MutexGuard<'_, HashMap<ZoneNumber, Vec<u64>>> {
        self.zones.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl DamageNotes<'_> {
    /// Notes a page.
    pub fn add(&self, address: PageAddress) {
        let (word, bit) = place(address);
        let mut zones = self.0.zones();
        let words = zones.entry(address.zone).or_default();
        words.resize(words.len().max(word + 1), 0);
        words[word] |= bit;
    }
}

impl Drop for DamageNotes<'_> {
    fn drop(&mut self) {
        let mut zones = self.0.zones();
        if self.0.notes.fetch_sub(1, Ordering::Relaxed) == 1 {
            zones.clear();
        }
    }
}

/// The word of a zone's bits, and the bit in it.
fn place(address: PageAddress) -> (usize, u64) {
    (address.page as usize / 64, 1 << (address.page % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_known_as_long_as_anybody_notes_them() {
        let damage = KnownDamage::default();
        let page = |page| PageAddress { zone: 7, page };
        let (one, other) = (damage.note(), damage.note());
        one.add(page(130));
        drop(one);
        let error = damage.check(page(130)).expect_err("it was noted");
        assert!(
            error.to_string().contains("page 130 of zone-00000007"),
            "{error}"
        );
        assert!(damage.check(page(129)).is_ok() && damage.check(page(66)).is_ok());
        drop(other);
        assert!(damage.check(page(130)).is_ok());
    }
}
