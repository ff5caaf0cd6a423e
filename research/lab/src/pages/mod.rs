//! `gannet-lab pages`: what queries read beside what they could not do without.
//!
//! The pages that each query used are recorded, in memory or not. From the sequence follows how
//! many reads the same pages need at least with the same memory (`least`). From the lists follows
//! how many bytes the query needs, however they lie. What another layout reads `gannet-lab wiser`
//! tells, which builds it.

mod least;

use std::collections::HashSet;
use std::path::PathBuf;

use gannet::diagnostics::{ChunkReport, ListReport, UsedPage};
use gannet::{Index, PageKind, SearchOptions, Snapshot};
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::queries::{self, Kind, Query};
use least::least_reads;

/// The field of the queries.
const FIELD: &str = "body";

/// Bytes of a page.
const PAGE: f64 = 4096.0;

/// What is asked and how.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of an index
    index: PathBuf,
    /// Lines of KIND<TAB>WORDS
    queries: PathBuf,
    /// The memory budget in bytes
    #[arg(long)]
    memory: usize,
}

/// What all queries used and needed, added up.
#[derive(Default)]
struct Sums {
    read_bytes: u64,
    /// Bytes that opening the index read. Queries find these pages in memory, and use them.
    opening_bytes: u64,
    uses: Vec<(u32, u32)>,
    kinds: Map<String, Value>,
    needed_bytes: u64,
    needed_pages: u64,
    /// Leaves of the dictionary and pages of lists.
    lists: u64,
}

/// Asks all queries once, one after the other, and prints the figures.
pub fn run(arguments: &Arguments) -> Outcome {
    let queries = queries::read(&arguments.queries)?;
    let index = Index::options().memory(arguments.memory);
    let index = index.read_only().open(&arguments.index)?;
    let opening_bytes = index.counters().read_bytes;
    let snapshot = index.snapshot();
    let options = SearchOptions {
        fetch: false,
        list_pages: true,
        ..SearchOptions::default()
    };
    // Asked in one go: looking lists up between would read pages.
    let asked = ask(&snapshot, &queries, &options)?;
    let counted = asked.iter().map(|asked| asked.read_bytes).sum::<u64>();
    let read_bytes = index.counters().read_bytes - opening_bytes;
    if counted != read_bytes {
        return Err(format!(
            "the device read {read_bytes} bytes for queries that count {counted}; this is a defect"
        )
        .into());
    }
    let mut sums = Sums {
        opening_bytes,
        ..Sums::default()
    };
    for (query, asked) in queries.iter().zip(&asked) {
        let lists = query.words.split(' ').map(|word| index.list(FIELD, word));
        let lists: Vec<ListReport> = lists
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        sums.add(query, asked, &lists);
    }
    println!("{}", sums.figures(&queries, arguments.memory)?);
    Ok(())
}

/// What is kept of the results of a query, which hold memory of the index's budget.
struct Asked {
    read_bytes: u64,
    pages: Vec<UsedPage>,
}

fn ask(
    snapshot: &Snapshot,
    queries: &[Query],
    options: &SearchOptions,
) -> gannet::Result<Vec<Asked>> {
    let each = queries.iter().map(|query| {
        let query = [query.for_field(FIELD)];
        let results = snapshot.search_all(&query, options).swap_remove(0)?;
        Ok(Asked {
            read_bytes: results.io.bytes,
            pages: results.pages,
        })
    });
    each.collect()
}

impl Sums {
    fn add(&mut self, query: &Query, asked: &Asked, lists: &[ListReport]) {
        self.read_bytes += asked.read_bytes;
        let mut seen = HashSet::new();
        let used = asked.pages.iter().copied();
        let used: Vec<UsedPage> = used
            .filter(|page| seen.insert((page.zone, page.page)))
            .collect();
        self.uses
            .extend(used.iter().map(|page| (page.zone, page.page)));
        for page in &used {
            let count = self.kinds.entry(name(page, lists)).or_insert(json!(0));
            *count = json!(count.as_u64().unwrap_or(0) + 1);
        }
        // Above the leaves the dictionary is a few pages, which no other layout would change.
        let postings = used.iter().filter(|page| page.kind == PageKind::Postings);
        self.lists += (lists.len() + postings.count()) as u64;
        if query.kind == Kind::Term {
            let needed = lists.iter().map(needed_bytes).sum::<u64>();
            self.needed_bytes += needed;
            self.needed_pages += needed.div_ceil(PAGE as u64);
        }
    }

