//! What queries would read if their data lay otherwise: modelled from what lists and documents
//! take.
//!
//! A run of bytes that begins anywhere in a page touches 1 + (bytes - 1) / page pages on average.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use gannet::Hit;
use gannet::diagnostics::{ChunkReport, ListReport, UsedPage};

use crate::Outcome;

/// Bytes of a page.
pub const PAGE: f64 = 4096.0;

/// Bytes of documents that are compressed together, as Lucene does by default.
const GROUP: u64 = 16 << 10;

/// Pages of one list when each kind of its data has a place of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Apart {
    /// Of documents and frequencies.
    pub docs: f64,
    /// Of positions.
    pub positions: f64,
}

/// What one list would read outside of the dictionary. Chunks that are too long to be read at once
/// read what they read now: they are in pages of one kind already.
pub fn apart(list: &ListReport, used: &[UsedPage]) -> Apart {
    let inline = list.entry_bytes - list.inline_position_bytes;
    let mut apart = Apart::default();
    if list.inline_postings > 0 {
        apart.docs += pages(inline as f64);
        apart.positions += pages(list.inline_position_bytes as f64);
    }
    for chunk in &list.chunks {
        if chunk.grouped {
            let positions = chunk.bytes - chunk.docs_bytes - chunk.filter_bytes;
            apart.docs += pages(f64::from(chunk.docs_bytes));
            apart.positions += pages(f64::from(positions));
        } else {
            let inside = used
                .iter()
                .filter(|page| is_within(page, chunk, chunk.bytes));
            apart.docs += inside.count() as f64;
        }
    }
    apart
}

/// Whether a page holds some of the first `bytes` of a chunk, which may begin anywhere in its first
/// page.
pub fn is_within(used: &UsedPage, chunk: &ChunkReport, bytes: u32) -> bool {
    let end = chunk.page + bytes.div_ceil(PAGE as u32) + 1;
    used.zone == chunk.zone && (chunk.page..end).contains(&used.page)
}

fn pages(bytes: f64) -> f64 {
    if bytes > 0.0 {
        1.0 + (bytes - 1.0) / PAGE
    } else {
        0.0
    }
}

/// The documents of a corpus, 16 KiB after 16 KiB, each such group compressed as a whole.
pub struct Groups {
    /// For each document, the group it is in.
    of: Vec<u32>,
    pages_each: f64,
}

impl Groups {
    /// The groups of JSON lines that take `stored` bytes in the index: groups are taken to compress
    /// as well.
    pub fn read(corpus: &Path, stored: u64) -> Outcome<Groups> {
        let (mut of, mut group, mut filled, mut all) = (Vec::new(), 0, 0, 0);
        for line in BufReader::with_capacity(1 << 20, File::open(corpus)?).split(b'\n') {
            let bytes = line?.len() as u64;
            of.push(group);
            (filled, all) = (filled + bytes, all + bytes);
            if filled >= GROUP {
                (group, filled) = (group + 1, 0);
            }
        }
        let groups = f64::from(group) + if filled > 0 { 1.0 } else { 0.0 };
        let pages_each = pages(stored as f64 / groups.max(1.0));
        Ok(Groups { of, pages_each })
    }

    /// Pages of all groups that hold a hit; documents are numbered as they stand in the corpus.
    pub fn pages(&self, hits: &[Hit]) -> f64 {
        let groups: HashSet<Option<&u32>> = hits
            .iter()
            .map(|hit| self.of.get(hit.doc as usize))
            .collect();
        groups.len() as f64 * self.pages_each
    }
}
