//! Hot lists beside pages that nobody has read, in pieces, beside threads that write, and beside
//! frames that need memory.

use std::time::{Duration, Instant};

use gannet::diagnostics::Techniques;
use gannet::{Document, Index, Operator, SearchOptions, Snapshot};

use super::environment::open;
use super::hot_lists::{QUERIES, check, compare, delete_best, index, write};
use gannet_testkit::random::Rng;

const MIB: usize = 1 << 20;

/// Documents of a batch.
const BATCH: usize = 10_000;

const ALL: usize = u32::MAX as usize;

/// The time that threads ask.
const TIME: Duration = Duration::from_secs(3);

fn write_bodies(index: &Index, first: usize, bodies: impl Iterator<Item = String>) {
    let documents = (first..).zip(bodies).map(|(id, body)| {
        Document::new(id.to_string(), [("body", body.as_str())]).expect("a document")
    });
    let documents: Vec<Document> = documents.collect();
    for batch in documents.chunks(BATCH) {
        index.write(batch.to_vec()).expect("a batch");
    }
}

/// Reads the pages that a query can need for the documents below `below`.
fn read(snapshot: &Snapshot, text: &str, below: usize) {
    let query = snapshot.parse(text, Operator::Or).expect("a query");
    let techniques = Techniques::default().without("pruning");
    let options = SearchOptions {
        below: below as u32,
        techniques: techniques.and_then(|all| all.without("hot")).unwrap(),
        ..SearchOptions::default()
    };
    let answer = snapshot.search_all(&[query], &options).remove(0);
    answer.expect("an answer");
}

/// Asks for a query so often that its lists become hot. Tells if an answer then needs no page.
fn is_hot(snapshot: &Snapshot, text: &str) -> bool {
    read(snapshot, text, ALL);
    for _ in 0..5 {
        compare(snapshot, text, 10, false);
    }
    let last = compare(snapshot, text, 10, false).io;
    last.frames_hit + last.reads == 0
}

#[test]
fn a_hot_list_and_pages_behind_it_that_nobody_has_read_give_the_best_together() {
    // So many that the lists are not decoded anew while the test asks.
    const FIRST: usize = 50_000;
    const MORE: usize = 8_000;
    let (_folder, index) = index();
    let mut random = Rng::new(12);
    let of = |[w0, w1]: [usize; 2]| "w0 ".repeat(w0) + &"w1 ".repeat(w1) + "w2";
    // Many documents have the same words as often, and so the same score.
    let mut body = || of([(); 2].map(|()| random.next().trailing_zeros().min(6) as usize));
    let bodies = (0..FIRST).map(|id| if id < 3 { of([7; 2]) } else { body() });
    write_bodies(&index, 0, bodies);
    index.checkpoint().expect("a checkpoint");
    let first = index.snapshot();
    let queries = ["w0", "w0 w1", "+w0 +w1"];
    for text in queries {
        assert!(is_hot(&first, text), "{text}");
    }
    let mut ranked = 0;
    let asked = [1, 10, 200].map(|k| queries.map(|text| (k, text)));
    for (part, (k, text)) in asked.into_iter().flatten().enumerate() {
        let bodies = (0..MORE).map(|id| match id {
            0..25 => of([7; 2]),
            // The best of all is behind the list now and then.
            6_000 if part % 2 == 1 => of([8 + part; 2]),
            _ => body(),
        });
        let begin = FIRST + part * MORE;
        write_bodies(&index, begin, bodies);
        index.checkpoint().expect("a checkpoint");
        let snapshot = index.snapshot();
        // Only the ranking reads the others, where it is not all in the pages of those before.
        read(&snapshot, text, begin);
        let found = compare(&snapshot, text, k, false);
        ranked += usize::from(found.io.rounds > 0);
    }
    assert!(ranked > 4, "{ranked}");
    // Newer lists would not answer for this snapshot, for which the words are looked up again.
    let found = compare(&first, "w0 w1", 10, false);
    assert_eq!(found.io.frames_hit, 1);
}

