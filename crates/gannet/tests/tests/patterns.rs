//! Prefixes and wildcards of any number of terms, against a look at every word of every document:
//! with lists in chunks, in dictionary leaves, in delta levels and in memory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gannet::{Document, Error, Index, Operator, Query, SearchOptions, SearchResults, Snapshot};

use super::environment::open;
use gannet_testkit::oracle::regexp::fits_regexp;
use gannet_testkit::random::Rng;

const DOCUMENTS: usize = 6_000;

/// Words of a random document, beside one that is its own.
const WORDS: usize = 6;

/// Terms up to which a pattern is the union of their lists.
const FEW: u64 = 64;

/// A document as it was written; nothing once it was deleted.
type Plain = Option<Vec<String>>;

struct World {
    index: Index,
    documents: Vec<Plain>,
    _folder: tempfile::TempDir,
}

/// Frequent words, whose lists have chunks, and rare ones, all of few letters.
fn word(rng: &mut Rng) -> String {
    let letters = match rng.below(3) {
        0 => 2,
        1 => 4,
        _ => 7,
    };
    (0..letters)
        .map(|_| *rng.pick(&['s', 'a', 'b', 'c']))
        .collect()
}

fn write(index: &Index, documents: &[Plain], from: usize) {
    let batch = documents.iter().enumerate().skip(from).map(|(id, words)| {
        let body = words.as_ref().expect("words").join(" ");
        Document::new(id.to_string(), [("body", body.as_str())]).expect("a document")
    });
    index.write(batch.collect()).expect("written");
}

/// Documents over several flushes, the last of them in memory, every seventh deleted.
fn world(seed: u64) -> World {
    let (mut rng, folder) = (Rng::new(seed), tempfile::tempdir().expect("a folder"));
    let index = open(
        Index::options().memory(32 << 20),
        &folder.path().join("index"),
    );
    let index = index.expect("an index");
    let mut documents: Vec<Plain> = Vec::new();
    for number in 0..DOCUMENTS {
        let mut words: Vec<String> = (0..WORDS).map(|_| word(&mut rng)).collect();
        words.push(format!("u{number}"));
        documents.push(Some(words));
        if documents.len().is_multiple_of(500) {
            write(&index, &documents, documents.len() - 500);
            if documents.len() < DOCUMENTS {
                index.checkpoint().expect("a checkpoint");
            }
        }
    }
    let deleted: Vec<String> = (0..DOCUMENTS).step_by(7).map(|id| id.to_string()).collect();
    let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
    index.delete(&deleted).expect("a deletion");
    documents
        .iter_mut()
        .step_by(7)
        .for_each(|words| *words = None);
    World {
        index,
        documents,
        _folder: folder,
    }
}

/// Returns true if a word has the form of a pattern of letters, `*` and `?`.
fn fits(pattern: &[u8], word: &[u8]) -> bool {
    match (pattern.split_first(), word.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            fits(rest, word)
                || word
                    .split_first()
                    .is_some_and(|(_, word)| fits(pattern, word))
        }
        (Some((b'?', pattern)), Some((_, word))) => fits(pattern, word),
        (Some((a, pattern)), Some((b, word))) => a == b && fits(pattern, word),
        _ => false,
    }
}

fn has(words: &[String], pattern: &str) -> bool {
    words
        .iter()
        .any(|word| fits(pattern.as_bytes(), word.as_bytes()))
}

impl World {
    /// The documents that are there and of whose words `wanted` holds.
    fn expected(&self, wanted: impl Fn(&[String]) -> bool) -> BTreeSet<String> {
        let live = self.documents.iter().enumerate();
        let found = live.filter(|(_, words)| words.as_ref().is_some_and(|words| wanted(words)));
        found.map(|(id, _)| id.to_string()).collect()
    }

    /// Compares an answer of a query, and the list of all that it finds, with what is expected.
    fn check(&self, text: &str, wanted: impl Fn(&[String]) -> bool) -> SearchResults {
        let query = parsed(&self.index.snapshot(), text);
        self.check_query(&query, wanted)
    }

