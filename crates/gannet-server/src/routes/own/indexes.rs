//! `/v1/indexes`: which there are, one of them made, described, deleted.

use serde_json::{Map, Value, json};

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::json::Members;
use crate::service::Service;

/// `GET /v1/indexes`. Closed indexes stay closed, so that a list of many is quick.
pub fn list(call: &Call, service: &Service) -> Outcome<Answer> {
    let open = service.indexes.open_now();
    let mut listed = Vec::new();
    for name in service.indexes.names()? {
        if !call.caller.may(&name) {
            continue;
        }
        let mut told = json!({ "name": name, "open": false });
        if let Some(open) = open.iter().find(|open| open.name == name) {
            let stats = open.index.stats()?;
            told["open"] = json!(true);
            told["documents"] = json!(stats.documents);
            told["bytes"] = json!(stats.bytes.allocated);
        }
        listed.push(told);
    }
    Ok(Answer::of(&json!({ "indexes": listed })))
}

/// `PUT /v1/indexes/{index}`.
pub fn create(call: &Call, service: &Service) -> Outcome<Answer> {
    let name = call.part("index");
    let plan = plan(&call.json()?)?;
    let open = service.indexes.make(name, &plan, &call.caller)?;
    Ok(Answer {
        status: 201,
        ..Answer::of(&described(&open)?)
    })
}

/// `GET /v1/indexes/{index}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    Ok(Answer::of(&described(&open)?))
}

/// `DELETE /v1/indexes/{index}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    let name = call.part("index");
    if service.indexes.has_alias(name) {
        return Err(Fault::illegal(format!(
            "{name} is an alias: name the index that is to be deleted"
        )));
    }
    if !service.indexes.exists(name) {
        return Err(Fault::no_index(name));
    }
    call.caller.check(name)?;
    service.contexts.forget(name);
    service.indexes.delete(name, &call.caller)?;
    Ok(Answer::of(&json!({ "deleted": name })))
}

/// The members that declare a field.
const FIELD_MEMBERS: [&str; 9] = [
    "type",
    "analyzer",
    "doc_values",
    "fields",
    "format",
    "ignore_above",
    "ignore_malformed",
    "index",
    "null_value",
];

/// The plan of an index in the words of Elasticsearch, by which indexes are kept.
fn plan(body: &Value) -> Outcome<Value> {
    let members = Members::of("index", body)?;
    members.check(&["analyzer", "fields", "strict"], &[])?;
    let mut properties = Map::new();
    if let Some(fields) = members.get("fields") {
        for (name, field) in Members::of("fields", fields)?.iter() {
            let field = match field {
                Value::String(kind) => json!({ "type": kind }),
                other => {
                    Members::of(name, other)?.check(&FIELD_MEMBERS, &[])?;
                    other.clone()
                }
            };
            properties.insert(name.to_owned(), field);
        }
    }
    let mut mappings = json!({ "properties": properties });
    if members.flag("strict")? == Some(true) {
        mappings["dynamic"] = json!("strict");
    }
    let mut plan = json!({ "mappings": mappings });
    if let Some(analyzer) = members.text("analyzer")? {
        plan["settings"] =
            json!({ "analysis": { "analyzer": { "default": { "type": analyzer } } } });
    }
    Ok(plan)
}

fn described(open: &OpenIndex) -> Outcome<Value> {
    let metadata = open.metadata();
    let stats = open.index.stats()?;
    let fields = metadata.mapping.fields.iter();
    let fields: Map<String, Value> = fields
        .map(|(name, field)| (name.clone(), field.json()))
        .collect();
    Ok(json!({
        "name": open.name,
        "created_ms": metadata.created,
        "analyzer": metadata.settings.default_analyzer().name(),
        "strict": metadata.mapping.is_strict,
        "fields": fields,
        "documents": stats.documents,
        "deleted_documents": stats.dead_documents,
        "bytes": stats.bytes.allocated,
    }))
}
