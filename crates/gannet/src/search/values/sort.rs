//! The first documents of a set in the order of their values.
//!
//! All documents are gone through, and each is offered to the best. Zone maps tell which pieces of
//! the first key need not be read. Nothing in such a piece can come before the worst of the best
//! once these are complete, or before a place that `bound` has found beforehand; or all of it comes
//! before the place behind which hits begin.
//!
//! Keys behind an external ID decide nothing, since each document has another. They are shown.

use std::collections::BinaryHeap;

use gannet_values::Value;

use super::best::{Best, BestOffers, SeenGroups};
use super::bound::BoundRun;
use super::by_id::IdKey;
use super::groups::Groups;
use super::key_run::{KeyRun, check_keys};
use super::key_scan::KeyScan;
use super::sort_key::{Place, PlacedDoc};
use super::{SortBy, SortKey, SortValue};
use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step, gather};
use crate::documents::Fetch;
use crate::search::matching::matcher::for_all;
use crate::search::scoring::top::AllDocs;
use crate::search::view::SearchView;

/// Documents whose values are read at once at the end.
const SHOWN_AT_ONCE: usize = 256;

/// Documents that are to be put in order.
pub struct SortTask<'q> {
    /// The documents, and their scores if these are among the keys.
    pub all: Box<AllDocs>,
    /// The number of first documents that are wanted.
    pub wanted: usize,
    /// The keys, the first one first.
    pub keys: &'q [SortKey],
    /// The values of the hit behind which the hits begin.
    pub after: Option<&'q [SortValue]>,
    /// The field of which each value has one hit.
    pub collapse: Option<&'q str>,
    /// Reads external IDs.
    pub fetch: Fetch<'q>,
}

/// A document with its values by the keys.
#[derive(Debug)]
pub struct SortedHit {
    /// The document.
    pub doc: DocId,
    /// Its score; not a number unless scores are among the keys.
    pub score: f32,
    /// Its values.
    pub values: Vec<SortValue>,
    /// The value by which hits are collapsed.
    pub group: SortValue,
}

/// Documents being put in order.
pub struct SortRun<'q> {
    all: Box<AllDocs>,
    wanted: usize,
    scan: KeyScan,
    /// Keys that decide nothing.
    shown_keys: Vec<KeyRun>,
    /// External IDs, if these are a key.
    ids: Option<IdKey<'q>>,
    after_values: Option<&'q [SortValue]>,
    /// Documents up to and including this place are passed over.
    after: Option<Vec<Place>>,
    /// Looks for a place that the last wanted hit is not behind by the first key.
    bound: Option<BoundRun>,
    /// That place.
    limit: Option<Place>,
    best: Best,
    /// The best documents once all were seen, of which IDs may decide.
    placed: Vec<PlacedDoc>,
    /// The documents in their order, with their IDs if these are a key.
    ordered: Vec<(Option<String>, DocId)>,
    shown: Vec<SortedHit>,
    state: SortState,
    memory: Reservation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SortState {
    Rank,
    /// Notes the groups whose hit came before.
    See,
    /// Finds the documents at the place of the hit behind which hits begin.
    Begin,
    Bound,
    Offer,
    /// Orders documents of the same place by their IDs.
    Name,
    /// Finds the first documents at the place of the last hit.
    End,
    Show,
    Done,
}

