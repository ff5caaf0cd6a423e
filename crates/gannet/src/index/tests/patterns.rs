//! Patterns of so many terms that the set of their documents is made.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::base::Error;
use crate::device::{Device, RecordingDevice};
use crate::documents::Document;
use crate::index::{Index, MEMORY_MIN, Options};
use crate::search::{KnownPatterns, Operator, SearchOptions};

const DOCUMENTS: usize = 3_000;

/// Lists in chunks and in dictionary leaves; nothing in memory.
fn index() -> Index {
    let device = Arc::new(RecordingDevice::new()) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN);
    let index = Index::open_on(device, Path::new("test"), options).unwrap();
    for half in [0..DOCUMENTS / 2, DOCUMENTS / 2..DOCUMENTS] {
        let batch = half.map(|number| {
            // The last word is in so many documents that its list has chunks.
            let text = format!("w{number} v{} w", number % 90);
            Document::new(number.to_string(), [("body", text)]).unwrap()
        });
        index.write(batch.collect()).unwrap();
        index.checkpoint().unwrap();
    }
    index
}

#[test]
fn a_pattern_of_many_terms_is_answered_in_full_or_rejected_for_memory() {
    let index = index();
    let snapshot = index.snapshot();
    let (mut answered, mut rejected) = (0, 0);
    for text in ["body:w*", "body:v*", "body:*1*"] {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let total = |expected: Option<u64>| {
            let search = snapshot.search(&query).count(true).fetch(false);
            match search.run() {
                Ok(results) => {
                    assert!(
                        expected.is_none_or(|expected| results.total == expected),
                        "{text}"
                    );
                    Some(results.total)
                }
                Err(Error::Memory { .. }) => None,
                Err(error) => panic!("{text}: {error}"),
            }
        };
        let expected = total(None);
        assert!(expected.is_some(), "{text}");
        let budget = &index.shared.budget;
        for left in (0..20).map(|doublings| 256 << doublings) {
            let free = budget.total() - budget.used();
            let held = budget.reserve("what others hold", free.saturating_sub(left));
            match total(expected) {
                Some(_) => answered += 1,
                None => rejected += 1,
            }
            drop(held);
        }
    }
    assert!(answered > 9 && rejected > 9, "{answered} {rejected}");
}

#[test]
fn searches_for_the_next_documents_go_through_no_terms_again() {
    let index = index();
    let snapshot = index.snapshot();
    let query = snapshot.parse("body:w* body:v*", Operator::Or).unwrap();
    let known = KnownPatterns::default();
    let search = |from| {
        let options = SearchOptions {
            k: 100,
            from,
            fetch: false,
            explain: true,
            ..SearchOptions::default()
        };
        let results = snapshot.search_again(&query, &options, &known).unwrap();
        let plan = results.plan.unwrap();
        assert_eq!(plan.patterns.len(), 2);
        let io = plan.steps[0].io;
        let docs: Vec<u32> = results.hits.iter().map(|hit| hit.doc).collect();
        (docs, io.frames_hit + io.reads)
    };
    let (first, pages) = search(0);
    assert!(first.len() == 100 && pages > 0, "{pages}");
    let from = first.iter().max().unwrap() + 1;
    let (next, pages) = search(from);
    assert_eq!((next.len(), pages), (100, 0));
    assert!(next.iter().all(|doc| *doc >= from));
}

/// No page need be read for it, and no term is in memory.
#[test]
fn going_through_terms_looks_at_the_clock() {
    let index = index();
    let snapshot = index.snapshot();
    let looks = |text| {
        let query = [snapshot.parse(text, Operator::Or).unwrap()];
        let looks = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&looks);
        let options = SearchOptions {
            fetch: false,
            clock: Some(Arc::new(move || {
                count.fetch_add(1, Ordering::Relaxed);
                Duration::ZERO
            })),
            deadline: Some(Duration::from_secs(1)),
            ..SearchOptions::default()
        };
        snapshot
            .search_all(&query, &options)
            .pop()
            .unwrap()
            .unwrap();
        looks.load(Ordering::Relaxed)
    };
    // Judging each of 3,000 terms is 20 steps, and some 4,000 are one look.
    let (one, many) = (looks("body:w1"), looks("body:*1*"));
    assert!(many >= one + 12, "{one} {many}");
}
