//! `gannet-lab wiser`: the techniques of the WiSER paper built as published, each on and off.
//! Source: He et al., "Read as needed: building WiSER, a flash-optimized search engine", 2020.
//!
//! [`code`] codes lists as the paper has them, with positions, offsets and two Bloom filters a
//! posting. [`lists`] lays them out in files, grouped or by stage, and [`documents`] stores texts
//! alone or in groups. [`pages`] reads a page when it is needed. [`query`] answers queries from the
//! files. All ways are in one folder, on one corpus, with one code for queries, so that two cases
//! differ in what their names say. The answers of all cases must be the same.
//!
//! What a case reads is counted. Times are those of a modelled PM9A3 that gives one read after the
//! other. Field lengths, and where documents are, are in memory, in all cases.

mod cases;
mod code;
mod documents;
mod filter;
mod input;
mod lists;
mod pages;
mod query;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use gannet_ssd::Work;
use serde_json::{Value, json};

use crate::Outcome;
use crate::queries::{self, Query};
use cases::{Case, cases, scaled_threshold};
use code::{BEFORE, BEHIND, Coded, DOCS, OFFSETS, POSITIONS, Part};
use documents::{Stored, TextWriter, Texts};
use filter::{BLOOM_BYTES, fingerprint};
use input::Collection;
use lists::{Layout, ListWriter, Lists};
use pages::Pages;
use query::{Answer, Engine, Filters};

/// What is asked and how.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// JSON lines
    corpus: PathBuf,
    /// The folder of the files, which must not be there
    folder: PathBuf,
    /// The folder of the sets of queries
    queries: PathBuf,
    /// The sets to ask: their names without the ending
    #[arg(long, num_args = 1.., required = true)]
    sets: Vec<String>,
    /// Queries of each set at most; those with a stop word are left out
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// The memory is the published index divided by this
    #[arg(long, default_value_t = 16)]
    share: u64,
}

/// All ways in which an index is built.
struct Index {
    /// Those of [`Layout::ALL`].
    lists: Vec<Lists>,
    /// Those of [`Stored::ALL`].
    texts: Vec<Texts>,
    lengths: Vec<u32>,
    /// What was counted while it was built.
    about: Value,
}

/// Builds the index in all ways, asks all sets in all cases, and prints the figures.
pub fn run(arguments: &Arguments) -> Outcome {
    let sets = arguments.sets.iter().map(|name| {
        let path = arguments.queries.join(format!("{name}.tsv"));
        let mut queries = queries::read(&path)?;
        queries.retain(|query| query.words.split(' ').all(|word| fingerprint(word) != 0));
        queries.truncate(arguments.limit);
        Ok((name.as_str(), queries))
    });
    let sets = sets.collect::<Outcome<Vec<_>>>()?;
    let index = Index::build(&arguments.corpus, &arguments.folder)?;
    eprintln!("{} documents are built", index.lengths.len());
    let mut pages = Pages::open(&arguments.folder)?;
    let memory = index.published_bytes() / arguments.share;
    let mut rows = Vec::new();
    for (name, queries) in sets.iter().filter(|(_, queries)| !queries.is_empty()) {
        for memory in [None, Some(memory)] {
            rows.extend(index.compare(name, queries, memory, &mut pages)?);
        }
        eprintln!("{name} is asked");
    }
    let settings = json!({
        "memory_bytes": memory, "share": arguments.share, "limit": arguments.limit,
        "scaled_threshold_bytes": scaled_threshold(index.documents()),
    });
    println!(
        "{}",
        json!({ "index": index.about, "settings": settings, "rows": rows })
    );
    Ok(())
}

