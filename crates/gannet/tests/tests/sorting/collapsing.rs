//! One hit for each value of a field, against a look at all documents.

use super::*;

/// Those of documents, in their order, that are the first with their value of a field.
fn collapsed<'d>(documents: &[&'d (u64, Json)], field: &str) -> Vec<&'d (u64, Json)> {
    let mut seen: Vec<Vec<Compared>> = Vec::new();
    let mut first = Vec::new();
    for document in documents {
        let value = values(&document.1, field);
        if !seen.contains(&value) {
            seen.push(value);
            first.push(*document);
        }
    }
    first
}

/// Asks for hits collapsed by a field, in an order, and behind the last hit of the page before.
pub(super) fn ask_collapsed(
    index: &Index,
    text: &str,
    field: &str,
    (sort, after): (Vec<SortKey>, Option<Vec<SortValue>>),
    (skip, k): (usize, usize),
) -> gannet::Result<gannet::SearchResults> {
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or)?;
    let options = SearchOptions {
        k,
        skip,
        sort,
        after,
        collapse: Some(field.to_owned()),
        ..SearchOptions::default()
    };
    snapshot.search_all(&[query], &options).swap_remove(0)
}

/// Compares hits of which each value of a field has one: in an order, in pages behind the last hit,
/// and by score.
pub(super) fn check_collapsed(
    index: &Index,
    text: &str,
    number: usize,
    expected: &mut [&(u64, Json)],
) {
    let field = GROUPS[number % GROUPS.len()];
    for order in [ORDERS[number % 9], ORDERS[(number + 4) % 9]] {
        expected.sort_by(|a, b| compare(order, a, b));
        let first = collapsed(expected, field);
        let found = ask_collapsed(index, text, field, (keys(order), None), (2, 9)).unwrap();
        assert_eq!(found.total, expected.len() as u64, "{text} by {field}");
        let got: Vec<&str> = found.hits.iter().map(|hit| hit.id.as_str()).collect();
        let wanted = ids(first.iter().skip(2).take(9));
        assert_eq!(got, wanted, "{text} by {order:?}, each {field}");
        for (hit, (_, json)) in found.hits.iter().zip(first.iter().skip(2)) {
            let value = values(json, field).pop();
            assert_eq!(hit.group.is_some(), value.is_some(), "{text} by {field}");
            match (&hit.group, value) {
                (Some(Value::Keyword(text)), Some(Compared::Text(value))) => {
                    assert_eq!(*text, value);
                }
                (Some(Value::Long(long)), Some(Compared::Number(value))) => {
                    assert_eq!(*long as f64, value);
                }
                _ => {}
            }
        }
        let mut sort = keys(order);
        sort.push(SortKey::parse("_doc").unwrap());
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = (sort.clone(), after.take());
            let found = ask_collapsed(index, text, field, page, (0, 5)).unwrap();
            let Some(last) = found.hits.last() else {
                break;
            };
            after = Some(last.sort.clone());
            seen.extend(found.hits.iter().map(|hit| hit.id.clone()));
        }
        assert_eq!(seen, ids(first.iter()), "{text} by {order:?}, each {field}");
    }
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or).unwrap();
    let ranked = snapshot.search(&query).top(10_000).run().unwrap();
    let of_hit = |hit: &gannet::Hit| -> &(u64, Json) {
        let is_it = |document: &&&(u64, Json)| document.1["id"] == hit.id;
        expected.iter().find(is_it).unwrap()
    };
    let ranked: Vec<&(u64, Json)> = ranked.hits.iter().map(of_hit).collect();
    let found = ask_collapsed(index, text, field, (Vec::new(), None), (1, 8)).unwrap();
    let got: Vec<&str> = found.hits.iter().map(|hit| hit.id.as_str()).collect();
    let first = collapsed(&ranked, field);
    assert_eq!(got, ids(first.iter().skip(1).take(8)), "{text} by {field}");
    assert!(
        found
            .hits
            .iter()
            .all(|hit| hit.sort.is_empty() && !hit.score.is_nan())
    );
}
