//! Traces of the requests for pages that queries make, as `gannet bench --trace` writes them too.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use gannet::diagnostics::PageRequest;
use gannet::lab::empty_frames;
use gannet::{Index, Operator, Query, SearchOptions};

use crate::Outcome;

/// The number of a page in a trace.
pub type Page = u32;

/// The requests of all queries, round by round.
#[derive(Debug, Default)]
pub struct Trace {
    /// Zone and number of each page.
    pub addresses: Vec<(u32, u32)>,
    pub rounds: Vec<Round>,
    pub queries: usize,
}

/// The pages that a query asks for together.
#[derive(Debug)]
pub struct Round {
    /// The number of the query, from 0 on.
    pub query: usize,
    /// In the order of their addresses, none twice.
    pub pages: Vec<Page>,
}

impl Trace {
    /// Reads a trace. A page that a query asks for again belongs to the first round that it is in,
    /// since the query holds it from then on.
    pub fn read(path: &Path) -> Outcome<Trace> {
        let mut reader = TraceReader::default();
        for (number, line) in (1..).zip(BufReader::new(File::open(path)?).lines()) {
            let added = reader.add(&line?);
            added.map_err(|reason| format!("{}, line {number}: {reason}", path.display()))?;
        }
        reader.end_query();
        Ok(reader.trace)
    }

    /// Bytes of the distinct pages.
    pub fn bytes(&self) -> u64 {
        self.addresses.len() as u64 * 4096
    }
}

#[derive(Default)]
struct TraceReader {
    trace: Trace,
    numbers: HashMap<(u32, u32), Page>,
    name: Option<String>,
    /// The requests of the query: round and page.
    requests: Vec<(u32, Page)>,
}

impl TraceReader {
    fn add(&mut self, line: &str) -> Result<(), String> {
        let (query, request) = line.split_once('\t').ok_or("expected a number and a tab")?;
        if self.name.as_deref() != Some(query) {
            self.end_query();
            self.name = Some(query.to_owned());
        }
        let request: PageRequest = request.parse()?;
        let address = (request.zone, request.page);
        let next = self.trace.addresses.len() as Page;
        let page = *self.numbers.entry(address).or_insert(next);
        if page == next {
            self.trace.addresses.push(address);
        }
        self.requests.push((request.round, page));
        Ok(())
    }

    fn end_query(&mut self) {
        if self.name.take().is_none() {
            return;
        }
        // The first request of each page, then by rounds and addresses.
        let mut requests = std::mem::take(&mut self.requests);
        requests.sort_by_key(|(round, page)| (*page, *round));
        requests.dedup_by_key(|(_, page)| *page);
        let addresses = &self.trace.addresses;
        requests.sort_by_key(|(round, page)| (*round, addresses[*page as usize]));
        for round in requests.chunk_by(|left, right| left.0 == right.0) {
            self.trace.rounds.push(Round {
                query: self.trace.queries,
                pages: round.iter().map(|(_, page)| *page).collect(),
            });
        }
        self.trace.queries += 1;
    }
}

/// The arguments of `gannet-lab trace`.
#[derive(Debug, clap::Args)]
pub struct TraceArguments {
    /// The folder of an index
    index: PathBuf,
    /// The log: lines of NAME<TAB>WORDS, in the order in which they were asked
    log: PathBuf,
    /// The file that is written
    trace: PathBuf,
    /// The field that is searched
    #[arg(long, default_value = "body")]
    field: String,
    /// The memory budget in bytes
    #[arg(long, default_value_t = 256 << 20)]
    memory: usize,
    /// Only the first so many queries
    #[arg(long, default_value_t = usize::MAX)]
    queries: usize,
}

/// Asks each query of a log with empty frames, for ten documents with snippets, and writes what it
/// asks for: so the rounds are those of a query that finds nothing in memory.
pub fn write(arguments: &TraceArguments) -> Outcome {
    let index = Index::options().memory(arguments.memory);
    let index = index.read_only().open(&arguments.index)?;
    let snapshot = index.snapshot();
    let options = SearchOptions {
        highlight: vec![arguments.field.clone()],
        list_pages: true,
        ..SearchOptions::default()
    };
    let mut file = BufWriter::new(File::create(&arguments.trace)?);
    let log = std::fs::read_to_string(&arguments.log)?;
    for (number, line) in log.lines().take(arguments.queries).enumerate() {
        let query = [Query::Text {
            field: Some(arguments.field.clone()),
            text: line
                .split_once('\t')
                .map_or(line, |(_, words)| words)
                .to_owned(),
            operator: Operator::Or,
        }];
        empty_frames(&index);
        let results = snapshot.search_all(&query, &options).swap_remove(0)?;
        for request in results.requests {
            writeln!(file, "{number}\t{request}")?;
        }
    }
    Ok(file.flush()?)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A trace of pages of one zone.
    pub fn trace(queries: &[&[&[u32]]]) -> Trace {
        let mut reader = TraceReader::default();
        for (number, rounds) in queries.iter().enumerate() {
            for (round, pages) in rounds.iter().enumerate() {
                for page in *pages {
                    let line = format!("{number}\t{round}\t1\t{page}\tnode\tdevice");
                    reader.add(&line).unwrap();
                }
            }
        }
        reader.end_query();
        reader.trace
    }

    #[test]
    fn a_page_counts_once_in_a_query_in_its_first_round() {
        let trace = trace(&[&[&[7, 5], &[5, 8]], &[&[8, 8]]]);
        let rounds = trace.rounds.iter();
        let rounds: Vec<_> = rounds
            .map(|round| (round.query, &round.pages[..]))
            .collect();
        assert_eq!(rounds, [(0, &[1, 0][..]), (0, &[2][..]), (1, &[2][..])]);
        assert_eq!((trace.queries, trace.bytes()), (2, 3 * 4096));
        assert!(TraceReader::default().add("1\t2").is_err());
    }
}
