//! `gannet-lab answers`: whether the answers are the same with every technique and without each,
//! and the right ones.
//!
//! All queries are asked with everything on, then once more without each technique: the same
//! documents, scores, totals and stored texts must come, to the bit. Each pass goes through all
//! queries before the next begins, so that with little memory the pages are read anew. Last come
//! the answers of the naive engine of the test suite, which shares nothing with the ranking: it
//! tries every part of a query on every document.

mod ask;

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use gannet::diagnostics::Techniques;
use gannet::{Index, Query, SearchOptions, Snapshot};
use serde_json::{Map, Value, json};

use crate::Outcome;
use ask::{Asking, FIELDS, KINDS, Words};
use gannet_testkit::oracle::{self, Model, PlainDocument, PlainField};

/// The share by which a score may differ from the naive engine's, which adds up in another order.
const TOLERANCE: f32 = 1e-5;

/// Differences that are shown.
const SHOWN: usize = 5;

/// What is asked and how.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of an index of the corpus, built in one go
    index: std::path::PathBuf,
    /// The corpus: JSON lines with `id`, `title` and `body`
    corpus: std::path::PathBuf,
    /// How many queries
    #[arg(long, default_value_t = 20_000)]
    queries: usize,
    /// What the choice of queries starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The memory budget in bytes: little, so that pages are read and not found
    #[arg(long, default_value_t = gannet::MEMORY_MIN)]
    memory: usize,
    /// Threads that ask
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// The ten best documents of a query, or why there are none. Nothing if the memory was too small
/// for the query, which is not compared: what is free depends on what the other threads ask.
type Answer = Option<Result<Found, String>>;

#[derive(Debug, PartialEq)]
struct Found {
    hits: Vec<(u32, f32)>,
    /// The total where it is exact; pruning may leave it open.
    total: Option<u64>,
    /// Of the IDs and the sources.
    stored: u64,
}

/// Asks, compares and prints; fails if any answer differs.
pub fn run(arguments: &Arguments) -> Outcome {
    let started = Instant::now();
    let documents = read(&arguments.corpus)?;
    let mut model = Model::new(&FIELDS.map(|name| PlainField {
        name,
        analyzer: Some("standard"),
    }));
    documents.iter().for_each(|document| model.write(document));
    let queries = queries(&model, arguments);
    let index = Index::options();
    let index = index
        .memory(arguments.memory)
        .read_only()
        .open(&arguments.index)?;
    let snapshot = index.snapshot();
    if snapshot.documents() != documents.len() as u64 {
        return Err("the index has other documents than the corpus: build it anew".into());
    }

    let all = Techniques::default();
    let expected = ask_all(&snapshot, &queries, all, arguments.threads);
    let mut passes = Vec::new();
    for name in Techniques::NAMES {
        let without = ask_all(
            &snapshot,
            &queries,
            all.without(name).unwrap_or(all),
            arguments.threads,
        );
        let pairs = expected.iter().zip(&without);
        let faults = pairs.map(|(expected, found)| fault(expected, found));
        passes.push((format!("without {name}"), differences(&queries, faults)));
    }
    let faults = in_threads(arguments.threads, queries.len(), |at| {
        naive_fault(&model.answer(&queries[at].1), &expected[at])
    });
    passes.push((
        "naive".to_owned(),
        differences(&queries, faults.into_iter()),
    ));

    let answered = expected.iter().flatten();
    let found = answered.clone().flatten();
    let figures = json!({
        "queries": queries.len(),
        "found_something": found.filter(|found| !found.hits.is_empty()).count(),
        "rejected": answered.filter(|answer| answer.is_err()).count(),
        "too_little_memory": expected.iter().filter(|answer| answer.is_none()).count(),
        "kinds": KINDS,
        "documents": documents.len(),
        "differences": passes.iter().map(|(name, them)| (name.clone(), json!(them.len()))).collect::<Map<String, Value>>(),
        "seconds": started.elapsed().as_secs_f64(),
        "settings": {"seed": arguments.seed, "memory_bytes": arguments.memory, "threads": arguments.threads},
    });
    println!("{figures}");
    let shown: Vec<String> = passes
        .iter()
        .flat_map(|(name, them)| shown(name, them))
        .collect();
    if shown.is_empty() {
        Ok(())
    } else {
        Err(shown.join("\n").into())
    }
}

