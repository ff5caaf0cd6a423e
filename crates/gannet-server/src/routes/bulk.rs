//! `_bulk`: many changes in one request, each with a result of its own. All are durable once the
//! answer is sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::document::check_write;
use crate::documents::{Action, ActionKind, BulkAction, Done, carry_out, parse_bulk};
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::service::Service;

/// `POST /_bulk`.
pub fn bulk(call: &Call, service: &Service) -> Outcome<Answer> {
    let start = Instant::now();
    check_write(call)?;
    let index = Some(call.part("index")).filter(|index| !index.is_empty());
    let actions = parse_bulk(&call.body, index)?;
    let mut opened: HashMap<String, Arc<OpenIndex>> = HashMap::new();
    let mut results: Vec<Outcome<Done>> = Vec::with_capacity(actions.len());
    for run in actions.chunk_by(|one, next| one.index == next.index && makes(one) == makes(next)) {
        results.extend(carry_out_run(run, service, &mut opened));
    }
    let mut failed: HashMap<&str, Fault> = HashMap::new();
    for (name, open) in &opened {
        if let Err(fault) = open.sync() {
            failed.insert(name, fault);
        }
    }
    let mut has_errors = false;
    let mut items = Vec::with_capacity(actions.len());
    for (action, result) in actions.iter().zip(results) {
        let result = match failed.get(action.index.as_str()) {
            Some(fault) => Err(fault.clone()),
            None => result,
        };
        has_errors |= result.is_err();
        items.push(item(action, result));
    }
    Ok(Answer::of(&json!({
        "took": start.elapsed().as_millis() as u64,
        "errors": has_errors,
        "items": items,
    })))
}

/// Returns true if an action makes an index that is missing.
fn makes(action: &BulkAction<'_>) -> bool {
    matches!(action.kind, ActionKind::Index | ActionKind::Create)
}

/// Carries out actions on one index that stand in a row.
fn carry_out_run(
    run: &[BulkAction<'_>],
    service: &Service,
    opened: &mut HashMap<String, Arc<OpenIndex>>,
) -> Vec<Outcome<Done>> {
    let Some(first) = run.first() else {
        return Vec::new();
    };
    let open = match opened.get(&first.index) {
        Some(open) => Ok(Arc::clone(open)),
        None if makes(first) => service.indexes.get_or_make(&first.index),
        None => service.indexes.get(&first.index),
    };
    let open = match open {
        Ok(open) => open,
        Err(fault) => return run.iter().map(|_| Err(fault.clone())).collect(),
    };
    opened.insert(first.index.clone(), Arc::clone(&open));
    let whole: Vec<&Action<'_>> = run
        .iter()
        .filter_map(|one| one.action.as_ref().ok())
        .collect();
    let mut done = carry_out(&open, &whole).into_iter();
    let lost = || {
        Err(Fault::internal(
            "an action was not carried out; this is a defect",
        ))
    };
    let results = run.iter().map(|one| match &one.action {
        Err(fault) => Err(fault.clone()),
        Ok(_) => done.next().unwrap_or_else(lost),
    });
    results.collect()
}

fn item(action: &BulkAction<'_>, result: Outcome<Done>) -> Value {
    let (status, members) = match result {
        Ok(done) => (done.result.status(), done.json(&action.index)),
        Err(fault) => {
            let mut members = Map::new();
            members.insert("_index".to_owned(), json!(action.index));
            members.insert("_id".to_owned(), json!(action.id));
            members.insert("error".to_owned(), json!(fault.item_json()));
            (fault.status, members)
        }
    };
    let mut members = members;
    members.insert("status".to_owned(), json!(status));
    json!({ action.kind.name(): members })
}
