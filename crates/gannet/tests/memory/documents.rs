//! Documents that are too large for the budget cost only themselves.

use gannet::{Error, Index, Operator, SearchOptions, document_bytes};

use crate::{corpus, counting};

/// Memory in which all documents but the largest can be read.
const MEMORY: usize = 24 << 20;

#[test]
fn a_document_beyond_the_budget_costs_only_its_own_hit() {
    let mut turn = counting::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    corpus::write(&path).expect("an index");
    turn.begin();
    let index = Index::options()
        .memory(MEMORY)
        .read_only()
        .open(&path)
        .expect("an index");
    let snapshot = index.snapshot();
    let query = snapshot
        .parse("title:largest^100 title:sea", Operator::Or)
        .expect("a query");
    for highlight in [Vec::new(), vec!["body".to_owned()]] {
        let options = SearchOptions {
            highlight,
            ..SearchOptions::default()
        };
        let results = snapshot
            .search_all(std::slice::from_ref(&query), &options)
            .pop();
        let results = results.expect("one answer").expect("an answer");
        let [largest, others @ ..] = results.hits.as_slice() else {
            panic!("no hits");
        };
        assert_eq!(
            (largest.id.as_str(), largest.source.is_some()),
            (corpus::LARGEST, false)
        );
        assert!(largest.score > others[0].score);
        match &largest.error {
            Some(Error::DocumentMemory {
                id, needed, budget, ..
            }) => {
                assert_eq!((id.as_str(), *budget), (corpus::LARGEST, MEMORY));
                assert!(
                    (9 << 20..=document_bytes(10 << 20)).contains(needed),
                    "{needed}"
                );
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(others.len(), 9);
        assert!(
            others
                .iter()
                .all(|hit| hit.source.is_some() && hit.error.is_none())
        );
    }
    let error = index
        .get(corpus::LARGEST)
        .expect_err("an error")
        .to_string();
    assert!(
        error.contains(corpus::LARGEST) && error.contains("more memory"),
        "{error}"
    );
    assert!(index.get("7").expect("a document").is_some());
    let ids = SearchOptions {
        sources: false,
        ..SearchOptions::default()
    };
    let results = snapshot
        .search_all(std::slice::from_ref(&query), &ids)
        .pop();
    let hit = &results.expect("one answer").expect("an answer").hits[0];
    assert_eq!(
        (hit.id.as_str(), hit.error.is_none()),
        (corpus::LARGEST, true)
    );
    drop(turn);
}

#[test]
fn a_document_of_many_pages_is_read_in_pieces() {
    let turn = counting::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    corpus::write(&path).expect("an index");
    let whole = Index::options().read_only().open(&path).expect("an index");
    let expected = whole
        .get(corpus::LARGEST)
        .expect("a document")
        .expect("a document");
    // Its pages are more than a search asks for at once.
    let index = Index::options()
        .memory(256 << 20)
        .read_only()
        .open(&path)
        .expect("an index");
    assert_eq!(
        index.get(corpus::LARGEST).expect("a document"),
        Some(expected.clone())
    );
    let snapshot = index.snapshot();
    let query = snapshot
        .parse("title:largest", Operator::Or)
        .expect("a query");
    let results = snapshot
        .search(&query)
        .highlight("title")
        .run()
        .expect("an answer");
    assert_eq!(results.hits[0].source.as_ref(), Some(&expected.source));
    assert_eq!(results.hits[0].snippets[0].1, ["sea <em>largest</em>"]);
    drop(turn);
}
