//! `/v1/indexes/{index}/fields`: the fields of an index, with what is known of each.

use std::time::Duration;

use gannet::aggregations::AggregationRequest;
use gannet::{ColumnReport, FieldKind, Query, SearchOptions, Snapshot};
use serde_json::{Map, Value, json};

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::service::Service;

/// The time limit of counting.
const DEADLINE: Duration = Duration::from_secs(60);

/// `GET /v1/indexes/{index}/fields`.
pub fn fields(call: &Call, service: &Service) -> Outcome<Answer> {
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    let snapshot = open.index.snapshot();
    let columns = snapshot.columns()?;
    let distinct = if call.flag("distinct")? == Some(true) {
        distinct(&snapshot, &columns)?
    } else {
        Map::new()
    };
    let mut listed = Vec::new();
    for field in snapshot.schema().fields() {
        let own = || columns.iter().filter(|column| column.field == field.name);
        let values = own().filter(|column| !column.closed).map(|column| {
            let mut told = json!({ "name": column.name, "type": column.value_type.name() });
            if let Some(count) = distinct.get(&column.name) {
                told["distinct"] = count["value"].clone();
            }
            told
        });
        let values: Vec<Value> = values.collect();
        let analyzer = match field.kind {
            FieldKind::Text => json!(field.analyzer.name()),
            FieldKind::Exact => Value::Null,
        };
        listed.push(json!({
            "name": field.name,
            "analyzer": analyzer,
            "values": values,
            "misfits": own().map(|column| column.misfits).sum::<u64>(),
            "documents": documents(&snapshot, &field.name)?,
        }));
    }
    Ok(Answer::of(&json!({
        "documents": snapshot.documents(),
        "fields": listed,
    })))
}

/// The documents that have a field: as the writer counted them where nothing was deleted.
fn documents(snapshot: &Snapshot, name: &str) -> Outcome<u64> {
    let query = Query::Exists {
        field: name.to_owned(),
    };
    if snapshot.doc_ids().len() as u64 == snapshot.documents() {
        let statistics = snapshot.statistics(&query)?;
        return Ok(statistics.field(name).map_or(0, |(documents, _)| documents));
    }
    let search = snapshot.search(&query).top(0).count(true).fetch(false);
    Ok(search.timeout(DEADLINE).run()?.total)
}

/// The number of distinct values of each column, by its name. It reads all of them.
fn distinct(snapshot: &Snapshot, columns: &[ColumnReport]) -> Outcome<Map<String, Value>> {
    let open = columns.iter().filter(|column| !column.closed);
    let counts = open.map(|column| {
        let count = json!({ "cardinality": { "field": column.name } });
        (column.name.clone(), count)
    });
    let counts: Map<String, Value> = counts.collect();
    if counts.is_empty() {
        return Ok(counts);
    }
    let asked: AggregationRequest = snapshot.parse_aggregations(&Value::Object(counts))?;
    let options = SearchOptions {
        k: 0,
        fetch: false,
        deadline: Some(DEADLINE),
        aggregations: Some(std::sync::Arc::new(asked.clone())),
        ..SearchOptions::default()
    };
    let mut found = snapshot.search_all(&[Query::MatchAll], &options);
    let lost = || Fault::internal("a count gave no answer");
    let results = found.pop().ok_or_else(lost)??;
    let state = results.aggregations.ok_or_else(lost)?;
    match asked.answer(&state)? {
        Value::Object(counted) => Ok(counted),
        _ => Err(lost()),
    }
}
