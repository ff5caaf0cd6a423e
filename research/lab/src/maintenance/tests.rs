//! Every strategy against a plain map, after every flush: all postings of all terms, and pairs of
//! terms with their scores.
//!
//! The corpus is made of random words, the frequent ones in most documents, so that lists outgrow
//! blocks, regions move, hybrids find long lists, and Gannet's lists have chunks. The map is made
//! from the words themselves.

use std::collections::BTreeMap;
use std::path::Path;

use clap::ValueEnum;

use super::arguments::{Name, RunArguments, Setting};
use super::coding::{Coded, Coding, Postings};
use super::input::Input;
use super::invert::{Wanted, invert};
use super::queries::{Mix, Scoring};
use super::run::check;
use super::*;
use crate::bytes::put_varint;
use crate::random::Random;

const FLUSHES: usize = 12;
const DOCUMENTS: usize = 200 * FLUSHES;
const WORDS: usize = 400;

/// Each word's documents with its positions in them.
type Map = BTreeMap<String, Vec<(u32, Vec<u32>)>>;

#[test]
fn every_strategy_gives_all_postings_after_every_flush() {
    for (setting, seed) in [(Setting::Full, 1), (Setting::Paper, 2), (Setting::Long, 3)] {
        for name in Name::value_variants() {
            follow(*name, setting, seed);
        }
    }
}

fn follow(name: Name, setting: Setting, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let documents = documents(seed);
    let input = input(folder.path(), &documents, setting);
    let arguments = RunArguments::of_test(&folder.path().join("lists"), name, setting);
    let mut strategy = name.open(&input, &arguments).unwrap();
    let scoring = Scoring::of_norms(&input.stream.norms);
    let (mut map, mut random) = (Map::new(), Random::new(seed, "pairs"));
    for flush in 0..FLUSHES {
        strategy.flush(&input.flush(flush).unwrap()).unwrap();
        let number = flush * DOCUMENTS / FLUSHES;
        for (at, words) in documents[number..number + DOCUMENTS / FLUSHES]
            .iter()
            .enumerate()
        {
            add(&mut map, (number + at) as u32, words);
        }
        let what = format!("{name:?} {setting:?} seed {seed} flush {flush}");
        // All in the end, and some before.
        let step = if flush + 1 == FLUSHES { 1 } else { 7 };
        for term in (0..input.stream.keys.len() as TermNumber).step_by(step) {
            let mut found = strategy.postings(term).unwrap();
            if setting == Setting::Paper {
                // Baselines hold none, Gannet's are all 0.
                assert!(found.positions.iter().all(|position| *position == 0));
                found.positions.clear();
            }
            assert_eq!(found, expected(&map, &input, term), "{what} term {term}");
            assert_eq!(
                strategy.retrieve(term).unwrap() > 0,
                !found.docs.is_empty(),
                "{what}"
            );
        }
        for _ in 0..20 {
            let pair = [0; 2].map(|_| random.below(input.stream.keys.len()) as TermNumber);
            let lists = pair.map(|term| expected(&map, &input, term));
            let found = strategy.both(pair, &scoring).unwrap();
            assert_eq!(found, naive_both(&lists, &scoring), "{what} {pair:?}");
        }
    }
}

/// Documents with the best scores among all that both lists have.
fn naive_both(lists: &[Postings; 2], scoring: &Scoring) -> super::queries::Both {
    let mut order = [&lists[0], &lists[1]];
    order.sort_by_key(|list| list.docs.len());
    let weights = order.map(|list| scoring.weight(list.docs.len()));
    let mut found = Vec::new();
    for (doc, frequency) in order[0].docs.iter().zip(&order[0].frequencies) {
        if let Ok(at) = order[1].docs.binary_search(doc) {
            let parts = [
                scoring.part(weights[0], *doc, *frequency),
                scoring.part(weights[1], *doc, order[1].frequencies[at]),
            ];
            found.push((*doc, parts[0] + parts[1]));
        }
    }
    let count = found.len() as u64;
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(super::queries::TOP);
    super::queries::Both { count, top: found }
}

fn expected(map: &Map, input: &Input, term: TermNumber) -> Postings {
    let mut postings = Postings::default();
    let word = String::from_utf8(input.stream.keys[term as usize][2..].to_vec()).unwrap();
    let known = map.get(&word).filter(|_| input.has(term));
    for (doc, positions) in known.into_iter().flatten() {
        postings.docs.push(*doc);
        postings.frequencies.push(positions.len() as u32);
        if input.setting != Setting::Paper {
            let mut before = 0;
            for position in positions {
                put_varint(&mut postings.positions, u64::from(position - before));
                before = *position;
            }
        }
    }
    postings
}

fn add(map: &mut Map, doc: u32, words: &[String]) {
    for (position, word) in (0..).zip(words) {
        let list = map.entry(word.clone()).or_default();
        match list.last_mut() {
            Some((last, positions)) if *last == doc => positions.push(position),
            _ => list.push((doc, vec![position])),
        }
    }
}

