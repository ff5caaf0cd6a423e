//! The first of some documents in the order of their external IDs.
//!
//! Few documents have their IDs read from their records. Of many, the IDs are gone over in their
//! order until as many of the documents came as are wanted; those that are not flushed are looked
//! at one by one. What is kept is bounded by the documents that are wanted.

use std::collections::BTreeMap;

use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::documents::{Fetch, Fetched};
use crate::search::scoring::doc_bits::DocBits;
use crate::search::view::{IdWalk, SearchView};

/// Documents whose IDs are read at once.
const BATCH: usize = 256;

/// IDs in a leaf of a run, about.
const IDS_A_PAGE: u64 = 128;

/// Documents whose records stand in a page, about.
const RECORDS_A_PAGE: u64 = 2;

/// Bytes that an ID takes in the order beside its text.
const ID_BYTES: usize = 4 * size_of::<(String, DocId)>();

/// The order in which IDs come, and the ID behind which they begin.
#[derive(Clone, Debug, Default)]
pub(super) struct IdOrder {
    /// Set if the greatest comes first.
    pub(super) descending: bool,
    /// The ID behind which hits begin.
    pub(super) after: Option<String>,
}

/// The first documents being found.
pub(super) struct FirstIds {
    order: IdOrder,
    wanted: usize,
    first: BTreeMap<String, DocId>,
    way: Way,
    bytes: usize,
    memory: Reservation,
}

/// The way in which IDs are found.
enum Way {
    /// From the records of all documents, from this one on.
    Records(DocId),
    /// By going over all IDs.
    Walk(Box<dyn IdWalk>),
    Done,
}

impl FirstIds {
    /// Will find the first `wanted` of `docs`.
    pub(super) fn new(
        order: IdOrder,
        wanted: usize,
        docs: &DocBits,
        view: &SearchView,
        budget: &Budget,
    ) -> Result<FirstIds> {
        let memory = budget.reserve("the IDs of hits", 0)?;
        let mut found = FirstIds {
            order,
            wanted,
            first: BTreeMap::new(),
            way: Way::Done,
            bytes: 0,
            memory,
        };
        let count = docs.count();
        if wanted == 0 || count == 0 {
            return Ok(found);
        }
        // A walk from the least ID on ends where enough came.
        let walked = if found.order.descending {
            u64::from(view.below)
        } else {
            u64::from(view.below) * (wanted as u64).min(count) / count
        };
        if count / RECORDS_A_PAGE <= walked / IDS_A_PAGE {
            found.way = Way::Records(0);
            return Ok(found);
        }
        let mut failed = Ok(());
        view.ids.visit_new(&mut |id, doc| {
            if docs.contains(doc) && failed.is_ok() {
                failed = found.offer(id, doc);
            }
        });
        failed?;
        let from = match &found.order {
            IdOrder {
                descending: false,
                after: Some(after),
            } => after.as_bytes(),
            _ => &[],
        };
        found.way = Way::Walk(view.ids.walk(from));
        Ok(found)
    }

    /// Works until all are found.
    pub(super) fn step(
        &mut self,
        docs: &DocBits,
        fetch: &mut Fetch<'_>,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        loop {
            match &mut self.way {
                Way::Done => return Ok(()),
                Way::Records(from) => {
                    let mut some = Vec::new();
                    docs.next(*from, BATCH, &mut some);
                    let Some(last) = some.last() else {
                        self.way = Way::Done;
                        return Ok(());
                    };
                    let (ids, next) = (read_ids(fetch, &some, pages)?, last + 1);
                    let next = some.get(ids.len()).copied().unwrap_or(next);
                    for (id, doc) in ids.iter().zip(&some) {
                        self.offer(id, *doc)?;
                    }
                    self.way = Way::Records(next);
                }
                Way::Walk(walk) => {
                    pages.count_steps(1)?;
                    let Some((id, doc)) = walk.advance(pages)? else {
                        self.way = Way::Done;
                        return Ok(());
                    };
                    if is_behind_all(id, &self.order, &self.first, self.wanted) {
                        self.way = Way::Done;
                    } else if docs.contains(doc) {
                        let id = id.to_owned();
                        self.offer(&id, doc)?;
                    }
                }
            }
        }
    }

    /// The documents with their IDs, in their order.
    pub(super) fn finish(self) -> Vec<(String, DocId)> {
        let ascending = self.first.into_iter();
        if self.order.descending {
            ascending.rev().collect()
        } else {
            ascending.collect()
        }
    }

    fn offer(&mut self, id: &str, doc: DocId) -> Result<()> {
        let is_before = match (&self.order.after, self.order.descending) {
            (None, _) => false,
            (Some(after), false) => id <= after.as_str(),
            (Some(after), true) => id >= after.as_str(),
        };
        if is_before || self.wanted == 0 {
            return Ok(());
        }
        if self.first.len() == self.wanted && !self.pushes_out(id) {
            return Ok(());
        }
        if self.first.insert(id.to_owned(), doc).is_none() {
            self.bytes += ID_BYTES + id.len();
        }
        if self.first.len() > self.wanted {
            let gone = if self.order.descending {
                self.first.pop_first()
            } else {
                self.first.pop_last()
            };
            self.bytes -= gone.map_or(0, |(id, _)| ID_BYTES + id.len());
        }
        self.memory.grow_to(self.memory.bytes().max(self.bytes))
    }

    /// Returns true if an ID comes before the last that is kept.
    fn pushes_out(&self, id: &str) -> bool {
        if self.order.descending {
            let least = self.first.first_key_value();
            least.is_some_and(|(least, _)| id > least.as_str())
        } else {
            let greatest = self.first.last_key_value();
            greatest.is_some_and(|(greatest, _)| id < greatest.as_str())
        }
    }
}

/// Returns true if neither this ID nor any that follows in a walk can be among the first.
fn is_behind_all(
    id: &str,
    order: &IdOrder,
    first: &BTreeMap<String, DocId>,
    wanted: usize,
) -> bool {
    if order.descending {
        let bound = order.after.as_deref();
        return bound.is_some_and(|bound| id >= bound);
    }
    let last = first.last_key_value();
    first.len() == wanted && last.is_some_and(|(last, _)| id > last.as_str())
}

/// The external IDs of the first of `docs`, as many as are read in one round.
pub(super) fn read_ids(
    fetch: &mut Fetch<'_>,
    docs: &[DocId],
    pages: &mut Pages<'_>,
) -> Step<Vec<String>> {
    pages.count_steps(docs.len())?;
    let mut ids = Vec::new();
    fetch.next(docs, pages, |fetched| {
        ids.push(match fetched {
            Fetched::Id(id) | Fetched::Failed(id, _) => id,
            Fetched::Document(document, _) => document.id,
        });
        Ok(())
    })?;
    // Nothing of what was read is looked at again.
    pages.trim();
    Ok(ids)
}
