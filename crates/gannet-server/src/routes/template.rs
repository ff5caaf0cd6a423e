//! Templates of indexes, which are applied when an index is made.

use serde_json::{Value, json};

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::{Catalog, IndexPlan, patterns, priority};
use crate::json::{Members, fits};
use crate::service::Service;

/// Templates of each kind.
const TEMPLATES_MAX: usize = 1_000;

/// Bytes of one, as text.
const TEMPLATE_BYTES_MAX: usize = 1 << 20;

/// `PUT /_index_template/{name}`.
pub fn put(call: &Call, service: &Service) -> Outcome<Answer> {
    call.caller.check_all()?;
    let (name, template) = (call.part("name"), call.json()?);
    let members = Members::of("index_template", &template)?;
    let known = [
        "index_patterns",
        "template",
        "priority",
        "version",
        "composed_of",
        "_meta",
        // An ordinary index is made where Elasticsearch makes the first one of a data stream.
        "data_stream",
        "ignore_missing_component_templates",
        "deprecated",
    ];
    members
        .check(&known, &["allow_auto_create"])
        .map_err(Fault::as_content)?;
    let invalid = |what: String| {
        let reason = format!("index template [{name}] is invalid: {what}");
        Fault::new(400, "invalid_index_template_exception", reason)
    };
    let own = members.texts("index_patterns")?.unwrap_or_default();
    if own.is_empty()
        || own
            .iter()
            .any(|pattern| pattern.is_empty() || pattern.len() > 255)
    {
        return Err(invalid(
            "it needs [index_patterns] of 255 bytes at most".to_owned(),
        ));
    }
    if let Some(value) = members.get("priority")
        && value.as_u64().is_none()
    {
        return Err(invalid(format!(
            "[priority] is a whole number from 0 on, not {value}"
        )));
    }
    let may_miss = members.texts("ignore_missing_component_templates")?;
    let may_miss = may_miss.unwrap_or_default();
    let composed = members.texts("composed_of")?.unwrap_or_default();
    let is_new_only = call.flag("create")?.unwrap_or(false);
    service.indexes.change(|catalog| {
        for component in &composed {
            if !catalog.components.contains_key(*component) && !may_miss.contains(component) {
                return Err(invalid(format!("there is no component template [{component}]")));
            }
        }
        IndexPlan::of(&catalog.parts(&template)).map_err(|fault| invalid(fault.reason))?;
        for (other, theirs) in &catalog.templates {
            if other == name || priority(theirs) != priority(&template) {
                continue;
            }
            if patterns(theirs).any(|theirs| own.iter().any(|own| overlap(own, theirs))) {
                return Err(Fault::illegal(format!(
                    "index template [{name}] has index patterns {own:?} matching patterns from existing template [{other}] \
                     with the same priority [{}], please use a different priority",
                    priority(theirs)
                )));
            }
        }
        insert(Kind::Index, name, &template, is_new_only, catalog)
    })?;
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// `PUT /_component_template/{name}`.
pub fn put_component(call: &Call, service: &Service) -> Outcome<Answer> {
    call.caller.check_all()?;
    let (name, template) = (call.part("name"), call.json()?);
    let members = Members::of("component_template", &template)?;
    members
        .check(&["template", "version", "_meta", "deprecated"], &[])
        .map_err(Fault::as_content)?;
    let given = members
        .get("template")
        .ok_or_else(|| Fault::illegal("[component_template] needs a [template]"))?;
    IndexPlan::of(&[given])?;
    let is_new_only = call.flag("create")?.unwrap_or(false);
    service.indexes.change(|catalog| {
        insert(Kind::Component, name, &template, is_new_only, catalog)?;
        // Those that it is a part of must be templates still.
        for (other, theirs) in &catalog.templates {
            IndexPlan::of(&catalog.parts(theirs)).map_err(|fault| {
                Fault::illegal(format!(
                    "index template [{other}], of which [{name}] is a part, would be invalid: {}",
                    fault.reason
                ))
            })?;
        }
        Ok(())
    })?;
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// A kind of template.
#[derive(Clone, Copy)]
enum Kind {
    Index,
    Component,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Index => "index_template",
            Kind::Component => "component_template",
        }
    }

    fn of(self, catalog: &Catalog) -> &std::collections::BTreeMap<String, Value> {
        match self {
            Kind::Index => &catalog.templates,
            Kind::Component => &catalog.components,
        }
    }
}

fn insert(
    kind: Kind,
    name: &str,
    template: &Value,
    is_new_only: bool,
    catalog: &mut Catalog,
) -> Outcome<()> {
    let is_there = kind.of(catalog).contains_key(name);
    if is_there && is_new_only {
        return Err(Fault::illegal(format!(
            "{} [{name}] already exists",
            kind.name()
        )));
    }
    check_name_and_bytes(name, template)?;
    if !is_there {
        check_room(kind.of(catalog).len())?;
    }
    let all = match kind {
        Kind::Index => &mut catalog.templates,
        Kind::Component => &mut catalog.components,
    };
    all.insert(name.to_owned(), template.clone());
    Ok(())
}

/// Fails at a name that no template has, and at one that is too large.
pub fn check_name_and_bytes(name: &str, template: &Value) -> Outcome<()> {
    if name.is_empty() || name.len() > 255 || name.contains([',', '*', '/']) {
        return Err(Fault::illegal(format!("[{name}] is no name of a template")));
    }
    if template.to_string().len() > TEMPLATE_BYTES_MAX {
        return Err(Fault::illegal(format!(
            "a template has {TEMPLATE_BYTES_MAX} bytes at most"
        )));
    }
    Ok(())
}

