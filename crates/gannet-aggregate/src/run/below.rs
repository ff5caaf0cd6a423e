//! The needs of an aggregation of buckets of those below it.

use super::context::Context;
use crate::batch::{Chunk, Pair, Pairs};
use crate::memory::{Full, Ledger};
use crate::state::MetricState;

/// An aggregation below another.
pub(crate) trait Below {
    /// Returns if a pass is wanted here or below.
    fn wants_pass(&self) -> bool;

    /// Reads the documents of a chunk that are in buckets above.
    fn collect(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: Pairs<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Full>;

    /// Drops what was collected, to collect anew.
    fn clear(&mut self, context: &mut Context<'_>);

    /// Returns what a metric found that orders the buckets above, none of others.
    fn ordering(&self) -> Option<&[MetricState]>;

    /// Takes over what was found before for other numbers of buckets.
    fn settle(&mut self, found: Vec<MetricState>, ledger: &mut Ledger<'_>) -> Result<(), Full>;
}

/// Hands documents down to all that want a pass.
pub(super) fn lead_on(
    chunk: &Chunk<'_>,
    pairs: &[Pair],
    children: &mut [impl Below],
    context: &mut Context<'_>,
) -> Result<(), Full> {
    let mut wanting = children.iter_mut().filter(|child| child.wants_pass());
    wanting.try_for_each(|child| child.collect(chunk, Pairs::found(pairs), context))
}

/// Returns what each metric found that orders the buckets above.
pub(super) fn ordering(children: &[impl Below]) -> impl Iterator<Item = &[MetricState]> {
    children.iter().filter_map(Below::ordering)
}