impl<'q> SortRun<'q> {
    /// Will put documents in order. Fails if a key names a field of which no values are kept,
    /// unless `elsewhere` tells that other indexes have it: no document here has a value then.
    pub fn new(
        task: SortTask<'q>,
        view: &'q SearchView,
        elsewhere: &dyn Fn(&str) -> bool,
        budget: &'q Budget,
    ) -> Result<SortRun<'q>> {
        let (keys, after) = (task.keys, task.after);
        check_keys(keys, after)?;
        let after_of = |at: usize| after.and_then(|after| after.get(at));
        let runs = keys.iter().enumerate();
        let runs = runs.map(|(at, key)| KeyRun::new(key, after_of(at), view, elsewhere, budget));
        let mut runs = runs.collect::<Result<Vec<KeyRun>>>()?;
        let by_id = keys.iter().position(|key| key.by == SortBy::Id);
        let shown_keys = by_id.map_or_else(Vec::new, |at| runs.split_off(at));
        let ids = by_id.map(|at| IdKey::new(&keys[at], after_of(at), task.fetch, view, budget));
        let places = runs.len() * size_of::<Place>();
        let entry = size_of::<PlacedDoc>() + places + keys.len() * size_of::<SortValue>();
        let wanted = task.wanted.min(view.below as usize);
        let window = KeyScan::window_bytes(runs.len(), view.below);
        let memory = budget.reserve("the order of hits", window + 2 * wanted * entry)?;
        let best = match task.collapse {
            None => Best::Documents(BinaryHeap::new()),
            Some(field) => {
                let groups = Groups::new(field, wanted, places, view, elsewhere, budget)?;
                Best::Groups(Box::new(groups))
            }
        };
        let by_number = runs.first().filter(|run| run.ranks.is_none());
        let column = by_number.and_then(|run| run.column.as_ref());
        let bound = match (keys.first(), column, &best) {
            (Some(key), Some(column), Best::Documents(_)) => {
                BoundRun::new(key, column, wanted, view.below, budget)?
            }
            _ => None,
        };
        Ok(SortRun {
            all: task.all,
            wanted,
            scan: KeyScan::new(runs, view.below),
            shown_keys,
            ids: ids.transpose()?,
            after_values: after,
            after: None,
            bound,
            limit: None,
            best,
            placed: Vec::new(),
            ordered: Vec::new(),
            shown: Vec::new(),
            state: SortState::Rank,
            memory,
        })
    }

    /// Works until the first documents are known with their values.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while self.state != SortState::Done {
            self.state = match self.state {
                SortState::Rank => {
                    self.rank(pages)?;
                    SortState::See
                }
                SortState::See => {
                    self.see(pages)?;
                    SortState::Begin
                }
                SortState::Begin => {
                    self.begin(pages)?;
                    SortState::Bound
                }
                SortState::Bound => {
                    if let Some(bound) = &mut self.bound {
                        let after = self.after.as_ref().and_then(|after| after.first());
                        bound.step(&self.all.docs, after.copied(), pages)?;
                    }
                    self.limit = self.bound.take().and_then(BoundRun::finish);
                    SortState::Offer
                }
                SortState::Offer => {
                    self.offer(pages)?;
                    self.placed = self.best.take();
                    SortState::Name
                }
                SortState::Name => {
                    self.name(pages)?;
                    SortState::End
                }
                SortState::End => {
                    self.end(pages)?;
                    SortState::Show
                }
                SortState::Show => {
                    self.show(pages)?;
                    SortState::Done
                }
                SortState::Done => SortState::Done,
            };
        }
        Ok(())
    }

    /// The documents in their order, once [`SortRun::step`] came to its end.
    pub fn finish(self) -> Vec<SortedHit> {
        self.shown
    }

    fn rank(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        self.scan.rank(pages)?;
        let others = self.shown_keys.iter_mut();
        for_all(others.filter_map(|key| key.ranks.as_mut()), |ranks| {
            ranks.step(pages)
        })?;
        if let Best::Groups(groups) = &mut self.best {
            groups.number(pages)?;
        }
        if let Some(values) = self.after_values {
            let places = self.scan.keys().iter().zip(values);
            let places = places.map(|(run, value)| run.place_after(value));
            self.after = Some(places.collect::<Result<_>>()?);
        }
        Ok(())
    }

    fn see(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        match (&mut self.best, &self.after) {
            (Best::Groups(groups), Some(place)) => {
                let mut seen = SeenGroups { groups, place };
                self.scan.pass(&mut seen, &self.all, pages)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let (Some(ids), Some(place)) = (&mut self.ids, &self.after) else {
            return Ok(());
        };
        let (wanted, scan) = (self.wanted, &mut self.scan);
        let first = ids.first_at(place, true, wanted, scan, &self.all, pages)?;
        let first = first.into_iter().map(|(id, doc)| (Some(id), doc));
        self.ordered.extend(first);
        Ok(())
    }

    fn offer(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let wanted = self.wanted - self.ordered.len();
        if wanted == 0 {
            return Ok(());
        }
        let mut offers = BestOffers {
            best: &mut self.best,
            wanted,
            after: self.after.as_deref(),
            limit: self.limit,
        };
        self.scan.pass(&mut offers, &self.all, pages)
    }

    /// Orders the best documents; those at the place of the last wait if others may be there.
    fn name(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Some(ids) = &mut self.ids else {
            let docs = self.placed.drain(..).map(|placed| (None, placed.doc));
            self.ordered.extend(docs);
            return Ok(());
        };
        let is_full = self.placed.len() == self.wanted - self.ordered.len();
        let last = self.placed.last().filter(|_| is_full);
        let surely = last.map_or(self.placed.len(), |last| {
            self.placed
                .partition_point(|placed| placed.places < last.places)
        });
        let docs: Vec<DocId> = self.placed[..surely].iter().map(|p| p.doc).collect();
        let named = ids.names(&docs, pages)?;
        let mut named: Vec<(String, PlacedDoc)> =
            named.into_iter().zip(self.placed.drain(..surely)).collect();
        named.sort_by(|(one, a), (other, b)| {
            let by_place = a.places.cmp(&b.places);
            by_place.then_with(|| ids.compare(one, other))
        });
        let named = named.into_iter().map(|(id, placed)| (Some(id), placed.doc));
        self.ordered.extend(named);
        Ok(())
    }

    fn end(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let (Some(ids), Some(last)) = (&mut self.ids, self.placed.last()) else {
            return Ok(());
        };
        let (wanted, scan) = (self.placed.len(), &mut self.scan);
        let first = ids.first_at(&last.places, false, wanted, scan, &self.all, pages)?;
        let first = first.into_iter().map(|(id, doc)| (Some(id), doc));
        self.ordered.extend(first);
        Ok(())
    }

    /// Reads the values of the best documents.
    fn show(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while self.shown.len() < self.ordered.len() {
            let from = self.shown.len();
            let to = self.ordered.len().min(from + SHOWN_AT_ONCE);
            let some = &self.ordered[from..to];
            let hits: Vec<DocId> = some.iter().map(|(_, doc)| *doc).collect();
            let scores = &self.all.scores;
            let keys: Vec<&KeyRun> = self.scan.keys().iter().chain(&self.shown_keys).collect();
            let columns = gather(&keys, |run| run.values_of(&hits, scores, pages))?;
            let mut groups = match &self.best {
                Best::Documents(_) => vec![None; hits.len()],
                Best::Groups(groups) => groups.values_of(&hits, pages)?,
            };
            for (at, (id, doc)) in some.iter().enumerate() {
                let value = |(run, values): (&&KeyRun, &Vec<SortValue>)| match run.key.by {
                    SortBy::Id => id.clone().map(|id| Value::Keyword(id.into())),
                    _ => values[at].clone(),
                };
                let values = keys.iter().zip(&columns).map(value).collect();
                self.shown.push(SortedHit {
                    doc: *doc,
                    score: scores.get(*doc as usize).copied().unwrap_or(f32::NAN),
                    values,
                    group: groups[at].take(),
                });
            }
        }
        let text = |value: &SortValue| match value {
            Some(Value::Keyword(text)) => text.len(),
            _ => 0,
        };
        let of_hit = |hit: &SortedHit| {
            let values = hit.values.iter().chain([&hit.group]);
            values.map(text).sum::<usize>()
        };
        let texts: usize = self.shown.iter().map(of_hit).sum();
        self.memory.grow_to(self.memory.bytes() + texts)?;
        Ok(())
    }
}