    fn check_query(&self, query: &Query, wanted: impl Fn(&[String]) -> bool) -> SearchResults {
        let snapshot = self.index.snapshot();
        let text = &query.to_string();
        let expected = self.expected(wanted);
        let search = snapshot.search(query).top(DOCUMENTS).count(true);
        let results = search.explain(false).run().expect(text);
        let found: BTreeSet<String> = results.hits.iter().map(|hit| hit.id.clone()).collect();
        assert_eq!(found, expected, "{text}");
        let total = (results.total, results.total_is_exact);
        assert_eq!(total, (expected.len() as u64, true), "{text}");
        let listed = snapshot.list(query).sources(false);
        let listed: BTreeSet<String> = listed.map(|hit| hit.expect(text).id).collect();
        assert_eq!(listed, expected, "{text}");
        let explained = snapshot.search(query).top(3).explain(true).run();
        explained.expect(text)
    }
}

fn parsed(snapshot: &Snapshot, text: &str) -> Query {
    snapshot.parse(text, Operator::Or).expect(text)
}

/// A beginning, or letters some of which are placeholders.
fn pattern(rng: &mut Rng) -> String {
    let mut letters: Vec<char> = match rng.below(8) {
        0 => format!("u{}", rng.below(DOCUMENTS)).chars().collect(),
        _ => word(rng).chars().collect(),
    };
    letters.truncate(rng.between(1, 4));
    if rng.chance(50) {
        for _ in 0..rng.between(1, 2) {
            let at = rng.below(letters.len());
            letters[at] = *rng.pick(&['*', '?']);
        }
    }
    if rng.chance(80) {
        letters.push('*');
    }
    letters.into_iter().collect()
}

#[test]
fn patterns_of_any_number_of_terms_find_what_a_look_at_each_word_finds() {
    let world = world(1);
    let mut rng = Rng::new(2);
    let mut many = 0;
    let fixed = ["u*", "s*", "*", "?*", "*s*", "u??", "*5"].map(str::to_owned);
    let random = (0..60).map(|_| pattern(&mut rng)).collect::<Vec<_>>();
    for pattern in fixed.into_iter().chain(random) {
        // A star alone asks for the field.
        let text = if pattern.trim_matches('*').is_empty() {
            "body:?*".to_owned()
        } else {
            format!("body:{pattern}")
        };
        let results = world.check(&text, |words| has(words, &pattern));
        assert!(results.hits.iter().all(|hit| hit.score == 1.0), "{text}");
        let plan = results.plan.expect("a plan");
        many += plan.patterns.len();
        for report in &plan.patterns {
            let is_told = plan
                .to_string()
                .contains(&format!("pattern {}", report.pattern));
            assert!(report.terms > FEW && is_told, "{plan}");
        }
    }
    assert!(many > 20, "{many} patterns of many terms");
}

/// An expression of few signs, of words as documents have them.
fn regexp(rng: &mut Rng) -> String {
    let mut text = String::new();
    for letter in word(rng).chars().take(4) {
        match rng.below(6) {
            0 => text.push('.'),
            1 => text.push_str(&format!("[a-{letter}]")),
            2 => text.push_str(&format!("({letter}|{})", word(rng))),
            _ => text.push(letter),
        }
        if rng.chance(35) {
            text.push(*rng.pick(&['?', '*', '+']));
        }
    }
    text
}

#[test]
fn regular_expressions_find_what_a_look_at_each_word_finds() {
    let world = world(5);
    let mut rng = Rng::new(6);
    let fixed = ["u.*", "u[0-9]*5", ".*s.*", "sa|u1.*", "u1", "(ab)+", "x.*"];
    let random: Vec<String> = (0..60).map(|_| regexp(&mut rng)).collect();
    let mut found = 0;
    for pattern in fixed.map(str::to_owned).into_iter().chain(random) {
        let query = Query::Regexp {
            field: "body".to_owned(),
            pattern: pattern.clone(),
        };
        let fits = |words: &[String]| words.iter().any(|word| fits_regexp(&pattern, word));
        let results = world.check_query(&query, fits);
        assert!(results.hits.iter().all(|hit| hit.score == 1.0), "{pattern}");
        found += usize::from(results.total > 0);
    }
    assert!(found > 40, "{found} expressions found something");
}

