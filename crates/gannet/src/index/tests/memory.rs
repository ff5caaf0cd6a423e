//! Queries that find too little memory beside what a flush holds, or what it is to free.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::base::{Error, Reservation};
use crate::device::{Device, RecordingDevice};
use crate::documents::Document;
use crate::index::write::Writer;
use crate::index::{Index, Limits, MEMORY_MIN, Options, Phase};
use crate::search::{Operator, Query};

/// Tells if a flush is under way, and if it may go on.
static FLUSHES: AtomicBool = AtomicBool::new(false);
static GOES_ON: AtomicBool = AtomicBool::new(false);

fn hold_flushes_up(phase: Phase) {
    if phase == Phase::Flush {
        FLUSHES.store(true, Ordering::Release);
        wait_for(&GOES_ON);
    }
}

fn wait_for(event: &AtomicBool) {
    while !event.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_query_without_memory_waits_for_a_flush() {
    let device = Arc::new(RecordingDevice::new()) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN).limits(Limits {
        log_source_bytes: 12 << 10,
        on_phase: Some(hold_flushes_up),
        ..Limits::default()
    });
    let index = Index::open_on(device, Path::new("test"), options).unwrap();
    for number in 0.. {
        let text = format!("the sea beside stone {number}");
        let document = Document::new(number.to_string(), [("body", text)]);
        index.write(vec![document.unwrap()]).unwrap();
        if FLUSHES.load(Ordering::Acquire) {
            break;
        }
    }
    let snapshot = index.snapshot();
    let query = snapshot.parse("body:sea", Operator::Or).unwrap();
    thread::scope(|scope| {
        let budget = &index.shared.budget;
        let free = budget.total() - budget.used();
        let held = budget.reserve("what a flush holds", free - 1024).unwrap();
        let asked = scope.spawn(|| snapshot.search(&query).count(true).run());
        thread::sleep(Duration::from_millis(50));
        let waits = !asked.is_finished();
        drop(held);
        GOES_ON.store(true, Ordering::Release);
        let results = asked.join().unwrap().unwrap();
        assert!(waits);
        assert_eq!(results.total, snapshot.documents());
    });
}

const DELETED: u64 = 5_000;

/// Documents of one of so many words each, all on flash, and a query for all of these words.
fn words_on_flash(words: u64) -> (Index, Query) {
    let device = Arc::new(RecordingDevice::new()) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN);
    let index = Index::open_on(device, Path::new("test"), options).unwrap();
    let document = |number: u64| {
        let text = format!("w{}", number % words);
        Document::new(number.to_string(), [("body", text)]).unwrap()
    };
    index.write((0..DELETED).map(document).collect()).unwrap();
    index.checkpoint().unwrap();
    let words: Vec<String> = (0..words).map(|word| format!("w{word}")).collect();
    let query = Query::Text {
        field: Some("body".to_owned()),
        text: words.join(" "),
        operator: Operator::Or,
    };
    (index, query)
}

/// Takes all memory but so much.
fn leave(index: &Index, bytes: usize) -> Reservation {
    let budget = &index.shared.budget;
    let free = budget.total() - budget.used();
    let held = free.checked_sub(bytes).unwrap();
    budget.reserve("what others hold", held).unwrap()
}

/// Deleted IDs take memory until they are flushed, and so does the flush that they will need.
#[test]
fn a_deletion_by_query_flushes_deletions_where_the_query_lacks_memory() {
    // The query takes about 2.4 MB, and the memory of a flush is 2 MiB.
    let (index, query) = words_on_flash(350);
    let flush = index.shared.memory.flush.bytes();
    let _held = leave(&index, flush + (768 << 10));
    let written = index.delete_matching(&query, &|_| {}).unwrap();
    assert_eq!(written.deleted, DELETED);
    assert_eq!(index.snapshot().documents(), 0);
}

