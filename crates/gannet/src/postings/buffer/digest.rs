//! Digests of postings: a number by which a check compares the postings of lists with those that
//! the stored documents give, without keeping either.
//!
//! A digest covers the term, the doc, the positions and what the phrase filter has of the tokens.
//! Sums of digests do not depend on the order of postings, and two sets of postings have the same
//! sum only by chance: each digest depends on all of its bits in a way that is not linear.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::invert::{InvertedBatch, InvertedTerm};
use crate::base::{DocId, Result};
use crate::postings::codec::fragment::{Fragment, put_posting};
use crate::postings::codec::tokens::Tokens;

/// A number for a term, from which the digests of its postings start.
pub fn term_digest(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    mix(hasher.finish() ^ key.len() as u64)
}

impl Tokens {
    /// Returns true if there is anything of a phrase filter.
    pub fn has_filter(&self) -> bool {
        self.filter.iter().any(|side| !side.is_empty())
    }

    /// The digest of a posting with these tokens, with or without what the filter has of them.
    pub fn digest(&self, term: u64, doc: DocId, with_filter: bool) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(term);
        hasher.write_u32(doc);
        self.positions.iter().for_each(|p| hasher.write_u32(*p));
        if with_filter {
            self.filter.iter().for_each(|side| hasher.write(side));
        }
        mix(hasher.finish())
    }
}

impl InvertedBatch {
    /// Shows the postings of each term to `visit`, by its key; documents have their numbers in the
    /// batch.
    pub fn each_term(&self, visit: &mut dyn FnMut(&[u8], &Fragment) -> Result<()>) -> Result<()> {
        self.terms
            .iter()
            .try_for_each(|term| visit(self.key(term), &self.fragment(term)))
    }

    fn fragment(&self, term: &InvertedTerm) -> Fragment {
        let (rest, positions) = self.streams(term);
        let mut docs = Vec::new();
        put_posting(&mut docs, term.first, term.first_frequency);
        docs.extend_from_slice(rest);
        Fragment {
            count: term.count,
            total_frequency: term.total_frequency as u64,
            last: term.last,
            filters: term.filters,
            docs,
            positions: positions.to_vec(),
            ..Fragment::default()
        }
    }
}

/// Spreads every bit over all others (the finalizer of MurmurHash3).
fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}
