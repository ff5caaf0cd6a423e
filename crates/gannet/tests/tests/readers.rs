//! Readers beside a writer. Locks belong to open files, so two handles of one process are to each
//! other what two processes are; processes that are killed are in the tests of the command.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gannet::{Document, Error, Index, Limits, Operator, SearchResults, Snapshot};
use tempfile::TempDir;

use super::environment::open;

/// Words that each document of a round has beside its own.
const WORDS: u64 = 40;

fn limits() -> Limits {
    Limits {
        // Zones so small that many are given up.
        zone_pages: Some(8),
        maintain_after: None,
        visible_after: None,
        ..Limits::default()
    }
}

/// Limits under which what readers hold is given up at once.
fn strict() -> Limits {
    Limits {
        snapshot_bytes: Some(0),
        snapshot_age: Duration::ZERO,
        ..limits()
    }
}

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        Place { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    fn writer(&self, limits: Limits) -> Index {
        open(
            Index::options().memory(64 << 20).limits(limits),
            &self.path(),
        )
        .expect("a writer")
    }

    fn reader(&self) -> Index {
        self.try_reader().expect("a reader")
    }

    fn try_reader(&self) -> gannet::Result<Index> {
        open(Index::options().memory(32 << 20).read_only(), &self.path())
    }

    fn leases(&self) -> usize {
        fs::read_dir(self.path().join("readers")).map_or(0, Iterator::count)
    }

    fn zones(&self) -> usize {
        let files = fs::read_dir(self.path()).expect("the folder");
        let names = files.map(|file| file.expect("a file").file_name());
        names
            .filter(|name| name.to_string_lossy().starts_with("zone"))
            .count()
    }
}

/// Writes all documents anew, so that nothing of an earlier round lives.
fn write(index: &Index, documents: u64, round: u64) {
    for first in (0..documents).step_by(100) {
        let documents = (first..documents.min(first + 100)).map(|id| {
            let words = (0..WORDS).map(|n| format!("w{}", (id * 7 + n * n + round) % 900));
            let text = format!("round{round} {}", words.collect::<Vec<_>>().join(" "));
            Document::new(id.to_string(), [("body", text.as_str())]).expect("a document")
        });
        index.write(documents.collect()).expect("a batch");
    }
}

fn found(snapshot: &Snapshot, words: &str) -> gannet::Result<SearchResults> {
    let query = snapshot.parse(words, Operator::And)?;
    snapshot.search(&query).count(true).top(5).run()
}

fn total(index: &Index, words: &str) -> u64 {
    found(&index.snapshot(), words).expect("an answer").total
}

fn sound(index: &Index) {
    let report = index.check(&|_, _| ()).expect("a check");
    assert_eq!(report.findings, Vec::<String>::new());
    assert_eq!(report.notes, Vec::<String>::new());
}

#[test]
fn a_reader_sees_the_last_checkpoint_and_moves_to_the_next() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 300, 0);
    writer.checkpoint().expect("a checkpoint");
    write(&writer, 1, 1);
    let reader = place.reader();
    assert_eq!(total(&reader, "body:round0"), 300);
    let old = reader.snapshot();
    assert!(!reader.refresh().expect("nothing new"));
    writer.checkpoint().expect("a checkpoint");
    assert_eq!(total(&reader, "body:round1"), 0);
    assert!(reader.refresh().expect("a newer root"));
    assert!(!reader.refresh().expect("nothing new"));
    assert_eq!(total(&reader, "body:round1"), 1);
    assert_eq!(total(&reader, "body:round0"), 299);
    assert_eq!(found(&old, "body:round0").expect("an answer").total, 300);
    sound(&reader);
    assert!(!writer.refresh().expect("it sees what it writes"));
    // One lease for the snapshot, one for the index.
    assert_eq!(place.leases(), 2);
    drop(old);
    assert_eq!(place.leases(), 1);
    drop(reader);
    assert_eq!(place.leases(), 0);
}

