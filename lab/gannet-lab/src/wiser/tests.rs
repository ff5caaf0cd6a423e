//! All cases give the answers that one finds by looking at every document.

use std::io::Write;

use super::*;
use crate::queries::Kind;
use crate::random::Random;

/// Texts of words, some frequent, with punctuation here and there.
fn texts(count: usize) -> Vec<String> {
    let mut random = Random::new(7, "wiser");
    let mut word = || {
        let most = random.below(300) + 1;
        let word = random.below(most);
        format!("w{word}{}", [" ", " ", " ", ", "][random.below(4)])
    };
    (0..count)
        .map(|number| (0..20 + number % 50).map(|_| word()).collect())
        .collect()
}

/// The words of a text, with nothing where punctuation stands.
fn words(text: &str) -> Vec<&str> {
    text.split(' ')
        .flat_map(|word| match word.strip_suffix(',') {
            Some(word) => vec![word, ""],
            None => vec![word],
        })
        .filter({
            let mut first = true;
            move |_| {
                first = false;
                !first
            }
        })
        .collect()
}

fn has(text: &str, query: &Query) -> bool {
    let (words, wanted) = (words(text), query.words.split(' ').collect::<Vec<_>>());
    match query.kind {
        Kind::Phrase => words.windows(wanted.len()).any(|window| window == wanted),
        _ => wanted.iter().all(|word| words.contains(word)),
    }
}

#[test]
fn all_cases_find_what_is_there() {
    let texts = texts(3_000);
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("corpus.jsonl");
    let mut file = File::create(&corpus).unwrap();
    for text in &texts {
        writeln!(file, "{}", json!({ "body": text })).unwrap();
    }
    let place = folder.path().join("files");
    let index = Index::build(&corpus, &place).unwrap();
    let mut pages = Pages::open(&place).unwrap();
    let mut random = Random::new(8, "wiser");
    for kind in [Kind::Term, Kind::And, Kind::Phrase] {
        let mut word = || {
            let most = random.below(290) + 1;
            format!("w{}", random.below(most))
        };
        let queries: Vec<Query> = (0..60)
            .map(|_| Query {
                kind,
                words: match kind {
                    Kind::Term => word(),
                    _ => format!("{} {}", word(), word()),
                },
            })
            .collect();
        for memory in [None, Some(200 << 10)] {
            index.compare("all", &queries, memory, &mut pages).unwrap();
            let asked = index.ask(&CASES[0], &queries, memory, &mut pages).unwrap();
            for (query, answer) in queries.iter().zip(&asked.answers) {
                let expected = texts.iter().filter(|text| has(text, query)).count();
                assert_eq!(answer.total, expected as u64, "{query:?}");
                assert!(
                    answer
                        .best
                        .iter()
                        .all(|doc| has(&texts[*doc as usize], query)),
                    "{query:?}"
                );
            }
        }
    }
}

#[test]
fn each_technique_saves_what_it_is_there_for() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("corpus.jsonl");
    let mut file = File::create(&corpus).unwrap();
    for text in texts(20_000) {
        writeln!(file, "{}", json!({ "body": text })).unwrap();
    }
    let place = folder.path().join("files");
    let index = Index::build(&corpus, &place).unwrap();
    let mut pages = Pages::open(&place).unwrap();
    let mut read = |name: &str, kind: Kind, words: &str| {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let query = Query {
            kind,
            words: words.to_owned(),
        };
        let asked = index.ask(case, &[query], None, &mut pages).unwrap();
        (asked.work.reads, asked.work.read_bytes)
    };
    for (without, kind, words) in [
        ("no grouping", Kind::Term, "w299"),
        ("entries on the device", Kind::Term, "w299"),
        ("no alignment", Kind::Term, "w250"),
        ("documents in groups", Kind::Term, "w250"),
        ("no filters", Kind::Phrase, "w270 w0"),
        ("read-ahead of 128 KiB", Kind::And, "w250 w251"),
    ] {
        let (all, less) = (read("published", kind, words), read(without, kind, words));
        assert!(less.1 > all.1, "{without}: {less:?}, {all:?}");
    }
    let (ahead, off) = (
        read("prefetch from 10.7 KiB on", Kind::Term, "w0"),
        read("no prefetch", Kind::Term, "w0"),
    );
    assert_eq!(ahead.1, off.1, "the zone is read once, whatever the reads");
    assert!(2 * ahead.0 < off.0 + 20, "{ahead:?} {off:?}");
}
