//! Changes that depend on what is there: expectations, partial updates, and threads that change the
//! same documents.

use std::path::Path;
use std::thread;

use gannet::{Document, Error, Expected, Index, Operator, Snapshot, StoredDocument};

use super::environment::open;

/// Documents that threads change at the same time, and how often each does.
const COUNTERS: u64 = 7;
const THREADS: u64 = 4;
const CHANGES: u64 = 150;

#[test]
fn a_write_that_meets_something_else_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = opened(&folder.path().join("index"));
    let first = index.add(document("a", 1).expecting(Expected::Absent));
    let first = first.expect("a new document").sequence;
    for (expected, found) in [
        (Expected::Absent, "version 1 of operation 1"),
        (Expected::Version(2), "version 1"),
        (Expected::Sequence(first + 1), "operation 1"),
    ] {
        // The other documents of the batch are rejected with it.
        let batch = vec![document("b", 1), document("a", 2).expecting(expected)];
        let rejected = index.write(batch).expect_err("a conflict");
        assert!(matches!(rejected, Error::Conflict { .. }), "{rejected}");
        assert!(rejected.to_string().contains(found), "{rejected}");
        let rejected = index.delete_expecting("a", expected);
        assert!(matches!(rejected, Err(Error::Conflict { .. })));
        assert_eq!(index.snapshot().documents(), 1);
        assert_eq!(count_of(&index, "a"), Some(1));
        assert_eq!(count_of(&index, "b"), None);
    }
    // A document of the same batch counts as being there.
    let twice = ["c", "c"].map(|id| document(id, 1).expecting(Expected::Absent));
    assert!(index.write(twice.into()).is_err());
    let second = index.add(document("a", 2).expecting(Expected::Version(1)));
    let second = second.expect("a replacement").sequence;
    index.checkpoint().expect("a checkpoint");
    let third = index.add(document("a", 3).expecting(Expected::Sequence(second)));
    assert_eq!(third.expect("a replacement").replaced, 1);
    let stored = index.get("a").expect("a read").expect("a document");
    assert_eq!((stored.version, stored.sequence), (3, second + 1));
    let gone = index.delete_expecting("a", Expected::Version(3));
    assert_eq!(gone.expect("a deletion").deleted, 1);
    assert_eq!(count_of(&index, "a"), None);
}

#[test]
fn a_document_keeps_the_version_that_it_brings() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = opened(&path);
    index.add(document("a", 1)).expect("written");
    // Two of a batch: the second counts on from the first.
    let batch = vec![document("a", 2).with_version(70), document("a", 3)];
    index.write(batch).expect("written");
    index
        .add(document("b", 1).with_version(u64::MAX))
        .expect("written");
    index.add(document("b", 2)).expect("written");
    index
        .add(document("c", 1).with_version(0))
        .expect("written");
    let versions = |index: &Index| {
        let found = index.versions(&["a", "b", "c"]).expect("looked up");
        found
            .iter()
            .map(|one| one.map(|one| one.version))
            .collect::<Vec<_>>()
    };
    let expected = [Some(71), Some(u64::MAX), Some(0)];
    assert_eq!(versions(&index), expected);
    index.sync().expect("a sync");
    drop(index);
    // From the log, then from pages.
    let index = open(Index::options(), &path).expect("an index");
    assert_eq!(versions(&index), expected);
    index.checkpoint().expect("a checkpoint");
    let report = index.check(&|_, _| ()).expect("a check");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    index.close().expect("closed");
    let index = open(Index::options(), &path).expect("an index");
    assert_eq!(versions(&index), expected);
}

