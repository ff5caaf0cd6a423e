//! Words that an analyzer cuts: their parts in a row are found, and nothing else.

use gannet::{Analyzer, Document, Index, Operator, Query, Snapshot};

use super::environment::open;

const DOCUMENTS: [(&str, &str); 14] = [
    ("whole", "write to anna@example.org today"),
    ("anna", "anna went home"),
    ("org", "see example.org"),
    ("mail", "mail client"),
    ("e-mail", "e-mail client"),
    ("tokyo", "東京都"),
    ("kyoto", "京都の東"),
    ("hall", "東京都庁の展望台"),
    ("date", "due 2024-03-15"),
    ("page", "page 15 of 2024"),
    (
        "link",
        "at https://example.com/tickets/77?ref=mail for more",
    ),
    (
        "other",
        "at https://example.com/tickets/78?ref=fax for mail",
    ),
    ("phone", "新款iPhone手机很好"),
    (
        "port",
        "listens on 10.0.0.1:8080 in C:\\\\Users\\\\anna, says AT&T",
    ),
];

fn index(folder: &std::path::Path) -> Index {
    let keyword = Analyzer::named("keyword").expect("an analyzer");
    let options = Index::options()
        .memory(64 << 20)
        .field_analyzer("tag", keyword);
    let index = open(options, folder).expect("an index");
    let documents = DOCUMENTS.map(|(id, body)| format!(r#"{{"id":"{id}","body":"{body}"}}"#));
    let tagged = [
        r#"{"id":"tag","tag":"東京都庁の展望台"}"#.to_owned(),
        r#"{"id":"off","tag":"wi-fi off","title":"fi wi"}"#.to_owned(),
    ];
    let documents = documents.iter().chain(&tagged);
    let parsed = documents.map(|json| Document::parse(json.as_bytes()).expect(json));
    index.write(parsed.collect()).expect("a write");
    index
}

fn found(snapshot: &Snapshot, query: &Query) -> Vec<String> {
    let results = snapshot.search(query).top(50).run().expect("an answer");
    let mut ids: Vec<String> = results.hits.into_iter().map(|hit| hit.id).collect();
    ids.sort();
    ids
}

fn check(snapshot: &Snapshot, text: &str, operator: Operator, expected: &[&str]) {
    let query = snapshot.parse(text, operator).expect(text);
    assert_eq!(found(snapshot, &query), expected, "{text}: {query}");
}

#[test]
fn a_word_is_found_as_it_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = index(folder.path());
    let snapshot = index.snapshot();
    for (text, expected) in [
        ("anna@example.org", &["whole"][..]),
        ("+anna@example.org", &["whole"]),
        ("anna@example.org~and", &["whole"]),
        ("anna@example.org~or", &["anna", "org", "port", "whole"]),
        ("client -e-mail", &["mail"]),
        ("client NOT e-mail", &["mail"]),
        ("client AND e-mail", &["e-mail"]),
        ("#(e-mail) client", &["e-mail"]),
        ("(client e-mail anna)~2", &["e-mail"]),
        ("+2024-03-15", &["date"]),
        ("https://example.com/tickets/77?ref=mail", &["link"]),
        ("example.com/tickets/77", &["link"]),
        ("example.com/tickets/77?ref=mail", &["link"]),
        ("10.0.0.1:8080", &["port"]),
        ("C:\\Users\\anna", &["port"]),
        ("\"C:\\Users\\anna\"", &["port"]),
        ("AT&T", &["port"]),
        ("wi-fi", &[]),
        ("tag:wi-fi", &[]),
        ("“fi wi”", &["off"]),
        ("tag:\"wi-fi off\"", &["off"]),
        ("what is e-mail?", &["e-mail"]),
    ] {
        check(&snapshot, text, Operator::Or, expected);
        let plain = snapshot.parse_plain("anna@example.org", Operator::Or);
        assert_eq!(found(&snapshot, &plain.query), ["whole"]);
    }
}

#[test]
fn ideographs_are_found_in_a_row_or_by_pairs() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = index(folder.path());
    let snapshot = index.snapshot();
    for (text, any, all) in [
        ("東京", &["hall", "tokyo"][..], &["hall", "tokyo"][..]),
        ("東京都", &["hall", "tokyo"], &["hall", "tokyo"]),
        ("東京都庁", &["hall", "kyoto", "tokyo"], &["hall"]),
        ("+東京都庁", &["hall"], &["hall"]),
        ("*:* -東京都庁 -body:*", &["off", "tag"], &["off", "tag"]),
        (
            "東京都庁の展望台",
            &["hall", "kyoto", "tag", "tokyo"],
            &["hall", "tag"],
        ),
        ("tag:東京都庁の展望台", &["tag"], &["tag"]),
        ("tag:東京", &[], &[]),
        ("iPhone手机", &["phone"], &["phone"]),
        ("手机iPhone", &[], &[]),
        ("新款手机很好", &["phone"], &[]),
    ] {
        check(&snapshot, text, Operator::Or, any);
        check(&snapshot, text, Operator::And, all);
    }
}

#[test]
fn a_query_deletes_what_it_finds_and_marks_what_it_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = index(folder.path());
    let snapshot = index.snapshot();
    let query = snapshot
        .parse("mail^2 e-mail", Operator::Or)
        .expect("a query");
    let search = snapshot.search(&query).highlight("body").top(50);
    let results = search.run().expect("an answer");
    let hit = results
        .hits
        .iter()
        .find(|hit| hit.id == "e-mail")
        .expect("the hit");
    assert_eq!(hit.snippets[0].1, ["<em>e</em>-<em>mail</em> client"]);
    let other = results
        .hits
        .iter()
        .find(|hit| hit.id == "mail")
        .expect("the other");
    assert_eq!(other.snippets[0].1, ["<em>mail</em> client"]);
    let query = snapshot
        .parse("anna@example.org", Operator::Or)
        .expect("a query");
    let deleted = index.delete_matching(&query, &|_| ()).expect("a deletion");
    assert_eq!(deleted.deleted, 1);
}
