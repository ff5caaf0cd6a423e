//! Orders by values read the pieces that may have hits, and few others, whatever the order of the
//! values is.

use std::sync::Arc;

use gannet::aggregations::AggregationRequest;
use gannet::{Document, Index, Operator, SearchOptions, SearchResults, SortKey, SortValue};

use serde_json::{Value as Json, json};

use super::environment::open;

const DOCUMENTS: u64 = 20_000;
const PAGE_BYTES: u64 = 4096;

/// The price of a document: in random order, and few are the same.
fn price(doc: u64) -> f64 {
    let mixed = (doc + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % 1_000_003) as f64 / 7.0
}

fn make(folder: &std::path::Path) {
    let index = open(Index::options().memory(64 << 20), folder).expect("an index");
    for start in (0..DOCUMENTS).step_by(1_000) {
        let document = |doc: u64| {
            // One in 50 has no price.
            let price = match doc % 50 {
                7 => String::new(),
                _ => format!(r#", "price": {:?}"#, price(doc)),
            };
            let early = if doc < 50 { r#", "early": true"# } else { "" };
            let json = format!(r#"{{"id":"{doc}","at":{}{price}{early}}}"#, doc * 10);
            Document::parse(json.as_bytes()).expect("a document")
        };
        let batch = (start..start + 1_000).map(document).collect();
        index.write(batch).expect("a write");
    }
    index.checkpoint().expect("a checkpoint");
}

/// The pages that ordering reads of an index that was just opened, the hits, and the values of the
/// last of them.
fn ordered(
    folder: &std::path::Path,
    sort: &[&str],
    after: Option<Vec<SortValue>>,
) -> (u64, Vec<u32>, Vec<SortValue>) {
    let index = open(Index::options().memory(64 << 20).read_only(), folder).expect("an index");
    let snapshot = index.snapshot();
    let query = snapshot.parse("*:*", Operator::Or).expect("a query");
    let keys = sort.iter().map(|key| SortKey::parse(key).expect("a key"));
    let options = SearchOptions {
        k: 10,
        sort: keys.collect(),
        after,
        explain: true,
        fetch: false,
        ..SearchOptions::default()
    };
    let found = snapshot.search_all(&[query], &options).swap_remove(0);
    let found = found.expect("hits");
    let pages = pages_of(&found, "order by values");
    let docs = found.hits.iter().map(|hit| hit.doc).collect();
    let last = found.hits.last().expect("a hit").sort.clone();
    (pages, docs, last)
}

/// The pages of ranking that a query reads of an index that was just opened, and its total.
fn matched(folder: &std::path::Path, text: &str) -> (u64, u64) {
    let index = open(Index::options().memory(64 << 20).read_only(), folder).expect("an index");
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or).expect("a query");
    let options = SearchOptions {
        count: true,
        explain: true,
        fetch: false,
        ..SearchOptions::default()
    };
    let found = snapshot.search_all(&[query], &options).swap_remove(0);
    let found = found.expect("hits");
    (pages_of(&found, "match and rank"), found.total)
}

/// The pages that a step of a plan read.
fn pages_of(found: &SearchResults, name: &str) -> u64 {
    let plan = found.plan.as_ref().expect("a plan");
    let step = plan.steps.iter().find(|step| step.name == name);
    step.expect("a step").io.bytes / PAGE_BYTES
}

/// Doc IDs of all documents, the greatest price first, those without last.
fn by_price() -> Vec<u32> {
    let mut docs: Vec<u32> = (0..DOCUMENTS as u32).collect();
    docs.sort_by(|a, b| {
        let value = |doc: u32| (u64::from(doc) % 50 != 7).then(|| price(doc.into()));
        let (one, other) = (value(*a), value(*b));
        other.partial_cmp(&one).expect("numbers").then(a.cmp(b))
    });
    docs
}

#[test]
fn an_order_reads_the_pieces_that_may_have_hits() {
    let folder = tempfile::tempdir().expect("a folder");
    make(folder.path());
    let expected = by_price();
    let (pages, docs, _) = ordered(folder.path(), &["-price", "_doc"], None);
    assert_eq!(docs, expected[..10]);
    assert!(pages <= 20, "{pages} pages for the greatest prices");
    let (pages, docs, _) = ordered(folder.path(), &["at", "_doc"], None);
    assert_eq!(docs, (0..10).collect::<Vec<u32>>());
    assert!(pages <= 6, "{pages} pages for the first times");
}

/// A field that all documents of a piece have is found by the maps alone, as one is that few have.
#[test]
fn documents_with_a_value_are_found_by_maps() {
    let folder = tempfile::tempdir().expect("a folder");
    make(folder.path());
    let (pages, total) = matched(folder.path(), "at:*");
    assert_eq!(total, DOCUMENTS);
    assert!(pages <= 3, "{pages} pages for a field of all documents");
    let (pages, total) = matched(folder.path(), "early:*");
    assert_eq!(total, 50);
    assert!(pages <= 4, "{pages} pages for a field of few documents");
    let (_, total) = matched(folder.path(), "price:*");
    assert_eq!(total, DOCUMENTS - DOCUMENTS / 50);
    let (_, total) = matched(folder.path(), "+early:* -price:*");
    assert_eq!(total, 1);
}

/// Of a column that is gone through, a round asks for all that the memory of the query allows: on a
/// device that answers slowly the number of rounds decides.
#[test]
fn columns_that_are_read_as_a_whole_take_few_rounds() {
    const MANY: u64 = 100_000;
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(Index::options().memory(64 << 20), folder.path()).expect("an index");
    for start in (0..MANY).step_by(5_000) {
        let document = |doc: u64| {
            let json = format!(r#"{{"id":"{doc}","price":{:?}}}"#, price(doc));
            Document::parse(json.as_bytes()).expect("a document")
        };
        let batch = (start..start + 5_000).map(document).collect();
        index.write(batch).expect("a write");
    }
    index.checkpoint().expect("a checkpoint");
    drop(index);

    let asked = json!({"prices": {"stats": {"field": "price"}}});
    let no_filter = &mut |_: &Json| Err("there is no filter".to_owned());
    let request = AggregationRequest::from_json(&asked, no_filter).expect("a request");
    let found = of_all(folder.path(), |options| {
        options.k = 0;
        options.aggregations = Some(Arc::new(request.clone()));
    });
    let state = found.aggregations.as_ref().expect("findings");
    let answer = request.answer(state).expect("an answer");
    assert_eq!(answer["prices"]["count"], MANY);
    are_few_rounds(&found, "aggregate values");

    // More hits than a bound of few pieces is looked for.
    let found = of_all(folder.path(), |options| {
        options.k = 2_000;
        options.sort = vec![SortKey::parse("price").expect("a key")];
    });
    let mut expected: Vec<u32> = (0..MANY as u32).collect();
    expected.sort_by(|a, b| {
        let order = price((*a).into()).partial_cmp(&price((*b).into()));
        order.expect("numbers").then(a.cmp(b))
    });
    let docs: Vec<u32> = found.hits.iter().map(|hit| hit.doc).collect();
    assert_eq!(docs, expected[..2_000]);
    are_few_rounds(&found, "order by values");
}

/// Asks an index that was just opened for all documents.
fn of_all(folder: &std::path::Path, choose: impl FnOnce(&mut SearchOptions)) -> SearchResults {
    let index = open(Index::options().memory(64 << 20).read_only(), folder).expect("an index");
    let snapshot = index.snapshot();
    let query = snapshot.parse("*:*", Operator::Or).expect("a query");
    let mut options = SearchOptions {
        explain: true,
        fetch: false,
        ..SearchOptions::default()
    };
    choose(&mut options);
    let found = snapshot.search_all(&[query], &options).swap_remove(0);
    found.expect("an answer")
}

fn are_few_rounds(found: &SearchResults, name: &str) {
    let pages = pages_of(found, name);
    let plan = found.plan.as_ref().expect("a plan");
    let step = plan.steps.iter().find(|step| step.name == name);
    let rounds = step.expect("a step").io.rounds;
    assert!(pages > 150, "{pages} pages of a whole column");
    assert!(rounds <= 6, "{name}: {rounds} rounds for {pages} pages");
}

/// The page behind any hit costs what the first one does.
#[test]
fn a_later_page_reads_no_more_than_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    make(folder.path());
    for at in [5_000u64, 12_345, 19_000] {
        let value = |number: u64| Some(gannet::values::Value::Long(number as i64));
        let after = vec![value(at * 10), value(at)];
        let (pages, docs, _) = ordered(folder.path(), &["at", "_doc"], Some(after));
        let wanted: Vec<u32> = (at as u32 + 1..at as u32 + 11).collect();
        assert_eq!(docs, wanted);
        assert!(pages <= 10, "{pages} pages behind {at}");
    }
    let expected = by_price();
    let (mut after, mut seen) = (None, Vec::new());
    for _ in 0..6 {
        let (_, docs, last) = ordered(folder.path(), &["-price", "_doc"], after);
        seen.extend(docs);
        after = Some(last);
    }
    assert_eq!(seen, expected[..60]);
}
