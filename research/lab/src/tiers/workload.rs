//! A log of queries, and the lists that they use.
//!
//! The index gives document and total frequencies of the terms. Lists are modelled: sorted by
//! frequency, of postings of a fixed size, for a collection of any number of documents with the
//! same shares. How much of a list a query uses follows from the filtered vector model (Persin et
//! al., 1996), as in the paper: the rarest term's list is read as a whole; of the others a posting
//! is read while its frequency could still bring a new candidate, given the largest score so far.
//! Frequencies within a list are taken to be geometric, with the mean that the index has.

use std::collections::HashMap;
use std::path::Path;

use gannet::{Analyzer, Index, Scratch};

use super::Key;
use crate::Outcome;
use crate::random::Random;

/// Bytes of a posting: document and frequency, four each, without compression.
const POSTING_BYTES: f64 = 8.0;

/// A posting brings a new candidate if its score is this share of the largest one: c_ins of Persin
/// et al.
const INSERTION: f64 = 0.12;

/// Results of a query: so many postings are read at least.
const RESULTS: f64 = 50.0;

/// The part of a list that a query uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Whose list it is.
    pub term: Key,
    /// Bytes from its beginning.
    pub bytes: u64,
}

/// Queries in the order in which they were asked.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Bytes of the list of each term.
    pub lists: Vec<u64>,
    /// The lists that each distinct query uses.
    pub queries: Vec<Vec<Use>>,
    /// The words of each distinct query.
    pub words: Vec<Vec<String>>,
    /// Which query was asked.
    pub asked: Vec<Key>,
    /// Lines of the log of which no word is in the index; they are left out.
    pub without_terms: usize,
    /// Documents of the collection.
    pub documents: f64,
}

/// What the index says of a term, for the whole collection.
#[derive(Clone, Copy, Debug)]
struct Term {
    documents: f64,
    /// The mean of its frequencies in documents that have it.
    mean: f64,
}

impl Term {
    /// How much rarer each frequency is than the one below it.
    fn ratio(&self) -> f64 {
        1.0 - 1.0 / self.mean.max(1.0)
    }

    /// Postings with at least this frequency.
    fn postings_from(&self, frequency: f64) -> f64 {
        self.documents * self.ratio().powf((frequency.ceil() - 1.0).max(0.0))
    }

    /// The largest frequency that is expected in the list.
    fn largest(&self) -> f64 {
        match self.ratio() {
            0.0 => 1.0,
            ratio => 1.0 + (self.documents.max(1.0).ln() / -ratio.ln()).floor(),
        }
    }

    fn bytes(postings: f64) -> u64 {
        (postings * POSTING_BYTES).ceil() as u64
    }
}

/// Terms of a collection, looked up once each.
struct Terms<'a> {
    index: &'a Index,
    field: &'a str,
    /// Documents of the collection for each of the index.
    scale: f64,
    documents: f64,
    numbers: HashMap<String, Option<Key>>,
    known: Vec<Term>,
}

impl Terms<'_> {
    fn number(&mut self, word: &str) -> Outcome<Option<Key>> {
        if let Some(number) = self.numbers.get(word) {
            return Ok(*number);
        }
        let list = self.index.list(self.field, word)?;
        let number = list.map(|list| {
            let documents = list.document_frequency as f64;
            self.known.push(Term {
                documents: documents * self.scale,
                mean: list.total_frequency as f64 / documents.max(1.0),
            });
            self.known.len() as Key - 1
        });
        self.numbers.insert(word.to_owned(), number);
        Ok(number)
    }

    /// What a query of these terms uses of their lists, the rarest term first.
    fn uses(&self, terms: &[Key]) -> Vec<Use> {
        let mut terms = terms.to_vec();
        terms.sort_by(|left, right| {
            let documents = |term: &Key| self.known[*term as usize].documents;
            documents(left).total_cmp(&documents(right))
        });
        let mut largest = 0.0;
        let used = terms.iter().map(|number| {
            let term = self.known[*number as usize];
            let weight = (1.0 + (self.documents / term.documents).ln())
                .max(1.0)
                .powi(2);
            let postings = term.postings_from(INSERTION * largest / weight);
            let least = RESULTS.min(term.documents);
            largest += term.largest() * weight;
            Use {
                term: *number,
                bytes: Term::bytes(postings.clamp(least, term.documents.max(least))),
            }
        });
        used.collect()
    }
}

