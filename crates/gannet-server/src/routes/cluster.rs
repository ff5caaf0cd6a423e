//! Routes that clients ask before anything else: who the server is, how it is.

use serde_json::{Map, Value, json};

use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::service::Service;

/// The name of the cluster of one node.
pub const CLUSTER: &str = "gannet";

const NODE: &str = "gannet-1";

/// `GET /`.
pub fn about(_: &Call, service: &Service) -> Outcome<Answer> {
    let settings = &service.settings;
    Ok(Answer::of(&json!({
        "name": NODE,
        "cluster_name": CLUSTER,
        "cluster_uuid": service.indexes.uuid,
        "version": {
            "number": settings.es_version,
            "build_flavor": "default",
            "build_type": "tar",
            "build_hash": "unknown",
            "build_date": "2026-01-01T00:00:00.000Z",
            "build_snapshot": false,
            "lucene_version": "9.12.2",
            "minimum_wire_compatibility_version": "7.17.0",
            "minimum_index_compatibility_version": "7.0.0",
        },
        "tagline": format!(
            "Gannet {}, full-text search on flash: it takes requests of Elasticsearch",
            env!("CARGO_PKG_VERSION")
        ),
    })))
}

/// `GET /health/live`.
pub fn live(_: &Call, _: &Service) -> Outcome<Answer> {
    Ok(Answer::of(&json!({ "status": "live" })))
}

/// `GET /health/ready`.
pub fn ready(_: &Call, service: &Service) -> Outcome<Answer> {
    let indexes = service.indexes.names()?.len();
    if service.is_ending() {
        return Err(Fault::new(503, "node_closed_exception", "the server ends"));
    }
    Ok(Answer::of(&json!({
        "status": "ready",
        "indexes": indexes,
        "open": service.indexes.open_count(),
    })))
}

/// `GET /_cluster/health`.
pub fn health(call: &Call, service: &Service) -> Outcome<Answer> {
    let shards = match call.part("index") {
        "" => service.indexes.names()?.len(),
        _ => Where::of_call(call)?.names(service)?.len(),
    };
    Ok(Answer::of(&json!({
        "cluster_name": CLUSTER,
        "status": "green",
        "timed_out": false,
        "number_of_nodes": 1,
        "number_of_data_nodes": 1,
        "active_primary_shards": shards,
        "active_shards": shards,
        "relocating_shards": 0,
        "initializing_shards": 0,
        "unassigned_shards": 0,
        "unassigned_primary_shards": 0,
        "delayed_unassigned_shards": 0,
        "number_of_pending_tasks": 0,
        "number_of_in_flight_fetch": 0,
        "task_max_waiting_in_queue_millis": 0,
        "active_shards_percent_as_number": 100.0,
    })))
}

/// `GET /_license`.
pub fn license(_: &Call, service: &Service) -> Outcome<Answer> {
    Ok(Answer::of(&json!({ "license": {
        "status": "active",
        "uid": service.indexes.uuid,
        "type": "basic",
        "issue_date": "2026-01-01T00:00:00.000Z",
        "issue_date_in_millis": 1_767_225_600_000_u64,
        "max_nodes": 1,
        "issued_to": "Gannet, Apache License 2.0",
        "issuer": "Gannet",
        "start_date_in_millis": -1,
    }})))
}

/// `GET /_xpack`.
pub fn xpack(_: &Call, service: &Service) -> Outcome<Answer> {
    let absent = json!({ "available": false, "enabled": false });
    Ok(Answer::of(&json!({
        "build": { "hash": "unknown", "date": "2026-01-01T00:00:00.000Z" },
        "license": {
            "uid": service.indexes.uuid,
            "type": "basic",
            "mode": "basic",
            "status": "active",
        },
        "features": {
            "ilm": absent, "ml": absent, "monitoring": absent, "security": absent,
            "transform": absent, "watcher": absent,
        },
        "tagline": "Gannet",
    })))
}

/// `GET /_nodes`.
pub fn nodes(_: &Call, service: &Service) -> Outcome<Answer> {
    let mut node = node_json(service);
    node["http"] = json!({
        "bound_address": [service.address],
        "publish_address": service.address,
        "max_content_length_in_bytes": service.settings.body_most(),
    });
    let nodes = Map::from_iter([(service.node.clone(), node)]);
    Ok(Answer::of(&json!({
        "_nodes": { "total": 1, "successful": 1, "failed": 0 },
        "cluster_name": CLUSTER,
        "nodes": nodes,
    })))
}

/// The members by which answers describe the node.
pub fn node_json(service: &Service) -> Value {
    let address = &service.address;
    let host = address
        .rsplit_once(':')
        .map_or(address.as_str(), |(host, _)| host);
    json!({
        "name": NODE,
        "transport_address": address,
        "host": host,
        "ip": host,
        "version": service.settings.es_version,
        "build_flavor": "default",
        "build_type": "tar",
        "build_hash": "unknown",
        "roles": ["data", "ingest", "master"],
        "attributes": {},
        // Those of version 8.19; a client of Java needs that there are any.
        "transport_version": 8_841_069,
        "index_version": 8_536_000,
        "component_versions": {},
    })
}
