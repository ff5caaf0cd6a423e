//! Dates that were found in strings are asked for as they are written: a day stands for all of it.

use gannet::{Document, Index, Operator, SearchOptions};

use super::environment::open;

const DOCUMENTS: [(&str, &str); 6] = [
    ("morning", "2013-04-11T10:00:00Z"),
    ("night", "2013-04-11T23:59:59.999+02:00"),
    ("april", "2013-04-30"),
    ("may", "2013-05-04T04:11:00Z"),
    ("december", "2013-12-04"),
    ("words", "meeting of 2013-04-11 in the morning"),
];

#[test]
fn a_written_date_stands_for_all_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(Index::options(), folder.path()).expect("an index");
    let document = |(id, at): &(&str, &str)| {
        let json = format!(r#"{{"id": "{id}", "at": "{at}", "other": "text"}}"#);
        Document::parse(json.as_bytes()).expect("a document")
    };
    let asked = |text: &str| {
        let snapshot = index.snapshot();
        let query = snapshot.parse(text, Operator::And).expect("a query");
        let mut found = snapshot.search_all(&[query], &SearchOptions::default());
        let found = found.remove(0).expect("an answer");
        assert!(found.notes.is_empty(), "{text}: {:?}", found.notes);
        let mut ids: Vec<String> = found.hits.into_iter().map(|hit| hit.id).collect();
        ids.sort();
        ids.join(" ")
    };
    index
        .write(DOCUMENTS.iter().map(document).collect())
        .expect("a write");
    for is_flushed in [false, true] {
        if is_flushed {
            index.checkpoint().expect("a checkpoint");
        }
        for (text, ids) in [
            ("at:2013-04-11", "morning night words"),
            (r#"at:"2013-04-11""#, "morning night words"),
            ("at:2013-04", "april morning night words"),
            ("at:2013-04-11T10", "morning"),
            ("at:2013-04-11T10:00:00Z", "morning"),
            ("at:2013-04-12", ""),
            ("at:2013-04-12 other:text", ""),
            ("at:2013-12 OR at:2013-05-04", "december may"),
            ("other:text NOT at:2013-04", "december may"),
            ("at:2013", "april december may morning night words"),
            ("other:2013-04-11", ""),
        ] {
            assert_eq!(asked(text), ids, "{text}");
        }
    }
}
