//! The best hit of each value of a field, of which documents have one at most.
//!
//! The best groups are kept with the best document that was seen of each. A group that is pushed
//! out comes back with a better document, so what is kept is bounded by the hits that are wanted.
//! Where hits begin behind others, a pass before notes the groups of those others: a group has one
//! hit in all pages. Documents without a value are one group.

use std::collections::BTreeMap;
use std::ops::Range;

use gannet_values::{Number, ValueType};
use rustc_hash::{FxHashMap, FxHashSet};

use super::key_run::shown_values;
use super::key_scan::KeyScan;
use super::sort_key::PlacedDoc;
use super::{SortValue, column_of};
use crate::base::{Budget, DocId, Error, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::columns::{
    ColumnReader, ColumnValues, KeywordNumbers, MapEntry, PieceUse, ValueVisitor,
};
use crate::search::query::fields::shown;
use crate::search::view::SearchView;

/// A value that documents have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum GroupKey {
    /// None.
    #[default]
    Missing,
    /// A number, a date or a boolean.
    Number(Number),
    /// A string, by its number among those of the column.
    Keyword(u32),
}

/// Groups being found.
pub(super) struct Groups {
    field: String,
    /// Nothing where only other indexes have the field.
    column: Option<ColumnReader>,
    numbers: KeywordNumbers,
    are_numbered: bool,
    /// The pass over the values of the window, until it has ended.
    pass: Option<ColumnValues>,
    /// The groups of the documents of the window.
    window: Vec<GroupKey>,
    is_read: bool,
    /// Groups whose hit came before.
    seen: FxHashSet<GroupKey>,
    /// The best groups, and the same in their order.
    best: FxHashMap<GroupKey, PlacedDoc>,
    order: BTreeMap<PlacedDoc, GroupKey>,
    wanted: usize,
    fixed_bytes: usize,
    memory: Reservation,
}

/// Takes the groups of some documents of a window.
struct WindowGroups<'w> {
    field: &'w str,
    numbers: &'w KeywordNumbers,
    /// The documents whose groups are wanted, ascending.
    wanted: &'w [DocId],
    first: DocId,
    groups: &'w mut [GroupKey],
}

impl Groups {
    /// Will find the best `wanted` groups by the values of a field. Fails if it has none, unless
    /// `elsewhere` tells that other indexes have it.
    pub(super) fn new(
        field: &str,
        wanted: usize,
        place_bytes: usize,
        view: &SearchView,
        elsewhere: &dyn Fn(&str) -> bool,
        budget: &Budget,
    ) -> Result<Groups> {
        let column = match column_of(field, view) {
            Err(_) if elsewhere(field) => None,
            column => Some(column?),
        };
        let terms = column.as_ref().map_or(0, ColumnReader::buffered_terms);
        // Each keyword of a buffer may be new, and vectors double as they grow.
        let numbers = 2 * terms * size_of::<(u32, usize, u32)>();
        let group = 2 * (size_of::<GroupKey>() + size_of::<PlacedDoc>()) + place_bytes;
        let of_document = size_of::<GroupKey>() + size_of::<DocId>();
        let window = KeyScan::window_documents(view.below) * of_document;
        let fixed_bytes = numbers + window + 2 * wanted * group;
        Ok(Groups {
            field: field.to_owned(),
            column,
            numbers: KeywordNumbers::default(),
            are_numbered: false,
            pass: None,
            window: Vec::new(),
            is_read: false,
            seen: FxHashSet::default(),
            best: FxHashMap::default(),
            order: BTreeMap::new(),
            wanted,
            fixed_bytes,
            memory: budget.reserve("the groups of collapsed hits", fixed_bytes)?,
        })
    }

    /// Gives numbers to the strings that only buffers have.
    pub(super) fn number(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let of_strings = |column: &&ColumnReader| column.column().value_type.has_strings();
        if let Some(column) = self.column.as_ref().filter(of_strings)
            && !self.are_numbered
        {
            column.number_buffers(&mut self.numbers, pages)?;
        }
        self.are_numbered = true;
        Ok(())
    }