impl Index {
    /// Writes the files of all ways into a new folder.
    fn build(corpus: &Path, folder: &Path) -> Outcome<Index> {
        if folder.exists() {
            return Err(
                format!("{} is there already: name another folder", folder.display()).into(),
            );
        }
        std::fs::create_dir_all(folder)?;
        let texts = Stored::ALL.map(|stored| TextWriter::create(folder, stored));
        let mut texts = texts.into_iter().collect::<std::io::Result<Vec<_>>>()?;
        let mut text_bytes = 0;
        let collection = Collection::read(
            BufReader::with_capacity(1 << 20, File::open(corpus)?),
            |text| {
                text_bytes += text.len();
                Ok(texts.iter_mut().try_for_each(|way| way.put(text))?)
            },
        )?;
        let texts = texts
            .into_iter()
            .map(TextWriter::end)
            .collect::<std::io::Result<Vec<_>>>()?;
        let lists = Layout::ALL.map(|layout| ListWriter::create(folder, layout));
        let mut lists = lists.into_iter().collect::<std::io::Result<Vec<_>>>()?;
        let mut counted = Counted::default();
        let fingerprints: Vec<u16> = collection
            .terms
            .iter()
            .map(|word| fingerprint(word))
            .collect();
        let mut order: Vec<u32> = (0..collection.terms.len() as u32).collect();
        order.sort_by_key(|term| &collection.terms[*term as usize]);
        for term in order {
            let coded = Coded::of(&collection, term, &fingerprints);
            counted.add(&coded);
            for way in &mut lists {
                way.put(&collection.terms[term as usize], &coded)?;
            }
        }
        let lists = lists
            .into_iter()
            .map(ListWriter::end)
            .collect::<std::io::Result<Vec<_>>>()?;
        let about = json!({
            "documents": collection.lengths.len(), "tokens": collection.tokens.len(),
            "terms": collection.terms.len(), "text_bytes": text_bytes, "lists": counted.figures(),
            "layouts": Layout::ALL.iter().zip(&lists).map(|(layout, lists)| json!({
                "grouped": layout.is_grouped, "filters": layout.has_filters,
                "file_bytes": lists.file_bytes, "entries_in_memory": lists.memory(true),
                "first_words_in_memory": lists.memory(false),
            })).collect::<Vec<_>>(),
            "texts": Stored::ALL.iter().zip(&texts).map(|(stored, texts)| json!({
                "stored": format!("{stored:?}").to_lowercase(), "file_bytes": texts.file_bytes,
            })).collect::<Vec<_>>(),
        });
        Ok(Index {
            lists,
            texts,
            lengths: collection.lengths,
            about,
        })
    }

    /// Bytes of the published index: grouped lists with filters, aligned documents.
    fn published_bytes(&self) -> u64 {
        let published = self.lists(true, true);
        published.file_bytes[0]
            + published.memory(true)
            + self.texts[Stored::Aligned as usize].file_bytes
    }

    fn documents(&self) -> u64 {
        self.lengths.len() as u64
    }

    fn lists(&self, is_grouped: bool, has_filters: bool) -> &Lists {
        &self.lists[2 * usize::from(is_grouped) + usize::from(has_filters)]
    }

    fn mean_length(&self) -> f64 {
        let tokens: u64 = self.lengths.iter().map(|length| u64::from(*length)).sum();
        tokens as f64 / self.lengths.len() as f64
    }

    /// Asks a set in all cases, each query from empty memory, or all with this much of it, less
    /// what the entries take.
    fn compare(
        &self,
        set: &str,
        queries: &[Query],
        memory: Option<u64>,
        pages: &mut Pages,
    ) -> Outcome<Vec<Value>> {
        let (mut rows, mut expected) = (Vec::new(), None);
        let cases = cases(self.documents());
        for case in cases.iter().filter(|case| case.is_for(queries[0].kind)) {
            let asked = self.ask(case, queries, memory, pages)?;
            let found: Vec<(u64, Vec<u32>)> = asked
                .answers
                .iter()
                .map(|answer| (answer.total, answer.best.clone()))
                .collect();
            if *expected.get_or_insert_with(|| found.clone()) != found {
                return Err(format!(
                    "{set}: the case {} gives other answers; this is a defect",
                    case.name
                )
                .into());
            }
            let about = json!({ "set": set, "case": case.name, "memory_bytes": memory, "index_bytes": self.bytes(case) });
            rows.push(merged(about, asked.figures()));
        }
        Ok(rows)
    }

    /// Bytes of a case's files.
    fn bytes(&self, case: &Case) -> Value {
        let lists = self.lists(case.is_grouped, case.filters != Filters::Off);
        let (places, dictionary) = lists.file_bytes.split_at(lists.file_bytes.len() - 1);
        json!({
            "lists": places.iter().sum::<u64>(),
            "dictionary": if case.entries_in_memory { 0 } else { dictionary[0] },
            "memory": lists.memory(case.entries_in_memory),
            "texts": self.texts[case.stored as usize].file_bytes,
        })
    }

