//! Passes over documents with their places by the keys of an order, window by window.
//!
//! Of each window the values of all keys are read in common rounds. A pass says between which
//! places by the first key it looks for documents, so that pieces outside are not read. Where the
//! first key descends, windows are gone through from the last to the first, since values mostly
//! rise with the documents, as dates do.

use std::ops::Range;

use super::key_run::KeyRun;
use super::sort_key::Place;
use super::window::{DocumentValues, PlaceLimits};
use crate::base::{DocId, Result};
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::for_all;
use crate::search::scoring::top::AllDocs;

/// Documents of a window: a multiple of those of a piece, and few enough that the values of all
/// keys take little memory.
const WINDOW: DocId = 32 * 1024;

/// Takes the documents of a pass.
pub(super) trait PlaceVisitor {
    /// The places by the first key between which documents matter. Others may be taken as ones that
    /// stand further out.
    fn limits(&self) -> PlaceLimits;

    /// Reads what taking the documents of a window needs beside their places.
    fn prepare(&mut self, _: &WindowPlaces<'_>, _: &mut Pages<'_>) -> Step<()> {
        Ok(())
    }

    /// Takes a document that stands at `at` of its window.
    fn take(&mut self, doc: DocId, at: usize, window: &WindowPlaces<'_>) -> Result<()>;

    /// Ends a window.
    fn end_window(&mut self) {}
}

/// The places of the documents of a window.
pub(super) struct WindowPlaces<'w> {
    /// All documents of the window, those included that are not put in order.
    pub(super) range: Range<DocId>,
    all: &'w AllDocs,
    keys: &'w [KeyRun],
}

/// Goes through the documents.
pub(super) struct KeyScan {
    keys: Vec<KeyRun>,
    below: DocId,
    is_backward: bool,
    /// The windows that are left of the pass, if one is under way.
    windows: Option<Range<DocId>>,
}

impl WindowPlaces<'_> {
    /// The documents that are put in order, ascending.
    pub(super) fn docs(&self) -> Vec<DocId> {
        self.all.docs.within(self.range.clone())
    }

    /// The place by the first key of the document at `at`.
    pub(super) fn first_place(&self, at: usize) -> Option<Place> {
        self.keys.first().map(|key| key.place_at(at))
    }

    /// The places of the document at `at`.
    pub(super) fn places(&self, at: usize) -> Vec<Place> {
        self.keys.iter().map(|key| key.place_at(at)).collect()
    }
}

impl KeyScan {
    /// Will go through the documents below a bound by these keys.
    pub(super) fn new(keys: Vec<KeyRun>, below: DocId) -> KeyScan {
        KeyScan {
            is_backward: keys.first().is_some_and(|run| run.key.descending),
            keys,
            below,
            windows: None,
        }
    }

    /// The most documents of a window.
    pub(super) fn window_documents(below: DocId) -> usize {
        WINDOW.min(below) as usize
    }

    /// Bytes of the values of a window by so many keys.
    pub(super) fn window_bytes(keys: usize, below: DocId) -> usize {
        keys * DocumentValues::bytes(KeyScan::window_documents(below))
    }

    /// The keys.
    pub(super) fn keys(&self) -> &[KeyRun] {
        &self.keys
    }

    /// Ranks the strings of keys, which is needed before anything else.
    pub(super) fn rank(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let ranks = self.keys.iter_mut().filter_map(|key| key.ranks.as_mut());
        for_all(ranks, |ranks| ranks.step(pages))
    }

    /// Shows all documents to `visitor`, which is the same, or goes on, at each call after a stop.
    pub(super) fn pass(
        &mut self,
        visitor: &mut dyn PlaceVisitor,
        all: &AllDocs,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let every = 0..self.below.div_ceil(WINDOW);
        while let Some(window) = self.present(&every) {
            let range = self.documents(window);
            if all.docs.has_any(range.clone()) {
                self.show(range, visitor, all, pages)?;
                visitor.end_window();
            }
            self.keys.iter_mut().for_each(KeyRun::end_window);
            let left = self.windows.get_or_insert(every.clone());
            if self.is_backward {
                left.end -= 1;
            } else {
                left.start += 1;
            }
        }
        self.windows = None;
        Ok(())
    }

    /// The window that comes next.
    fn present(&self, every: &Range<DocId>) -> Option<DocId> {
        let left = self.windows.as_ref().unwrap_or(every);
        let next = if self.is_backward {
            left.end.wrapping_sub(1)
        } else {
            left.start
        };
        (!left.is_empty()).then_some(next)
    }

    /// The documents of a window.
    fn documents(&self, window: DocId) -> Range<DocId> {
        let first = window * WINDOW;
        first..self.below.min(first.saturating_add(WINDOW))
    }

    /// Notes the pages of the windows behind the present one, as far as the round has room.
    fn note_later(
        &self,
        present: DocId,
        limits: PlaceLimits,
        all: &AllDocs,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let windows = self.below.div_ceil(WINDOW);
        for distance in 1..windows {
            let later = if self.is_backward {
                present.checked_sub(distance)
            } else {
                Some(present + distance).filter(|later| *later < windows)
            };
            let Some(later) = later.filter(|_| pages.reads_ahead() && pages.has_room()) else {
                break;
            };
            let range = self.documents(later);
            for (at, run) in self.keys.iter().enumerate() {
                run.note(all, &range, limits_of(at, limits), pages)?;
            }
        }
        Ok(())
    }

    fn show(
        &mut self,
        range: Range<DocId>,
        visitor: &mut dyn PlaceVisitor,
        all: &AllDocs,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let limits = visitor.limits();
        let read = for_all(self.keys.iter_mut().enumerate(), |(at, run)| {
            run.read(all, &range, limits_of(at, limits), pages)
        });
        if matches!(read, Err(Stop::Pages)) {
            self.note_later(range.start / WINDOW, limits, all, pages)?;
        }
        read?;
        let window = WindowPlaces {
            range,
            all,
            keys: &self.keys,
        };
        visitor.prepare(&window, pages)?;
        pages.count_steps(window.range.len() / 16)?;
        let begin = window.range.start / 64;
        for word in begin..window.range.end.div_ceil(64) {
            let reach = window.keys.first().map_or(u64::MAX, |first| {
                first.may_reach(limits.to, (word - begin) as usize)
            });
            let mut bits = all.docs.word(word as usize) & reach;
            while bits != 0 {
                let doc = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                visitor.take(doc, (doc - window.range.start) as usize, &window)?;
            }
        }
        Ok(())
    }
}

/// The limits of a key: only those of the first are known.
fn limits_of(key: usize, first: PlaceLimits) -> PlaceLimits {
    if key == 0 {
        first
    } else {
        PlaceLimits::default()
    }
}
