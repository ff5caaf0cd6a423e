//! Reports the result of `gannet index` or `gannet update`.

use std::path::Path;

use gannet::Backend;
use gannet::diagnostics::{CountersSnapshot, Stats};
use gannet_input::{Done, Write};
use serde_json::{Value, json};

use super::settings::Settings;
use crate::arguments::Common;
use crate::failure::Outcome;
use crate::output::{Output, harmless};
use crate::size::{counted, grouped, human};
use crate::stats::doc_ids_warning;
use crate::{allocator, process};

/// The result of a run, and its settings.
pub struct Report<'a> {
    pub common: &'a Common,
    pub settings: &'a Settings<'a>,
    pub done: &'a Done,
    /// Some of what was rejected.
    pub rejections: &'a [Value],
    /// Why the run ended before the end of its sources.
    pub error: Option<&'a str>,
    /// Set if all documents that were taken are durable.
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
    if output.is_json() {
        output.json(&report.json())
    } else {
        report.print(output)
    }
}

impl Report<'_> {
    fn json(&self) -> Value {
        json!({
            "documents": self.done.documents,
            "replaced": self.done.replaced,
            "updated": self.done.updated,
            "deleted": self.done.deleted,
            "made_ids": self.done.ids_made,
            "rejected": self.done.rejected,
            "rejections": self.rejections,
            "notes": self.all_notes(),
            "error": self.error,
            "durable": self.durable,
            "source_bytes": self.done.source_bytes,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "flushes": self.stats.map(|stats| stats.flushes),
            "longest_write_ms": self.done.longest_write.as_secs_f64() * 1e3,
            "bytes_written": self.counters.written_bytes,
            "bytes_written_for": self.bytes_written(),
            "index_bytes": allocated_bytes(&self.settings.index),
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
            "commit_every": self.settings.arguments.commit_every,
            "durability": format!("{:?}", self.settings.arguments.durability).to_lowercase(),
            "analyzer": self.settings.analyzers,
            "phrase_filters": self.settings.phrase_filters.map(|filters| filters.name()),
            "strict": self.settings.arguments.strict,
        })
    }

    fn print(&self, output: &mut Output) -> Outcome<()> {
        let done = self.done;
        let rate = |count: u64| (count as f64 / self.seconds.max(1e-9)) as u64;
        let notes = self.notes();
        // One note about the only file is part of the first line.
        let (behind, below) = match notes.as_slice() {
            [note] if self.settings.sources.len() == 1 => (format!("; {note}"), &[][..]),
            notes => (String::new(), notes),
        };
        output.line(format!(
            "{} ({}) in {:.1} s: {} documents/s, {}/s{behind}",
            counted(done.documents, "document"),
            human(done.source_bytes),
            self.seconds,
            grouped(rate(done.documents)),
            human(rate(done.source_bytes)),
        ))?;
        for note in below {
            output.line(format!("note: {note}"))?;
        }
        self.counts()
            .iter()
            .try_for_each(|line| output.line(line))?;
        if let Some(warning) = self.stats.and_then(|stats| doc_ids_warning(stats.doc_ids)) {
            output.line(warning)?;
        }
        let line = output.dim(&format!(
            "index {}; {} written; at most {} of memory; {}",
            human(allocated_bytes(&self.settings.index)),
            human(self.counters.written_bytes),
            human(process::peak_memory()),
            self.backend,
        ));
        output.line(line)
    }

    /// The notes of the summary and those that people get on standard error.
    fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes();
        notes.extend_from_slice(&self.done.text_notes);
        notes
    }

    /// Returns notes on the way the documents were read.
    fn notes(&self) -> Vec<String> {
        let done = self.done;
        let mut notes: Vec<String> = done.notes.iter().map(|note| harmless(note)).collect();
        if done.ids_made > 0 && self.settings.write == Write::Whole {
            notes.push(format!(
                "{} brought no ID, so that one was made: the same again is added again; --id FIELD says which field has \
                 the IDs",
                counted(done.ids_made, "document")
            ));
        }
        notes
    }

    /// Returns the counts of documents that were not simply added.
    fn counts(&self) -> Vec<String> {
        let done = self.done;
        let all = [
            (done.replaced, "replaced an earlier one with the same ID"),
            (done.updated, "updated: the other fields stay as they were"),
            (done.deleted, "deleted"),
            (done.absent, "to be deleted but not in the index"),
            (done.rejected, "rejected"),
        ];
        let some = all.iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| format!("{} {what}", counted(*count, "document")))
            .collect()
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