#[test]
fn readers_and_a_writer_open_and_close_in_any_order() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 50, 0);
    writer.checkpoint().expect("a checkpoint");
    let readers = [(); 3].map(|()| place.reader());
    let second = open(Index::options(), &place.path())
        .err()
        .expect("a second writer");
    assert!(matches!(second, Error::Locked { .. }), "{second}");
    writer.close().expect("the end");
    let writer = place.writer(limits());
    write(&writer, 50, 1);
    writer.close().expect("the end");
    for reader in readers {
        assert!(reader.refresh().expect("a newer root"));
        assert_eq!(total(&reader, "body:round1"), 50);
    }
}

#[test]
fn a_reader_takes_in_the_log_of_a_writer_that_is_gone() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 20, 0);
    writer.checkpoint().expect("a checkpoint");
    let reader = place.reader();
    write(&writer, 5, 1);
    writer.sync().expect("a sync");
    assert!(!reader.refresh().expect("nothing new"));
    // As after a kill: there is no checkpoint.
    drop(writer);
    assert!(reader.refresh().expect("the log"));
    assert!(!reader.refresh().expect("nothing new"));
    assert_eq!(total(&reader, "body:round1"), 5);
    // The next writer recovers the same; its root is what comes next.
    let writer = place.writer(limits());
    assert!(!reader.refresh().expect("nothing new"));
    assert_eq!(total(&reader, "body:round1"), 5);
    // Nor does one that opens now see less, before there is a root of what was recovered.
    let later = place.reader();
    assert_eq!(total(&later, "body:round1"), 5);
    writer.checkpoint().expect("a checkpoint");
    write(&writer, 5, 2);
    writer.sync().expect("a sync");
    assert_eq!(total(&place.reader(), "body:round2"), 0);
    assert!(reader.refresh().expect("a newer root"));
    assert_eq!(total(&reader, "body:round1"), 5);
    sound(&reader);
}

#[test]
fn what_a_reader_holds_stays_through_vacuum_cleaning_and_rebuild() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 600, 0);
    writer.checkpoint().expect("a checkpoint");
    let reader = place.reader();
    for round in 1..4 {
        write(&writer, 600, round);
        while writer.vacuum().expect("a slice") {}
        while writer.clean().expect("a cleaning") {}
        writer.rebuild(&mut |_, _, _| ()).expect("a rebuild");
        sound(&reader);
        assert_eq!(total(&reader, "body:round0"), 600);
        // What the reader has not in memory is there too.
        for word in 0..900 {
            found(&reader.snapshot(), &format!("body:w{word}")).expect("an answer");
        }
    }
    let held = place.zones();
    drop(reader);
    write(&writer, 1, 4);
    writer.checkpoint().expect("a checkpoint");
    assert!(place.zones() < held, "{} zones of {held}", place.zones());
    let reader = place.reader();
    sound(&reader);
    assert_eq!(total(&reader, "body:round3"), 599);
}

#[test]
fn a_reader_that_holds_too_much_expires_and_moves_on() {
    let place = Place::new();
    let writer = place.writer(strict());
    write(&writer, 600, 0);
    writer.checkpoint().expect("a checkpoint");
    let reader = place.reader();
    let old = reader.snapshot();
    write(&writer, 600, 1);
    while writer.vacuum().expect("a slice") {}
    while writer.clean().expect("a cleaning") {}
    assert_eq!(place.leases(), 0);
    let error = (0..900).find_map(|word| found(&old, &format!("body:w{word}")).err());
    let error = error.expect("a search that needs what is gone");
    assert!(matches!(error, Error::Expired { .. }), "{error}");
    assert!(error.to_string().contains("refresh the index"), "{error}");
    let error = reader.check(&|_, _| ()).expect_err("it is gone");
    assert!(matches!(error, Error::Expired { .. }), "{error}");
    assert!(reader.refresh().expect("a newer root"));
    assert_eq!(total(&reader, "body:round1"), 600);
    sound(&reader);
}

