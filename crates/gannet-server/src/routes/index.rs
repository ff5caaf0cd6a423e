//! Indexes: making, deleting, looking at them; refresh and flush.

use serde_json::{Map, Value, json};

use super::alias::aliases_of;
use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::{IndexSettings, Metadata, OpenIndex};
use crate::json::Members;
use crate::service::Service;

/// The members of a new index.
const PARTS: [&str; 3] = ["settings", "mappings", "aliases"];

/// `PUT /{index}`.
pub fn create(call: &Call, service: &Service) -> Outcome<Answer> {
    let name = call.part("index");
    let body = call.json()?;
    let members = Members::of("create index", &body)?;
    for (part, _) in members.iter() {
        if !PARTS.contains(&part) {
            let fault = members.unknown(part, &PARTS);
            return Err(Fault::new(400, "parse_exception", fault.reason));
        }
    }
    service.indexes.make(name, &body, &call.caller)?;
    Ok(Answer::of(&json!({
        "acknowledged": true,
        "shards_acknowledged": true,
        "index": name,
    })))
}

/// `DELETE /{index}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    let expression = call.part("index");
    if expression == "_all" || expression.contains('*') {
        return Err(Fault::illegal(
            "Wildcard expressions or all indices are not allowed: name the indexes that go",
        ));
    }
    for name in expression.split(',') {
        if service.indexes.has_alias(name) {
            return Err(Fault::illegal(format!(
                "The provided expression [{name}] matches an alias, specify the corresponding concrete indices instead."
            )));
        }
    }
    for name in Where::of_call(call)?.names(service)? {
        service.contexts.forget(&name);
        service.indexes.delete(&name, &call.caller)?;
    }
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// `HEAD /{index}`.
pub fn exists(call: &Call, service: &Service) -> Outcome<Answer> {
    Ok(Answer::empty(match Where::of_call(call)?.names(service) {
        Ok(_) => 200,
        Err(fault) => fault.status,
    }))
}

/// `GET /{index}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let catalog = service.indexes.catalog();
    each(call, service, |_, metadata, name| {
        json!({
            "aliases": aliases_of(&catalog, name),
            "mappings": metadata.mapping.json(),
            "settings": settings_json(metadata, name, service),
        })
    })
}

/// `GET /{index}/_settings`.
pub fn settings(call: &Call, service: &Service) -> Outcome<Answer> {
    each(
        call,
        service,
        |_, metadata, name| json!({ "settings": settings_json(metadata, name, service) }),
    )
}

/// `PUT /{index}/_settings`.
pub fn put_settings(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    if has_null(&body) {
        return Err(Fault::not_there("[null] as a setting"));
    }
    let given = IndexSettings::parse(body.get("settings").unwrap_or(&body))?;
    for name in Where::of_call(call)?.names(service)? {
        let open = service.indexes.get(&name, &call.caller)?;
        let turn = open.wait_to_write()?;
        let mut settings = open.metadata().settings.clone();
        settings
            .update(&given)
            .map_err(|fault| fault.of_index(&name))?;
        open.set_settings(settings, &turn)?;
    }
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// An object with what is told of each index that is asked for.
pub fn each(
    call: &Call,
    service: &Service,
    tell: impl Fn(&Call, &Metadata, &str) -> Value,
) -> Outcome<Answer> {
    let mut all = Map::new();
    for name in Where::of_call(call)?.names(service)? {
        let look = |open: &OpenIndex| Ok(open.metadata());
        let metadata = service.indexes.look(&name, &call.caller, look)?;
        let told = tell(call, &metadata, &name);
        all.insert(name, told);
    }
    Ok(Answer::of(&all))
}

fn settings_json(metadata: &Metadata, name: &str, service: &Service) -> Value {
    let mut index = Map::new();
    index.insert(
        "creation_date".to_owned(),
        json!(metadata.created.to_string()),
    );
    index.insert("uuid".to_owned(), json!(metadata.uuid));
    index.insert("provided_name".to_owned(), json!(name));
    let major = service
        .settings
        .es_version
        .split('.')
        .next()
        .unwrap_or_default();
    index.insert(
        "version".to_owned(),
        json!({ "created": format!("{major}000099") }),
    );
    for (name, value) in &metadata.settings.0 {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        index.insert(name.clone(), json!(text));
    }
    index.insert("number_of_shards".to_owned(), json!("1"));
    index.insert("number_of_replicas".to_owned(), json!("0"));
    json!({ "index": index })
}

/// `POST /{index}/_refresh`. Every search finds what was written before it, so there is nothing to
/// do.
pub fn refresh(call: &Call, service: &Service) -> Outcome<Answer> {
    shards(call, service, |_| Ok(()))
}

/// `POST /{index}/_flush`.
pub fn flush(call: &Call, service: &Service) -> Outcome<Answer> {
    shards(call, service, |name| {
        let open = service.indexes.get(name, &call.caller)?;
        open.index.checkpoint().map_err(Fault::from)
    })
}

/// `POST /{index}/_forcemerge`: takes out what deleted documents have left, where that is worth it.
pub fn merge(call: &Call, service: &Service) -> Outcome<Answer> {
    if call.flag("wait_for_completion")? == Some(false) {
        return Err(Fault::not_there("a task ([wait_for_completion] of false)"));
    }
    shards(call, service, |name| {
        let open = service.indexes.get(name, &call.caller)?;
        let index = &open.index;
        let needs_vacuum = index.needs_vacuum()?;
        while needs_vacuum && !service.is_ending() && index.vacuum()? {}
        // A vacuum leaves space behind, too.
        let cleans = needs_vacuum || index.needs_cleaning()?;
        while cleans && !service.is_ending() && index.clean()? {}
        Ok(())
    })
}

fn shards(call: &Call, service: &Service, act: impl Fn(&str) -> Outcome<()>) -> Outcome<Answer> {
    let names = Where::of_call(call)?.names(service)?;
    for name in &names {
        act(name)?;
    }
    let count = names.len();
    Ok(Answer::of(&json!({
        "_shards": { "total": count, "successful": count, "failed": 0 },
    })))
}