impl Workload {
    /// Reads a log of lines of NAME<TAB>WORDS, with the terms of an index. `documents` is the size
    /// of the collection, that of the index where nothing is given.
    pub fn read(
        log: &Path,
        index: &Index,
        field: &str,
        documents: Option<u64>,
    ) -> Outcome<Workload> {
        let text = std::fs::read_to_string(log);
        let text = text.map_err(|error| format!("{}: {error}", log.display()))?;
        let held = index.stats()?.documents;
        if held == 0 {
            return Err(
                "the index has no documents: expected one with the terms of the log".into(),
            );
        }
        let documents = documents.unwrap_or(held) as f64;
        let mut terms = Terms {
            index,
            field,
            scale: documents / held as f64,
            documents,
            numbers: HashMap::new(),
            known: Vec::new(),
        };
        let mut workload = Workload {
            lists: Vec::new(),
            queries: Vec::new(),
            words: Vec::new(),
            asked: Vec::new(),
            without_terms: 0,
            documents,
        };
        let mut numbers = HashMap::new();
        for (at, line) in text.lines().enumerate() {
            let Some((_, typed)) = line.split_once('\t') else {
                let (path, line) = (log.display(), at + 1);
                return Err(
                    format!("{path}, line {line}: expected a name, a tab and words").into(),
                );
            };
            workload.add(words(typed), &mut terms, &mut numbers)?;
        }
        let lists = terms.known.iter().map(|term| Term::bytes(term.documents));
        workload.lists = lists.collect();
        Ok(workload)
    }

    fn add(
        &mut self,
        words: Vec<String>,
        terms: &mut Terms,
        numbers: &mut HashMap<Vec<String>, Key>,
    ) -> Outcome {
        if let Some(number) = numbers.get(&words) {
            self.asked.push(*number);
            return Ok(());
        }
        let found: Vec<Option<Key>> = words
            .iter()
            .map(|word| terms.number(word))
            .collect::<Outcome<_>>()?;
        let mut found: Vec<Key> = found.into_iter().flatten().collect();
        found.sort_unstable();
        found.dedup();
        if found.is_empty() {
            self.without_terms += 1;
            return Ok(());
        }
        let number = self.queries.len() as Key;
        self.queries.push(terms.uses(&found));
        self.words.push(words.clone());
        self.asked.push(number);
        numbers.insert(words, number);
        Ok(())
    }

    /// The same distinct queries, drawn anew: their popularity is Zipf's with this exponent, their
    /// order in it random.
    pub fn redrawn(mut self, exponent: f64, queries: usize, seed: u64) -> Workload {
        let mut random = Random::new(seed, "zipf");
        let mut ranks: Vec<Key> = (0..self.queries.len() as Key).collect();
        random.shuffle(&mut ranks);
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=ranks.len())
            .map(|rank| {
                sum += (rank as f64).powf(-exponent);
                sum
            })
            .collect();
        let draw = |_| {
            let share = (random.draw() >> 11) as f64 / (1u64 << 53) as f64;
            let rank = sums.partition_point(|below| *below <= share * sum);
            ranks[rank.min(ranks.len() - 1)]
        };
        self.asked = (0..queries).map(draw).collect();
        self.without_terms = 0;
        self
    }

    /// The share of the queries from `start` on that were asked before, at any time: no cache of
    /// results has a higher hit ratio.
    pub fn repeated(&self, start: usize) -> f64 {
        let mut seen = std::collections::HashSet::new();
        let again = self.asked.iter().map(|query| !seen.insert(*query));
        let repeated = again.skip(start).filter(|again| *again).count();
        repeated as f64 / (self.asked.len() - start).max(1) as f64
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    Analyzer::default().analyze(text, &mut Scratch::default(), |token| {
        words.push(token.text.to_owned());
    });
    words
}