#[test]
fn a_prefix_of_more_than_a_thousand_terms_is_part_of_any_query() {
    let world = world(3);
    let some = |pattern: &'static str| move |words: &[String]| has(words, pattern);
    let (u, s, ab) = (some("u1*"), some("sa*"), some("ab"));
    world.check("*:* -body:s*", |words| !has(words, "s*"));
    world.check("*:* NOT body:u1*", |words| !u(words));
    world.check("+body:ab +body:u1*", |words| ab(words) && u(words));
    world.check("+body:sa* +body:u1*", |words| s(words) && u(words));
    world.check("body:sa* body:u1*", |words| s(words) || u(words));
    world.check("+body:ab -body:sa*", |words| ab(words) && !s(words));
    world.check("+body:ab body:u1*", ab);
    world.check("u1*", u);
}

/// The terms are in the dictionary alone, in memory alone, or in both.
#[test]
fn terms_are_found_wherever_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(Index::options().memory(32 << 20), folder.path()).expect("an index");
    let total = |index: &Index| {
        let snapshot = index.snapshot();
        let query = parsed(&snapshot, "body:w*");
        let results = snapshot.search(&query).count(true).fetch(false).run();
        results.expect("an answer").total
    };
    let batch = |from: usize| (from..from + 2_000).map(document).collect();
    index.write(batch(0)).expect("written");
    assert_eq!(total(&index), 2_000);
    let before = index.snapshot();
    index.write(batch(2_000)).expect("written");
    assert_eq!(total(&index), 4_000);
    let query = parsed(&before, "body:w*");
    let results = before.search(&query).count(true).fetch(false).run();
    assert_eq!(
        results.expect("an answer").total,
        2_000,
        "its own documents"
    );
    index.checkpoint().expect("a checkpoint");
    assert_eq!(total(&index), 4_000);
    index.write(batch(1_000)).expect("written");
    assert_eq!(total(&index), 4_000);
    index.vacuum().expect("a vacuum");
    assert_eq!(total(&index), 4_000);
}

fn document(number: usize) -> Document {
    let body = format!("w{number} w{} all", number % 700);
    Document::new(number.to_string(), [("body", body.as_str())]).expect("a document")
}

#[test]
fn words_of_a_pattern_of_many_terms_are_marked() {
    let world = world(4);
    let snapshot = world.index.snapshot();
    for (text, wanted) in [("body:u*", "<em>u"), ("body:*55*", "55")] {
        let query = parsed(&snapshot, text);
        let found = snapshot.search(&query).top(5).highlight("body").run();
        for hit in found.expect("an answer").hits {
            let snippet = &hit.snippets[0].1[0];
            let marked = snippet.split("<em>").nth(1).expect("a mark");
            assert!(
                snippet.contains(wanted) && marked.starts_with('u'),
                "{snippet}"
            );
        }
    }
}

/// At each look at the clock a millisecond has passed.
#[test]
fn a_deadline_ends_the_expansion_of_a_pattern() {
    let world = world(5);
    let snapshot = world.index.snapshot();
    let query = parsed(&snapshot, "body:u* OR body:*s*");
    let expected = world.expected(|words| has(words, "u*")).len() as u64;
    let (mut ended, mut answered) = (0, 0);
    for limit in [1, 2, 3, 5, 8, 13, 1_000_000] {
        let looks = Arc::new(AtomicU64::new(0));
        let options = SearchOptions {
            count: true,
            deadline: Some(Duration::from_millis(limit)),
            clock: Some(Arc::new(move || {
                Duration::from_millis(looks.fetch_add(1, Ordering::Relaxed))
            })),
            ..SearchOptions::default()
        };
        let answer = snapshot.search_all(std::slice::from_ref(&query), &options);
        match answer.into_iter().next().expect("one answer") {
            Ok(results) => {
                assert_eq!(results.total, expected);
                answered += 1;
            }
            Err(Error::Timeout { doing, .. }) => {
                ended += usize::from(doing.contains("looking up"));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(ended >= 3 && answered == 1, "{ended} {answered}");
}

/// The least memory that an index may have.
#[test]
fn the_least_memory_is_enough_for_all_words() {
    let world = world(6);
    let expected = world.expected(|words| has(words, "?*")).len() as u64;
    let path = world._folder.path().join("index");
    world.index.close().expect("closed");
    let total = |path: &Path| {
        let index = open(Index::options().memory(16 << 20).read_only(), path).expect("an index");
        let snapshot = index.snapshot();
        let query = parsed(&snapshot, "body:?*");
        let results = snapshot.search(&query).count(true).fetch(false).run();
        results.expect("an answer").total
    };
    assert_eq!(total(&path), expected);
}
