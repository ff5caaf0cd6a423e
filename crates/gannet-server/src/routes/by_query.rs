//! Changes of all documents that a query finds: deleting, writing anew, copying.

use std::collections::BTreeSet;
use std::sync::Arc;

use gannet::Hit;
use serde_json::{Value, json};

use super::document::check_write;
use super::place::{Limits, Where};
use super::reading::Reading;
use crate::documents::{Action, ActionKind, Change, Done, ItemResult, carry_out, carry_out_in};
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call, Caller, IndexOptions, Right};
use crate::indexes::OpenIndex;
use crate::json::Members;
use crate::searching::{SearchRequest, SearchedIndex, SourceChoice};
use crate::service::Service;
use crate::tasks::Task;

/// The documents that were changed so far.
#[derive(Default)]
struct Totals {
    total: u64,
    created: u64,
    updated: u64,
    deleted: u64,
    conflicts: u64,
    batches: u64,
    failures: Vec<Value>,
    /// The status of the first failure.
    status: Option<u16>,
}

impl Totals {
    /// The figures so far.
    fn figures(&self) -> Value {
        json!({
            "total": self.total,
            "created": self.created,
            "updated": self.updated,
            "deleted": self.deleted,
            "batches": self.batches,
            "version_conflicts": self.conflicts,
            "noops": 0,
            "retries": { "bulk": 0, "search": 0 },
            "throttled_millis": 0,
            "requests_per_second": -1.0,
            "throttled_until_millis": 0,
        })
    }

    /// The answer at the end.
    fn json(&self, task: &Task) -> Value {
        let mut answer = self.figures();
        answer["took"] = json!(task.start().elapsed().as_millis() as u64);
        answer["timed_out"] = json!(false);
        answer["failures"] = json!(self.failures);
        if task.is_cancelled() {
            answer["canceled"] = json!("by user request");
        }
        answer
    }

    fn answer(&self, task: &Task) -> Answer {
        Answer {
            status: self.status.unwrap_or(200),
            ..Answer::of(&self.json(task))
        }
    }

    /// Counts the results of a batch.
    fn count(&mut self, index: &str, ids: &[&str], results: &[Outcome<Done>], goes_on: bool) {
        self.total += ids.len() as u64;
        self.batches += 1;
        for (id, result) in ids.iter().zip(results) {
            match result {
                Ok(done) if done.result == ItemResult::Created => self.created += 1,
                Ok(_) => self.updated += 1,
                Err(fault) if fault.status == 409 && goes_on => self.conflicts += 1,
                Err(fault) => {
                    self.conflicts += u64::from(fault.status == 409);
                    self.status.get_or_insert(fault.status);
                    let cause = fault.item_json();
                    self.failures.push(
                        json!({ "index": index, "id": id, "cause": cause, "status": fault.status }),
                    );
                }
            }
        }
    }
}

/// Fails at parameters that ask for what is not there.
fn check(call: &Call) -> Outcome<()> {
    check_write(call)?;
    match call.parameter("requests_per_second") {
        None | Some("-1") => Ok(()),
        Some(_) => Err(Fault::not_there("a limit of [requests_per_second]")),
    }
}

fn goes_on(written: Option<&str>) -> Outcome<bool> {
    match written {
        None | Some("abort") => Ok(false),
        Some("proceed") => Ok(true),
        Some(other) => Err(Fault::illegal(format!(
            "conflicts may only be \"proceed\" or \"abort\" but was [{other}]"
        ))),
    }
}

/// Documents that a query finds, with what is needed to change them.
struct FoundByQuery {
    request: SearchRequest,
    names: Vec<String>,
    limits: Limits,
    caller: Caller,
}

/// Carries work out, and answers with its totals; or begins a task, and answers with its name.
fn carry_out_or_begin(
    call: &Call,
    service: &Service,
    action: &'static str,
    work: impl FnOnce(&Service, &Task) -> Outcome<Totals> + Send + 'static,
) -> Outcome<Answer> {
    if call.flag("wait_for_completion")?.unwrap_or(true) {
        let task = Task::of_request();
        return Ok(work(service, &task)?.answer(&task));
    }
    let own = service.of_task()?;
    let work = move |task: &Task| {
        let totals = work(&own, task)?;
        task.report(totals.figures());
        Ok(totals.json(task))
    };
    let description = format!("{action} [{}]", call.path);
    let name = service
        .tasks
        .begin((action, description), &service.node, &call.caller, work)?;
    Ok(Answer::of(&json!({ "task": name })))
}

