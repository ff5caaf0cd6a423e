//! Chooses the lists that are hot: those used more than once, as long as frames leave memory.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::builder::{BuildProgress, HotBuilder};
use super::list::{HotList, Origin};
use super::norms::NormColumn;
use crate::analysis::FieldId;
use crate::base::DocId;
use crate::cache::{FramePool, Pages, Sieve, SpareBytes, SpareMemory, Step};
use crate::documents::NormCursor;
use crate::postings::TermCursor;
use crate::search::lists::OpenTerm;
use crate::search::scoring::scorer::Scorer;

/// Uses before a list is decoded.
const USES: u32 = 2;

/// Postings that are decoded in the time by which documents behind a list make a query slower.
const POSTINGS_OF_A_TAIL: u32 = 2048;

/// Norms of new documents are added once they are one in so many of those before.
const NORMS_ONE_OF: DocId = 64;

/// Words that are kept in mind.
const WORDS_MAX: usize = 1 << 16;

/// Bytes of a word that is kept in mind, beside its key and its list.
const WORD_BYTES: usize = size_of::<HotEntry>() + 256;

/// Bytes that a term takes at most that is kept as it was found.
const KNOWN_BYTES: usize = 4096;

/// Entries that are given up at most for one list.
const GIVEN_UP: usize = 64;

/// The hot lists of an index.
pub struct HotLists {
    memory: Arc<SpareMemory>,
    table: Mutex<HotTable>,
}

struct HotTable {
    /// The times that documents got other numbers.
    renumbered: u64,
    entries: Sieve<Vec<u8>, Arc<HotEntry>>,
    count: usize,
    norms: Vec<Option<Arc<NormColumn>>>,
}

/// A word that is kept in mind.
pub struct HotEntry {
    uses: AtomicU32,
    /// Uses after which it is decoded. They double each time that a page is
    /// not in memory, or that there is no room.
    needed: AtomicU32,
    /// Uses of its hot list with documents behind it.
    tails: AtomicU32,
    state: Mutex<HotState>,
    /// The term as the dictionary has it.
    known: Mutex<Option<KnownTerm>>,
    _memory: SpareBytes,
}

/// A term as it was found in a state of the index.
struct KnownTerm {
    state: u64,
    term: OpenTerm,
    _memory: SpareBytes,
}

enum HotState {
    Counted,
    /// Its frequencies are too large.
    Unfit,
    Decoding(Box<HotBuilder>),
    Hot(Arc<HotList>),
}

impl HotLists {
    /// None yet, in memory that the frames of `pool` have not used.
    pub fn new(pool: &FramePool) -> HotLists {
        HotLists {
            memory: Arc::new(pool.spare()),
            table: Mutex::new(HotTable {
                renumbered: 0,
                entries: Sieve::new(),
                count: 0,
                norms: Vec::new(),
            }),
        }
    }