    fn figures(&self, queries: &[Query], memory: usize) -> Outcome<Value> {
        let each = |total: f64| total / queries.len() as f64;
        let pages = |count: u64| each(count as f64);
        let frames = memory / PAGE as usize;
        let (read, opening) = (
            self.read_bytes as f64 / PAGE,
            self.opening_bytes as f64 / PAGE,
        );
        let least = least_reads(&self.uses, frames);
        // Each page was read by the opening or by a query before it was used.
        if read + opening < least as f64 {
            return Err(format!(
                "{read} pages were read by queries and {opening} by the opening, and {least} is the \
                 least: some reads are not counted; this is a defect"
            )
            .into());
        }
        let all_terms = queries.iter().all(|query| query.kind == Kind::Term);
        let of_lists = |figure: f64| all_terms.then_some(figure);
        let kinds = self.kinds.iter();
        let kinds =
            kinds.map(|(name, count)| (name.clone(), json!(pages(count.as_u64().unwrap_or(0)))));
        Ok(json!({
            "queries": queries.len(),
            "opening_pages": opening,
            "read_pages_per_query": each(read),
            "least_pages_per_query": pages(least),
            "read_to_least": (read + opening) / least as f64,
            "used_pages_per_query": pages(self.uses.len() as u64),
            "used_pages_per_query_by_kind": kinds.collect::<Map<String, Value>>(),
            "needed_bytes_per_query": of_lists(pages(self.needed_bytes)),
            "needed_pages_per_query": of_lists(pages(self.needed_pages)),
            "read_to_needed": of_lists(read / self.needed_pages as f64),
            "list_pages_per_query": pages(self.lists),
            "settings": {"memory_bytes": memory},
        }))
    }
}

/// The compressed bytes that a query of one term needs wherever they lie: the entry, documents and
/// frequencies of the whole list, a norm for each document.
fn needed_bytes(list: &ListReport) -> u64 {
    let entry = (list.entry_bytes - list.inline_position_bytes) as u64;
    let chunks = list.chunks.iter().map(|chunk| u64::from(chunk.docs_bytes));
    entry + chunks.sum::<u64>() + list.document_frequency
}

/// What a page holds. A page with several kinds of a list's data counts for the first of them.
/// Filters and positions that lie apart from their documents are not told from each other.
fn name(page: &UsedPage, lists: &[ListReport]) -> String {
    let is_of = |bytes: fn(&ChunkReport) -> u32| {
        let mut chunks = lists.iter().flat_map(|list| &list.chunks);
        chunks.any(|chunk| is_within(page, chunk, bytes(chunk)))
    };
    match page.kind {
        PageKind::Node => "dictionary",
        PageKind::Postings if is_of(|chunk| chunk.docs_bytes) => "list_docs",
        PageKind::Postings if is_of(|chunk| chunk.docs_bytes + chunk.filter_bytes) => {
            "list_filters"
        }
        PageKind::Postings if is_of(|chunk| chunk.bytes) => "list_positions",
        PageKind::Postings => "list_filters_and_positions",
        PageKind::Table => "tables",
        PageKind::Log | PageKind::Documents => "documents",
        PageKind::RootSlot | PageKind::Root => "roots",
    }
    .to_owned()
}

/// Whether a page holds some of the first `bytes` of a chunk, which may begin anywhere in its first
/// page.
fn is_within(used: &UsedPage, chunk: &ChunkReport, bytes: u32) -> bool {
    let end = chunk.page + bytes.div_ceil(PAGE as u32) + 1;
    used.zone == chunk.zone && (chunk.page..end).contains(&used.page)
}
