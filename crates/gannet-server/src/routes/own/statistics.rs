//! `/v1/indexes/{index}/stats`: where the bytes of an index are, and what it has written.

use gannet::diagnostics::Stats;
use serde_json::{Value, json};

use crate::fault::Outcome;
use crate::http::{Answer, Call};
use crate::service::Service;

/// `GET /v1/indexes/{index}/stats`.
pub fn statistics(call: &Call, service: &Service) -> Outcome<Answer> {
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    let mut told = told(&open.index.stats()?);
    told["index"] = json!(open.name);
    told["backend"] = json!(open.index.backend().to_string());
    Ok(Answer::of(&told))
}

fn told(stats: &Stats) -> Value {
    let (bytes, memory, life) = (&stats.bytes, &stats.memory, &stats.lifetime);
    let written = &life.written;
    json!({
        "documents": stats.documents,
        "deleted_documents": stats.dead_documents,
        "terms": stats.terms,
        "terms_in_memory": stats.terms_in_memory,
        "bytes": {
            "dictionary": bytes.nodes,
            "postings": bytes.postings,
            "documents": bytes.documents,
            "tables": bytes.tables,
            "roots": bytes.roots,
            "free": bytes.dead,
            "allocated": bytes.allocated,
        },
        "memory": {
            "budget": memory.budget,
            "used": memory.used,
            "peak": memory.peak,
            "frames": memory.frames,
            "posting_buffer": memory.posting_buffer,
            "tables": memory.tables,
        },
        "lifetime": {
            "source_bytes": life.source_bytes,
            "written_bytes": written.total(),
            "written_bytes_for": {
                "log": written.log,
                "moved_documents": written.moved_documents,
                "dictionary": written.nodes,
                "postings": written.postings,
                "tables": written.tables,
                "roots": written.roots,
            },
            "host_write_amplification": life.host_write_amplification(),
            "longest_stall_us": life.longest_stall.as_micros() as u64,
        },
        "io": {
            "reads": stats.io.reads,
            "read_batches": stats.io.read_batches,
            "read_bytes": stats.io.read_bytes,
            "writes": stats.io.writes,
            "written_bytes": stats.io.written_bytes,
            "syncs": stats.io.syncs,
        },
        "flushes": stats.flushes,
        "device_free_bytes": stats.device_free,
    })
}
