//! Ranges of strings that are kept whole, and dates among them: answered rightly, or rejected.

use crate::command::Place;

const TICKETS: [&str; 5] = [
    r#"{"id":"1","at":"2023-05-17T09:00:00","price":"5","year":"1999","body":"one"}"#,
    r#"{"id":"2","at":"2023-05-17T23:59:00","price":"19.99","year":"2005","body":"two"}"#,
    r#"{"id":"3","at":"2023-05-18T00:00:00","price":"100","year":"2010","body":"three"}"#,
    r#"{"id":"4","at":"2023-12-31T23:59:59","price":"9","year":"2023","body":"four"}"#,
    r#"{"id":"5","at":"2024-01-01","price":"-3","year":"2024","body":"2023-05-17"}"#,
];

fn tickets() -> Place {
    let place = Place::with_lines(&TICKETS);
    let analyzers = ["at=keyword", "price=keyword", "year=keyword"];
    let mut index = vec!["index", "index", "docs.jsonl"];
    analyzers
        .iter()
        .for_each(|one| index.extend(["--analyzer", one]));
    place.done(&index);
    place
}

/// The IDs that a query finds, sorted.
fn found(place: &Place, query: &str) -> String {
    let mut found = place.found(query);
    found.sort();
    found.concat()
}

#[test]
fn a_day_is_found_with_its_times() {
    let place = tickets();
    for (query, expected) in [
        ("at:2023-05-17", "12"),
        ("at:\"2023-05-17\"", "12"),
        ("at:2023-05", "123"),
        ("at:2023", "1234"),
        ("at:2024-01-01", "5"),
        ("at:2023-05-17T09:00", "1"),
        ("at:2023-05-19", ""),
        ("2023-05-17", "5"),
        ("NOT at:2023-05-17", "345"),
        ("at:[2023-05-17 TO 2023-05-17]", "12"),
        ("at:[2023-01-01 TO 2023-12-31]", "1234"),
        ("at:[2023-01-01 TO 2023-12-31}", "123"),
        ("at:{2023-05-17 TO *]", "345"),
        ("at:<=2023-05-17", "12"),
        ("at:<2023-05-17", ""),
        ("at:>2023-05-17", "345"),
        ("at:>=2023-05-17T23:59", "2345"),
        ("at:[2023-05 TO 2023-05]", "123"),
        ("at:<=2023", "1234"),
        ("at:[2023-05-17T10:00 TO 2023-05-17]", "2"),
        ("year:[2000 TO 2023]", "234"),
        ("year:>2005", "345"),
    ] {
        assert_eq!(found(&place, query), expected, "{query}");
    }
    // That nothing goes on from a date is nothing to tell.
    let answer = place.json(&["search", "index", "at:2023-05-19"]);
    assert_eq!(answer["unmatched_patterns"], serde_json::json!([]));
}

#[test]
fn what_a_range_cannot_compare_is_rejected_and_nothing_is_deleted() {
    let place = tickets();
    for (query, parts) in [
        ("price:[10 TO 50]", &["\"price\"", "9 is above 15"][..]),
        ("price:>=5", &["\"price\"", "one length"]),
        ("price:[5 TO 10]", &["different lengths", "9 is above 15"]),
        ("year:<300", &["\"year\"", "\"300\""]),
        (
            "at:>\"2023/05/17\"",
            &["\"at\"", "2023-05-17T09:00:00", "2023/05/17"],
        ),
        ("at:>12\\/31\\/2023", &["\"at\"", "another form"]),
        ("at:>=1684281600", &["another form", "1684281600"]),
        ("at:[now-7d TO now]", &["relative to now", "2023-05-17"]),
        ("at:<now", &["another form"]),
        ("at:<\"2023-05-17 09:00\"", &["another form"]),
    ] {
        place.run(&["search", "index", query]).rejected(1, parts);
        place
            .run(&["delete", "index", "--query", query])
            .rejected(1, parts);
        place.run(&["export", "index", query]).rejected(1, parts);
    }
    assert_eq!(place.found("*:*").len(), TICKETS.len());
    let deleted = place.json(&[
        "delete",
        "index",
        "--query",
        "at:[2023-05-17 TO 2023-05-17]",
    ]);
    assert_eq!(deleted["deleted"], 2);
    assert_eq!(found(&place, "*:*"), "345");
}

#[test]
fn numbers_between_the_least_and_the_greatest_are_looked_at() {
    let line = |n: usize| format!("{{\"id\":\"{n}\",\"price\":\"{n}\"}}\n");
    let place = Place::new();
    place.write("docs.jsonl", (100..=1500).map(line).collect::<String>());
    place.done(&[
        "index",
        "index",
        "docs.jsonl",
        "--analyzer",
        "price=keyword",
    ]);
    for query in ["price:>=200", "price:<=300", "price:[100 TO 150]"] {
        place
            .run(&["search", "index", query])
            .rejected(1, &["one length", "10"]);
    }
    let fewer = place.json(&["delete", "index", "--query", "price:????"]);
    assert_eq!(fewer["deleted"], 501);
    place.done(&["rebuild", "index"]);
    assert_eq!(
        place.json(&["search", "index", "price:>=200"])["total"],
        800
    );
}