    /// The entries of words, each of which is used once more, in an index whose documents got other
    /// numbers so many times. Nothing if there is no memory for them.
    pub fn enter<'k>(
        &self,
        keys: impl Iterator<Item = &'k Vec<u8>>,
        renumbered: u64,
    ) -> Option<Vec<Arc<HotEntry>>> {
        let mut table = self.table();
        if table.renumbered < renumbered {
            table.clear();
            table.renumbered = renumbered;
        }
        if table.renumbered > renumbered {
            return None;
        }
        let entry = |key| table.entry(key, &self.memory);
        keys.map(entry).collect()
    }

    /// Gives all memory back if frames have missed it.
    pub fn yield_memory(&self) {
        if self.memory.is_wanted() {
            self.table().clear();
        }
    }

    /// The norms of a field that are hot, of all documents of its hot lists, in an index whose
    /// documents got other numbers so many times.
    pub fn known_norms(&self, field: FieldId, renumbered: u64) -> Option<Arc<NormColumn>> {
        let mut table = self.table();
        let is_same = table.renumbered == renumbered;
        table.norms_of(field).clone().filter(|_| is_same)
    }

    /// The norms of the field of a word, as far as they are in memory.
    fn norms(
        &self,
        word: &mut Decodable<'_>,
        below: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<Option<Arc<NormColumn>>> {
        let known = self.known_norms(word.field, word.renumbered);
        let first = known.as_ref().map_or(0, |known| known.below());
        // All are copied, so there must be many more, and these at hand.
        let are_few = below.saturating_sub(first) <= first / NORMS_ONE_OF;
        if are_few || word.norms.norms_from(first, pages).is_err() {
            return Ok(known);
        }
        let Some(memory) = self.memory.take(below as usize) else {
            return Ok(known);
        };
        let (state, cursor) = (word.origin.state, &mut *word.norms);
        let column = NormColumn::new(known.as_deref(), below, state, cursor, memory, pages)?;
        let column = Arc::new(column);
        let mut table = self.table();
        let is_same = table.renumbered == word.renumbered;
        let known = table.norms_of(word.field);
        // Another thread may have taken more.
        let is_longer = |known: &Arc<NormColumn>| known.below() < column.below();
        if is_same && known.as_ref().is_none_or(is_longer) {
            *known = Some(Arc::clone(&column));
        }
        Ok(Some(column))
    }

    /// The memory for a list of so many postings below `until`, in the place of others if need be.
    fn room(&self, postings: usize, until: DocId) -> Option<SpareBytes> {
        let bytes = HotList::bytes(postings, until);
        for _ in 0..GIVEN_UP {
            let memory = self.memory.take(bytes);
            if memory.is_some() || self.memory.bytes() < bytes {
                return memory;
            }
            self.table().evict();
        }
        None
    }

    fn table(&self) -> MutexGuard<'_, HotTable> {
        self.table.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl HotTable {
    fn entry(&mut self, key: &Vec<u8>, memory: &Arc<SpareMemory>) -> Option<Arc<HotEntry>> {
        if let Some(entry) = self.entries.get(key) {
            entry.uses.fetch_add(1, Ordering::Relaxed);
            return Some(entry);
        }
        if self.count >= WORDS_MAX {
            self.evict();
        }
        let bytes = WORD_BYTES + 2 * key.len();
        let own = (0..GIVEN_UP).find_map(|_| {
            let own = memory.take(bytes);
            if own.is_none() {
                self.evict();
            }
            own
        })?;
        let entry = Arc::new(HotEntry {
            uses: AtomicU32::new(1),
            needed: AtomicU32::new(USES),
            tails: AtomicU32::new(0),
            state: Mutex::new(HotState::Counted),
            known: Mutex::default(),
            _memory: own,
        });
        self.entries.insert(key.clone(), Arc::clone(&entry));
        self.count += 1;
        Some(entry)
    }

    fn evict(&mut self) {
        if self.entries.evict().is_some() {
            self.count -= 1;
        }
    }

    fn norms_of(&mut self, field: FieldId) -> &mut Option<Arc<NormColumn>> {
        let field = field as usize;
        if self.norms.len() <= field {
            self.norms.resize_with(field + 1, || None);
        }
        &mut self.norms[field]
    }

    fn clear(&mut self) {
        self.entries = Sieve::new();
        self.count = 0;
        self.norms.clear();
    }
}

impl HotEntry {
    /// The term, if it was found in this state of the index.
    pub fn known(&self, state: u64) -> Option<OpenTerm> {
        let known = self.known.try_lock().ok()?;
        let known = known.as_ref().filter(|known| known.state == state)?;
        Some(known.term.clone())
    }

    /// Keeps the term as it was found in a state of the index, unless it takes much.
    pub fn keep(&self, term: &OpenTerm, state: u64, lists: &HotLists) {
        let is_used_again = self.uses.load(Ordering::Relaxed) >= USES;
        let is_wanted = is_used_again && term.memory_bytes() <= KNOWN_BYTES;
        let (Ok(mut known), true) = (self.known.try_lock(), is_wanted) else {
            return;
        };
        if known.as_ref().is_none_or(|known| known.state < state) {
            *known = None;
            let memory = lists.memory.take(term.memory_bytes());
            *known = memory.map(|memory| KnownTerm {
                state,
                term: term.clone(),
                _memory: memory,
            });
        }
    }

    /// Its list, if it is hot.
    pub fn list(&self) -> Option<Arc<HotList>> {
        match &*self.state.try_lock().ok()? {
            HotState::Hot(list) => Some(Arc::clone(list)),
            _ => None,
        }
    }

    /// Returns true if it is worth going on to decode its list.
    pub fn is_worth_decoding(&self, below: DocId) -> bool {
        let uses = self.uses.load(Ordering::Relaxed);
        match self.state.try_lock().as_deref() {
            Ok(HotState::Hot(list)) => {
                let most = list.postings() as u32 / POSTINGS_OF_A_TAIL;
                list.until < below && self.tails.fetch_add(1, Ordering::Relaxed) >= most
            }
            Ok(HotState::Unfit) | Err(_) => false,
            Ok(_) => uses >= self.needed.load(Ordering::Relaxed),
        }
    }

    /// Decodes a stretch of its list, in the documents below `below`, and the norms of its field.
    pub fn decode(
        &self,
        lists: &HotLists,
        mut word: Decodable<'_>,
        below: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let Ok(mut state) = self.state.try_lock() else {
            return Ok(());
        };
        if !matches!(&*state, HotState::Decoding(_)) {
            let Some(builder) = self.begin(&mut state, lists, &mut word, below, pages)? else {
                return Ok(());
            };
            *state = HotState::Decoding(Box::new(builder));
        }
        let HotState::Decoding(builder) = &mut *state else {
            return Ok(());
        };
        // Earlier states may have postings that there is no memory for.
        if builder.until() > below || builder.state() > word.origin.state {
            return Ok(());
        }
        match builder.go_on(word.cursor, word.origin, pages) {
            Ok(BuildProgress::More) => {}
            Ok(BuildProgress::Unfit) => *state = HotState::Unfit,
            Ok(BuildProgress::Done) => {
                let begun = std::mem::replace(&mut *state, HotState::Counted);
                if let HotState::Decoding(builder) = begun {
                    *state = HotState::Hot(Arc::new(builder.finish()));
                    self.tails.store(0, Ordering::Relaxed);
                }
            }
            Err(stop) => {
                // A page is missing, which may never be read: its memory may serve others.
                *state = HotState::Counted;
                self.wait_longer();
                return Err(stop);
            }
        }
        Ok(())
    }

    /// Asks for twice as many uses before the next attempt.
    fn wait_longer(&self) {
        let needed = self.needed.load(Ordering::Relaxed);
        self.needed
            .store(needed.saturating_mul(2), Ordering::Relaxed);
        self.uses.store(0, Ordering::Relaxed);
    }

    /// Begins to decode the list, in the place of the one that is hot, if norms go farther.
    fn begin(
        &self,
        state: &mut HotState,
        lists: &HotLists,
        word: &mut Decodable<'_>,
        below: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<Option<HotBuilder>> {
        let Some(norms) = lists.norms(word, below, pages)? else {
            return Ok(None);
        };
        let until = norms.below();
        let is_old = norms.state > word.origin.state || until > below;
        if is_old || matches!(&*state, HotState::Hot(list) if list.until >= until) {
            return Ok(None);
        }
        let bound = word.cursor.list_bound(pages)?;
        let postings = word.cursor.document_frequency() as usize;
        *state = HotState::Counted;
        let Some(memory) = lists.room(postings, until) else {
            self.wait_longer();
            return Ok(None);
        };
        let (scorer, pairs) = (word.scorer.clone(), bound.pairs());
        let origin = Origin {
            state: word.origin.state.max(norms.state),
            ..word.origin
        };
        Ok(Some(HotBuilder::new(
            postings, pairs, scorer, norms, origin, memory,
        )))
    }
}

/// A word whose list may be decoded.
pub struct Decodable<'a> {
    /// Reads its list.
    pub cursor: &'a mut TermCursor,
    /// Reads the norms of its field.
    pub norms: &'a mut NormCursor,
    /// The field.
    pub field: FieldId,
    /// The state of the index.
    pub origin: Origin,
    /// The times that documents got other numbers.
    pub renumbered: u64,
    /// Scores it by the statistics of the index, without a boost.
    pub scorer: &'a Scorer,
}
