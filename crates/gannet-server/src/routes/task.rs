//! `_tasks`: changes by query that go on behind the request that began them.

use std::time::Duration;

use crate::fault::Outcome;
use crate::http::{Answer, Call};
use crate::searching::duration;
use crate::service::Service;

/// The time that a request waits for the end of a task, unless another is given, and at most.
const WAIT: Duration = Duration::from_secs(30);

/// `GET /_tasks/{task_id}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let waits = call.flag("wait_for_completion")?.unwrap_or(false);
    let limit = call.parameter("timeout");
    let limit = limit.map(|text| duration("timeout", text)).transpose()?;
    let limit = waits.then(|| limit.unwrap_or(WAIT).min(WAIT));
    let name = call.part("task_id");
    let told = service
        .tasks
        .wait(name, limit, &service.node, &call.caller)?;
    Ok(Answer::of(&told))
}

/// `GET /_tasks`: those that run.
pub fn list(call: &Call, service: &Service) -> Outcome<Answer> {
    let told = service
        .tasks
        .list(None, false, &service.node, &call.caller)?;
    Ok(Answer::of(&told))
}

/// `POST /_tasks/{task_id}/_cancel`, and of all that run.
pub fn cancel(call: &Call, service: &Service) -> Outcome<Answer> {
    let name = Some(call.part("task_id")).filter(|name| !name.is_empty());
    let told = service
        .tasks
        .list(name, true, &service.node, &call.caller)?;
    Ok(Answer::of(&told))
}
