//! Folders that are removed or replaced while a writer is at work, and locks that are removed: the
//! writer says that what it wrote is not there, and an index stays whole.

use std::fs;
use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::Place;

/// A writer that waits for more documents.
struct Waiting {
    process: Child,
    input: ChildStdin,
}

fn line(id: u32) -> String {
    format!("{{\"id\":\"{id}\",\"body\":\"common w{}\"}}\n", id % 9)
}

fn lines(ids: std::ops::Range<u32>) -> String {
    ids.map(line).collect()
}

fn indexed() -> Place {
    let place = Place::new();
    place.write("docs.jsonl", lines(0..100));
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

impl Waiting {
    /// A writer that has made some documents durable.
    fn start(place: &Place) -> Waiting {
        let arguments = ["index", "index", "-", "--commit-every", "10"];
        let mut command = place.command(&arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.stderr(Stdio::piped()).spawn().unwrap();
        let mut input = process.stdin.take().unwrap();
        input.write_all(lines(1_000..1_050).as_bytes()).unwrap();
        input.flush().unwrap();
        let began = Instant::now();
        let signed = || fs::read_to_string(place.path("index/LOCK")).unwrap_or_default();
        while !signed().contains(&process.id().to_string()) {
            assert!(began.elapsed() < Duration::from_secs(60), "no writer");
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(1_500));
        Waiting { process, input }
    }

    /// Gives it more, and tells its exit code and what it says.
    fn end(mut self) -> (i32, String) {
        // It may have ended by now.
        let _ = self.input.write_all(lines(1_050..1_300).as_bytes());
        drop(self.input);
        let output = self.process.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    }
}

#[test]
fn a_writer_whose_folder_is_removed_says_so() {
    let place = indexed();
    let writer = Waiting::start(&place);
    fs::remove_dir_all(place.path("index")).unwrap();
    let (code, said) = writer.end();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("removed, moved or replaced"), "{said}");
    assert!(!place.path("index").exists());
}

#[test]
fn a_writer_whose_folder_is_replaced_leaves_the_other_index_alone() {
    let place = indexed();
    place.write("other.jsonl", lines(0..3));
    place.done(&["index", "other", "other.jsonl"]);
    let before = place.done(&["export", "other"]);
    let writer = Waiting::start(&place);
    fs::rename(place.path("index"), place.path("away")).unwrap();
    fs::rename(place.path("other"), place.path("index")).unwrap();
    let (code, said) = writer.end();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("removed, moved or replaced"), "{said}");
    assert_eq!(place.done(&["export", "index"]), before);
    for index in ["index", "away"] {
        assert!(place.done(&["check", index]).contains("OK: "));
    }
}

#[test]
fn a_lock_that_is_removed_lets_no_second_writer_in() {
    let place = indexed();
    let writer = Waiting::start(&place);
    fs::remove_file(place.path("index/LOCK")).unwrap();
    place.write("more.jsonl", lines(2_000..2_100));
    for _ in 0..2 {
        place
            .run(&["index", "index", "more.jsonl"])
            .rejected(1, &["in use by another process", "LOCK was removed"]);
    }
    let (code, said) = writer.end();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("LOCK"), "{said}");
    assert!(place.done(&["check", "index"]).contains("OK: "));
    place.done(&["index", "index", "more.jsonl"]);
    let found = place.json(&["stats", "index"])["documents"].as_u64();
    assert!(found >= Some(250), "{found:?}");
    assert!(place.done(&["check", "index"]).contains("OK: "));
}

/// A superblock of another index under the lock of this one.
#[test]
fn a_writer_whose_superblock_is_replaced_says_so() {
    let place = indexed();
    place.done(&["index", "other", "docs.jsonl"]);
    let writer = Waiting::start(&place);
    let superblock = place.path("index/superblock");
    let other = fs::read(place.path("other/superblock")).unwrap();
    fs::rename(&superblock, place.path("kept")).unwrap();
    fs::write(&superblock, &other).unwrap();
    let (code, said) = writer.end();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("the superblock that was opened"), "{said}");
    assert_eq!(fs::read(&superblock).unwrap(), other);
}
