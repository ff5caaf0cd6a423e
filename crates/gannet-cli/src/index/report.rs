//! What a run of `gannet index` came to.

use std::path::Path;

use gannet::Backend;
use gannet::diagnostics::{CountersSnapshot, Stats};
use gannet_input::Done;
use serde_json::{Value, json};

use super::settings::Settings;
use crate::arguments::{Common, IndexArguments};
use crate::failure::Outcome;
use crate::output::Output;
use crate::size::{counted, grouped, human};
use crate::stats::doc_ids_warning;
use crate::{allocator, process};

/// What was done, and with what.
pub struct Report<'a> {
    pub common: &'a Common,
    pub arguments: &'a IndexArguments,
    pub settings: &'a Settings,
    pub done: &'a Done,
    /// Why the run ended before the end of its sources.
    pub error: Option<&'a str>,
    /// Whether all documents that were taken are durable.
    pub durable: bool,
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// Nothing where the index cannot tell any more.
    pub stats: Option<&'a Stats>,
    pub counters: &'a CountersSnapshot,
    pub backend: Backend,
}

/// Prints the summary.
pub fn report(report: &Report<'_>, output: &mut Output) -> Outcome<()> {
    match output.is_json() {
        true => output.json(&report.json()),
        false => report.print(output),
    }
}

impl Report<'_> {
    fn json(&self) -> Value {
        json!({
            "documents": self.done.documents,
            "replaced": self.done.replaced,
            "rejected": self.done.rejected,
            "error": self.error,
            "notes": self.done.notes,
            "durable": self.durable,
            "source_bytes": self.done.source_bytes,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "flushes": self.stats.map(|stats| stats.flushes),
            "longest_write_ms": self.done.longest_write.as_secs_f64() * 1e3,
            "bytes_written": self.counters.written_bytes,
            "bytes_written_for": self.bytes_written(),
            "index_bytes": allocated_bytes(&self.arguments.index),
            "host_write_amplification": self.write_amplification(),
            "peak_memory_bytes": process::peak_memory(),
            "peak_heap_bytes": allocator::peak(),
            "backend": self.backend.to_string(),
            "settings": self.settings(),
        })
    }

    fn bytes_written(&self) -> Value {
        let written = self.stats.map(|stats| &stats.written);
        // What the device has written beside the causes that the engine counts.
        let slots =
            written.map(|written| self.counters.written_bytes.saturating_sub(written.total()));
        json!({
            "log": written.map(|written| written.log),
            "moved_documents": written.map(|written| written.moved_documents),
            "dictionary": written.map(|written| written.nodes),
            "postings": written.map(|written| written.postings),
            "tables": written.map(|written| written.tables),
            "roots": written.map(|written| written.roots),
            "root_slots": slots,
        })
    }

    fn settings(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "memory_bytes": self.common.memory().bytes(),
            "threads": self.settings.threads,
            "commit_every": self.settings.commit_every,
            "durability": format!("{:?}", self.arguments.durability).to_lowercase(),
            "analyzer": self.arguments.analyzer,
            "phrase_filters": self.arguments.phrase_filters.name(),
            "strict": self.settings.strict,
        })
    }

    fn print(&self, output: &mut Output) -> Outcome<()> {
        let done = self.done;
        let rate = |count: u64| (count as f64 / self.seconds.max(1e-9)) as u64;
        output.line(format!(
            "{} ({}) in {:.1} s: {} documents/s, {}/s",
            counted(done.documents, "document"),
            human(done.source_bytes),
            self.seconds,
            grouped(rate(done.documents)),
            human(rate(done.source_bytes)),
        ))?;
        if done.replaced > 0 {
            output.line(format!(
                "{} replaced an earlier one with the same ID",
                counted(done.replaced, "document")
            ))?;
        }
        if done.rejected > 0 {
            output.line(format!("{} rejected", counted(done.rejected, "document")))?;
        }
        for note in &self.done.notes {
            output.line(format!("note: {note}"))?;
        }
        if let Some(warning) = self.stats.and_then(|stats| doc_ids_warning(stats.doc_ids)) {
            output.line(warning)?;
        }
        let line = output.dim(&format!(
            "index {}; {} written; at most {} of memory; {}",
            human(allocated_bytes(&self.arguments.index)),
            human(self.counters.written_bytes),
            human(process::peak_memory()),
            self.backend,
        ));
        output.line(line)
    }

    /// Bytes given to the device for each byte of the documents; nothing without documents.
    fn write_amplification(&self) -> Option<f64> {
        let source = self.done.source_bytes;
        (source > 0).then(|| self.counters.written_bytes as f64 / source as f64)
    }
}

/// Bytes that the file system has allocated for the files of a folder.
fn allocated_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let files = entries.flatten().filter_map(|entry| entry.metadata().ok());
    files
        .filter(|metadata| metadata.is_file())
        .map(|metadata| allocated(&metadata))
        .sum()
}

#[cfg(unix)]
fn allocated(metadata: &std::fs::Metadata) -> u64 {
    /// Bytes of the blocks that the system counts in, whatever the file system's own are.
    const BLOCK_BYTES: u64 = 512;
    std::os::unix::fs::MetadataExt::blocks(metadata) * BLOCK_BYTES
}

#[cfg(not(unix))]
fn allocated(metadata: &std::fs::Metadata) -> u64 {
    metadata.len()
}
