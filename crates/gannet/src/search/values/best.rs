//! The best documents of an order, and the documents at one place of it.

use std::collections::BinaryHeap;

use super::groups::Groups;
use super::key_scan::{PlaceVisitor, WindowPlaces};
use super::sort_key::{Place, PlacedDoc};
use super::window::PlaceLimits;
use crate::base::{DocId, Result};
use crate::cache::{Pages, Step};
use crate::search::scoring::doc_bits::DocBits;

/// The best documents so far.
pub(super) enum Best {
    /// All count; the worst is on top.
    Documents(BinaryHeap<PlacedDoc>),
    /// One counts of each value of a field.
    Groups(Box<Groups>),
}

/// Offers documents to the best.
pub(super) struct BestOffers<'s> {
    pub(super) best: &'s mut Best,
    /// The number of best documents, or of groups.
    pub(super) wanted: usize,
    /// Documents up to and including this place are passed over.
    pub(super) after: Option<&'s [Place]>,
    /// A place by the first key that the last of the best is not behind.
    pub(super) limit: Option<Place>,
}

/// Notes the groups of the documents up to and including a place.
pub(super) struct SeenGroups<'s> {
    pub(super) groups: &'s mut Groups,
    pub(super) place: &'s [Place],
}

/// Collects the documents at a place.
pub(super) struct AtPlace<'s> {
    pub(super) place: &'s [Place],
    pub(super) docs: &'s mut DocBits,
}

impl Best {
    /// The best documents, the best first.
    pub(super) fn take(&mut self) -> Vec<PlacedDoc> {
        match self {
            Best::Documents(heap) => std::mem::take(heap).into_sorted_vec(),
            Best::Groups(groups) => groups.take_best(),
        }
    }

    /// The last of the best, once there are as many as are wanted.
    fn worst(&self, wanted: usize) -> Option<&PlacedDoc> {
        match self {
            Best::Documents(heap) => heap.peek().filter(|_| heap.len() == wanted),
            Best::Groups(groups) => groups.worst(),
        }
    }
}

impl BestOffers<'_> {
    /// Returns true if a document may be among the best.
    fn may_count(&self, at: usize, window: &WindowPlaces<'_>) -> bool {
        let first = window.first_place(at);
        if self.limit.is_some() && first > self.limit {
            return false;
        }
        match self.best.worst(self.wanted) {
            Some(worst) => first.as_ref() <= worst.places.first(),
            None => true,
        }
    }
}

impl PlaceVisitor for BestOffers<'_> {
    fn limits(&self) -> PlaceLimits {
        let worst = self.best.worst(self.wanted);
        let worst = worst.and_then(|worst| worst.places.first().copied());
        PlaceLimits {
            from: self.after.and_then(|after| after.first().copied()),
            to: [worst, self.limit].into_iter().flatten().min(),
        }
    }

    fn prepare(&mut self, window: &WindowPlaces<'_>, pages: &mut Pages<'_>) -> Step<()> {
        if matches!(self.best, Best::Documents(_)) {
            return Ok(());
        }
        let mut docs = window.docs();
        docs.retain(|doc| {
            let at = (doc - window.range.start) as usize;
            let is_before = |after: &[Place]| window.places(at).as_slice() <= after;
            self.may_count(at, window) && !self.after.is_some_and(is_before)
        });
        match &mut *self.best {
            Best::Groups(groups) => groups.read(&window.range, &docs, pages),
            Best::Documents(_) => Ok(()),
        }
    }

    fn take(&mut self, doc: DocId, at: usize, window: &WindowPlaces<'_>) -> Result<()> {
        if !self.may_count(at, window) {
            return Ok(());
        }
        let places = window.places(at);
        if self.after.is_some_and(|after| places.as_slice() <= after) {
            return Ok(());
        }
        let is_full = self.best.worst(self.wanted).is_some();
        let offered = PlacedDoc { places, doc };
        match &mut *self.best {
            Best::Groups(groups) => groups.offer(offered, at),
            Best::Documents(heap) if !is_full => heap.push(offered),
            Best::Documents(heap) => {
                if let Some(mut worst) = heap.peek_mut()
                    && offered < *worst
                {
                    *worst = offered;
                }
            }
        }
        Ok(())
    }

    fn end_window(&mut self) {
        if let Best::Groups(groups) = &mut *self.best {
            groups.end_window();
        }
    }
}

impl PlaceVisitor for SeenGroups<'_> {
    fn limits(&self) -> PlaceLimits {
        let first = self.place.first().copied();
        PlaceLimits {
            from: first,
            to: first,
        }
    }

    fn prepare(&mut self, window: &WindowPlaces<'_>, pages: &mut Pages<'_>) -> Step<()> {
        let mut docs = window.docs();
        let at = |doc: DocId| (doc - window.range.start) as usize;
        docs.retain(|doc| window.places(at(*doc)).as_slice() <= self.place);
        self.groups.read(&window.range, &docs, pages)
    }

    fn take(&mut self, _: DocId, at: usize, window: &WindowPlaces<'_>) -> Result<()> {
        if window.places(at).as_slice() <= self.place {
            self.groups.see(at)?;
        }
        Ok(())
    }

    fn end_window(&mut self) {
        self.groups.end_window();
    }
}

impl PlaceVisitor for AtPlace<'_> {
    fn limits(&self) -> PlaceLimits {
        let first = self.place.first().copied();
        PlaceLimits {
            from: first,
            to: first,
        }
    }

    fn take(&mut self, doc: DocId, at: usize, window: &WindowPlaces<'_>) -> Result<()> {
        if window.first_place(at).as_ref() == self.place.first()
            && window.places(at).as_slice() == self.place
        {
            self.docs.insert(doc);
        }
        Ok(())
    }
}