/// Reads the body of a request for the documents that it finds.
fn asked(call: &Call, service: &Service, must_ask: bool) -> Outcome<FoundByQuery> {
    check(call)?;
    goes_on(call.parameter("conflicts"))?;
    let body = call.json()?;
    let members = Members::of("by_query", &body)?;
    members.check(
        &["query", "conflicts"],
        &["script", "max_docs", "slice", "sort", "size"],
    )?;
    goes_on(members.text("conflicts")?)?;
    let request = SearchRequest {
        query: members.get("query").cloned(),
        ..SearchRequest::of_call(&call.without_body())?
    };
    if must_ask && request.query.is_none() && request.text.is_none() {
        let reason = "Validation Failed: 1: query is missing;";
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            reason,
        ));
    }
    let place = Where::of_call(call)?;
    let names = place.names(service)?;
    let reader = call.caller.to(Right::Read);
    names.iter().try_for_each(|name| reader.check(name))?;
    Ok(FoundByQuery {
        request,
        names,
        limits: place.limits(service),
        caller: call.caller.clone(),
    })
}

/// `POST /{index}/_delete_by_query`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    let found = asked(call, service, true)?;
    let action = "indices:data/write/delete/byquery";
    carry_out_or_begin(call, service, action, move |service, task| {
        found.delete(service, task)
    })
}

/// `POST /{index}/_update_by_query`: documents are written as they are, so that they have the
/// fields of the mapping as it is now.
pub fn update(call: &Call, service: &Service) -> Outcome<Answer> {
    let found = asked(call, service, false)?;
    let action = "indices:data/write/update/byquery";
    carry_out_or_begin(call, service, action, move |service, task| {
        found.update(service, task)
    })
}

impl FoundByQuery {
    fn delete(&self, service: &Service, task: &Task) -> Outcome<Totals> {
        let mut totals = Totals::default();
        for name in &self.names {
            if task.is_cancelled() {
                break;
            }
            let open = service.indexes.get(name, &self.caller)?;
            let _turn = open.wait_to_write()?;
            let searched = self.limits.search(Arc::clone(&open), service);
            let query = searched.query(&self.request)?;
            drop(searched);
            let before = totals.deleted;
            let goes_on = |deleted: u64| {
                let so_far = Totals {
                    total: before + deleted,
                    deleted: before + deleted,
                    ..Totals::default()
                };
                task.report(so_far.figures());
                !task.is_cancelled()
            };
            let deleted = open
                .index
                .delete_matching_while(&query, None, &goes_on)
                .map_err(|error| Fault::from(error).of_index(name))?;
            open.sync()?;
            totals.deleted += deleted.deleted;
            totals.total += deleted.deleted;
            totals.batches += u64::from(deleted.deleted > 0);
        }
        Ok(totals)
    }

    fn update(&self, service: &Service, task: &Task) -> Outcome<Totals> {
        let mut totals = Totals::default();
        for name in &self.names {
            let open = service.indexes.get(name, &self.caller)?;
            let mut reading = Reading::new(open.index.snapshot().doc_ids().end);
            while totals.failures.is_empty() && !task.is_cancelled() {
                // A turn reads what is there until it is over.
                let turn = open.wait_to_write()?;
                let searched = self.limits.search(Arc::clone(&open), service);
                let batch = reading.next(&searched, &self.request, usize::MAX)?;
                drop(searched);
                let Some(batch) = batch else {
                    break;
                };
                let (ids, sources) = parts(batch.hits());
                let actions = actions(&ids, &sources, ActionKind::Index);
                let actions: Vec<&Action<'_>> = actions.iter().collect();
                let results = carry_out_in(&open, &turn, &actions);
                totals.count(name, &ids, &results, false);
                task.report(totals.figures());
            }
            open.sync()?;
        }
        Ok(totals)
    }
}

/// The IDs and the sources of documents.
fn parts(hits: &[Hit]) -> (Vec<&str>, Vec<&[u8]>) {
    let parts = hits.iter().map(|hit| {
        let source = hit.source.as_deref().unwrap_or_default();
        (hit.id.as_str(), source)
    });
    parts.unzip()
}

fn actions<'a>(ids: &[&str], sources: &[&'a [u8]], kind: ActionKind) -> Vec<Action<'a>> {
    let all = ids.iter().zip(sources);
    let all = all.map(|(id, source)| Action {
        id: Some((*id).to_owned()),
        before: kind.precondition(),
        change: Change::Index(source),
    });
    all.collect()
}

/// A copy of documents from some indexes to another.
struct Copying {
    request: SearchRequest,
    from: Vec<String>,
    limits: Limits,
    to: String,
    kind: ActionKind,
    goes_on: bool,
    most: u64,
    caller: Caller,
}

