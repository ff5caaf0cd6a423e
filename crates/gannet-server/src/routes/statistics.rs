//! Figures of indexes, as far as the engine has what Elasticsearch means by them.

use serde_json::{Map, Value, json};

use super::place::Where;
use crate::fault::Outcome;
use crate::http::{Answer, Call};
use crate::service::Service;

/// `GET /{index}/_stats`.
pub fn stats(call: &Call, service: &Service) -> Outcome<Answer> {
    let names = Where::of_call(call)?.names(service)?;
    let mut indices = Map::new();
    let mut sums = [0u64; 3];
    let mut failures: Vec<Value> = Vec::new();
    for name in &names {
        let looked = service.indexes.look(name, &call.caller, |open| {
            Ok((open.index.stats()?, open.metadata().uuid.clone()))
        });
        let (stats, uuid) = match looked {
            Ok(found) => found,
            Err(fault) if fault.status >= 500 => {
                let (status, cause) = (fault.status, fault.cause_json());
                let failure =
                    json!({ "shard": 0, "index": name, "status": status, "reason": cause });
                failures.push(failure);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        let own = [stats.documents, stats.dead_documents, stats.bytes.allocated];
        for (sum, own) in sums.iter_mut().zip(own) {
            *sum += own;
        }
        let figures = figures(own);
        let told = json!({
            "uuid": uuid,
            "health": "green",
            "status": "open",
            "primaries": figures,
            "total": figures,
        });
        indices.insert(name.clone(), told);
    }
    let count = names.len();
    let all = figures(sums);
    let failed = failures.len();
    let mut shards = json!({ "total": count, "successful": count - failed, "failed": failed });
    if failed > 0 {
        shards["failures"] = json!(failures);
    }
    Ok(Answer::of(&json!({
        "_shards": shards,
        "_all": { "primaries": all, "total": all },
        "indices": indices,
    })))
}

/// Documents, those that are deleted, and bytes, as answers have them.
pub fn figures([documents, deleted, bytes]: [u64; 3]) -> Value {
    json!({
        "docs": { "count": documents, "deleted": deleted, "total_size_in_bytes": bytes },
        "shard_stats": { "total_count": 1 },
        "store": {
            "size_in_bytes": bytes,
            "total_data_set_size_in_bytes": bytes,
            "reserved_in_bytes": 0,
        },
    })
}
