//! `gannet stats`: what an index holds, and where its bytes are.

use gannet::{Backend, Stats};
use serde_json::{Map, Value, json};

use crate::arguments::{Common, IndexPath};
use crate::failure::Outcome;
use crate::output::Output;
use crate::search::open_to_read;
use crate::size::{grouped, human};

/// The parts of an index, in the order of the report.
const PARTS: [&str; 6] = [
    "dictionary",
    "postings",
    "documents",
    "log",
    "tables",
    "roots",
];

/// Bytes of a page on the device.
const PAGE_BYTES: u64 = 4_096;

/// Prints the figures.
pub fn run(common: &Common, arguments: &IndexPath, output: &mut Output) -> Outcome<()> {
    let index = open_to_read(&arguments.index, common)?;
    let stats = index.stats();
    match output.is_json() {
        true => output.json(&object(&stats, index.backend())),
        false => print(&stats, index.backend(), output),
    }
}

fn object(stats: &Stats, backend: Backend) -> Value {
    let parts = by_part(stats).map(|(part, bytes)| (part.to_owned(), json!(bytes)));
    let mut bytes: Map<String, Value> = parts.collect();
    bytes.insert("free".to_owned(), json!(free(stats)));
    let memory = &stats.memory;
    json!({
        "documents": stats.documents,
        "deleted": stats.deleted,
        "terms": stats.terms,
        "bytes": bytes,
        "memory": {
            "budget": memory.budget,
            "used": memory.used,
            "peak": memory.peak,
            "buffer": memory.buffer,
            "dictionary": memory.dictionary,
            "tables": memory.tables,
        },
        "zones": stats.zones.len(),
        "backend": backend.to_string(),
    })
}

fn print(stats: &Stats, backend: Backend, output: &mut Output) -> Outcome<()> {
    output.line(format!("documents   {:>14}", grouped(stats.documents)))?;
    output.line(format!("deleted     {:>14}", grouped(stats.deleted)))?;
    output.line(format!("terms       {:>14}", grouped(stats.terms)))?;
    for (part, bytes) in by_part(stats) {
        output.line(format!("{part:<12}{:>14}", human(bytes)))?;
    }
    output.line(format!("free        {:>14}", human(free(stats))))?;
    let memory = &stats.memory;
    let line = output.dim(&format!(
        "{} zones; memory {} of {}; {backend}",
        stats.zones.len(),
        human(memory.used as u64),
        human(memory.budget as u64),
    ));
    output.line(line)
}

/// Bytes of each part that are still needed.
fn by_part(stats: &Stats) -> impl Iterator<Item = (&'static str, u64)> {
    PARTS.into_iter().map(|part| {
        let zones = stats.zones.iter().filter(|zone| zone.part == part);
        (part, zones.map(|zone| zone.live_bytes).sum())
    })
}

/// Bytes on the device that nothing needs any more, checksums and the ends of pages included.
fn free(stats: &Stats) -> u64 {
    let zones = stats.zones.iter();
    let free =
        zones.map(|zone| (u64::from(zone.pages) * PAGE_BYTES).saturating_sub(zone.live_bytes));
    free.sum()
}