impl Copying {
    fn parse(call: &Call, service: &Service) -> Outcome<Copying> {
        let body = call.json()?;
        let members = Members::of("reindex", &body)?;
        members.check(
            &["source", "dest", "conflicts", "max_docs"],
            &["script", "size"],
        )?;
        let missing = |name: &str| Fault::parsing(format!("[reindex] needs [{name}]"));
        let source = members.get("source").ok_or_else(|| missing("source"))?;
        let source = Members::of("source", source)?;
        let not_there = ["remote", "sort", "slice", "runtime_mappings"];
        source.check(&["index", "query", "size", "_source"], &not_there)?;
        let names = source
            .texts("index")?
            .ok_or_else(|| missing("source.index"))?;
        let options = IndexOptions::of_call(call)?;
        let reader = call.caller.to(Right::Read);
        let names = names.join(",");
        let place = Where {
            expression: &names,
            options,
            caller: &reader,
        };
        let (from, limits) = (place.names(service)?, place.limits(service));
        let dest = members.get("dest").ok_or_else(|| missing("dest"))?;
        let dest = Members::of("dest", dest)?;
        dest.check(
            &["index", "op_type", "version_type"],
            &["pipeline", "routing"],
        )?;
        match dest.text("version_type")? {
            None | Some("internal") => {}
            Some(other) => return Err(Fault::not_there(&format!("[version_type] of [{other}]"))),
        }
        let kind = match dest.text("op_type")? {
            None | Some("index") => ActionKind::Index,
            Some("create") => ActionKind::Create,
            Some(other) => {
                return Err(Fault::illegal(format!(
                    "[op_type] is index or create, not [{other}]"
                )));
            }
        };
        let to = dest.text("index")?.ok_or_else(|| missing("dest.index"))?;
        let to = service.indexes.write_target(to)?;
        call.caller.check(&to)?;
        if from.contains(&to) {
            let reason = format!(
                "Validation Failed: 1: reindex cannot write into an index its reading from [{to}];"
            );
            return Err(Fault::new(
                400,
                "action_request_validation_exception",
                reason,
            ));
        }
        let request = SearchRequest {
            query: source.get("query").cloned(),
            source: match source.get("_source") {
                None => SourceChoice::default(),
                Some(value) => SourceChoice::parse(value)?,
            },
            ..SearchRequest::parse(&json!({}))?
        };
        if request.source.is_none() {
            return Err(Fault::not_there("a copy without [_source]"));
        }
        Ok(Copying {
            request,
            from,
            limits,
            to,
            kind,
            goes_on: goes_on(members.text("conflicts")?)?,
            most: members
                .count("max_docs")?
                .map_or(u64::MAX, |count| count as u64),
            caller: call.caller.clone(),
        })
    }

    fn run(&self, service: &Service, task: &Task) -> Outcome<Totals> {
        let mut totals = Totals::default();
        let mut copied: BTreeSet<&String> = BTreeSet::new();
        let reader = self.caller.to(Right::Read);
        for name in &self.from {
            if !totals.failures.is_empty() || task.is_cancelled() || !copied.insert(name) {
                continue;
            }
            let open = service.indexes.get(name, &reader)?;
            let searched = self.limits.search(open, service).fixed();
            let to = service.indexes.get_or_make(&self.to, &self.caller)?;
            let done = self.copy(&searched, &to, task, &mut totals);
            to.sync()?;
            done.map_err(|mut fault| {
                let before = totals.total;
                fault.reason = format!("{before} documents were copied before: {}", fault.reason);
                fault
            })?;
        }
        Ok(totals)
    }

    /// Copies what is found in the state of an index.
    fn copy(
        &self,
        searched: &SearchedIndex,
        to: &OpenIndex,
        task: &Task,
        totals: &mut Totals,
    ) -> Outcome<()> {
        let mut reading = Reading::new(searched.snapshot().doc_ids().end);
        while totals.failures.is_empty() && totals.total < self.most && !task.is_cancelled() {
            let left = usize::try_from(self.most - totals.total).unwrap_or(usize::MAX);
            let Some(batch) = reading.next(searched, &self.request, left)? else {
                break;
            };
            let (ids, sources) = parts(batch.hits());
            let mut cut = Vec::new();
            if !self.request.source.takes_all() {
                for source in &sources {
                    cut.push(self.request.source.apply(source)?.unwrap_or_default());
                }
            }
            let sources: Vec<&[u8]> = match cut.as_slice() {
                [] => sources,
                cut => cut.iter().map(String::as_bytes).collect(),
            };
            let actions = actions(&ids, &sources, self.kind);
            let actions: Vec<&Action<'_>> = actions.iter().collect();
            let results = carry_out(to, &actions);
            totals.count(&to.name, &ids, &results, self.goes_on);
            task.report(totals.figures());
        }
        Ok(())
    }
}

/// `POST /_reindex`.
pub fn reindex(call: &Call, service: &Service) -> Outcome<Answer> {
    check(call)?;
    let copying = Copying::parse(call, service)?;
    let action = "indices:data/write/reindex";
    carry_out_or_begin(call, service, action, move |service, task| {
        copying.run(service, task)
    })
}