#[cfg(target_os = "linux")]
#[test]
fn the_space_of_an_expired_reader_is_free_though_it_has_the_files_open() {
    let place = Place::new();
    let writer = place.writer(strict());
    write(&writer, 600, 0);
    writer.checkpoint().expect("a checkpoint");
    let reader = place.reader();
    sound(&reader);
    write(&writer, 600, 1);
    while writer.vacuum().expect("a slice") {}
    while writer.clean().expect("a cleaning") {}
    let held = open_but_removed(&place.path());
    assert!(!held.is_empty(), "the reader has removed files open");
    assert!(held.iter().all(|bytes| *bytes == 0), "{held:?}");
    drop(reader);
}

#[cfg(target_os = "linux")]
/// The sizes of files below `folder` that this process has open although they are removed.
fn open_but_removed(folder: &Path) -> Vec<u64> {
    let descriptors = fs::read_dir("/proc/self/fd").expect("the open files");
    let removed = descriptors.filter_map(|entry| {
        let path = entry.ok()?.path();
        let target = fs::read_link(&path).ok()?.to_string_lossy().into_owned();
        let gone = target.starts_with(&*folder.to_string_lossy()) && target.ends_with("(deleted)");
        gone.then(|| fs::metadata(&path).map(|file| file.len()).ok())?
    });
    removed.collect()
}

#[test]
fn a_writer_that_opens_keeps_what_readers_of_older_roots_hold() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 600, 0);
    writer.checkpoint().expect("a checkpoint");
    let reader = place.reader();
    write(&writer, 600, 1);
    while writer.vacuum().expect("a slice") {}
    while writer.clean().expect("a cleaning") {}
    writer.close().expect("the end");
    let writer = place.writer(limits());
    sound(&reader);
    assert_eq!(total(&reader, "body:round0"), 600);
    let held = place.zones();
    drop(reader);
    write(&writer, 1, 2);
    writer.checkpoint().expect("a checkpoint");
    assert!(place.zones() < held, "{} zones of {held}", place.zones());
}

#[test]
fn a_backup_of_what_is_read_is_whole_and_a_new_one_ends_its_readers() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 300, 0);
    writer.checkpoint().expect("a checkpoint");
    write(&writer, 300, 1);
    let copy = place.folder.path().join("copy");
    let reader = place.reader();
    reader.backup(&copy, &mut |_, _| ()).expect("a backup");
    let copied = open(Index::options().memory(32 << 20).read_only(), &copy).expect("the backup");
    assert_eq!(total(&copied, "body:round0"), 300);
    sound(&copied);
    while writer.vacuum().expect("a slice") {}
    while writer.clean().expect("a cleaning") {}
    assert!(reader.refresh().expect("a newer root"));
    reader
        .backup(&copy, &mut |_, _| ())
        .expect("a second backup");
    let error = copied.check(&|_, _| ()).expect_err("it is gone");
    assert!(matches!(error, Error::Expired { .. }), "{error}");
    assert!(copied.refresh().expect("a newer root"));
    assert_eq!(total(&copied, "body:round1"), 300);
    sound(&copied);
}

#[test]
fn what_is_written_is_shown_to_readers_in_time() {
    let place = Place::new();
    let limits = Limits {
        visible_after: Some(Duration::from_millis(50)),
        ..limits()
    };
    let writer = place.writer(limits);
    write(&writer, 10, 0);
    std::thread::sleep(Duration::from_millis(200));
    let reader = place.reader();
    assert_eq!(
        total(&reader, "*:*"),
        0,
        "nobody read, so there is no checkpoint"
    );
    let start = Instant::now();
    while total(&reader, "*:*") < 10 {
        assert!(start.elapsed() < Duration::from_secs(60), "it is not shown");
        std::thread::sleep(Duration::from_millis(10));
        reader.refresh().expect("a newer root");
    }
    assert_eq!(total(&reader, "body:round0"), 10);
}

