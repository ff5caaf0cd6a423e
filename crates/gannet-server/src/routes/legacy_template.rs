//! Legacy templates of indexes (`_template`), of which all that fit are merged by their order where
//! no template of `_index_template` fits.

use serde_json::{Map, Value, json};

use super::template::{check_name_and_bytes, check_room};
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::{Catalog, IndexPlan, patterns};
use crate::json::{Members, fits};
use crate::service::Service;

/// The members of one.
const KNOWN: [&str; 7] = [
    "index_patterns",
    "template",
    "order",
    "version",
    "settings",
    "mappings",
    "aliases",
];

/// `PUT /_template/{name}`.
pub fn put(call: &Call, service: &Service) -> Outcome<Answer> {
    call.caller.check_all()?;
    let (name, body) = (call.part("name"), call.json()?);
    let template = read(call, &body)?;
    let is_new_only = call.flag("create")?.unwrap_or(false);
    service.indexes.change(|catalog| {
        let is_there = catalog.legacy.contains_key(name);
        if is_there && is_new_only {
            return Err(Fault::illegal(format!(
                "index_template [{name}] already exists"
            )));
        }
        check_name_and_bytes(name, &template)?;
        if !is_there {
            check_room(catalog.legacy.len())?;
        }
        catalog.legacy.insert(name.to_owned(), template.clone());
        Ok(())
    })?;
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// Reads a template, in the form in which it is kept: what an index takes over is its `template`.
fn read(call: &Call, body: &Value) -> Outcome<Value> {
    let members = Members::of("template", body)?;
    for (member, _) in members.iter() {
        if !KNOWN.contains(&member) {
            return Err(Fault::new(
                400,
                "parse_exception",
                format!("unknown key [{member}] in the template "),
            ));
        }
    }
    let own = match members.texts("index_patterns")? {
        Some(patterns) => patterns,
        None => members.text("template")?.into_iter().collect(),
    };
    if own.is_empty()
        || own
            .iter()
            .any(|pattern| pattern.is_empty() || pattern.len() > 255)
    {
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: index patterns are missing;",
        ));
    }
    let order = match members.get("order") {
        Some(order) => Some(number("order", order)?),
        None => call
            .parameter("order")
            .map(|text| number("order", &json!(text)))
            .transpose()?,
    };
    let mut template = Map::new();
    for part in ["settings", "mappings", "aliases"] {
        if let Some(value) = members.get(part) {
            let value = if part == "mappings" {
                without_type(value)
            } else {
                value
            };
            template.insert(part.to_owned(), value.clone());
        }
    }
    let template = Value::Object(template);
    IndexPlan::of(&[&template])?;
    let mut kept = json!({
        "order": order.unwrap_or(0),
        "index_patterns": own,
        "template": template,
    });
    if let (Some(version), Some(kept)) = (members.get("version"), kept.as_object_mut()) {
        if !version.is_i64() {
            return Err(Fault::illegal(
                "Malformed [version] value, should be an integer",
            ));
        }
        kept.insert("version".to_owned(), version.clone());
    }
    Ok(kept)
}

fn number(name: &str, value: &Value) -> Outcome<i32> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64().and_then(|number| i32::try_from(number).ok()),
    };
    number.ok_or_else(|| Fault::illegal(format!("[{name}] is a whole number, not {value}")))
}

/// A mapping that has the name of a type around it, as before version 7, without it.
fn without_type(mappings: &Value) -> &Value {
    let only = mappings.as_object().filter(|members| members.len() == 1);
    let only = only.and_then(|members| members.iter().next());
    match only {
        Some((name, inner)) if matches!(name.as_str(), "_doc" | "doc" | "_default_") => inner,
        _ => mappings,
    }
}

/// `GET /_template/{name}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let catalog = service.indexes.catalog();
    let wanted = call.part("name");
    let is_flat = call.flag("flat_settings")?.unwrap_or(false);
    let mut all = Map::new();
    for name in named(wanted, &catalog) {
        if let Some(template) = catalog.legacy.get(name) {
            all.insert(name.clone(), shown(template, is_flat)?);
        }
    }
    let is_missing = all.is_empty() && !wanted.is_empty() && wanted != "*";
    Ok(Answer {
        status: if is_missing { 404 } else { 200 },
        ..Answer::of(&all)
    })
}

/// `HEAD /_template/{name}`.
pub fn exists(call: &Call, service: &Service) -> Outcome<Answer> {
    let catalog = service.indexes.catalog();
    let is_there = named(call.part("name"), &catalog).next().is_some();
    Ok(Answer::empty(if is_there { 200 } else { 404 }))
}

/// `DELETE /_template/{name}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    call.caller.check_all()?;
    let wanted = call.part("name");
    service.indexes.change(|catalog| {
        let names: Vec<String> = named(wanted, catalog).cloned().collect();
        if names.is_empty() && wanted != "*" {
            return Err(Fault::new(
                404,
                "index_template_missing_exception",
                format!("index_template [{wanted}] missing"),
            ));
        }
        for name in names {
            catalog.legacy.remove(&name);
        }
        Ok(())
    })?;
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// The names that are meant: those of a list, or that a pattern fits.
fn named<'a>(wanted: &'a str, catalog: &'a Catalog) -> impl Iterator<Item = &'a String> {
    let names = catalog.legacy.keys();
    names.filter(move |name| {
        let mut meant = wanted.split(',');
        wanted.is_empty() || meant.any(|pattern| fits(pattern, name))
    })
}

/// A template as answers have it: with settings as texts.
fn shown(template: &Value, is_flat: bool) -> Outcome<Value> {
    let order = template.get("order").cloned().unwrap_or(json!(0));
    let own: Vec<&str> = patterns(template).collect();
    let none = json!({});
    let parts = template.get("template").unwrap_or(&none);
    let part = |name: &str| parts.get(name).cloned().unwrap_or_else(|| json!({}));
    let plan = IndexPlan::of(&[&json!({ "settings": part("settings") })])?;
    let mut settings = Map::new();
    for (name, value) in &plan.settings.0 {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let name = if is_flat {
            format!("index.{name}")
        } else {
            name.clone()
        };
        settings.insert(name, json!(text));
    }
    let settings = match (settings.is_empty(), is_flat) {
        (true, _) | (_, true) => Value::Object(settings),
        _ => json!({ "index": settings }),
    };
    let mut shown = Map::from_iter([("order".to_owned(), order)]);
    if let Some(version) = template.get("version") {
        shown.insert("version".to_owned(), version.clone());
    }
    for (name, value) in [
        ("index_patterns", json!(own)),
        ("settings", settings),
        ("mappings", part("mappings")),
        ("aliases", part("aliases")),
    ] {
        shown.insert(name.to_owned(), value);
    }
    Ok(Value::Object(shown))
}
