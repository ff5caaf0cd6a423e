//! Damage that a check reports, and states that it accepts.

use gannet::{Document, Index};

use super::environment::open;

/// A reader checks the index as it is: with what a replay brought, and no checkpoint of its own.
#[test]
fn a_log_of_nothing_but_deletions_is_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(Index::options(), &path).expect("an index");
    let one = |id: &str| Document::new(id, [("body", "one")]).expect("a document");
    index
        .write(["a", "b", "c"].map(one).into())
        .expect("a batch");
    index.checkpoint().expect("a checkpoint");
    index.delete(&["b"]).expect("a deletion");
    index.sync().expect("a sync");
    drop(index);

    let index = open(Index::options().read_only(), &path).expect("an index");
    assert_eq!(index.snapshot().documents(), 2);
    let report = index.check(&|_, _| ()).expect("a check");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.documents, 2);
}
