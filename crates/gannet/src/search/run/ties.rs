//! Documents of the same score in the order of their external IDs.
//!
//! The ranking orders them by their doc IDs, which depend on the index. So it is asked for one
//! document more than is wanted. If that one has the score of the last that is wanted, more may
//! have it, and the ranking runs once more for all documents of this score. The IDs of whatever
//! shares a score of the page are read from the records, those of the last score a few hundred at
//! a time: only as many as the page has room for are kept.

use std::collections::BinaryHeap;
use std::ops::Range;

use crate::base::{DocId, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::documents::{Fetch, Fetched};
use crate::search::scoring::top::{Scored, TiedDocs};

/// Documents whose IDs are asked for at once.
const BATCH: usize = 256;

/// Bytes that an ID takes beside its text, in a buffer that grows.
const ID_BYTES: usize = 2 * size_of::<(String, DocId)>();

/// The best documents, and what is known of the score of the last one.
pub struct BestDocuments {
    /// The documents that are surely among them, best first.
    pub surely: Vec<Scored>,
    /// The score that others behind them may share.
    pub shared: Option<f32>,
}

impl BestDocuments {
    /// The best `wanted` of documents of which there is one more if there are so many.
    pub fn new(mut ranked: Vec<Scored>, wanted: usize) -> BestDocuments {
        let behind = ranked.get(wanted).map(|scored| scored.score);
        ranked.truncate(wanted);
        let last = ranked.last().map(|scored| scored.score);
        let shared = behind.filter(|score| Some(*score) == last);
        if let Some(shared) = shared {
            ranked.truncate(ranked.partition_point(|scored| scored.score > shared));
        }
        BestDocuments {
            surely: ranked,
            shared,
        }
    }
}

/// Documents being put in order.
pub struct TieOrder<'q> {
    fetch: Fetch<'q>,
    ranked: Vec<Scored>,
    /// The places of those whose IDs are needed, and the IDs read so far.
    places: Vec<usize>,
    ids: Vec<String>,
    last: Option<LastScore>,
    bytes: usize,
    memory: Reservation,
}

/// The documents of the last score.
struct LastScore {
    docs: Box<TiedDocs>,
    /// The documents of the first IDs so far.
    first: BinaryHeap<(String, DocId)>,
    wanted: usize,
    next: DocId,
}

impl<'q> TieOrder<'q> {
    /// Will order the documents of a page: `ranked`, and behind them the first ones of `last`.
    pub fn new(
        ranked: Vec<Scored>,
        last: Option<Box<TiedDocs>>,
        page: &Range<usize>,
        fetch: Fetch<'q>,
        memory: Reservation,
    ) -> TieOrder<'q> {
        let mut places = Vec::new();
        let mut end = 0;
        for equals in ranked.chunk_by(|one, next| one.score == next.score) {
            let start = end;
            end += equals.len();
            if equals.len() > 1 && start < page.end && end > page.start {
                places.extend(start..end);
            }
        }
        let last = last.map(|docs| LastScore {
            docs,
            first: BinaryHeap::new(),
            wanted: page.end - ranked.len(),
            next: 0,
        });
        TieOrder {
            fetch,
            ranked,
            places,
            ids: Vec::new(),
            last,
            bytes: 0,
            memory,
        }
    }

    /// Reads what the order needs.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let mut docs = Vec::new();
        while self.ids.len() < self.places.len() {
            let places = self.places[self.ids.len()..].iter().take(BATCH);
            docs.clear();
            docs.extend(places.map(|place| self.ranked[*place].doc));
            let ids = read(&mut self.fetch, &docs, pages)?;
            self.bytes += ids.iter().map(|id| ID_BYTES + id.len()).sum::<usize>();
            self.memory.grow_to(self.bytes)?;
            self.ids.extend(ids);
        }
        let Some(last) = &mut self.last else {
            return Ok(());
        };
        loop {
            last.docs.docs().next(last.next, BATCH, &mut docs);
            if docs.is_empty() {
                return Ok(());
            }
            let ids = read(&mut self.fetch, &docs, pages)?;
            for (id, doc) in ids.into_iter().zip(&docs) {
                last.next = doc + 1;
                let (before, bytes) = (last.first.len(), ID_BYTES + id.len());
                let gone = last.offer(id, *doc);
                if last.first.len() > before || gone > 0 {
                    self.bytes = self.bytes + bytes - gone;
                    self.memory.grow_to(self.bytes)?;
                }
            }
        }
    }

    /// The documents in their order, best first.
    pub fn finish(self) -> Vec<Scored> {
        let mut ranked = self.ranked;
        let scored = self.places.iter().map(|place| ranked[*place]);
        let mut named: Vec<(String, Scored)> = self.ids.into_iter().zip(scored).collect();
        named.sort_by(|(one, a), (other, b)| {
            let by_score = b.score.total_cmp(&a.score);
            by_score.then_with(|| one.cmp(other))
        });
        for (place, (_, scored)) in self.places.into_iter().zip(named) {
            ranked[place] = scored;
        }
        if let Some(LastScore { docs, first, .. }) = self.last {
            let score = docs.score();
            let first = first.into_sorted_vec().into_iter();
            ranked.extend(first.map(|(_, doc)| Scored { doc, score }));
        }
        ranked
    }
}

impl LastScore {
    /// Keeps a document if its ID is one of the first. Gives the bytes of the one that it replaces.
    fn offer(&mut self, id: String, doc: DocId) -> usize {
        if self.first.len() < self.wanted {
            self.first.push((id, doc));
            return 0;
        }
        match self.first.peek_mut() {
            Some(mut worst) if id < worst.0 => {
                let (gone, _) = std::mem::replace(&mut *worst, (id, doc));
                ID_BYTES + gone.len()
            }
            _ => 0,
        }
    }
}

/// The external IDs of the first of `docs`, as many as are read in one round.
fn read(fetch: &mut Fetch<'_>, docs: &[DocId], pages: &mut Pages<'_>) -> Step<Vec<String>> {
    pages.count_steps(docs.len())?;
    let mut ids = Vec::new();
    fetch.next(docs, pages, |fetched| {
        ids.push(match fetched {
            Fetched::Id(id) | Fetched::Failed(id, _) => id,
            Fetched::Document(document, _) => document.id,
        });
        Result::Ok(())
    })?;
    // Nothing of what was read is looked at again.
    pages.trim();
    Ok(ids)
}