fn read(corpus: &Path) -> Outcome<Vec<PlainDocument>> {
    let mut documents = Vec::new();
    for line in BufReader::new(File::open(corpus)?).lines() {
        let document: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| document[name].as_str().unwrap_or("").to_owned();
        let fields = FIELDS.map(|name| (name.to_owned(), oracle::Value::Text(text(name))));
        documents.push(PlainDocument {
            id: text("id"),
            fields: fields.into(),
        });
    }
    Ok(documents)
}

/// The queries with their kinds.
fn queries(model: &Model, arguments: &Arguments) -> Vec<(&'static str, Query)> {
    let Some(body) = model.fields.iter().position(|field| field.name == "body") else {
        return Vec::new();
    };
    let terms = &model.fields[body].terms;
    let texts = model.documents.iter().map(|document| {
        let tokens = document.fields[body].iter();
        tokens.map(|token| terms[token.term].clone()).collect()
    });
    let texts: Vec<Vec<String>> = texts
        .filter(|words: &Vec<String>| words.len() > 1)
        .collect();
    let words = Words {
        texts: &texts,
        terms,
    };
    let mut asking = Asking::new(words, arguments.seed);
    let kinds = KINDS.iter().cycle().take(arguments.queries);
    kinds.map(|kind| (*kind, asking.query(kind))).collect()
}

fn ask_all(
    snapshot: &Snapshot,
    queries: &[(&str, Query)],
    techniques: Techniques,
    threads: usize,
) -> Vec<Answer> {
    let options = SearchOptions {
        techniques,
        ..SearchOptions::default()
    };
    in_threads(threads, queries.len(), |at| {
        let query = std::slice::from_ref(&queries[at].1);
        let results = snapshot.search_all(query, &options).swap_remove(0);
        let results = match results {
            Ok(results) => results,
            Err(gannet::Error::Memory { .. }) => return None,
            Err(error) => return Some(Err(error.to_string())),
        };
        let mut stored = DefaultHasher::new();
        results
            .hits
            .iter()
            .for_each(|hit| (&hit.id, &hit.source).hash(&mut stored));
        Some(Ok(Found {
            hits: results
                .hits
                .iter()
                .map(|hit| (hit.doc, hit.score))
                .collect(),
            total: results.total_is_exact.then_some(results.total),
            stored: stored.finish(),
        }))
    })
}

/// What `make` gives for each number below `count`, in their order.
fn in_threads<T: Send>(threads: usize, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return made;
            }
            made.push((at, make(at)));
        }
    };
    let mut all: Vec<(usize, T)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let made = workers.into_iter().map(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        made.flatten().collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, made)| made).collect()
}

/// What is wrong with an answer that should be another one to the bit.
fn fault(expected: &Answer, found: &Answer) -> Option<String> {
    let (expected, found) = expected.as_ref().zip(found.as_ref())?;
    let same = match (expected, found) {
        (Ok(expected), Ok(found)) => {
            let totals = expected.total.zip(found.total);
            (&expected.hits, expected.stored) == (&found.hits, found.stored)
                && totals.is_none_or(|(expected, found)| expected == found)
        }
        (expected, found) => expected == found,
    };
    (!same).then(|| format!("expected {expected:?}, found {found:?}"))
}

/// What is wrong with an answer by the naive engine's.
fn naive_fault(
    expected: &Result<oracle::Answer, oracle::Rejection>,
    found: &Answer,
) -> Option<String> {
    let (expected, found) = match (expected, found.as_ref()?) {
        (Ok(expected), Ok(found)) => (&expected.hits, found),
        (Err(rejection), Err(error)) if rejection.is_said_by(error) => return None,
        (expected, found) => {
            let expected = expected.as_ref().map(|answer| answer.hits.len());
            return Some(format!("expected {expected:?}, found {found:?}"));
        }
    };
    if found
        .total
        .is_some_and(|total| total != expected.len() as u64)
    {
        return Some(format!(
            "{} hits, {:?} counted",
            expected.len(),
            found.total
        ));
    }
    let near = |wanted: f32, score: f32| (wanted - score).abs() <= TOLERANCE * wanted.abs();
    let ranked = found
        .hits
        .iter()
        .zip(expected)
        .all(|(hit, wanted)| near(wanted.1, hit.1));
    // A document that is as good as another may stand in its place, with the score that it has.
    let scored = found.hits.iter().all(|(doc, score)| {
        let its = expected.iter().find(|(number, _)| *number == *doc as usize);
        its.is_some_and(|(_, wanted)| near(*wanted, *score))
    });
    let right = found.hits.len() == expected.len().min(10) && ranked && scored;
    (!right).then(|| {
        let first = &expected[..expected.len().min(10)];
        format!("expected {first:?}, found {:?}", found.hits)
    })
}

