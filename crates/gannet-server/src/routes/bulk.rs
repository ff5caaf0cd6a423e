//! `_bulk`: many changes in one request, each with a result of its own. All are durable once the
//! answer is sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::document::{check_is_alias, check_write};
use crate::documents::{Action, ActionKind, BulkAction, Done, Precondition, carry_out, parse_bulk};
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call, Caller};
use crate::indexes::OpenIndex;
use crate::service::Service;

/// `POST /_bulk`.
pub fn bulk(call: &Call, service: &Service) -> Outcome<Answer> {
    let start = Instant::now();
    check_write(call)?;
    let index = Some(call.part("index")).filter(|index| !index.is_empty());
    let mut actions = parse_bulk(&call.body, index)?;
    let mut opened: HashMap<String, Arc<OpenIndex>> = HashMap::new();
    let mut results: Vec<Outcome<Done>> = Vec::with_capacity(actions.len());
    let mut synced: Synced = HashMap::new();
    // The other half is left for other requests.
    let at_once = (service.indexes.open_most() / 2).max(1);
    let requires_alias = call.flag("require_alias")?.unwrap_or(false);
    for action in &mut actions {
        if action.requires_alias.unwrap_or(requires_alias)
            && let Err(fault) = check_is_alias(service, &action.index)
        {
            action.action = Err(fault);
        }
    }
    for run in actions.chunk_by(|one, next| one.index == next.index && makes(one) == makes(next)) {
        if !opened.contains_key(&run[0].index) && opened.len() >= at_once {
            sync_all(&mut opened, &mut synced);
        }
        results.extend(carry_out_run(run, service, &call.caller, &mut opened));
    }
    sync_all(&mut opened, &mut synced);
    let mut has_errors = false;
    let mut items = Vec::with_capacity(actions.len());
    for (action, result) in actions.iter().zip(results) {
        let (name, result) = match synced.get(action.index.as_str()) {
            Some((_, Some(fault))) => (action.index.as_str(), Err(fault.clone())),
            Some((name, None)) => (name.as_str(), result),
            None => (action.index.as_str(), result),
        };
        has_errors |= result.is_err();
        items.push(item(name, action, result, call.is_version_7));
    }
    Ok(Answer::of(&json!({
        "took": start.elapsed().as_millis() as u64,
        "errors": has_errors,
        "items": items,
    })))
}

/// Indexes that were written to, by the names that actions have for them: their own names, and why
/// they are not durable.
type Synced = HashMap<String, (String, Option<Fault>)>;

/// Makes durable what was written, and gives the indexes back.
fn sync_all(opened: &mut HashMap<String, Arc<OpenIndex>>, synced: &mut Synced) {
    for (name, open) in opened.drain() {
        let fault = open.sync().err();
        let place = synced
            .entry(name)
            .or_insert_with(|| (open.name.clone(), None));
        place.1 = place.1.take().or(fault);
    }
}

/// Returns true if an action makes an index that is missing, as a deletion with the version of
/// another system does, too.
fn makes(action: &BulkAction<'_>) -> bool {
    let before = action.action.as_ref().ok().map(|action| action.before);
    action.kind != ActionKind::Delete || before.and_then(Precondition::external_version).is_some()
}

/// Carries out actions on one index that stand in a row.
fn carry_out_run(
    run: &[BulkAction<'_>],
    service: &Service,
    caller: &Caller,
    opened: &mut HashMap<String, Arc<OpenIndex>>,
) -> Vec<Outcome<Done>> {
    let Some(first) = run.first() else {
        return Vec::new();
    };
    if run.iter().all(|one| one.action.is_err()) {
        let faults = run.iter().map(|one| one.action.as_ref().err().cloned());
        let lost = || Fault::internal("an action has neither a change nor an error");
        return faults
            .map(|fault| Err(fault.unwrap_or_else(lost)))
            .collect();
    }
    let open = match opened.get(&first.index) {
        Some(open) => Ok(Arc::clone(open)),
        None if makes(first) => service.indexes.get_or_make(&first.index, caller),
        None => service.indexes.get_to_write(&first.index, caller),
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

fn item(index: &str, action: &BulkAction<'_>, result: Outcome<Done>, has_type: bool) -> Value {
    let (status, members) = match result {
        Ok(done) => (done.result.status(), done.json(index, has_type)),
        Err(fault) => {
            let mut members = Map::new();
            members.insert("_index".to_owned(), json!(index));
            if has_type {
                members.insert("_type".to_owned(), json!("_doc"));
            }
            members.insert("_id".to_owned(), json!(action.id));
            members.insert("error".to_owned(), json!(fault.item_json()));
            (fault.status, members)
        }
    };
    let mut members = members;
    members.insert("status".to_owned(), json!(status));
    json!({ action.kind.name(): members })
}
