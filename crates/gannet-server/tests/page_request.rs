//! The search that the page shows as Rust, as it is shown for one state: it compiles and finds what
//! the API finds. `python/clients/test_page.py` holds the page against it.

use gannet::{Index, Operator, SearchOptions, SortKey};

/// Prints the IDs of hits.
fn print_hits() -> gannet::Result<()> {
    let index = Index::options().open("wiki")?;
    let snapshot = index.snapshot();
    let query = snapshot
        .parse(r#"whale "the sea""#, Operator::Or)?
        .filtered(vec![
            snapshot.parse("kind:odd", Operator::And)?,
            snapshot.parse("added:[2020 TO 2021]", Operator::And)?,
        ]);
    let options = SearchOptions {
        k: 10,
        sort: vec![SortKey::parse("-place")?, SortKey::parse("_doc")?],
        ..SearchOptions::default()
    };
    for found in snapshot.search_all(&[query], &options) {
        for hit in found?.hits {
            println!("{}", hit.id);
        }
    }
    Ok(())
}

#[test]
fn what_the_page_shows_as_rust_compiles() {
    // It is not called, since it would open an index here.
    let _: fn() -> gannet::Result<()> = print_hits;
}