#[test]
fn lists_that_are_decoded_in_several_uses_answer_as_pages_do_in_between() {
    const DOCUMENTS: usize = 150_000;
    let (_folder, index) = index();
    let mut random = Rng::new(13);
    let bodies = (0..DOCUMENTS).map(|id| match id {
        // The best are those that are decoded last.
        _ if id + 40 >= DOCUMENTS => "w0 w0 w0",
        _ => *random.pick(&["w0", "w0 w1", "w1 w1 w0", "w2 w0 w1"]),
    });
    write_bodies(&index, 0, bodies.map(str::to_owned));
    index.checkpoint().expect("a checkpoint");
    let ask = |snapshot: &Snapshot, text| {
        compare(snapshot, text, 10, false);
        compare(snapshot, text, 200, true);
    };
    let first = index.snapshot();
    read(&first, "w0 w1 w2", ALL);
    ask(&first, "w1 w2");
    ask(&first, "w1 w2");
    assert!(is_hot(&first, "w1 w2"));
    // A part of the list is decoded, then a vacuum removes documents of the other parts.
    ask(&first, "w0");
    delete_best(&index, "w0");
    while index.vacuum().expect("a vacuum") {}
    let now = index.snapshot();
    read(&now, "w0 w1", ALL);
    for text in ["w0", "w0 w1", "+w0 +w1"] {
        ask(&now, text);
        ask(&first, text);
    }
    assert!(is_hot(&now, "w0 w1"));
}

#[test]
fn threads_find_with_hot_lists_what_they_find_without_while_another_writes() {
    let (_folder, index) = index();
    let mut random = Rng::new(15);
    write(&index, 0..3_000, &mut random);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (index, mut random) = (&index, Rng::new(thread));
            scope.spawn(move || {
                let mut snapshot = index.snapshot();
                while start.elapsed() < TIME {
                    if random.chance(20) {
                        snapshot = index.snapshot();
                    }
                    let (k, count) = *random.pick(&[(10, false), (10, true), (200, false)]);
                    compare(&snapshot, QUERIES[random.below(QUERIES.len())], k, count);
                }
            });
        }
        let mut round = 0;
        while start.elapsed() < TIME {
            let first = random.below(3_000) as u64;
            write(&index, first..first + 50, &mut random);
            write(&index, 3_000 + 10 * round..3_010 + 10 * round, &mut random);
            delete_best(&index, QUERIES[random.below(QUERIES.len())]);
            match round % 3 {
                1 => index.checkpoint().expect("a checkpoint"),
                2 => while index.vacuum().expect("a vacuum") {},
                _ => {}
            }
            round += 1;
        }
    });
    check(&index.snapshot());
}

#[test]
fn frames_get_the_memory_of_hot_lists_once_they_need_it() {
    // These take more pages than there are frames.
    const LARGE: usize = 2_000;
    const FEW: usize = 50;
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(Index::options().memory(16 * MIB), folder.path()).expect("an index");
    let mut random = Rng::new(16);
    for begin in (0..3_000).step_by(500) {
        write(&index, begin..begin + 500, &mut random);
    }
    index.checkpoint().expect("a checkpoint");
    let first = index.snapshot();
    assert!(is_hot(&first, "w0 w2"));
    // Words that are too long for a list, and hardly compressed.
    let mut large = || {
        let digits = (0..600).map(|_| format!("{:016x}", random.next()));
        digits.collect::<String>()
    };
    let ids = 10_000..10_000 + LARGE;
    for begin in ids.clone().step_by(FEW) {
        write_bodies(&index, begin, (0..FEW).map(|_| large()));
    }
    for id in ids {
        assert!(index.get(&id.to_string()).expect("a look").is_some());
    }
    assert!(!is_hot(&first, "w0 w2"));
    // The snapshot may be given up for memory.
    drop(first);
    check(&index.snapshot());
}
