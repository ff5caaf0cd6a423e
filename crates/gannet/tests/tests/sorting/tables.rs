//! Values of columns as tables, against the values in documents.

use super::*;

/// Compares the values that a table has of all documents, batch after batch, and those of some.
pub(super) fn check_table(index: &Index, text: &str, expected: &mut [&(u64, Json)]) {
    expected.sort_by_key(|(written, _)| *written);
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or).unwrap();
    let names = ["price", "size", "kind", "day", "open", "group"];
    let columns = names.map(str::to_owned);
    let mut table = snapshot.table(&query, &columns, true).unwrap();
    let has_several = table.columns().iter().map(|column| column.has_several);
    assert!(has_several.eq([true, false, true, false, false, false]));
    let (mut rows, mut docs) = (expected.iter(), Vec::new());
    while let Some(batch) = table.next_batch().unwrap() {
        assert!(batch.docs.len() <= 1_000);
        docs.extend(&batch.docs);
        for (at, id) in batch.ids.iter().enumerate() {
            let (_, json) = rows.next().unwrap();
            assert_eq!(json["id"], id.as_str(), "{text}");
            for (name, column) in names.iter().zip(&batch.columns) {
                check_values(json, name, column.of(at));
            }
        }
    }
    assert_eq!(rows.next(), None, "{text}");
    let few: Vec<u32> = docs.iter().copied().step_by(97).collect();
    let prices = snapshot.column_values(&few, "price").unwrap();
    for (at, (_, json)) in expected.iter().step_by(97).enumerate() {
        check_values(json, "price", prices.of(at));
    }
}

/// Compares the values of a document in a column.
fn check_values(json: &Json, field: &str, got: &[Value<'_>]) {
    let mut wanted = values(json, field);
    wanted.sort_by(|a, b| a.partial_cmp(b).unwrap());
    if field == "kind" {
        wanted.dedup();
    }
    let got = got.iter().map(|value| match value {
        Value::Long(long) => Compared::Number(*long as f64),
        Value::Double(double) => Compared::Number(*double),
        Value::Boolean(value) => Compared::Number(f64::from(u8::from(*value))),
        Value::Date(_) => Compared::Text(value.to_string()[..10].to_owned()),
        Value::Ip(own) => Compared::Text(own.to_string()),
        Value::Keyword(text) => Compared::Text(text.to_string()),
    });
    assert!(got.clone().eq(wanted.iter().cloned()), "{json} {field}");
}
