//! The texts of the results that a program holds.
//!
//! A search gives its part of the memory budget back when it ends. The texts of results that are
//! held take a share of the budget at most, beside it. The oldest results let go of theirs, and
//! read a document again when one of its fields is asked for. The newest result always has its
//! texts.
//!
//! Nothing of Python is called while a lock is held here: whoever waits for the lock may hold the
//! interpreter's.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use gannet::Hit;

/// The part of the memory budget that texts may take.
const SHARE: usize = 16;

/// All texts that are held of one index, the oldest first.
pub struct Shelf {
    bytes_max: usize,
    held: Mutex<Shelved>,
}

#[derive(Default)]
struct Shelved {
    bytes: usize,
    next: u64,
    /// By age, with their bytes.
    texts: BTreeMap<u64, (usize, Weak<Texts>)>,
}

/// The texts of one result.
pub struct Texts {
    process: u32,
    place: Option<(Arc<Shelf>, u64)>,
    kept: Mutex<Kept>,
}

/// The part of the texts that is still held.
#[derive(Clone)]
pub enum Kept {
    /// All of them.
    Here(Arc<[Hit]>),
    /// A digest of each that there was.
    GivenBack(Arc<[Option<u64>]>),
}

impl Shelf {
    /// Of an index with this memory budget.
    pub fn new(memory: usize) -> Arc<Shelf> {
        Arc::new(Shelf {
            bytes_max: memory / SHARE,
            held: Mutex::default(),
        })
    }

    /// Has the oldest results let go of their texts while there are too many, but for the newest.
    fn shrink(&self) {
        let mut oldest = Vec::new();
        let mut held = self.lock();
        while held.bytes > self.bytes_max && held.texts.len() > 1 {
            let Some((_, (bytes, texts))) = held.texts.pop_first() else {
                break;
            };
            held.bytes -= bytes;
            oldest.extend(texts.upgrade());
        }
        // The last reference to some may be this one, and to drop it takes the lock.
        drop(held);
        oldest.iter().for_each(|texts| texts.give_back());
    }

    fn lock(&self) -> MutexGuard<'_, Shelved> {
        self.held.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Texts {
    /// The texts of an answer, which are held on a shelf.
    pub fn shelved(shelf: &Arc<Shelf>, hits: Vec<Hit>) -> Arc<Texts> {
        let texts = |hit: &Hit| hit.source.as_ref().map_or(0, Vec::capacity);
        let bytes: usize = hits.iter().map(texts).sum();
        if bytes == 0 {
            return Texts::new(None, hits);
        }
        let mut held = shelf.lock();
        let number = held.next;
        held.next += 1;
        held.bytes += bytes;
        let texts = Texts::new(Some((Arc::clone(shelf), number)), hits);
        held.texts.insert(number, (bytes, Arc::downgrade(&texts)));
        drop(held);
        shelf.shrink();
        texts
    }

    /// Texts that belong to no index.
    pub fn free(hits: Vec<Hit>) -> Arc<Texts> {
        Texts::new(None, hits)
    }

    fn new(place: Option<(Arc<Shelf>, u64)>, hits: Vec<Hit>) -> Arc<Texts> {
        Arc::new(Texts {
            process: process::id(),
            place,
            kept: Mutex::new(Kept::Here(hits.into())),
        })
    }

    /// Returns the texts that are held now.
    pub fn kept(&self) -> Kept {
        self.lock().clone()
    }

    fn give_back(&self) {
        let mut kept = self.lock();
        if let Kept::Here(hits) = &*kept {
            let digests = hits.iter().map(|hit| hit.source.as_deref().map(digest));
            *kept = Kept::GivenBack(digests.collect());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for Texts {
    fn drop(&mut self) {
        // In a forked child, the lock may be held for ever.
        let here = process::id() == self.process;
        let Some((shelf, number)) = self.place.as_ref().filter(|_| here) else {
            return;
        };
        let mut held = shelf.lock();
        // It was removed where the texts were given back.
        if let Some((bytes, _)) = held.texts.remove(number) {
            held.bytes -= bytes;
        }
    }
}

/// Tells texts apart.
pub fn digest(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text);
    hasher.finish()
}
