//! Aliases.

use serde_json::{Map, Value, json};

use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call, IndexOptions, Right};
use crate::indexes::{AliasOptions, Catalog};
use crate::json::{Members, fits};
use crate::service::Service;

/// A change of aliases.
enum AliasChange {
    Add {
        alias: String,
        index: String,
        options: AliasOptions,
    },
    Remove {
        aliases: Vec<String>,
        indexes: Vec<String>,
        must_exist: bool,
    },
}

/// The aliases of an index, as answers have them.
pub fn aliases_of(catalog: &Catalog, index: &str) -> Value {
    let aliases = catalog.aliases.of(index);
    let aliases = aliases.map(|(alias, options)| (alias.clone(), options.json()));
    Value::Object(aliases.collect())
}

/// `POST /_aliases`.
pub fn change(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("aliases", &body)?;
    members.check(&["actions"], &[])?;
    let actions = match members.get("actions") {
        Some(Value::Array(actions)) if !actions.is_empty() => actions,
        _ => {
            let reason = "Validation Failed: 1: Must specify at least one action;";
            return Err(Fault::new(
                400,
                "action_request_validation_exception",
                reason,
            ));
        }
    };
    let (mut changes, mut deleted) = (Vec::new(), Vec::new());
    for action in actions {
        let (kind, value) = Members::of("actions", action)?.only()?;
        let members = Members::of(kind, value)?;
        match kind {
            "add" => changes.extend(add(call, service, &members)?),
            "remove" => changes.push(remove(call, service, &members)?),
            "remove_index" => {
                members.check(&["index", "indices", "must_exist"], &[])?;
                deleted.extend(indexes(call, service, &members)?);
            }
            other => {
                return Err(Fault::parsing(format!(
                    "[aliases] unknown field [{other}]: there are add, remove and remove_index"
                )));
            }
        }
    }
    apply(call, service, &changes, &deleted)
}

fn apply(
    call: &Call,
    service: &Service,
    changes: &[AliasChange],
    deleted: &[String],
) -> Outcome<Answer> {
    for name in deleted {
        call.caller.check(name)?;
        service.contexts.forget(name);
    }
    // Whoever may change an index alone must not change what others mean by a name.
    for change in changes {
        match change {
            AliasChange::Add { alias, .. } => call.caller.check(alias)?,
            AliasChange::Remove { aliases, .. } => {
                let catalog = service.indexes.catalog();
                let meant = catalog
                    .aliases
                    .names()
                    .filter(|alias| stand_for(aliases, alias));
                meant
                    .into_iter()
                    .try_for_each(|alias| call.caller.check(alias))?;
            }
        }
    }
    let act = |catalog: &mut Catalog| carry_out(service, changes, deleted, catalog);
    if deleted.is_empty() {
        service.indexes.change(act)?;
    } else {
        service.indexes.change_and_delete(deleted, act)?;
    }
    Ok(Answer::of(
        &json!({ "acknowledged": true, "errors": false }),
    ))
}

fn carry_out(
    service: &Service,
    changes: &[AliasChange],
    deleted: &[String],
    catalog: &mut Catalog,
) -> Outcome<()> {
    for change in changes {
        match change {
            AliasChange::Add {
                alias,
                index,
                options,
            } => {
                if !deleted.contains(alias) {
                    service.indexes.check_alias(alias)?;
                }
                if deleted.contains(index) || !service.indexes.exists(index) {
                    return Err(Fault::no_index(index));
                }
                catalog.aliases.add(alias, index, options.clone())?;
            }
            AliasChange::Remove {
                aliases,
                indexes,
                must_exist,
            } => remove_all(aliases, indexes, *must_exist, catalog)?,
        }
    }
    Ok(())
}

fn remove_all(
    aliases: &[String],
    indexes: &[String],
    must_exist: bool,
    catalog: &mut Catalog,
) -> Outcome<()> {
    let names: Vec<String> = catalog.aliases.names().cloned().collect();
    let mut is_found = false;
    for alias in names {
        if !stand_for(aliases, &alias) {
            continue;
        }
        for index in indexes {
            is_found |= catalog.aliases.remove(&alias, index);
        }
    }
    if is_found || !must_exist {
        return Ok(());
    }
    Err(missing(&aliases.join(",")))
}

/// Returns true if one of some patterns stands for an alias.
fn stand_for(patterns: &[String], alias: &str) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|pattern| pattern == "_all" || fits(pattern, alias))
}

fn missing(aliases: &str) -> Fault {
    Fault::new(
        404,
        "aliases_not_found_exception",
        format!("aliases [{aliases}] missing"),
    )
}

fn add(call: &Call, service: &Service, members: &Members<'_>) -> Outcome<Vec<AliasChange>> {
    let beside = ["index", "indices", "alias", "aliases", "must_exist"];
    let options = AliasOptions::parse(members, &beside)?;
    let mut changes = Vec::new();
    for alias in names(members)? {
        for index in indexes(call, service, members)? {
            changes.push(AliasChange::Add {
                alias: alias.clone(),
                index,
                options: options.clone(),
            });
        }
    }
    Ok(changes)
}

fn remove(call: &Call, service: &Service, members: &Members<'_>) -> Outcome<AliasChange> {
    members.check(&["index", "indices", "alias", "aliases", "must_exist"], &[])?;
    Ok(AliasChange::Remove {
        aliases: names(members)?,
        indexes: indexes(call, service, members)?,
        must_exist: members.flag("must_exist")?.unwrap_or(true),
    })
}

