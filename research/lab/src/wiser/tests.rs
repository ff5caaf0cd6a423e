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
        .collect()
}

fn has(text: &str, query: &Query) -> bool {
    let (words, wanted) = (words(text), query.words.split(' ').collect::<Vec<_>>());
    match query.kind {
        Kind::Phrase => words.windows(wanted.len()).any(|window| window == wanted),
        _ => wanted.iter().all(|word| words.contains(word)),
    }
}

/// The texts in files of a folder.
fn built(texts: &[String], folder: &Path) -> (Index, Pages) {
    let corpus = folder.join("corpus.jsonl");
    let mut file = File::create(&corpus).unwrap();
    for text in texts {
        writeln!(file, "{}", json!({ "body": text })).unwrap();
    }
    let place = folder.join("files");
    let index = Index::build(&corpus, &place).unwrap();
    (index, Pages::open(&place).unwrap())
}

#[test]
fn letters_that_become_two_in_lowercase_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let (index, mut pages) = built(&["\u{130}zmir, Izmir".to_owned()], folder.path());
    let words = "izmir".to_owned();
    let query = Query {
        kind: Kind::Term,
        words,
    };
    let asked = index.ask(&cases(1)[0], &[query], None, &mut pages).unwrap();
    assert_eq!(asked.answers[0].best, [0]);
}

#[test]
fn all_cases_find_what_is_there() {
    let texts = texts(3_000);
    let folder = tempfile::tempdir().unwrap();
    let (index, mut pages) = built(&texts, folder.path());
    let published = cases(index.documents())[0];
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
            let asked = index.ask(&published, &queries, memory, &mut pages).unwrap();
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
    let (index, mut pages) = built(&texts(20_000), folder.path());
    let cases = cases(index.documents());
    let mut read = |name: &str, kind: Kind, words: &[String]| {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let queries = words.iter().map(|words| Query {
            kind,
            words: words.clone(),
        });
        let queries: Vec<Query> = queries.collect();
        let asked = index.ask(case, &queries, None, &mut pages).unwrap();
        let (_, positions) = asked.parts[Part::Positions as usize];
        (asked.work.reads, asked.work.read_bytes, positions.pages)
    };
    let frequent = ["w0".to_owned()];
    let rare: Vec<String> = (200..240).map(|word| format!("w{word}")).collect();
    let pairs: Vec<String> = rare.iter().map(|word| format!("{word} w0")).collect();
    for (without, kind, words) in [
        ("no grouping", Kind::Term, &rare),
        ("entries on the device", Kind::Term, &rare),
        ("no alignment", Kind::Term, &rare),
        ("documents in groups", Kind::Term, &rare),
        ("read-ahead of 128 KiB", Kind::And, &pairs),
    ] {
        let (all, less) = (read("published", kind, words), read(without, kind, words));
        assert!(less.1 > all.1, "{without}: {less:?}, {all:?}");
    }
    let ahead = read("scaled prefetch", Kind::Term, &frequent);
    let off = read("no prefetch", Kind::Term, &frequent);
    assert_eq!(ahead.1, off.1, "a zone is read once, however it is");
    assert!(ahead.0 + 2 < off.0, "{ahead:?} {off:?}");
    let rarest: Vec<String> = (280..299).map(|word| format!("w{word} w0")).collect();
    let filtered = read("published", Kind::Phrase, &rarest);
    let plain = read("no filters", Kind::Phrase, &rarest);
    assert!(filtered.2 < plain.2, "{filtered:?} {plain:?}");
}
