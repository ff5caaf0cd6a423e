//! Lists of all documents that a query finds, and pages of hits, against what a search gives at
//! once.

use gannet::{Document, Hit, Index, Operator, Query, SearchOptions, Snapshot};

use super::environment::open;

/// More than a batch of small documents, over several flushes, some deleted, some replaced.
fn index(folder: &std::path::Path) -> Index {
    let options = Index::options().memory(64 << 20);
    let index = open(options, folder).expect("an index");
    let document = |n: usize| {
        let words = [
            "all",
            ["even", "odd"][n % 2],
            ["", "third"][usize::from(n.is_multiple_of(3))],
        ];
        let json = format!(r#"{{"id":"{n}","body":"{} w{n}"}}"#, words.join(" "));
        Document::parse(json.as_bytes()).expect("a document")
    };
    for start in (0..6_000).step_by(500) {
        let batch = (start..start + 500).map(document);
        index.write(batch.collect()).expect("a write");
        if start % 2_000 == 0 {
            index.checkpoint().expect("a checkpoint");
        }
    }
    let deleted: Vec<String> = (0..6_000).step_by(7).map(|n| n.to_string()).collect();
    let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
    index.delete(&deleted).expect("a deletion");
    index.write(vec![document(11)]).expect("a write");
    index
}

fn parsed(snapshot: &Snapshot, query: &str) -> Query {
    snapshot.parse(query, Operator::Or).expect(query)
}

const QUERIES: [&str; 11] = [
    "*:*",
    "body:all",
    "third even",
    "+odd +third",
    "\"all odd\"",
    "all -third",
    "w47?? OR w11*",
    "body:w4711",
    "body:w*",
    "+odd -body:w1*",
    "nowhere",
];

#[test]
fn a_list_has_all_that_a_search_finds_in_the_order_of_the_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = index(folder.path());
    let snapshot = index.snapshot();
    for query in QUERIES {
        let query = parsed(&snapshot, query);
        let found = snapshot
            .search(&query)
            .top(10_000)
            .run()
            .expect("an answer");
        let mut expected: Vec<(u32, String)> = found.hits.iter().map(key).collect();
        expected.sort();
        let listed: Vec<Hit> = snapshot
            .list(&query)
            .map(|hit| hit.expect("a hit"))
            .collect();
        assert_eq!(
            listed.iter().map(key).collect::<Vec<_>>(),
            expected,
            "{query:?}"
        );
        assert!(listed.iter().all(|hit| hit.source.is_some()));
        let ids = snapshot.list(&query).sources(false);
        let ids: Vec<Hit> = ids.map(|hit| hit.expect("a hit")).collect();
        assert_eq!(
            ids.iter().map(key).collect::<Vec<_>>(),
            expected,
            "{query:?}"
        );
    }
}

#[test]
fn a_list_is_of_its_snapshot() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = index(folder.path());
    let snapshot = index.snapshot();
    let all = parsed(&snapshot, "*:*");
    let mut list = snapshot.list(&all);
    let first = list.next().expect("one").expect("a hit");
    index.delete(&["5999", "5997"]).expect("a deletion");
    index.checkpoint().expect("a checkpoint");
    let left: Vec<Hit> = list.map(|hit| hit.expect("a hit")).collect();
    let left = left.len() as u64;
    assert_eq!((first.id.as_str(), left + 1), ("1", snapshot.documents()));
}

#[test]
fn pages_of_hits_are_parts_of_the_whole_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = index(folder.path());
    let snapshot = index.snapshot();
    for query in QUERIES {
        let query = parsed(&snapshot, query);
        let whole = snapshot.search(&query).top(6_000).run().expect("an answer");
        for (skip, k) in [(0, 10), (10, 10), (999, 7), (3_000, 6_000)] {
            let page = snapshot.search(&query).top(k).skip(skip).run();
            let page = page.expect("a page");
            let part = whole.hits.iter().skip(skip).take(k);
            assert!(
                page.hits.iter().map(key).eq(part.map(key)),
                "{query:?} {skip} {k}"
            );
        }
    }
    let most = SearchOptions::RANKED_MAX;
    let all = parsed(&snapshot, "*:*");
    assert!(snapshot.search(&all).skip(most).top(1).run().is_err());
}

/// A search from a document on counts only the documents from there.
#[test]
fn a_search_from_a_document_on_counts_from_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = index(folder.path());
    let snapshot = index.snapshot();
    for query in QUERIES {
        let query = [parsed(&snapshot, query)];
        let search = |from| {
            let options = SearchOptions {
                k: 10_000,
                from,
                count: true,
                ..SearchOptions::default()
            };
            let answer = snapshot.search_all(&query, &options).pop();
            answer.expect("an answer").expect("an answer")
        };
        let whole = search(0);
        for from in [1, 2_000, 5_999, 6_001, u32::MAX] {
            let part = search(from);
            let expected = whole.hits.iter().filter(|hit| hit.doc >= from);
            assert!(
                part.hits.iter().map(key).eq(expected.map(key)),
                "{query:?} {from}"
            );
            assert_eq!(part.total, part.hits.len() as u64, "{query:?} {from}");
        }
    }
}

fn key(hit: &Hit) -> (u32, String) {
    (hit.doc, hit.id.clone())
}
