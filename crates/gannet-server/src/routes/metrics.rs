//! `/metrics`: figures of the server and of the indexes that are open.

use crate::fault::Outcome;
use crate::http::{Answer, Call, Right};
use crate::metrics::MetricsText;
use crate::service::Service;

/// The media type that Prometheus expects.
const MEDIA: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A figure of an index: its name, what it is, and its value.
type IndexFigure = (
    &'static str,
    &'static str,
    fn(&gannet::diagnostics::Stats) -> u64,
);

const OF_INDEXES: [IndexFigure; 6] = [
    (
        "gannet_index_documents",
        "Documents that can be found.",
        |stats| stats.documents,
    ),
    (
        "gannet_index_deleted_documents",
        "Deleted documents that a vacuum takes out.",
        |stats| stats.dead_documents,
    ),
    ("gannet_index_bytes", "Bytes on flash.", |stats| {
        stats.bytes.allocated
    }),
    (
        "gannet_index_memory_budget_bytes",
        "The memory budget of an open index.",
        |stats| stats.memory.budget,
    ),
    (
        "gannet_index_memory_used_bytes",
        "Memory of it that is reserved.",
        |stats| stats.memory.used,
    ),
    (
        "gannet_index_flushes",
        "Flushes since it was opened.",
        |stats| stats.flushes,
    ),
];

/// `GET /metrics`.
pub fn metrics(call: &Call, service: &Service) -> Outcome<Answer> {
    let mut text = MetricsText::default();
    service.metrics.write(&mut text);
    let contexts = service.contexts.figures();
    let all = service.indexes.names()?.len();
    for (name, help, value) in [
        ("gannet_indexes", "Indexes in the folder.", all),
        (
            "gannet_indexes_open",
            "Indexes that are open.",
            service.indexes.open_count(),
        ),
        (
            "gannet_contexts",
            "Scrolls and points in time.",
            contexts.count,
        ),
        (
            "gannet_contexts_indexes",
            "Indexes that they keep open.",
            contexts.indexes,
        ),
        (
            "gannet_memory_budget_bytes",
            "The memory of all indexes and bodies.",
            service.settings.memory,
        ),
        (
            "gannet_memory_resident_bytes",
            "Memory of the process; 0 where it cannot be told.",
            resident(),
        ),
    ] {
        text.gauge(name, help, value as f64);
    }
    // The names of indexes are for those who may read them.
    let reader = call.caller.to(Right::Read);
    let mut open = service.indexes.open_now();
    open.retain(|open| reader.may(&open.name));
    let mut figures = Vec::new();
    for open in &open {
        figures.push((open.name.as_str(), open.index.stats()?));
    }
    for (name, help, of) in OF_INDEXES {
        text.begin(name, "gauge", help);
        for (index, stats) in &figures {
            text.value(name, &[("index", index)], of(stats) as f64);
        }
    }
    Ok(Answer::of_media(MEDIA, &text.end()))
}

/// Bytes of memory that the process has, as Linux tells.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.unwrap_or(0).saturating_mul(1 << 10)
}
