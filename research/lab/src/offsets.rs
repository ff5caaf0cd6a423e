//! `gannet-lab offsets`: what offsets kept for snippets would cost, beside what it costs to analyze
//! the texts again.
//!
//! Offsets are taken to lie behind each other in the order of documents, one stream a word: for
//! each token the distance to the word's token before in the text, then the length, as varints.
//! Sizes are counted over the whole corpus, the pages that a query would read of them are MODELLED,
//! the time for snippets is measured with everything in memory.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gannet::{Analyzer, Index, Scratch, SearchOptions, Snapshot};
use serde_json::{Value, json};

use crate::Outcome;
use crate::queries::{self, Query};

/// The field of the queries.
const FIELD: &str = "body";

/// Bytes of a page.
const PAGE: u64 = 4096;

/// What is asked and how.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of an index
    index: PathBuf,
    /// Its corpus: JSON lines
    corpus: PathBuf,
    /// Lines of KIND<TAB>WORDS
    queries: PathBuf,
    /// The memory budget in bytes, enough for all that the queries need
    #[arg(long, default_value_t = 1 << 30)]
    memory: usize,
}

/// The offsets of one word.
#[derive(Default)]
struct Offsets {
    bytes: u64,
    /// The documents that have the word.
    docs: Vec<u32>,
}

/// The offsets of a corpus: of all words together, and of those that are asked for.
struct Sizes {
    bytes: u64,
    text_bytes: u64,
    words: HashMap<String, Offsets>,
}

/// Counts, asks all queries and prints the figures.
pub fn run(arguments: &Arguments) -> Outcome {
    let queries = queries::read(&arguments.queries)?;
    let index = Index::options().memory(arguments.memory);
    let index = index.read_only().open(&arguments.index)?;
    let sizes = Sizes::count(&arguments.corpus, &queries)?;
    let snapshot = index.snapshot();
    let plain = SearchOptions::default();
    let marked = SearchOptions {
        highlight: vec![FIELD.to_owned()],
        ..SearchOptions::default()
    };
    // Once for the frames.
    ask(&snapshot, &queries, &marked, &mut |_, _| ())?;
    let (mut pages, mut hits) = (0, 0);
    let fetched = ask(&snapshot, &queries, &plain, &mut |query, docs| {
        pages += sizes.pages(query, docs);
        hits += docs.len();
    })?;
    let with_snippets = ask(&snapshot, &queries, &marked, &mut |_, _| ())?;
    let each = |sum: f64| sum / queries.len() as f64;
    let bytes = index.stats()?.bytes;
    let figures = json!({
        "queries": queries.len(),
        "hits_per_query": each(hits as f64),
        "offset_bytes": sizes.bytes,
        "offset_bytes_to_text": sizes.bytes as f64 / sizes.text_bytes as f64,
        "offset_bytes_to_index": sizes.bytes as f64 / bytes.allocated as f64,
        "modelled_offset_pages_per_query": each(pages as f64),
        "us_per_query_with_documents": each(fetched.as_secs_f64() * 1e6),
        "us_per_query_with_snippets": each(with_snippets.as_secs_f64() * 1e6),
    });
    println!("{figures}");
    Ok(())
}

/// Asks one query after the other, shows the documents that each found, and gives the time that it
/// took.
fn ask(
    snapshot: &Snapshot,
    queries: &[Query],
    options: &SearchOptions,
    show: &mut dyn FnMut(&Query, &[u32]),
) -> Outcome<Duration> {
    let mut took = Duration::ZERO;
    for query in queries {
        let asked = [query.for_field(FIELD)];
        let started = Instant::now();
        let mut answers = snapshot.search_all(&asked, options);
        took += started.elapsed();
        let hits = answers.swap_remove(0)?.hits;
        let docs: Vec<u32> = hits.iter().map(|hit| hit.doc).collect();
        show(query, &docs);
    }
    Ok(took)
}

impl Sizes {
    fn count(corpus: &PathBuf, queries: &[Query]) -> Outcome<Sizes> {
        let words = queries.iter().flat_map(|query| query.words.split(' '));
        let mut sizes = Sizes {
            bytes: 0,
            text_bytes: 0,
            words: words
                .map(|word| (word.to_owned(), Offsets::default()))
                .collect(),
        };
        let (analyzer, mut scratch) = (Analyzer::named("standard")?, Scratch::default());
        for (doc, line) in (0..).zip(BufReader::new(File::open(corpus)?).lines()) {
            let line = line?;
            sizes.text_bytes += line.len() as u64 + 1;
            let document: Value = serde_json::from_str(&line)?;
            let mut last: HashMap<Box<str>, usize> = HashMap::new();
            analyzer.analyze(
                document[FIELD].as_str().unwrap_or(""),
                &mut scratch,
                |token| {
                    let before = last.insert(token.text.into(), token.start);
                    let distance = token.start - before.unwrap_or(0);
                    let bytes = varint_length(distance) + varint_length(token.end - token.start);
                    sizes.bytes += bytes;
                    if let Some(word) = sizes.words.get_mut(token.text) {
                        word.bytes += bytes;
                        if before.is_none() {
                            word.docs.push(doc);
                        }
                    }
                },
            );
        }
        Ok(sizes)
    }

    /// The pages with the offsets of a query's words in these documents, each posting taking as
    /// much as the word's mean.
    fn pages(&self, query: &Query, docs: &[u32]) -> usize {
        let words = query.words.split(' ').enumerate();
        let pages = words.flat_map(|(number, word)| {
            let offsets = &self.words[word];
            let places = docs
                .iter()
                .filter_map(|doc| offsets.docs.binary_search(doc).ok());
            let page = |place| place as u64 * offsets.bytes / offsets.docs.len() as u64 / PAGE;
            places.map(move |place| (number, page(place)))
        });
        pages.collect::<HashSet<_>>().len()
    }
}

fn varint_length(number: usize) -> u64 {
    let bits = usize::BITS - number.leading_zeros();
    bits.div_ceil(7).max(1) as u64
}
