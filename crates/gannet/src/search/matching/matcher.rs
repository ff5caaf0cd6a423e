//! What every node of a query can do: say which documents match, in ascending order.
//!
//! All of it is resumable (see `cache::pages`): an operation that stops for pages is called again
//! with the same arguments. To advance to where a matcher already is, or to less, does nothing;
//! that is what makes nesting safe. Before it stops, a node lets each child that it needs anyway
//! note its pages too, so that one round serves all.

use super::matches::Filtering;
use super::matches::Matches;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::documents::NormCursor;
use crate::search::scoring::formula::LeafId;
use crate::search::scoring::top::Top;

/// What giving out a block of a list costs, in steps.
pub const BLOCK_STEPS: usize = 32;

/// What a matcher does with a candidate that another gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The candidate must match.
    Required,
    /// The candidate must not match.
    Excluded,
    /// The candidate stays either way; a match adds to its score.
    Optional,
}

/// Where documents go that are scored as soon as they are found.
pub struct Offers<'a> {
    /// The best documents so far.
    pub top: &'a mut Top,
    /// How many documents were offered, or could not enter.
    pub seen: u64,
    /// Whether there are others that were passed over.
    pub passed_over: bool,
}

/// A set of documents in ascending order, with the frequencies of leaves.
pub trait Matcher: Send {
    /// The document it stands on; meaningful once it was advanced.
    fn doc(&self) -> DocId;

    /// Goes on to the first match at or after `target`, or to [`END`].
    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId>;

    /// The leaf of which [`Matcher::skip_below`] means the score, if it can do that.
    fn leading_leaf(&self) -> Option<LeafId> {
        None
    }

    /// Lets [`Matcher::gather`] leave out documents in which its leading leaf scores at most
    /// `floor`. Tells whether it may do so.
    fn skip_below(&mut self, floor: f32) -> bool {
        let _ = floor;
        false
    }

    /// Lets it leave documents out by their own scores too, not only by bounds of many, where
    /// `norms` of the leading leaf's field are at hand: worth while where what passes costs more
    /// than that, as for the leader of an intersection.
    fn prefilter(&mut self, norms: NormCursor) {
        let _ = norms;
    }

    /// The end of a stretch from `target` on that [`Matcher::skip_below`] lets be left out.
    fn skippable(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        let _ = (target, pages);
        Ok(None)
    }

    /// Gives out matches at hand up to `to`: the present one, and at most `most` in all; gives the
    /// next document.
    fn give(&mut self, to: DocId, most: usize, out: &mut Matches, pages: &mut Pages<'_>) -> DocId {
        let (doc, at, _) = (self.doc(), out.len(), (to, most, pages));
        out.push(doc);
        out.collect(at, |row| self.collect(row));
        doc.saturating_add(1)
    }

    /// Takes matches from `from` to `to` into `out` until it holds `limit`, and gives the first
    /// document not looked at. Stops for pages only when it took nothing. Compiled for each kind of
    /// matcher, so that its loop calls no other through a table.
    fn gather(
        &mut self,
        from: DocId,
        to: DocId,
        limit: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        gather(self, from, to, limit, out, pages)
    }

    /// Offers documents from `from` to `to` whose scores are those of its leaf, as far as it can
    /// tell them at once, and takes the others into `left` until it holds `limit`. As
    /// [`Matcher::gather`] otherwise.
    fn offer(
        &mut self,
        (from, to): (DocId, DocId),
        limit: usize,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let mut next = from;
        while left.len() < limit && next <= to {
            pages.count_steps(BLOCK_STEPS)?;
            self.skip_below(offers.top.threshold());
            next = match look(self, next, to, pages) {
                Ok(NextFound::PassedOver(next)) => {
                    offers.passed_over = true;
                    next
                }
                Ok(NextFound::Beyond) => to.saturating_add(1),
                Ok(NextFound::Here) => self.offer_block(to, offers, left, pages),
                Err(Stop::Pages) if next > from => break,
                Err(stop) => return Err(stop),
            }
        }
        Ok(next)
    }

