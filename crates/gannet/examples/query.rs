//! A query built by hand, where its parts come from a program and not from what somebody typed.
//!
//! ```text
//! cargo run --release --example query
//! ```

use gannet::{Document, Index, Operator, Query, Result};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let index = Index::options()
        .memory(64 << 20)
        .open(folder.path().join("books.gnt"))?;
    index.write(books()?)?;

    // "White" and "whale" side by side rank; the language only filters, and no draft is found.
    let query = Query::Bool {
        must: vec![Query::Phrase {
            field: Some("body".to_owned()),
            text: "white whale".to_owned(),
            slop: 0,
        }],
        should: vec![Query::Boost {
            query: Box::new(word("title", "whale")),
            factor: 2.0,
        }],
        must_not: vec![word("status", "draft")],
        filter: vec![word("language", "en")],
        minimum_should_match: 0,
    };
    println!("asked: {query}");
    let snapshot = index.snapshot();
    let results = snapshot.search(&query).top(10).highlight("body").run()?;
    for hit in &results.hits {
        println!("{} {:.2} {:?}", hit.id, hit.score, hit.snippets);
    }
    index.close()?;
    Ok(())
}

fn word(field: &str, text: &str) -> Query {
    Query::Text {
        field: Some(field.to_owned()),
        text: text.to_owned(),
        operator: Operator::And,
    }
}

fn books() -> Result<Vec<Document>> {
    let lines: [&str; 3] = [
        r#"{"id": "1", "title": "The Whale", "body": "The white whale swam on.", "language": "en"}"#,
        r#"{"id": "2", "title": "Notes", "body": "A white whale.", "language": "en", "status": "draft"}"#,
        r#"{"id": "3", "title": "Ships", "body": "A white whale, seen from a ship.", "language": "en"}"#,
    ];
    lines
        .map(|line| Document::parse(line.as_bytes()))
        .into_iter()
        .collect()
}
