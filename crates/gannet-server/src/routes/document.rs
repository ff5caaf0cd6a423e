//! Single documents.

use serde_json::json;

use crate::documents::{
    Action, ActionKind, Change, Done, GivenVersion, INTERNAL, ItemResult, Precondition, UpdateBody,
    carry_out, sequence_number,
};
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::json::JsonObject;
use crate::searching::SourceChoice;
use crate::service::Service;

/// `PUT /{index}/_doc/{id}`, `POST /{index}/_doc`.
pub fn index(call: &Call, service: &Service) -> Outcome<Answer> {
    check_write(call)?;
    let kind = match call.parameter("op_type") {
        None | Some("index") => ActionKind::Index,
        Some("create") => ActionKind::Create,
        Some(other) => {
            return Err(Fault::illegal(format!(
                "opType must be 'create' or 'index', found: [{other}]"
            )));
        }
    };
    write(call, service, kind, Change::Index(source_of(call)?))
}

/// `PUT /{index}/_create/{id}`.
pub fn create(call: &Call, service: &Service) -> Outcome<Answer> {
    check_write(call)?;
    write(
        call,
        service,
        ActionKind::Create,
        Change::Index(source_of(call)?),
    )
}

/// `POST /{index}/_update/{id}`.
pub fn update(call: &Call, service: &Service) -> Outcome<Answer> {
    check_write(call)?;
    let update = UpdateBody::parse(&call.body)?;
    if update.is_upsert() && Precondition::of_call(call)? != Precondition::Any {
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: upsert requests don't support `if_seq_no` and `if_primary_term`;",
        ));
    }
    write(call, service, ActionKind::Update, Change::Update(update))
}

/// `DELETE /{index}/_doc/{id}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    check_write(call)?;
    write(call, service, ActionKind::Delete, Change::Delete)
}

/// Fails at parameters that ask for what is not there.
pub fn check_write(call: &Call) -> Outcome<()> {
    match call.parameter("refresh") {
        None | Some("" | "true" | "false" | "wait_for") => {}
        Some(other) => {
            return Err(Fault::illegal(format!(
                "Unknown value for refresh: [{other}]."
            )));
        }
    }
    if call
        .parameter("pipeline")
        .is_some_and(|name| name != "_none")
    {
        return Err(Fault::not_there("an ingest pipeline ([pipeline])"));
    }
    Ok(())
}

/// The error of a validation of a write.
fn invalid(what: &str) -> Fault {
    Fault::new(
        400,
        "action_request_validation_exception",
        format!("Validation Failed: 1: {what};"),
    )
}

/// Fails unless a name is that of an alias.
pub fn check_is_alias(service: &Service, name: &str) -> Outcome<()> {
    if service.indexes.has_alias(name) {
        return Ok(());
    }
    let mut fault = Fault::no_index(name);
    fault.reason = format!(
        "no such index [{name}] and [require_alias] request flag is [true] and [{name}] is not an alias"
    );
    Err(fault)
}

fn source_of(call: &Call) -> Outcome<&[u8]> {
    if call.body.trim_ascii().is_empty() {
        return Err(Fault::new(
            400,
            "parse_exception",
            "request body is required",
        ));
    }
    Ok(&call.body)
}

fn write(call: &Call, service: &Service, kind: ActionKind, change: Change<'_>) -> Outcome<Answer> {
    let given = GivenVersion::of_call(call)?;
    if kind == ActionKind::Update && !given.is_none() {
        return Err(invalid(INTERNAL));
    }
    let name = call.part("index");
    if call.flag("require_alias")? == Some(true) {
        check_is_alias(service, name)?;
    }
    let id = Some(call.part("id").to_owned()).filter(|id| !id.is_empty());
    let before = match Precondition::of_call(call)? {
        Precondition::Any => kind.precondition(),
        given if kind == ActionKind::Create => {
            return Err(Fault::illegal(format!(
                "create takes no [if_seq_no], as [{given:?}] is: index does"
            )));
        }
        given => given,
    };
    let before = given
        .precondition(kind, id.is_some(), before)
        .map_err(|what| invalid(&what))?;
    let open = if kind != ActionKind::Delete || given.is_external() {
        service.indexes.get_or_make(name, &call.caller)?
    } else {
        service.indexes.get_to_write(name, &call.caller)?
    };
    let action = Action { id, before, change };
    let done = carry_out(&open, &[&action]).pop();
    let done = done.unwrap_or_else(|| Err(Fault::internal("nothing was carried out")));
    let done = done.map_err(|fault| fault.of_index(name))?;
    open.sync()?;
    Ok(answer(call, &open, &done))
}

fn answer(call: &Call, open: &OpenIndex, done: &Done) -> Answer {
    let mut members = done.json(&open.name, call.is_version_7);
    if matches!(call.parameter("refresh"), Some("" | "true")) && done.result != ItemResult::Noop {
        members.insert("forced_refresh".to_owned(), json!(true));
    }
    Answer {
        status: done.result.status(),
        ..Answer::of(&members)
    }
}

/// `GET /{index}/_doc/{id}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    let source = SourceChoice::of_call(call).unwrap_or_default();
    let id = call.part("id");
    if let Some(wanted) = call.count("version")? {
        let found = open.index.versions(&[id])?.first().copied().flatten();
        if found.is_some() {
            Precondition::Version(wanted).check(id, found)?;
        }
    }
    let found = found(&open, id, &source)?;
    Ok(Answer::json(
        if found.is_there { 200 } else { 404 },
        found.json,
    ))
}

/// `HEAD /{index}/_doc/{id}`.
pub fn exists(call: &Call, service: &Service) -> Outcome<Answer> {
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    let is_there = open.index.contains(call.part("id"))?;
    Ok(Answer::empty(if is_there { 200 } else { 404 }))
}

/// `GET /{index}/_source/{id}`.
pub fn source(call: &Call, service: &Service) -> Outcome<Answer> {
    let (name, id) = (call.part("index"), call.part("id"));
    let open = service.indexes.get(name, &call.caller)?;
    let choice = SourceChoice::of_call(call).unwrap_or_default();
    let source = match open.index.get(id)? {
        None => None,
        Some(document) => choice.apply(&document.source)?,
    };
    let missing = || {
        Fault::new(
            404,
            "resource_not_found_exception",
            format!("Document not found [{name}]/[{id}]"),
        )
    };
    Ok(Answer::json(200, source.ok_or_else(missing)?))
}

/// A document that was asked for, as JSON.
pub struct FoundDocument {
    /// Set if there is one.
    pub is_there: bool,
    /// The members of an answer.
    pub json: String,
}

/// Looks a document up.
pub fn found(open: &OpenIndex, id: &str, choice: &SourceChoice) -> Outcome<FoundDocument> {
    let json = JsonObject::new().put("_index", &open.name).put("_id", id);
    let Some(document) = open.index.get(id)? else {
        return Ok(FoundDocument {
            is_there: false,
            json: json.put("found", &false).end(),
        });
    };
    let mut json = json
        .put("_version", &document.version)
        .put("_seq_no", &sequence_number(document.sequence))
        .put("_primary_term", &1)
        .put("found", &true);
    if let Some(source) = choice.apply(&document.source)? {
        json = json.raw("_source", &source);
    }
    Ok(FoundDocument {
        is_there: true,
        json: json.end(),
    })
}
