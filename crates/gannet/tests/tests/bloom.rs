//! WiSER's Bloom filters are created only where they are compared with.

use gannet::{Error, Index, PhraseFilters};

#[test]
fn bloom_filters_are_created_by_the_lab_alone() {
    let folder = tempfile::tempdir().unwrap();
    let options = Index::options().phrase_filters(PhraseFilters::Bloom);
    let opened = options.open(folder.path().join("books.gnt"));
    if cfg!(feature = "lab") {
        opened.unwrap().close().unwrap();
        return;
    }
    match opened.err() {
        Some(Error::Invalid(reason)) => assert!(reason.contains("feature `lab`"), "{reason}"),
        other => panic!("expected a rejection, found {other:?}"),
    }
    let left = folder.path().read_dir().unwrap().count();
    assert_eq!(left, 0, "nothing was made");
}