fn differences(
    queries: &[(&str, Query)],
    faults: impl Iterator<Item = Option<String>>,
) -> Vec<String> {
    let both = queries.iter().zip(faults);
    both.filter_map(|((kind, query), fault)| Some(format!("{kind} {query}: {}", fault?)))
        .collect()
}

/// The first differences of a pass, for people.
fn shown(name: &str, differences: &[String]) -> Vec<String> {
    let first = differences.iter().take(SHOWN);
    first
        .map(|difference| format!("{name}: {difference}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gannet::PhraseFilters;

    fn found(hits: &[(u32, f32)], total: Option<u64>) -> Answer {
        let (hits, stored) = (hits.to_vec(), 0);
        Some(Ok(Found {
            hits,
            total,
            stored,
        }))
    }

    #[test]
    fn answers_differ_by_documents_scores_and_exact_totals() {
        let expected = found(&[(1, 2.0)], Some(1));
        assert_eq!(fault(&expected, &expected), None);
        assert_eq!(fault(&expected, &found(&[(1, 2.0)], None)), None);
        assert_eq!(fault(&expected, &None), None);
        for other in [
            found(&[(1, 2.0)], Some(2)),
            found(&[(2, 2.0)], Some(1)),
            found(&[(1, 2.0000002)], Some(1)),
            Some(Err("no".to_owned())),
        ] {
            assert!(fault(&expected, &other).is_some(), "{other:?}");
        }
    }

    #[test]
    fn documents_of_equal_score_may_change_places() {
        let hits = (0..12).map(|doc| (doc, 1.0)).collect();
        let naive = Ok(oracle::Answer {
            hits,
            is_cut: false,
        });
        let ten = |first: u32| {
            (first..first + 10)
                .map(|doc| (doc, 1.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(naive_fault(&naive, &found(&ten(2), Some(12))), None);
        assert!(naive_fault(&naive, &found(&ten(3), None)).is_some());
        assert!(naive_fault(&naive, &found(&ten(0), Some(11))).is_some());
        assert!(naive_fault(&naive, &found(&ten(0)[..9], None)).is_some());
    }

    #[test]
    fn small_indexes_pass() {
        let kinds = [PhraseFilters::None, PhraseFilters::Common];
        kinds.into_iter().for_each(check_small_index);
    }

    fn check_small_index(phrase_filters: PhraseFilters) {
        let folder = tempfile::tempdir().unwrap();
        let (corpus, index) = (
            folder.path().join("docs.jsonl"),
            folder.path().join("index"),
        );
        let words = [
            "sea", "bird", "flash", "colony", "dive", "northern", "birds",
        ];
        let line = |number: usize| {
            let word = |step: usize| words[(number * step + number / 7) % words.len()];
            let body: Vec<&str> = (1..9).map(word).collect();
            let line = json!({"id": number.to_string(), "title": word(3), "body": body.join(" ")});
            format!("{line}\n")
        };
        std::fs::write(&corpus, (0..300).map(line).collect::<String>()).unwrap();
        crate::index::run(&crate::IndexArguments {
            index: index.clone(),
            corpus: corpus.clone(),
            memory: gannet::MEMORY_DEFAULT,
            commit_every: 50,
            flush_every: 1,
            threads: 2,
            phrase_filters,
            left: crate::Left::Cleaned,
        })
        .unwrap();
        run(&Arguments {
            index,
            corpus,
            queries: 140,
            seed: 3,
            memory: gannet::MEMORY_MIN,
            threads: 2,
        })
        .unwrap();
    }
}