#[cfg(test)]
pub mod tests {
    use gannet::Document;

    use super::*;

    /// A workload without an index: `lists` gives blocks of each list, each query uses all of the
    /// lists that it names.
    pub fn workload(lists: &[u64], queries: &[&[Key]], asked: &[Key]) -> Workload {
        let lists: Vec<u64> = lists
            .iter()
            .map(|blocks| blocks * super::super::BLOCK_BYTES)
            .collect();
        let whole = |term: &Key| Use {
            term: *term,
            bytes: lists[*term as usize],
        };
        let queries: Vec<Vec<Use>> = queries
            .iter()
            .map(|query| query.iter().map(whole).collect())
            .collect();
        Workload {
            words: vec![Vec::new(); queries.len()],
            lists,
            queries,
            asked: asked.to_vec(),
            without_terms: 0,
            documents: 1e6,
        }
    }

    #[test]
    fn a_log_is_read_with_the_terms_of_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::options().open(folder.path().join("index")).unwrap();
        for number in 0..200 {
            let rare = if number < 4 { "whale" } else { "" };
            let body = format!("the sea the sea {rare}");
            let document = serde_json::json!({ "id": number.to_string(), "body": body });
            index
                .add(Document::parse(document.to_string().as_bytes()).unwrap())
                .unwrap();
        }
        index.checkpoint().unwrap();
        let log = folder.path().join("log.tsv");
        std::fs::write(&log, "1\tThe whale\n2\tsea\n3\tnowhere\n4\tthe  WHALE\n").unwrap();
        let read = |documents| Workload::read(&log, &index, "body", documents).unwrap();
        let workload = read(None);
        assert_eq!(workload.asked, [0, 1, 0]);
        assert_eq!(
            (workload.without_terms, workload.repeated(0)),
            (1, 1.0 / 3.0)
        );
        assert_eq!(workload.lists, [200 * 8, 4 * 8, 200 * 8]);
        let whale = workload.queries[0][0];
        assert_eq!(
            (whale.term, whale.bytes),
            (1, 32),
            "the rarest first, as a whole"
        );
        assert!(
            workload.queries[0][1].bytes < 200 * 8,
            "a prefix of the other"
        );
        assert_eq!(read(Some(2_000)).lists[1], 40 * 8);
        std::fs::write(&log, "1\tsea\nnothing\n").unwrap();
        let error = Workload::read(&log, &index, "body", None).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn fewer_postings_have_higher_frequencies() {
        let term = Term {
            documents: 1_000.0,
            mean: 2.0,
        };
        assert_eq!(term.postings_from(0.0), 1_000.0);
        assert_eq!(term.postings_from(3.0), 250.0);
        assert_eq!(term.largest(), 10.0);
        let once = Term { mean: 1.0, ..term };
        assert_eq!((once.postings_from(2.0), once.largest()), (0.0, 1.0));
    }

    #[test]
    fn a_drawn_log_is_the_same_for_a_seed_and_as_skewed_as_it_says() {
        let query: &[Key] = &[0];
        let base = workload(&[1], &[query; 1_000], &[0]);
        let drawn = base.clone().redrawn(1.0, 100_000, 7);
        assert_eq!(drawn.asked, base.redrawn(1.0, 100_000, 7).asked);
        let mut counts = vec![0u32; 1_000];
        drawn
            .asked
            .iter()
            .for_each(|query| counts[*query as usize] += 1);
        counts.sort_unstable_by(|left, right| right.cmp(left));
        let harmonic: f64 = (1..=1_000).map(|rank| 1.0 / f64::from(rank)).sum();
        let first = f64::from(counts[0]) * harmonic / 100_000.0;
        assert!((0.95..1.05).contains(&first), "{first}");
    }
}