/// A command that searches is gone before the writer looks for it.
#[test]
fn what_is_written_is_shown_to_readers_that_come_and_go() {
    let place = Place::new();
    let limits = Limits {
        visible_after: Some(Duration::from_millis(500)),
        ..limits()
    };
    let writer = place.writer(limits);
    let flushes = || writer.stats().expect("figures").flushes;
    write(&writer, 10, 0);
    let before = flushes();
    assert_eq!(total(&place.reader(), "*:*"), 0);
    let start = Instant::now();
    while flushes() == before {
        assert!(start.elapsed() < Duration::from_secs(60), "it is not shown");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(total(&place.reader(), "*:*"), 10);
}

#[test]
fn a_reader_with_the_memory_of_the_writer_keeps_up_with_it() {
    const MEMORY: usize = 16 << 20;
    let place = Place::new();
    let options = || Index::options().memory(MEMORY);
    let writer = open(options(), &place.path()).expect("a writer");
    write(&writer, 100, 0);
    let reader = open(options().read_only(), &place.path()).expect("a reader");
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let moves = std::thread::scope(|scope| {
        let moves = scope.spawn(|| {
            let (mut moves, mut last) = (0, 0);
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                moves += u64::from(reader.refresh().expect("a newer root"));
                let now = total(&reader, "*:*");
                assert!(now >= last, "{last} documents became {now}");
                last = now;
                std::thread::sleep(Duration::from_millis(5));
            }
            moves
        });
        let done = (1..=80).try_for_each(|part| {
            let documents = (0..100).map(|id| {
                let own = (0..60).map(|n| format!("w{} ", (part * 100 + id) * 60 + n));
                let text = own.collect::<String>();
                Document::new(format!("{part}-{id}"), [("body", text.as_str())])
            });
            writer
                .write(documents.collect::<gannet::Result<_>>()?)
                .map(drop)
        });
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        done.expect("all documents");
        moves.join().expect("a reader without errors")
    });
    assert!(moves > 1, "{moves} moves");
    writer.close().expect("the end");
    assert!(reader.refresh().expect("the last root"));
    assert_eq!(total(&reader, "*:*"), 8_100);
}

#[test]
fn a_folder_that_was_replaced_is_not_the_index_that_was_opened() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 10, 0);
    writer.close().expect("the end");
    let reader = place.reader();
    fs::remove_dir_all(place.path()).expect("an end");
    let writer = place.writer(limits());
    write(&writer, 10, 1);
    writer.close().expect("the end");
    let error = reader.refresh().expect_err("another index");
    assert!(error.to_string().contains("open it again"), "{error}");
}

/// Root may write everywhere, so the rights of others are tested only where the tests do not run as
/// root.
fn may_write_anyway(folder: &Path) -> bool {
    let probe = folder.join("probe");
    let may = fs::write(&probe, "").is_ok();
    let _ = fs::remove_file(probe);
    may
}

#[test]
fn where_no_lease_can_be_made_a_reader_keeps_writers_out() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 10, 0);
    // A file in place of the folder: no lease can be made, whoever asks.
    fs::write(place.path().join("readers"), "").expect("a file");
    let error = place.try_reader().err().expect("a writer is there");
    for part in ["written by", "process", "readers", "backup"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    writer.close().expect("the end");
    let readers = [(); 2].map(|()| place.reader());
    assert_eq!(total(&readers[0], "body:round0"), 10);
    assert!(!readers[1].refresh().expect("nothing new"));
    let error = open(Index::options(), &place.path())
        .err()
        .expect("readers");
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    drop(readers);
    fs::remove_file(place.path().join("readers")).expect("an end");
    place.writer(limits());
}

#[test]
fn a_folder_that_may_not_be_written_can_be_read() {
    let place = Place::new();
    let writer = place.writer(limits());
    write(&writer, 10, 0);
    writer.close().expect("the end");
    let set = |mode| {
        fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).expect("rights");
    };
    set(0o555);
    let reads = may_write_anyway(&place.path()) || total(&place.reader(), "body:round0") == 10;
    set(0o755);
    assert!(reads);
}