    /// [`Matcher::offer`] of the matches at hand up to `to`; gives the next document.
    fn offer_block(
        &mut self,
        to: DocId,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> DocId {
        offers.passed_over |= self.skip_below(offers.top.threshold());
        self.give(to, usize::MAX, left, pages)
    }

    /// Lets [`Matcher::gather`] give documents that only may match, with the most that their
    /// frequencies can be. Tells whether it does so; each document that counts must then be
    /// confirmed.
    fn be_approximate(&mut self) -> bool {
        false
    }

    /// Begins to confirm documents, in ascending order from any on.
    fn begin_confirming(&mut self) {}

    /// Writes the frequencies of a document that was given by an approximation: zeros if it does
    /// not match.
    fn confirm(&mut self, doc: DocId, row: &mut [f32], pages: &mut Pages<'_>) -> Step<()> {
        let _ = (doc, row, pages);
        Ok(())
    }

    /// Notes the pages that confirming each of `docs` will need, as far as the round has room.
    fn prefetch_confirming(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        let _ = (docs, pages);
        Ok(())
    }

    /// Whether a candidate matches that another gave.
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
        filter(self, role, ahead, ahead.len(), state, pages)
    }

    /// Writes the frequencies of the leaves that match in the present document.
    fn collect(&mut self, frequencies: &mut [f32]);

    /// Notes the pages that advancing to each of `docs` will need, as far as the round has room.
    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()>;

    /// Notes the pages that going through the documents from `first` to `last` will surely need.
    fn prefetch_within(&mut self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()>;

    /// Reads the heads of all lists in one round. If the `whole` of the documents will be gone
    /// through, notes with them the pages that this will surely need, as far as they are known
    /// without heads.
    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        let _ = (whole, pages);
        Ok(())
    }

    /// About how many pages [`Matcher::prefetch_within`] goes through in all.
    fn docs_pages(&self) -> u64 {
        0
    }

    /// Writes upper bounds of the leaves' scores from `target` to the document given back, which
    /// ends what one page of the leading list says. Reads heads only.
    fn bound(&mut self, target: DocId, pages: &mut Pages<'_>, scores: &mut [f32]) -> Step<DocId>;

    /// Writes upper bounds of the leaves' scores for all documents from `from` to `to`.
    fn bound_within(
        &mut self,
        from: DocId,
        to: DocId,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()>;

    /// Writes closer upper bounds than [`Matcher::bound_within`] if pages with these documents
    /// tell: those at hand or, for a matcher that `leads`, those that it will read anyway. Tells
    /// whether it did.
    fn bound_near(
        &mut self,
        (from, to): (DocId, DocId),
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        let _ = (from, to, leads, pages, scores);
        Ok(false)
    }

    /// The end of the block that holds `target` or what follows it, of the list that leads.
    fn block_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        let _ = (target, pages);
        Ok(None)
    }

    /// Bytes that its buffers take at most, those of what it is made of included; cursors apart.
    fn buffer_bytes(&self) -> usize {
        0
    }

    /// About how many documents match, at most.
    fn cost(&self) -> u64;

    /// How many documents match, deleted ones included, if that is known without a look at them.
    fn documents(&self) -> Option<u64> {
        None
    }

    /// About how many documents match, at least.
    fn cost_min(&self) -> u64 {
        0
    }
}

/// What is from a document on.
enum NextFound {
    /// A stretch that may be left out, up to this document.
    PassedOver(DocId),
    /// No match in the range.
    Beyond,
    /// A match, on which the matcher stands.
    Here,
}

/// Looks for the first match from `next` to `to`.
#[inline]
fn look<M: Matcher + ?Sized>(
    matcher: &mut M,
    next: DocId,
    to: DocId,
    pages: &mut Pages<'_>,
) -> Step<NextFound> {
    if let Some(last) = matcher.skippable(next, pages)? {
        return Ok(NextFound::PassedOver(last.saturating_add(1)));
    }
    Ok(match matcher.advance(next, pages)? {
        doc if doc > to => NextFound::Beyond,
        _ => NextFound::Here,
    })
}

/// What [`Matcher::gather`] does unless a matcher knows better.
#[inline]
pub fn gather<M: Matcher + ?Sized>(
    matcher: &mut M,
    from: DocId,
    to: DocId,
    limit: usize,
    out: &mut Matches,
    pages: &mut Pages<'_>,
) -> Step<DocId> {
    let (before, mut next) = (out.len(), from);
    while out.len() < limit && next <= to {
        pages.count_steps(BLOCK_STEPS)?;
        next = match look(matcher, next, to, pages) {
            Ok(NextFound::PassedOver(next)) => next,
            Ok(NextFound::Beyond) => to.saturating_add(1),
            Ok(NextFound::Here) => matcher.give(to, limit - out.len(), out, pages),
            Err(Stop::Pages) if out.len() > before => break,
            Err(stop) => return Err(stop),
        }
    }
    Ok(next)
}

/// What [`Matcher::filter`] does, up to the candidate at `end`, unless a matcher knows better.
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