#[test]
fn a_partial_update_keeps_what_it_does_not_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = opened(&folder.path().join("index"));
    let missing = index.merge("7", br#"{"count":2}"#, None);
    assert!(
        missing
            .expect_err("nothing to change")
            .to_string()
            .contains("no document 7")
    );
    let upsert = Document::parse(br#"{"id":"7", "count":1, "at":{"x":1.0,"y":2}}"#);
    let upsert = upsert.expect("a document");
    for partial in [&br#"{"count":9}"#[..], br#"{"count":2,"at":{"y":[3]}}"#] {
        let merged = index.merge("7", partial, Some(upsert.clone()));
        merged.expect("a change");
        index.checkpoint().expect("a checkpoint");
    }
    let stored = index.get("7").expect("a read").expect("a document");
    let source = String::from_utf8(stored.source).expect("text");
    assert_eq!(source, r#"{"id":"7","count":2,"at":{"x":1.0,"y":[3]}}"#);
    assert_eq!(stored.version, 2);
    for (query, hits) in [("count:1", 0), ("count:2", 1), ("at.y:3", 1), ("at.y:2", 0)] {
        let snapshot = index.snapshot();
        let query = snapshot.parse(query, Operator::And).expect("a query");
        let found = snapshot.search(&query).run().expect("an answer");
        assert_eq!(found.hits.len(), hits);
    }
    for (partial, reason) in [
        (&b"[]"[..], "a JSON object"),
        (br#"{"id":"8"}"#, "keep the ID"),
        (b"\xff", "utf-8"),
    ] {
        let rejected = index.merge("7", partial, None).expect_err("rejected");
        assert!(rejected.to_string().contains(reason), "{rejected}");
    }
}

#[test]
fn changes_by_several_threads_are_all_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = opened(&path);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let index = &index;
            scope.spawn(move || {
                for turn in 0..CHANGES {
                    let id = ((turn * (thread + 1)) % COUNTERS).to_string();
                    let changed = index.update(&id, |found| {
                        Ok(Some(document(&id, found.map_or(0, count) + 1)))
                    });
                    changed.expect("a change");
                    if turn % 50 == 0 {
                        index.checkpoint().expect("a checkpoint");
                    }
                }
            });
        }
    });
    compare_counters(&index);
    // Some are on flash and some in the log only, which one that reads alone replays too.
    index.sync().expect("a sync");
    drop(index);
    compare_counters(&open(Index::options().read_only(), &path).expect("an index"));
    let index = opened(&path);
    compare_counters(&index);
    index.close().expect("an end");
    compare_counters(&opened(&path));
}

fn compare_counters(index: &Index) {
    assert_eq!(index.snapshot().documents(), COUNTERS);
    let documents = (0..COUNTERS).map(|id| index.get(&id.to_string()).expect("a read"));
    let documents: Vec<StoredDocument> = documents.flatten().collect();
    assert_eq!(documents.iter().map(count).sum::<u64>(), THREADS * CHANGES);
    // Each change is a version.
    assert!(
        documents
            .iter()
            .all(|document| count(document) == document.version)
    );
}

fn opened(path: &Path) -> Index {
    open(Index::options(), path).expect("an index")
}

fn document(id: &str, count: u64) -> Document {
    Document::new(id, [("count", count as i64)]).expect("a document")
}

fn count_of(index: &Index, id: &str) -> Option<u64> {
    let document = index.get(id).expect("a read");
    document.as_ref().map(count)
}

fn count(document: &StoredDocument) -> u64 {
    let source = std::str::from_utf8(&document.source).expect("text");
    let digits = source.rsplit(':').next().expect("a count");
    digits.trim_end_matches('}').parse().expect("a number")
}

#[test]
fn what_a_query_finds_is_deleted_but_not_what_comes_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(Index::options(), &path).expect("an index");
    let document = |id: u64, word: &str| {
        let text = format!("{word} number {id}");
        Document::new(id.to_string(), [("body", text.as_str())]).expect("a document")
    };
    let word = |id: u64| ["old", "new"][usize::from(id.is_multiple_of(3))];
    for first in (0..4_000).step_by(500) {
        let batch = (first..first + 500).map(|id| document(id, word(id)));
        index.write(batch.collect()).expect("a batch");
    }
    index.checkpoint().expect("a checkpoint");
    let query = index.snapshot().parse("body:old", Operator::Or);
    let query = query.expect("a query");
    let steps = std::cell::RefCell::new(Vec::new());
    let written = index.delete_matching(&query, &|deleted| {
        if steps.borrow().is_empty() {
            // One that is still to be deleted is replaced, and another is added.
            index.add(document(3_998, "old")).expect("a document");
            index.add(document(9_000, "old")).expect("a document");
        }
        steps.borrow_mut().push(deleted);
    });
    let deleted = (0..4_000).filter(|id| word(*id) == "old").count() as u64 - 1;
    assert_eq!(written.expect("a deletion").deleted, deleted);
    assert_eq!(steps.into_inner(), [1_000, 2_000, deleted]);
    let snapshot = index.snapshot();
    let left = snapshot.search(&query).run().expect("an answer");
    let mut left: Vec<String> = left.hits.into_iter().map(|hit| hit.id).collect();
    left.sort();
    assert_eq!(left, ["3998", "9000"]);
    assert_eq!(snapshot.documents(), 4_000 - deleted + 1);
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