/// Fails if there are as many templates as there may be.
pub fn check_room(templates: usize) -> Outcome<()> {
    if templates >= TEMPLATES_MAX {
        return Err(Fault::illegal(format!(
            "there are {TEMPLATES_MAX} templates already"
        )));
    }
    Ok(())
}

/// `GET /_index_template/{name}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    told(Kind::Index, call, service)
}

/// `GET /_component_template/{name}`.
pub fn get_component(call: &Call, service: &Service) -> Outcome<Answer> {
    told(Kind::Component, call, service)
}

/// `HEAD /_index_template/{name}`.
pub fn exists(call: &Call, service: &Service) -> Outcome<Answer> {
    let is_there = service
        .indexes
        .catalog()
        .templates
        .contains_key(call.part("name"));
    Ok(Answer::empty(if is_there { 200 } else { 404 }))
}

/// `HEAD /_component_template/{name}`.
pub fn component_exists(call: &Call, service: &Service) -> Outcome<Answer> {
    let is_there = service
        .indexes
        .catalog()
        .components
        .contains_key(call.part("name"));
    Ok(Answer::empty(if is_there { 200 } else { 404 }))
}

fn named(kind: Kind, call: &Call, catalog: &Catalog) -> Outcome<Vec<String>> {
    let wanted = call.part("name");
    let is_meant = |name: &&String| {
        let mut patterns = wanted.split(',');
        wanted.is_empty() || patterns.any(|pattern| fits(pattern, name))
    };
    let names: Vec<String> = kind.of(catalog).keys().filter(is_meant).cloned().collect();
    if names.is_empty() && !wanted.is_empty() && !wanted.contains('*') {
        return Err(Fault::new(
            404,
            "resource_not_found_exception",
            format!(
                "{} matching [{wanted}] not found",
                kind.name().replace('_', " ")
            ),
        ));
    }
    Ok(names)
}

fn told(kind: Kind, call: &Call, service: &Service) -> Outcome<Answer> {
    let catalog = service.indexes.catalog();
    let names = named(kind, call, &catalog)?;
    let all = names.iter().map(|name| {
        let template = kind.of(&catalog).get(name);
        json!({ "name": name, kind.name(): template.map(|template| shown(kind, template)) })
    });
    let list = format!("{}s", kind.name());
    Ok(Answer::of(&json!({ list: all.collect::<Vec<Value>>() })))
}

/// A template as answers have it: typed clients need lists where a request may leave them out.
fn shown(kind: Kind, template: &Value) -> Value {
    let mut shown = template.clone();
    if let (Kind::Index, Value::Object(members)) = (kind, &mut shown) {
        let own: Vec<&str> = patterns(template).collect();
        members.insert("index_patterns".to_owned(), json!(own));
        members
            .entry("composed_of")
            .or_insert_with(|| Value::Array(Vec::new()));
    }
    shown
}

/// `DELETE /_index_template/{name}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    call.caller.check_all()?;
    service.indexes.change(|catalog| {
        for name in named(Kind::Index, call, catalog)? {
            catalog.templates.remove(&name);
        }
        Ok(())
    })?;
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// `DELETE /_component_template/{name}`.
pub fn delete_component(call: &Call, service: &Service) -> Outcome<Answer> {
    call.caller.check_all()?;
    service.indexes.change(|catalog| {
        for name in named(Kind::Component, call, catalog)? {
            let is_used = |template: &Value| {
                let composed = template.get("composed_of").and_then(Value::as_array);
                composed.is_some_and(|list| list.iter().any(|part| *part == name.as_str()))
            };
            if let Some((other, _)) = catalog.templates.iter().find(|(_, t)| is_used(t)) {
                return Err(Fault::illegal(format!(
                    "component templates [{name}] cannot be removed as they are still in use by index templates [{other}]"
                )));
            }
            catalog.components.remove(&name);
        }
        Ok(())
    })?;
    Ok(Answer::of(&json!({ "acknowledged": true })))
}

/// `POST /_index_template/_simulate_index/{name}`.
pub fn simulate(call: &Call, service: &Service) -> Outcome<Answer> {
    let catalog = service.indexes.catalog();
    let plan = IndexPlan::new(&catalog, call.part("name"), &json!({}))?;
    let aliases = plan.aliases.iter();
    let aliases = aliases.map(|(alias, options)| (alias.clone(), options.json()));
    Ok(Answer::of(&json!({
        "template": {
            "settings": { "index": plan.settings.0 },
            "mappings": plan.mapping.json(),
            "aliases": Value::Object(aliases.collect()),
        },
        "overlapping": [],
    })))
}

/// Returns true if a name can fit both patterns.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // The rests of both from the places on: `can[j]` is for one place of the first.
    let mut below = vec![false; other.len() + 1];
    for i in (0..=one.len()).rev() {
        let mut can = vec![false; other.len() + 1];
        for j in (0..=other.len()).rev() {
            can[j] = match (one.get(i), other.get(j)) {
                (None, None) => true,
                (Some(b'*'), b) => below[j] || b.is_some() && can[j + 1],
                (a, Some(b'*')) => can[j + 1] || a.is_some() && below[j],
                (Some(a), Some(b)) => a == b && below[j + 1],
                _ => false,
            };
        }
        below = can;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn patterns_overlap_where_a_name_fits_both() {
        for (one, other, expected) in [
            ("a*", "ab*", true),
            ("a*", "b*", false),
            ("*a", "b*", true),
            ("logs", "logs", true),
            ("logs", "log", false),
            ("*", "", true),
            ("a*b*c", "ab", false),
            ("a*b*c", "abxc", true),
            ("a*x", "a*y", false),
        ] {
            assert_eq!(overlap(one, other), expected, "{one} {other}");
            assert_eq!(overlap(other, one), expected, "{one} {other}");
        }
    }
}