/// Loses the last posting of each list.
struct Losing(Box<dyn Strategy>);

impl Strategy for Losing {
    fn flush(&mut self, flush: &Flush) -> gannet::Result<()> {
        self.0.flush(flush)
    }

    fn retrieve(&self, term: TermNumber) -> gannet::Result<u64> {
        self.0.retrieve(term)
    }

    fn postings(&self, term: TermNumber) -> gannet::Result<Postings> {
        let mut found = self.0.postings(term)?;
        found.docs.pop();
        Ok(found)
    }

    fn both(
        &self,
        terms: [TermNumber; 2],
        scoring: &Scoring,
    ) -> gannet::Result<super::queries::Both> {
        self.0.both(terms, scoring)
    }

    fn work(&self) -> gannet_ssd::Work {
        self.0.work()
    }

    fn kept(&self) -> gannet::Result<super::strategy::Kept> {
        self.0.kept()
    }
}

/// A run that is stopped before its stream ends is checked against what it was given.
#[test]
fn a_stopped_run_that_lost_postings_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut input = input(folder.path(), &documents(1), Setting::Full);
    input.flushes = FLUSHES / 2;
    let arguments = RunArguments::of_test(&folder.path().join("lists"), Name::Mfis, Setting::Full);
    let mut strategy = Name::Mfis.open(&input, &arguments).unwrap();
    let mut given = vec![0; input.stream.keys.len()];
    for number in 0..input.flushes {
        let flush = input.flush(number).unwrap();
        for (term, fragment) in &flush.terms {
            given[*term as usize] += fragment.count as usize;
        }
        strategy.flush(&flush).unwrap();
    }
    let mix = Mix::new(&input.stream, 50, |_| true);
    check(&input, &given, &*strategy, &mix, 1).unwrap();
    assert!(check(&input, &given, &Losing(strategy), &mix, 1).is_err());
}

/// Words of documents; a few are in most of them.
fn documents(seed: u64) -> Vec<Vec<String>> {
    let mut random = Random::new(seed, "documents");
    let mut word = |rank: usize| {
        let most = 1 + random.below(rank);
        format!("w{}", random.below(most))
    };
    let lengths = (0..DOCUMENTS).map(|number| 1 + number * 7 % 40);
    lengths
        .map(|length| (0..length).map(|_| word(WORDS)).collect())
        .collect()
}

fn input(folder: &Path, documents: &[Vec<String>], setting: Setting) -> Input {
    let lines = documents
        .iter()
        .map(|words| format!("{{\"body\": \"{}\"}}\n", words.join(" ")));
    let corpus = folder.join("corpus.jsonl");
    std::fs::write(&corpus, lines.collect::<String>()).unwrap();
    let wanted = Wanted {
        corpus: &corpus,
        field: "body",
        documents: u32::MAX,
        flushes: FLUSHES as u32,
    };
    invert(&wanted, &folder.join("stream")).unwrap();
    let stream = Stream::open(&folder.join("stream")).unwrap();
    Input {
        flushes: stream.flushes,
        stream,
        setting,
        kept_share: 500,
    }
}

#[test]
fn lists_are_the_same_however_they_were_put_together() {
    let mut random = Random::new(3, "coding");
    for _ in 0..200 {
        let (mut doc, mut whole) = (0, Postings::default());
        let mut lists = [Coding::Plain, Coding::Packed].map(|coding| (coding, Coded::default()));
        for _ in 0..random.below(8) {
            let mut new = Postings::default();
            for _ in 0..random.below(300) {
                let most = 1 << random.below(12);
                doc += 1 + random.below(most) as u32;
                let most = 1 << random.below(4);
                let frequency = 1 + random.below(most);
                new.docs.push(doc);
                new.frequencies.push(frequency as u32);
                new.positions.extend(vec![5; frequency]);
            }
            whole.docs.extend(&new.docs);
            whole.frequencies.extend(&new.frequencies);
            whole.positions.extend(&new.positions);
            for (coding, list) in &mut lists {
                coding.append(list, &new).unwrap();
            }
        }
        for (coding, list) in &lists {
            let mut found = Postings::default();
            coding
                .decode(&list.summary, &list.docs, &mut found)
                .unwrap();
            assert_eq!(
                (&found.docs, &found.frequencies),
                (&whole.docs, &whole.frequencies)
            );
            assert_eq!(list.docs.len() + list.positions.len(), list.summary.bytes());
            assert_eq!(list.summary.count as usize, whole.docs.len());
        }
        assert_eq!(lists[1].1.positions, whole.positions);
        assert_eq!(lists[1].1, {
            let mut at_once = lists[1].0.code(&whole).unwrap();
            at_once.summary.last = lists[1].1.summary.last;
            at_once
        });
    }
}
