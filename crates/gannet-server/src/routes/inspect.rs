//! Questions about queries and fields: whether one is valid, why a document has its score, which
//! fields there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gannet::diagnostics::Explanation;
use gannet::{Query, SearchOptions};
use serde_json::{Map, Value, json};

use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::FieldType;
use crate::json::{Members, fits};
use crate::query::with_ids;
use crate::searching::{SearchRequest, shards};
use crate::service::Service;

fn request(call: &Call, name: &str) -> Outcome<SearchRequest> {
    let body = call.json()?;
    let members = Members::of(name, &body)?;
    members.check(&["query"], &[])?;
    Ok(SearchRequest {
        query: members.get("query").cloned(),
        ..SearchRequest::of_call(&call.without_body())?
    })
}

/// `POST /{index}/_validate/query`.
pub fn validate(call: &Call, service: &Service) -> Outcome<Answer> {
    let request = request(call, "validate_query")?;
    let explains = call.flag("explain")?.unwrap_or(false);
    let place = Where::of_call(call)?;
    let (names, limits) = (place.names(service)?, place.limits(service));
    let mut explanations = Vec::new();
    let mut is_valid = true;
    for name in &names {
        let open = service.indexes.get(name, &call.caller)?;
        let told = match limits.search(open, service).query(&request) {
            Ok(query) => json!({ "index": name, "valid": true, "explanation": query.to_string() }),
            Err(fault) if fault.status == 400 => {
                is_valid = false;
                json!({ "index": name, "valid": false, "error": fault.to_string() })
            }
            Err(fault) => return Err(fault),
        };
        explanations.push(told);
    }
    let mut answer = json!({ "_shards": shards(names.len()), "valid": is_valid });
    if explains {
        answer["explanations"] = json!(explanations);
    }
    Ok(Answer::of(&answer))
}

/// `POST /{index}/_explain/{id}`.
pub fn explain(call: &Call, service: &Service) -> Outcome<Answer> {
    let request = request(call, "explain")?;
    if request.query.is_none() && request.text.is_none() {
        let reason = "Validation Failed: 1: query is missing;";
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            reason,
        ));
    }
    let id = call.part("id");
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    let limits = Where::of_call(call)?.limits(service);
    let searched = limits.search(Arc::clone(&open), service);
    let both = Query::Bool {
        must: vec![searched.query(&request)?],
        should: Vec::new(),
        must_not: Vec::new(),
        filter: vec![with_ids(&[id])],
        minimum_should_match: 0,
    };
    let options = SearchOptions {
        k: 1,
        explain: true,
        sources: false,
        deadline: Some(request.deadline),
        ..SearchOptions::default()
    };
    let results = searched.run(both, options)?;
    let mut told = json!({ "_index": open.name, "_id": id, "matched": !results.hits.is_empty() });
    let explanation = results
        .hits
        .first()
        .and_then(|hit| hit.explanation.as_deref());
    if let Some(explanation) = explanation {
        told["explanation"] = parts(explanation);
    } else if open.index.contains(id)? {
        told["explanation"] =
            json!({ "value": 0.0, "description": "no matching clause", "details": [] });
    } else {
        return Ok(Answer {
            status: 404,
            ..Answer::of(&told)
        });
    }
    Ok(Answer::of(&told))
}

fn parts(explanation: &Explanation) -> Value {
    let details: Vec<Value> = explanation.details.iter().map(parts).collect();
    // As many digits as the score of a hit has.
    let value = explanation.value;
    let value = value.to_string().parse().unwrap_or(f64::from(value));
    json!({
        "value": value,
        "description": explanation.description,
        "details": details,
    })
}

/// `GET /{index}/_field_caps`.
pub fn field_caps(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("field_caps", &body)?;
    members.check(&["fields"], &["index_filter", "runtime_mappings"])?;
    let of_url = call.parameter("fields").unwrap_or_default().split(',');
    let mut wanted: Vec<&str> = of_url.filter(|field| !field.is_empty()).collect();
    wanted.extend(members.texts("fields")?.unwrap_or_default());
    if wanted.is_empty() {
        let reason = "Validation Failed: 1: no fields specified;";
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            reason,
        ));
    }
    let names = Where::of_call(call)?.names(service)?;
    let mut found: BTreeMap<String, BTreeMap<(&str, bool), BTreeSet<&String>>> = BTreeMap::new();
    for name in &names {
        let metadata = service
            .indexes
            .look(name, &call.caller, |open| Ok(open.metadata()))?;
        for (field, mapped) in metadata.mapping.all() {
            if wanted.iter().any(|pattern| fits(pattern, &field)) {
                let types = found.entry(field).or_default();
                let is_counted = mapped.kind != FieldType::Text && mapped.has_values;
                let kind = (mapped.kind.name(), is_counted);
                types.entry(kind).or_default().insert(name);
            }
        }
    }
    let fields = found.into_iter().map(|(field, types)| {
        let differ = types.len() > 1;
        let types = types.into_iter().map(|((kind, is_counted), indexes)| {
            let mut told = json!({
                "type": kind, "metadata_field": false, "searchable": true, "aggregatable": is_counted,
            });
            if differ {
                told["indices"] = json!(indexes);
            }
            (kind.to_owned(), told)
        });
        (field, Value::Object(types.collect()))
    });
    let fields: Map<String, Value> = fields.collect();
    Ok(Answer::of(&json!({ "indices": names, "fields": fields })))
}