#[test]
fn a_deletion_that_lacks_memory_tells_how_much_it_did() {
    // The query takes about 4 MB.
    let (index, query) = words_on_flash(1_000);
    let held = Mutex::new(None);
    let take_all = |_| *held.lock().unwrap() = Some(leave(&index, 0));
    let error = index.delete_matching(&query, &take_all).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("after 1000 documents were deleted"), "{said}");
    assert_eq!(index.snapshot().documents(), DELETED - 1_000);
    drop(held);
    let left = index.delete_matching(&query, &|_| {}).unwrap();
    assert_eq!(left.deleted, DELETED - 1_000);
}

/// A document of the same words, each of which it has often.
fn frequent_words(number: u64) -> Document {
    let text = "the sea of the land and a stone ".repeat(20);
    Document::new(number.to_string(), [("body", text)]).unwrap()
}

#[test]
fn of_postings_in_memory_a_search_without_phrases_copies_no_positions() {
    let device = Arc::new(RecordingDevice::new()) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN);
    let index = Index::open_on(device, Path::new("test"), options).unwrap();
    for batch in 0..20 {
        let numbers = batch * 100..(batch + 1) * 100;
        index.write(numbers.map(frequent_words).collect()).unwrap();
    }
    // Docs and frequencies take 30 KB, positions 320 KB.
    let _held = leave(&index, 256 << 10);
    let snapshot = index.snapshot();
    let asked = |text: &str| {
        let query = snapshot.parse(text, Operator::And).unwrap();
        snapshot.search(&query).count(true).run()
    };
    let found = asked("the sea of land and a stone").unwrap();
    assert_eq!(found.total, 2_000);
    let error = asked("\"the sea of the land and a stone\"").unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
}

#[test]
fn what_a_batch_was_given_and_did_not_take_is_free_again() {
    let device = Arc::new(RecordingDevice::new()) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN);
    let index = Index::open_on(device, Path::new("test"), options).unwrap();
    let words = |number: u64| (0..50).map(move |word| format!("w{}", number * 50 + word));
    let document = |number: u64| {
        let text = words(number).collect::<Vec<_>>().join(" ");
        Document::new(number.to_string(), [("body", text)]).unwrap()
    };
    index.write((0..300).map(document).collect()).unwrap();
    let many = index.shared.budget.used();
    // This write reserves less. If the first had kept its spare memory, it would be given back now.
    index.write(vec![document(300)]).unwrap();
    let more = index.shared.budget.used();
    assert!(many <= more, "{many} bytes, then {more}");
}

/// A flush copies the filters of terms and IDs; where nothing is to be flushed, queries have that
/// memory.
#[test]
fn copies_of_a_flush_are_charged_while_its_memory_is_held() {
    let (index, _) = words_on_flash(4_000);
    let flush = index.shared.memory.flush.bytes();
    let state = index.shared.published.get();
    let copies = state.tree_bytes();
    assert!(copies > 4_096, "{copies} bytes");
    let used = || index.shared.budget.used();
    let at_rest = used();
    let hold = |writer: &mut Writer| writer.hold_flush_memory().map(drop);
    index.with_writer(hold).unwrap();
    assert_eq!(used() - at_rest, flush + copies);
    let release = |writer: &mut Writer| {
        writer.release_flush_memory();
        Ok(())
    };
    index.with_writer(release).unwrap();
    assert_eq!(used(), at_rest);
}

/// The copies are a part of what a flush needs: both are there, or neither.
#[test]
fn memory_of_a_flush_without_room_for_its_copies_is_not_held() {
    let (index, _) = words_on_flash(4_000);
    let flush = index.shared.memory.flush.bytes();
    let _held = leave(&index, flush + 100);
    let used = index.shared.budget.used();
    let held = index.with_writer(|writer| writer.hold_flush_memory().map(drop));
    assert!(matches!(held, Err(Error::Memory { .. })));
    assert_eq!(index.shared.budget.used(), used);
}
