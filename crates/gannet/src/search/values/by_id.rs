//! External IDs as the last key that decides: of documents at one place the first by their IDs.
//!
//! IDs stand in no column. So documents are put in order by the keys before, and a second pass
//! finds all documents at the place of the last hit. Of these alone IDs are looked at.

use gannet_values::Value;

use super::best::AtPlace;
use super::id_order::{FirstIds, IdOrder, read_ids};
use super::key_run::wrong_after;
use super::key_scan::KeyScan;
use super::sort_key::Place;
use super::{SortKey, SortValue};
use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::documents::Fetch;
use crate::search::scoring::doc_bits::DocBits;
use crate::search::scoring::top::AllDocs;
use crate::search::view::SearchView;

/// Documents whose IDs are read at once.
const BATCH: usize = 256;

/// External IDs as a key.
pub(super) struct IdKey<'q> {
    view: &'q SearchView,
    budget: &'q Budget,
    fetch: Fetch<'q>,
    descending: bool,
    /// The ID behind which hits begin.
    after: Option<String>,
    /// The documents of the place that is looked at; all documents where no key is before.
    tied: Option<DocBits>,
    first: Option<FirstIds>,
    /// IDs that were read of documents whose IDs are asked for.
    named: Vec<String>,
    memory: Reservation,
}

impl<'q> IdKey<'q> {
    /// Will order by IDs, behind that of `after`.
    pub(super) fn new(
        key: &SortKey,
        after: Option<&SortValue>,
        fetch: Fetch<'q>,
        view: &'q SearchView,
        budget: &'q Budget,
    ) -> Result<IdKey<'q>> {
        let after = match after {
            None => None,
            Some(Some(Value::Keyword(id))) => Some(id.clone().into_owned()),
            Some(Some(other)) => return Err(wrong_after(other, key)),
            Some(None) => return Err(wrong_after(&Value::Keyword("null".into()), key)),
        };
        Ok(IdKey {
            view,
            budget,
            fetch,
            descending: key.descending,
            after,
            tied: None,
            first: None,
            named: Vec::new(),
            memory: budget.reserve("hits at the same place", 0)?,
        })
    }

    /// The first `wanted` documents at a place, in the order of their IDs; behind the ID that hits
    /// begin behind if this is that place. The same is asked again after a stop.
    pub(super) fn first_at(
        &mut self,
        place: &[Place],
        begins_here: bool,
        wanted: usize,
        scan: &mut KeyScan,
        all: &AllDocs,
        pages: &mut Pages<'_>,
    ) -> Step<Vec<(String, DocId)>> {
        if self.first.is_none() {
            if !place.is_empty() {
                let below = self.view.below;
                self.memory.grow_to(DocBits::bytes(below))?;
                let docs = self.tied.get_or_insert_with(|| DocBits::new(below));
                scan.pass(&mut AtPlace { place, docs }, all, pages)?;
            }
            let order = IdOrder {
                descending: self.descending,
                after: self.after.clone().filter(|_| begins_here),
            };
            let docs = self.tied.as_ref().unwrap_or(&all.docs);
            let first = FirstIds::new(order, wanted, docs, self.view, self.budget)?;
            self.first = Some(first);
        }
        let docs = self.tied.as_ref().unwrap_or(&all.docs);
        if let Some(first) = &mut self.first {
            first.step(docs, &mut self.fetch, pages)?;
        }
        self.tied = None;
        self.memory.grow_to(0)?;
        Ok(self.first.take().map_or_else(Vec::new, FirstIds::finish))
    }

    /// The IDs of some documents. The same are asked again after a stop.
    pub(super) fn names(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<Vec<String>> {
        while self.named.len() < docs.len() {
            let from = self.named.len();
            let some = &docs[from..docs.len().min(from + BATCH)];
            let ids = read_ids(&mut self.fetch, some, pages)?;
            let bytes = ids.iter().map(|id| 2 * size_of::<String>() + id.len());
            self.memory
                .grow_to(self.memory.bytes() + bytes.sum::<usize>())?;
            self.named.extend(ids);
        }
        Ok(std::mem::take(&mut self.named))
    }

    /// Orders two IDs.
    pub(super) fn compare(&self, one: &str, other: &str) -> std::cmp::Ordering {
        if self.descending {
            other.cmp(one)
        } else {
            one.cmp(other)
        }
    }
}