    /// Reads the groups of some documents of a window, which ascend.
    pub(super) fn read(
        &mut self,
        docs: &Range<DocId>,
        wanted: &[DocId],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if self.is_read || wanted.is_empty() {
            return Ok(());
        }
        if self.pass.is_none() {
            self.window.clear();
            self.window.resize(docs.len(), GroupKey::Missing);
            self.pass = self
                .column
                .as_ref()
                .map(|column| column.values(docs.clone()));
        }
        if let Some(pass) = &mut self.pass {
            let mut visitor = WindowGroups {
                field: &self.field,
                numbers: &self.numbers,
                wanted,
                first: docs.start,
                groups: &mut self.window,
            };
            while pass.advance(&mut visitor, pages)? {}
        }
        self.pass = None;
        self.is_read = true;
        Ok(())
    }

    /// Ends a window.
    pub(super) fn end_window(&mut self) {
        self.is_read = false;
    }

    /// Notes that the hit of a group came before: the group of the document at `at` of the window.
    pub(super) fn see(&mut self, at: usize) -> Result<()> {
        if self.seen.len() == self.seen.capacity() {
            let places = (2 * self.seen.capacity()).max(64);
            let bytes = 2 * places * (size_of::<GroupKey>() + 1);
            self.memory.grow_to(self.fixed_bytes + bytes)?;
            self.seen.reserve(places - self.seen.len());
        }
        let group = self.window.get(at).copied().unwrap_or_default();
        self.seen.insert(group);
        Ok(())
    }

    /// The last of the best documents, once there are as many groups as are wanted.
    pub(super) fn worst(&self) -> Option<&PlacedDoc> {
        let is_full = self.best.len() == self.wanted;
        let last = self.order.last_key_value();
        last.map(|(placed, _)| placed).filter(|_| is_full)
    }

    /// Offers the document that stands at `at` of the window.
    pub(super) fn offer(&mut self, offered: PlacedDoc, at: usize) {
        let group = self.window.get(at).copied().unwrap_or_default();
        if self.seen.contains(&group) {
            return;
        }
        match self.best.get(&group) {
            Some(known) if *known <= offered => return,
            Some(known) => drop(self.order.remove(known)),
            None if self.worst().is_some_and(|worst| *worst <= offered) => return,
            None => {}
        }
        self.order.insert(offered.clone(), group);
        self.best.insert(group, offered);
        if self.order.len() > self.wanted
            && let Some((_, group)) = self.order.pop_last()
        {
            self.best.remove(&group);
        }
    }

    /// The best document of each group, the best first.
    pub(super) fn take_best(&mut self) -> Vec<PlacedDoc> {
        self.best.clear();
        std::mem::take(&mut self.order).into_keys().collect()
    }

    /// The values of hits, as they are shown.
    pub(super) fn values_of(&self, hits: &[DocId], pages: &mut Pages<'_>) -> Step<Vec<SortValue>> {
        match &self.column {
            None => Ok(vec![None; hits.len()]),
            Some(column) => shown_values(column, hits, &|_, keys| keys.first().copied(), pages),
        }
    }
}

impl ValueVisitor for WindowGroups<'_> {
    fn judge(&self, entry: &MapEntry) -> PieceUse {
        let at = self.wanted.partition_point(|doc| *doc < entry.first);
        if self.wanted.get(at).is_some_and(|doc| *doc < entry.end()) {
            PieceUse::Values
        } else {
            PieceUse::Skip
        }
    }

    fn values(&mut self, value_type: ValueType, docs: &[DocId], keys: &[u64]) -> Result<()> {
        for (doc, key) in docs.iter().zip(keys) {
            let at = doc.checked_sub(self.first);
            let Some(group) = at.and_then(|at| self.groups.get_mut(at as usize)) else {
                continue;
            };
            let own = match value_type.number_of_key(*key) {
                Some(number) => GroupKey::Number(number),
                None => GroupKey::Keyword(self.numbers.number(*key)),
            };
            let is_other = *group != GroupKey::Missing && *group != own;
            if is_other && self.wanted.binary_search(doc).is_ok() {
                return Err(several_values(self.field));
            }
            *group = own;
        }
        Ok(())
    }
}

fn several_values(field: &str) -> Error {
    Error::invalid(format!(
        "a document has several values of the field {}, and hits are collapsed by one: collapse by a field of which each document \
         has one value at most",
        shown(field)
    ))
}
