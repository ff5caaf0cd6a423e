//! What every node of a query can do: say which documents match, in ascending order.
//!
//! All of it is resumable (see `cache::pages`): an operation that stops for pages is called again with the
//! same arguments. To advance to where a matcher already is, or to less, does nothing; that is what makes
//! nesting safe. Before it stops, a node lets each child that it needs anyway note its pages too, so that
//! one round serves all.

use super::matches::Matches;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step, Stop};

/// A set of documents in ascending order, with the frequencies of leaves.
pub trait Matcher: Send {
    /// The document it stands on; meaningful once it was advanced.
    fn doc(&self) -> DocId;

    /// Goes on to the first match at or after `target`, or to [`END`].
    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId>;

    /// Writes the frequencies of the leaves that match in the present document.
    fn collect(&mut self, frequencies: &mut [f32]);

    /// Notes the pages that advancing to each of `docs` will need, as far as the round has room.
    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()>;

    /// Notes the pages that going through the documents from `first` to `last` will surely need.
    fn prefetch_within(&mut self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()>;

    /// Writes upper bounds of the leaves' scores from `target` to the document given back, which ends what
    /// one page of the leading list says. Reads heads only.
    fn bound(&mut self, target: DocId, pages: &mut Pages<'_>, scores: &mut [f32]) -> Step<DocId>;

    /// Writes upper bounds of the leaves' scores for all documents from `from` to `to`.
    fn bound_within(
        &mut self,
        from: DocId,
        to: DocId,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()>;

    /// About how many documents match, at most.
    fn cost(&self) -> u64;

    /// About how many documents match, at least.
    fn cost_min(&self) -> u64 {
        0
    }
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

/// Takes matches of `source` from `target` on into `out`, until it holds `limit` or the source needs pages
/// or ends. Tells whether the source ended.
///
/// Stops for pages only when it has nothing to give.
pub fn fill(
    source: &mut dyn Matcher,
    target: DocId,
    limit: usize,
    out: &mut Matches,
    pages: &mut Pages<'_>,
) -> Step<bool> {
    let mut next = target;
    while out.len() < limit {
        match source.advance(next, pages) {
            Ok(END) => return Ok(true),
            Ok(doc) => {
                source.collect(out.push(doc));
                next = doc + 1;
            }
            Err(Stop::Pages) if !out.is_empty() => return Ok(false),
            Err(stop) => return Err(stop),
        }
    }
    Ok(false)
}