    fn ask(
        &self,
        case: &Case,
        queries: &[Query],
        memory: Option<u64>,
        pages: &mut Pages,
    ) -> Outcome<Asked> {
        let lists = self.lists(case.is_grouped, case.filters != Filters::Off);
        let engine = Engine {
            lists,
            entries_in_memory: case.entries_in_memory,
            filters: case.filters,
            texts: &self.texts[case.stored as usize],
            lengths: &self.lengths,
            mean_length: self.mean_length(),
        };
        let kept = memory.map_or(u64::from(u32::MAX), |bytes| {
            bytes.saturating_sub(lists.memory(case.entries_in_memory))
        });
        pages.start(kept, case.prefetch);
        let (start, mut nanos) = (pages.work(), Vec::new());
        let mut answers = Vec::new();
        for query in queries {
            if memory.is_none() {
                pages.forget();
            }
            let before = pages.work();
            answers.push(engine.ask(query, pages)?);
            nanos.push(pages.work().less(before).read_nanos);
        }
        nanos.sort_unstable();
        Ok(Asked {
            work: pages.work().less(start),
            parts: Part::ALL.map(|part| (part, pages.counts[part as usize])),
            nanos,
            answers,
        })
    }
}

/// What all queries of a set did.
struct Asked {
    work: Work,
    parts: [(Part, pages::Counts); Part::ALL.len()],
    /// Modelled, ascending.
    nanos: Vec<u64>,
    answers: Vec<Answer>,
}

impl Asked {
    fn figures(&self) -> Value {
        let queries = self.answers.len() as f64;
        let each = |sum: u64| sum as f64 / queries;
        let sum = |of: fn(&Answer) -> u64| self.answers.iter().map(of).sum::<u64>();
        let at = |share: usize| {
            self.nanos[(self.nanos.len() * share / 100).min(self.nanos.len() - 1)] as f64 / 1e3
        };
        let parts = self.parts.iter();
        let parts = parts.map(|(part, counts)| {
            let figures =
                json!({ "pages": each(counts.pages), "needed_bytes": each(counts.needed) });
            (part.name().to_owned(), figures)
        });
        json!({
            "queries": self.answers.len(),
            "reads_per_query": each(self.work.reads),
            "bytes_per_query": each(self.work.read_bytes),
            "parts": parts.collect::<serde_json::Map<_, _>>(),
            "modelled_us_p50": at(50), "modelled_us_p99": at(99),
            "modelled_us_mean": each(self.work.read_nanos) / 1e3,
            "prefetching": sum(|answer| u64::from(answer.prefetched)),
            "filter_tests": sum(|answer| answer.tests), "filter_passed": sum(|answer| answer.passed),
            "documents_found": sum(|answer| answer.total),
        })
    }
}

/// What is counted of all lists.
#[derive(Default)]
struct Counted {
    bytes: [u64; code::KINDS],
    postings: u64,
    empty_filters: u64,
    large_zones: u64,
    one_page: u64,
    lists: u64,
}

impl Counted {
    fn add(&mut self, coded: &Coded) {
        for (bytes, kind) in self.bytes.iter_mut().zip(&coded.kinds) {
            *bytes += kind.len() as u64;
        }
        let (zone, all) = (
            coded.kinds[DOCS].len(),
            coded.kinds.iter().map(Vec::len).sum::<usize>(),
        );
        self.lists += 1;
        self.postings += u64::from(coded.count);
        self.empty_filters += coded.empty_filters;
        self.large_zones += u64::from(zone as u64 >= cases::THRESHOLD);
        self.one_page += u64::from(all <= gannet::device::PAGE_SIZE);
    }

    fn figures(&self) -> Value {
        json!({
            "lists": self.lists, "postings": self.postings, "documents": self.bytes[DOCS],
            "filters": self.bytes[BEHIND] + self.bytes[BEFORE], "positions": self.bytes[POSITIONS],
            "offsets": self.bytes[OFFSETS], "filters_without_bitmap": 2 * self.postings * BLOOM_BYTES as u64,
            "empty_filters": self.empty_filters, "filters_in_all": 2 * self.postings,
            "lists_of_one_page": self.one_page, "zones_of_128_kib": self.large_zones,
        })
    }
}

fn merged(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}
