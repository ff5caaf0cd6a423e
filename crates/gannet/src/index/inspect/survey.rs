//! A survey of all postings lists: where their bytes are, by how many documents have the term. And
//! of all trees: how full their leaves are.

use crate::base::{PAGE_PAYLOAD, Result};
use crate::btree::{TreeView, fill};
use crate::cache::{FramePool, Pages, finish};
use crate::columns::column_bytes;
use crate::index::handle::Index;
use crate::postings::{ChunkRef, DELTA_LEVELS, Layout, TermEntry, TermTree};

/// The lists of terms in 10^n to 10^(n + 1) - 1 documents, for display. Sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListsReport {
    /// The fewest documents, 10^n.
    pub documents_from: u64,
    /// The number of lists.
    pub lists: u64,
    /// The number of lists that have no chunk: they are their entries.
    pub inline_lists: u64,
    /// Postings, in chunks or not.
    pub postings: u64,
    /// Keys and entries in the dictionary's leaves, before the keys are cut.
    pub entry_bytes: u64,
    /// Chunks.
    pub chunks: u64,
    /// Of these, how many are grouped.
    pub grouped_chunks: u64,
    /// Of these, how many have filter and positions apart from the rest.
    pub apart_chunks: u64,
    /// Heads, documents and frequencies of chunks.
    pub docs_bytes: u64,
    /// Phrase filters of chunks.
    pub filter_bytes: u64,
    /// Positions of chunks.
    pub position_bytes: u64,
    /// The bytes left free behind split chunks, if each ends a page.
    pub padding_bytes: u64,
}

/// The share of its leaves' bytes that each tree uses; none if it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FillReport {
    /// Of the tree of lists of frequent words.
    pub frequent_lists: Option<f64>,
    /// Of that of other lists that have chunks.
    pub long_lists: Option<f64>,
    /// Of that of lists that have none.
    pub short_lists: Option<f64>,
    /// Of those of delta postings, the newest first.
    pub delta_postings: [Option<f64>; DELTA_LEVELS],
    /// Of the runs of external IDs.
    pub ids: Option<f64>,
    /// Of the tree of columns.
    pub columns: Option<f64>,
}

impl Index {
    /// Measures the fill of the leaves of the trees. Reads all nodes.
    pub fn fill(&self) -> Result<FillReport> {
        let state = self.shared().published.get();
        let pool = &self.shared().pool;
        let of_terms = |tree| fill([state.terms.tree(tree)], pool);
        let mut report = FillReport {
            frequent_lists: of_terms(TermTree::Frequent)?,
            long_lists: of_terms(TermTree::Long)?,
            short_lists: of_terms(TermTree::Short)?,
            ids: fill(state.ids.trees(), pool)?,
            columns: fill([state.column_tree.tree()], pool)?,
            ..FillReport::default()
        };
        for (level, fill) in report.delta_postings.iter_mut().enumerate() {
            *fill = of_terms(TermTree::Delta(level))?;
        }
        Ok(report)
    }

    /// The bytes of keys and values that each column takes on flash, by its name, in the order in
    /// which columns were made. Reads all nodes of the tree of columns.
    pub fn column_bytes(&self) -> Result<Vec<(String, u64)>> {
        let shared = self.shared();
        let state = shared.published.get();
        let mut pages = Pages::new(&shared.pool);
        let bytes = column_bytes(&state.column_tree, &mut pages)?;
        let names = (0..).map(|id| state.columns.name(id, &state.schema));
        let count = state.columns.all().len();
        let named = names.take(count).enumerate().filter_map(|(id, name)| {
            let bytes = bytes.get(id).copied().unwrap_or_default();
            Some((name?, bytes))
        });
        Ok(named.collect())
    }

    /// The postings lists on flash, summed up for each power of ten, without delta postings. Reads
    /// the whole dictionary.
    pub fn lists(&self) -> Result<Vec<ListsReport>> {
        let terms = self.shared().published.get().terms.clone();
        let mut reports = Vec::new();
        for tree in TermTree::LISTS {
            survey(terms.tree(tree), &self.shared().pool, &mut reports)?;
        }
        Ok(reports)
    }
}

fn survey(tree: &TreeView, pool: &FramePool, reports: &mut Vec<ListsReport>) -> Result<()> {
    let mut pages = Pages::new(pool);
    let mut scan = tree.scan(&[]);
    while finish(&mut pages, |pages| scan.advance(tree, pages))? {
        pages.trim();
        let entry = TermEntry::decode(scan.value())?;
        let power = entry.document_frequency().max(1).ilog10();
        while reports.len() <= power as usize {
            reports.push(ListsReport {
                documents_from: 10u64.pow(reports.len() as u32),
                ..ListsReport::default()
            });
        }
        reports[power as usize].add(scan.key(), scan.value(), &entry);
    }
    Ok(())
}

impl ListsReport {
    fn add(&mut self, key: &[u8], value: &[u8], entry: &TermEntry) {
        self.lists += 1;
        self.inline_lists += u64::from(entry.chunks.is_empty());
        self.postings += entry.document_frequency();
        self.entry_bytes += (key.len() + value.len()) as u64;
        entry.chunks.iter().for_each(|chunk| self.add_chunk(chunk));
    }

    fn add_chunk(&mut self, chunk: &ChunkRef) {
        let filter = chunk.filter();
        self.chunks += 1;
        self.apart_chunks += u64::from(chunk.place.back.is_some());
        self.docs_bytes += chunk.docs_length as u64;
        self.filter_bytes += filter.end - filter.start;
        self.position_bytes += chunk.length() as u64 - filter.end;
        match chunk.layout {
            Layout::Grouped => self.grouped_chunks += 1,
            Layout::Split => {
                let bytes = chunk.length() as u64;
                self.padding_bytes += bytes.next_multiple_of(PAGE_PAYLOAD as u64) - bytes;
            }
        }
    }
}
