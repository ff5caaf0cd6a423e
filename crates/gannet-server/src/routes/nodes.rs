//! Figures of the node, which is the only one, as clients ask for those of a cluster.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::cluster::{CLUSTER, node_json};
use super::statistics::figures;
use crate::fault::Outcome;
use crate::http::{Answer, Call};
use crate::service::Service;

/// `GET /_nodes/stats`.
pub fn stats(call: &Call, service: &Service) -> Outcome<Answer> {
    let (_, sums) = sums(call, service)?;
    let mut node = node_json(service);
    node["timestamp"] = json!(now());
    node["indices"] = figures(sums);
    node["http"] = json!({
        "current_open": service.metrics.connections.load(Ordering::Relaxed),
    });
    let nodes = Map::from_iter([(service.node.clone(), node)]);
    Ok(Answer::of(&json!({
        "_nodes": { "total": 1, "successful": 1, "failed": 0 },
        "cluster_name": CLUSTER,
        "nodes": nodes,
    })))
}

/// `GET /_cluster/stats`.
pub fn cluster_stats(call: &Call, service: &Service) -> Outcome<Answer> {
    let (indexes, sums) = sums(call, service)?;
    let mut indices = figures(sums);
    indices["count"] = json!(indexes);
    indices["shards"] = json!({ "total": indexes, "primaries": indexes, "replication": 0.0 });
    Ok(Answer::of(&json!({
        "_nodes": { "total": 1, "successful": 1, "failed": 0 },
        "cluster_name": CLUSTER,
        "cluster_uuid": service.indexes.uuid,
        "timestamp": now(),
        "status": "green",
        "indices": indices,
        "nodes": {
            "count": { "total": 1, "data": 1, "ingest": 0, "master": 1 },
            "versions": [service.settings.es_version],
        },
    })))
}

/// `GET /_cluster/settings`.
pub fn cluster_settings(_: &Call, _: &Service) -> Outcome<Answer> {
    Ok(Answer::of(&json!({ "persistent": {}, "transient": {} })))
}

/// The number of indexes that a caller may see, and the sums of their documents, of those that are
/// deleted, and of their bytes. One that cannot be opened adds nothing.
fn sums(call: &Call, service: &Service) -> Outcome<(usize, [u64; 3])> {
    let mut sums = [0; 3];
    let mut indexes = 0;
    for name in service.indexes.names()? {
        if !call.caller.may(&name) {
            continue;
        }
        indexes += 1;
        let stats = service
            .indexes
            .look(&name, &call.caller, |open| Ok(open.index.stats()?));
        let stats = match stats {
            Ok(stats) => stats,
            Err(fault) if fault.status >= 500 || fault.status == 404 => continue,
            Err(fault) => return Err(fault),
        };
        let own = [stats.documents, stats.dead_documents, stats.bytes.allocated];
        for (sum, own) in sums.iter_mut().zip(own) {
            *sum += own;
        }
    }
    Ok((indexes, sums))
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as u64)
}

/// The row of the node in `_cat/nodes`.
pub fn row(service: &Service) -> Vec<(&'static str, String)> {
    let node: Value = node_json(service);
    let text = |name: &str| node[name].as_str().unwrap_or_default().to_owned();
    vec![
        ("ip", text("ip")),
        ("node.role", "dm".to_owned()),
        ("master", "*".to_owned()),
        ("name", text("name")),
        ("version", service.settings.es_version.clone()),
        ("http_address", service.address.clone()),
    ]
}
