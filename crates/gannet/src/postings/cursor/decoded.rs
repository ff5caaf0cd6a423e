//! The block that a cursor stands in, decoded.

use crate::base::{DocId, Result};
use crate::postings::codec::block::{BLOCK, Numbers};
use crate::postings::codec::docs_page::DocsPage;

/// Docs after the current one among which a target is looked for first.
const NEAR: usize = 16;

/// The block that the cursor stands in.
#[derive(Clone, Debug)]
pub(super) struct Decoded {
    pub(super) docs: Box<Numbers>,
    pub(super) frequencies: Box<Numbers>,
    pub(super) has_frequencies: bool,
    /// The block's ordinal in its page.
    pub(super) block: usize,
    pub(super) at: usize,
    pub(super) length: usize,
}

impl Default for Decoded {
    fn default() -> Decoded {
        Decoded {
            docs: Box::new([0; BLOCK]),
            frequencies: Box::new([0; BLOCK]),
            has_frequencies: false,
            block: 0,
            at: 0,
            length: 0,
        }
    }
}

impl Decoded {
    /// The first place from the current on with a doc `>= target`.
    #[inline]
    pub(super) fn find(&self, target: DocId) -> Option<usize> {
        let rest = &self.docs[self.at.min(self.length)..self.length];
        match rest.last() {
            Some(last) if *last >= target => Some(self.at + place(rest, target)),
            _ => None,
        }
    }

    pub(super) fn load(&mut self, page: &DocsPage, block: usize) -> Result<()> {
        self.length = 0;
        self.has_frequencies = page.docs(block, &mut self.docs, &mut self.frequencies)?;
        self.block = block;
        self.at = 0;
        self.length = page.blocks()[block].count as usize;
        Ok(())
    }
}

/// The place of the first doc `>= target`: counted among the next few, where most targets are,
/// which takes no branch that can be mispredicted; else searched for.
#[inline]
fn place(docs: &[DocId], target: DocId) -> usize {
    match docs.get(..NEAR) {
        Some(near) if near[NEAR - 1] >= target => near.iter().filter(|doc| **doc < target).count(),
        _ => docs.partition_point(|doc| *doc < target),
    }
}