fn names(members: &Members<'_>) -> Outcome<Vec<String>> {
    let names = match members.texts("alias")? {
        Some(names) => Some(names),
        None => members.texts("aliases")?,
    };
    let names = names.filter(|names| !names.is_empty()).ok_or_else(|| {
        Fault::illegal(format!(
            "One of [alias] or [aliases] is required in [{}]",
            members.name
        ))
    })?;
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// The indexes of an action: those that there are, of which none is meant by an alias.
fn indexes(call: &Call, service: &Service, members: &Members<'_>) -> Outcome<Vec<String>> {
    let written = match members.texts("index")? {
        Some(names) => Some(names),
        None => members.texts("indices")?,
    };
    let written = written.filter(|names| !names.is_empty()).ok_or_else(|| {
        Fault::illegal(format!(
            "One of [index] or [indices] is required in [{}]",
            members.name
        ))
    })?;
    of_expression(call, service, &written.join(","))
}

fn of_expression(call: &Call, service: &Service, expression: &str) -> Outcome<Vec<String>> {
    for name in expression.split(',') {
        if service.indexes.has_alias(name) {
            return Err(Fault::illegal(format!(
                "The provided expression [{name}] matches an alias, specify the corresponding concrete indices instead."
            )));
        }
    }
    let options = IndexOptions {
        allows_none: false,
        ..IndexOptions::default()
    };
    service.indexes.resolve(expression, options, &call.caller)
}

/// `PUT /{index}/_alias/{name}`.
pub fn put(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let options = AliasOptions::parse(&Members::of("alias", &body)?, &[])?;
    let changes = of_expression(call, service, call.part("index"))?;
    let changes: Vec<AliasChange> = changes
        .into_iter()
        .map(|index| AliasChange::Add {
            alias: call.part("name").to_owned(),
            index,
            options: options.clone(),
        })
        .collect();
    apply(call, service, &changes, &[])
}

/// `DELETE /{index}/_alias/{name}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    let change = AliasChange::Remove {
        aliases: call.part("name").split(',').map(str::to_owned).collect(),
        indexes: of_expression(call, service, call.part("index"))?,
        must_exist: true,
    };
    apply(call, service, &[change], &[])
}

/// `GET /{index}/_alias/{name}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let wanted = call.part("name");
    let patterns: Vec<&str> = wanted.split(',').filter(|name| !name.is_empty()).collect();
    let is_meant = |alias: &str| {
        let mut patterns = patterns.iter();
        wanted.is_empty() || patterns.any(|pattern| *pattern == "_all" || fits(pattern, alias))
    };
    let options = IndexOptions {
        expands_hidden: true,
        ..IndexOptions::of_call(call)?
    };
    let place = Where {
        options,
        ..Where::of_call(call)?
    };
    let catalog = service.indexes.catalog();
    let mut all = Map::new();
    let mut found: Vec<String> = Vec::new();
    for index in place.names(service)? {
        let aliases = catalog
            .aliases
            .of(&index)
            .filter(|(alias, _)| is_meant(alias));
        let aliases: Map<String, Value> = aliases
            .map(|(alias, options)| (alias.clone(), options.json()))
            .collect();
        found.extend(aliases.keys().cloned());
        if !aliases.is_empty() || wanted.is_empty() {
            all.insert(index, json!({ "aliases": aliases }));
        }
    }
    let is_missing = |name: &&&str| !name.contains('*') && **name != "_all";
    let absent = patterns.iter().filter(is_missing);
    let absent: Vec<&str> = absent
        .filter(|name| !found.iter().any(|alias| alias == **name))
        .copied()
        .collect();
    if absent.is_empty() {
        return Ok(Answer::of(&all));
    }
    let kind = if absent.len() == 1 {
        "alias"
    } else {
        "aliases"
    };
    let mut members = Map::new();
    let reason = format!("{kind} [{}] missing", absent.join(","));
    members.insert("error".to_owned(), json!(reason));
    members.insert("status".to_owned(), json!(404));
    members.extend(all);
    Ok(Answer {
        status: 404,
        ..Answer::of(&members)
    })
}

/// `HEAD /{index}/_alias/{name}`.
pub fn exists(call: &Call, service: &Service) -> Outcome<Answer> {
    let found = get(call, service);
    let status = found.map_or_else(|fault| fault.status, |answer| answer.status);
    Ok(Answer::empty(status))
}

/// `GET /_resolve/index/{index}`.
pub fn resolve(call: &Call, service: &Service) -> Outcome<Answer> {
    let names = Where::of_call(call)?.names(service)?;
    let catalog = service.indexes.catalog();
    let indices = names.iter().map(|name| {
        let aliases: Vec<&String> = catalog.aliases.of(name).map(|(alias, _)| alias).collect();
        json!({ "name": name, "aliases": aliases, "attributes": ["open"] })
    });
    let caller = call.caller.to(Right::Read);
    let aliases = catalog.aliases.names().filter_map(|alias| {
        let indexes = catalog.aliases.indexes(alias).map(|(index, _)| index);
        let indexes: Vec<&String> = indexes
            .filter(|index| names.contains(index) && caller.may(index))
            .collect();
        (!indexes.is_empty()).then(|| json!({ "name": alias, "indices": indexes }))
    });
    Ok(Answer::of(&json!({
        "indices": indices.collect::<Vec<_>>(),
        "aliases": aliases.collect::<Vec<_>>(),
        "data_streams": [],
    })))
}