/// Deleted IDs wait in memory for the next flush, so deletions alone must lead to one.
#[test]
fn deletions_alone_do_not_fill_the_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let options = || Index::options().memory(gannet::MEMORY_MIN);
    let index = open(options(), &path).expect("an index");
    let ids: Vec<String> = (0..150_000).map(|id| format!("{id:06}")).collect();
    let document = |id: &String| Document::new(id.as_str(), [("w", "x")]).expect("a document");
    for batch in ids.chunks(5_000) {
        index
            .write(batch.iter().map(document).collect())
            .expect("a batch");
    }
    index.checkpoint().expect("a checkpoint");
    for batch in ids.chunks(1_000) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        assert_eq!(index.delete(&batch).expect("a batch").deleted, 1_000);
    }
    assert!(index.stats().expect("figures").flushes > 1);
    index.sync().expect("a sync");
    drop(index);
    let index = open(options(), &path).expect("an index");
    assert_eq!(index.snapshot().documents(), 0);
    index.close().expect("an end");
}

#[test]
fn versions_are_looked_up_together_and_without_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = opened(&path);
    index.add(document("a", 1)).expect("written");
    let last = index.add(document("a", 2)).expect("written").sequence;
    index.add(document("b", 1)).expect("written");
    index.delete(&["b"]).expect("deleted");
    let found = |index: &Index| index.versions(&["b", "a", "none"]).expect("looked up");
    let versions = found(&index);
    let a = versions[1].expect("it is there");
    assert_eq!((a.version, a.sequence), (2, last));
    assert_eq!((versions[0], versions[2]), (None, None));
    index.close().expect("closed");
    let reader = Index::options().memory(16 << 20).read_only();
    assert_eq!(found(&reader.open(&path).expect("opened")), versions);
}

#[test]
fn a_snapshot_has_the_versions_of_its_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = opened(&folder.path().join("index"));
    let first = index.add(document("a", 1)).expect("written").sequence;
    index.add(document("b", 1)).expect("written");
    let before = index.snapshot();
    let last = index.add(document("a", 2)).expect("written").sequence;
    index.delete(&["b"]).expect("deleted");
    let found = |snapshot: &Snapshot| {
        let found = snapshot.versions(&["b", "a", "none"]).expect("looked up");
        let pairs = found
            .iter()
            .map(|one| one.map(|one| (one.version, one.sequence)));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(
        found(&before),
        [Some((1, first + 1)), Some((1, first)), None]
    );
    assert_eq!(found(&index.snapshot()), [None, Some((2, last)), None]);
}

#[test]
fn an_id_is_found_by_its_other_name_where_a_field_has_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = opened(&folder.path().join("index"));
    let line = br#"{"id": "own", "n": 1}"#;
    let document = Document::parse_as(Some("outer".to_owned()), line).expect("a document");
    index.add(document).expect("written");
    let snapshot = index.snapshot();
    for (text, hits) in [
        ("id:own", 1),
        ("id:outer", 0),
        ("_id:outer", 1),
        ("_id:own", 0),
    ] {
        let query = snapshot.parse(text, Operator::Or).expect("a query");
        let results = snapshot.search(&query).run().expect("an answer");
        assert_eq!(results.hits.len(), hits, "{text}");
    }
}

#[test]
fn a_declared_field_is_text_whose_first_value_is_a_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = opened(&path);
    index
        .declare_text("zip", gannet::Analyzer::KEYWORD)
        .expect("declared");
    for (id, value) in [("a", "12345"), ("b", r#""12-345 x""#)] {
        let line = format!(r#"{{"id": "{id}", "zip": {value}}}"#);
        index
            .add(Document::parse(line.as_bytes()).expect("a document"))
            .expect("written");
    }
    index.close().expect("closed");
    // The field is as it was declared, without another declaration.
    let snapshot = opened(&path).snapshot();
    let field = snapshot.schema().named("zip").expect("a field");
    assert_eq!(field.kind, gannet::FieldKind::Text);
    let query = snapshot.parse("zip:12*", Operator::Or).expect("a query");
    let results = snapshot.search(&query).run().expect("an answer");
    assert_eq!(results.hits.len(), 2);
}
