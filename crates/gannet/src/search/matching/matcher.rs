//! The interface of every node of a query: it steps through matching documents in ascending order.
//!
//! [`Matcher`] is the cursor. What it costs is told by two traits besides, whose methods do nothing
//! unless a node knows better: [`ScoreBounds`] says what documents can score before they are read,
//! [`PagePrefetch`] notes pages before they are needed. A node led by one list hands that list out
//! as a [`LeadingList`].
//!
//! All of it is resumable (see `cache::pages`): an operation that stops for pages is called again
//! with the same arguments. To advance to where a matcher already is, or to less, does nothing;
//! that is what makes nesting safe. Before it stops, a node lets each child that it needs anyway
//! note its pages too, so that one round serves all.

use super::matches::{DocRange, Filtering, Matches};
use super::scored::{ListScore, Offers};
use crate::base::{DocId, END};
use crate::cache::{Pages, Step, Stop};

/// The cost of giving out a block of a list, in steps.
pub const BLOCK_STEPS: usize = 32;

/// The use that a matcher makes of a candidate of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The candidate must match.
    Required,
    /// The candidate must not match.
    Excluded,
    /// The candidate stays either way; a match adds to its score.
    Optional,
}

/// A set of documents in ascending order, with the frequencies of leaves.
pub trait Matcher: ScoreBounds + PagePrefetch + Send {
    /// The document it stands on; meaningful once it was advanced.
    fn doc(&self) -> DocId;

    /// Goes on to the first match at or after `target`, or to [`END`].
    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId>;

    /// Writes the frequencies of the leaves that match in the present document.
    fn collect(&mut self, frequencies: &mut [f32]);

    /// About how many documents match, at most.
    fn cost(&self) -> u64;

    /// About how many documents match, at least.
    fn cost_min(&self) -> u64 {
        0
    }

    /// The number of matching documents, deleted ones included, if it is known without a look at
    /// them.
    fn documents(&self) -> Option<u64> {
        None
    }

    /// Bytes that its buffers take at most, those of what it is made of included; cursors apart.
    fn buffer_bytes(&self) -> usize {
        0
    }

    /// Takes matches of a range into `out` until it holds `limit`, and gives the first
    /// document not looked at. Stops for pages only when it took nothing. Compiled for each kind of
    /// matcher, so that its loop calls no other through a table.
    fn gather(
        &mut self,
        range: DocRange,
        limit: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (before, mut next) = (out.len(), range.first);
        while out.len() < limit && next <= range.last {
            pages.count_steps(BLOCK_STEPS)?;
            next = match self.advance(next, pages) {
                Ok(doc) if doc > range.last => range.last.saturating_add(1),
                Ok(doc) => {
                    let at = out.len();
                    out.push(doc);
                    out.collect(at, |row| self.collect(row));
                    doc.saturating_add(1)
                }
                Err(Stop::Pages) if out.len() > before => break,
                Err(stop) => return Err(stop),
            }
        }
        Ok(next)
    }

    /// Reports whether a candidate of another matcher matches.
    fn matches(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        Ok(self.advance(doc, pages)? == doc)
    }

    /// Asks for candidates that were not checked yet, and drops those that `role` rules out.
    fn filter(
        &mut self,
        role: Role,
        ahead: &mut Matches,
        state: &mut Filtering,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let end = ahead.len();
        filter(self, role, ahead, end, state, pages)
    }

    /// The list that leads, if one does whose documents may be left out by their scores.
    fn list(&mut self) -> Option<&mut dyn LeadingList> {
        None
    }
}

/// Upper bounds of the scores of the documents ahead.
pub trait ScoreBounds {
    /// The last document from `target` on of what one page of the leading list holds. Reads heads
    /// only.
    fn page_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let _ = (target, pages);
        Ok(END)
    }

    /// Writes upper bounds of the leaves' scores for all documents of a range. Reads heads only.
    fn bound_within(
        &mut self,
        range: DocRange,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()>;

    /// The end of the block that holds `target` or what follows it, of the list that leads.
    fn block_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        let _ = (target, pages);
        Ok(None)
    }

    /// Writes closer upper bounds than [`ScoreBounds::bound_within`] if pages with these documents
    /// tell: those at hand or, for a matcher that `leads`, those that it will read anyway. Tells
    /// whether it did.
    fn bound_near(
        &mut self,
        range: DocRange,
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        let _ = (range, leads, pages, scores);
        Ok(false)
    }
}

/// Notes pages that will be needed, as far as the round has room.
pub trait PagePrefetch {
    /// Reads the heads of all lists in one round. If the `whole` of the documents will be gone
    /// through, notes with them the pages that this will surely need, as far as they are known
    /// without heads.
    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        let _ = (whole, pages);
        Ok(())
    }

    /// Notes the pages that advancing to each of `docs` will need.
    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        let _ = (docs, pages);
        Ok(())
    }

    /// Notes the pages that going through the documents of a range will surely need.
    fn prefetch_within(&mut self, range: DocRange, pages: &mut Pages<'_>) -> Step<()> {
        let _ = (range, pages);
        Ok(())
    }

    /// About how many pages [`PagePrefetch::prefetch_within`] goes through in all.
    fn docs_pages(&self) -> u64 {
        0
    }
}

/// The list that leads a node. What it leaves out by score, the node leaves out.
pub trait LeadingList {
    /// The scores of its documents, which also decide what [`Matcher::gather`] leaves out.
    fn score(&mut self) -> &mut ListScore;

    /// Offers documents of a range whose scores are those of its leaf, as far as it can tell them
    /// at once, and takes the others into `left` until it holds `limit`. As [`Matcher::gather`]
    /// otherwise.
    fn offer(
        &mut self,
        range: DocRange,
        limit: usize,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId>;
}

/// Asks for the candidates up to `end` that were not checked yet, one after the other, and drops
/// those that `role` rules out.
#[inline]
pub fn filter<M: Matcher + ?Sized>(
    matcher: &mut M,
    role: Role,
    ahead: &mut Matches,
    end: usize,
    state: &mut Filtering,
    pages: &mut Pages<'_>,
) -> Step<()> {
    pages.count_steps(end - state.checked)?;
    while state.checked < end {
        let matches = matcher.matches(ahead.docs()[state.checked], pages)?;
        if matches && role != Role::Excluded {
            ahead.collect(state.checked, |row| matcher.collect(row));
        }
        if role == Role::Optional || matches == (role == Role::Required) {
            ahead.shift(state.checked, state.kept);
            state.kept += 1;
        }
        state.checked += 1;
    }
    Ok(())
}

/// Does `act` for every one of `items`, also after one stopped for pages, and then stops.
pub fn for_all<T>(
    items: impl IntoIterator<Item = T>,
    mut act: impl FnMut(T) -> Step<()>,
) -> Step<()> {
    let mut complete = true;
    for item in items {
        match act(item) {
            Ok(()) => {}
            Err(Stop::Pages) => complete = false,
            Err(failed) => return Err(failed),
        }
    }
    if complete { Ok(()) } else { Err(Stop::Pages) }
}
