//! State that all nodes of a run use.

use crate::memory::Ledger;

/// The memory and the state of a pass.
pub(crate) struct Context<'m> {
    pub(crate) ledger: Ledger<'m>,
    /// Documents of this pass so far.
    pub(crate) documents: u64,
    /// If all buckets are kept, so that states merge.
    pub(crate) is_whole: bool,
    /// Where memory was short first.
    pub(crate) short: Option<Short>,
}

/// A failure for want of memory: what was wanted there, after how many documents of a pass.
#[derive(Clone, Debug)]
pub(crate) struct Short {
    pub(crate) aggregation: String,
    pub(crate) wanted: usize,
    pub(crate) documents: u64,
}

impl Context<'_> {
    /// Notes where memory was short first.
    pub(crate) fn note_short(&mut self, aggregation: &str) {
        if self.short.is_none() {
            self.short = Some(Short {
                aggregation: aggregation.to_owned(),
                wanted: self.ledger.rejected(),
                documents: self.documents,
            });
        }
    }
}
