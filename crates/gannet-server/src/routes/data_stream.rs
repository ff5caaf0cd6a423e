//! Data streams. One is an ordinary index that is made by a template with `data_stream`.

use serde_json::{Value, json};

use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::Catalog;
use crate::json::fits;
use crate::service::Service;

/// The name of the template of a data stream, if the template of this name is for one.
fn template_of<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c String> {
    let (template, body) = catalog.template_for(name)?;
    body.get("data_stream").map(|_| template)
}

/// `PUT /_data_stream/{name}`.
pub fn create(call: &Call, service: &Service) -> Outcome<Answer> {
    let name = call.part("name");
    if template_of(&service.indexes.catalog(), name).is_none() {
        return Err(Fault::illegal(format!(
            "no matching index template found for data stream [{name}]: it needs one with [data_stream]"
        )));
    }
    service.indexes.make(name, &json!({}), &call.caller)?;
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// The names of the data streams that a request is about.
fn named(call: &Call, service: &Service) -> Outcome<Vec<String>> {
    let expression = call.part("name");
    let catalog = service.indexes.catalog();
    let names = service.indexes.names()?.into_iter();
    let streams: Vec<String> = names
        .filter(|name| template_of(&catalog, name).is_some() && call.caller.may(name))
        .collect();
    if matches!(expression, "" | "*" | "_all") {
        return Ok(streams);
    }
    let mut wanted = Vec::new();
    for pattern in expression.split(',') {
        let found = streams.iter().filter(|name| fits(pattern, name));
        let before = wanted.len();
        wanted.extend(found.cloned());
        if wanted.len() == before && !pattern.contains('*') {
            return Err(Fault::no_index(pattern));
        }
    }
    Ok(wanted)
}

/// `GET /_data_stream/{name}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let catalog = service.indexes.catalog();
    let mut streams = Vec::new();
    for name in named(call, service)? {
        let look = service
            .indexes
            .look(&name, &call.caller, |open| Ok(open.metadata()));
        let uuid = look?.uuid.clone();
        streams.push(json!({
            "name": name,
            "timestamp_field": { "name": "@timestamp" },
            "indices": [{ "index_name": name, "index_uuid": uuid }],
            "generation": 1,
            "status": "GREEN",
            "template": template_of(&catalog, &name),
            "hidden": false,
            "system": false,
            "allow_custom_routing": false,
            "replicated": false,
        }));
    }
    Ok(Answer::of(
        &json!({ "data_streams": Value::Array(streams) }),
    ))
}

/// `DELETE /_data_stream/{name}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    for name in named(call, service)? {
        let place = Where {
            expression: &name,
            ..Where::of_call(call)?
        };
        for name in place.names(service)? {
            service.contexts.forget(&name);
            service.indexes.delete(&name, &call.caller)?;
        }
    }
    Ok(Answer::of(&json!({ "acknowledged": true })))
}
