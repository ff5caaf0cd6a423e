//! `gannet stats`: what an index holds, and where its bytes are.

use gannet::Backend;
use gannet::diagnostics::{
    AnswersOnFlash, BytesByPart, CacheState, Stats, TierFigures, TreeFigures,
};
use serde_json::{Value, json};

use crate::arguments::{Common, ResultCacheArguments, StatsArguments};
use crate::failure::Outcome;
use crate::opening::{open_with, reading};
use crate::output::Output;
use crate::search::{answers_on_flash, asked, kept_on_flash, requests};
use crate::size::{counted, grouped, human};

/// Prints the figures.
pub fn run(common: &Common, arguments: &StatsArguments, output: &mut Output) -> Outcome<()> {
    let options = reading(common, &ResultCacheArguments::default());
    let options = arguments.log.log_time.of_log(options);
    let index = open_with(options, &arguments.index, common, &arguments.cache)?;
    let stats = index.stats()?;
    if output.is_json() {
        let mut object = object(&stats, index.backend());
        object["cache"] = cache(index.cache());
        object["answers_on_flash"] = answers_on_flash(index.answers_on_flash().as_ref());
        object["remote"] = json!(index.requests().map(requests));
        output.json(&object)
    } else {
        print(&stats, index.backend(), output)?;
        if let Some(counts) = index.requests() {
            let line = format!("remote, for this command: {}", asked(counts));
            output.line(output.dim(&line))?;
        }
        match index.cache() {
            Some(CacheState::Used(figures)) => print_cache(&figures, output)?,
            Some(CacheState::OnOneDisk) => output.line(ON_ONE_DISK)?,
            Some(CacheState::Past(_)) | None => {}
        }
        match index.answers_on_flash() {
            Some(AnswersOnFlash::Used(figures)) => {
                let line = output.dim(&kept_on_flash(&figures));
                output.line(line)
            }
            _ => Ok(()),
        }
    }
}

/// Why no pages are kept.
pub const ON_ONE_DISK: &str = "no pages are kept in the cache: it is on the disk that the index is on, so they would save \
                               nothing; --cache-size keeps them all the same";

/// The figures of the flash tier; null where there is none.
pub fn cache(state: Option<CacheState>) -> Value {
    match state {
        None => Value::Null,
        Some(CacheState::Past(reason)) => json!({"past": reason}),
        Some(CacheState::OnOneDisk) => json!({"past": ON_ONE_DISK}),
        Some(CacheState::Used(figures)) => json!({
            "capacity_bytes": figures.capacity_bytes,
            "pages": figures.pages,
            "memory_bytes": figures.memory_bytes,
            "read_pages": figures.read_pages,
            "written_pages": figures.written_pages,
            "unproven_pages": figures.unproven_pages,
            "passed_over_pages": figures.passed_over_pages,
            "foreign_regions": figures.foreign_regions,
            "stopped": figures.stopped,
        }),
    }
}

fn print_cache(figures: &TierFigures, output: &mut Output) -> Outcome<()> {
    let line = output.dim(&format!(
        "cache: {} of {}, {} of memory for its map",
        counted(figures.pages, "page"),
        human(figures.capacity_bytes),
        human(figures.memory_bytes),
    ));
    output.line(line)?;
    match &figures.stopped {
        Some(reason) => output.line(format!("nothing is written to the cache: {reason}")),
        None => Ok(()),
    }
}

fn object(stats: &Stats, backend: Backend) -> Value {
    let (bytes, memory, written) = (&stats.bytes, &stats.memory, &stats.lifetime.written);
    json!({
        "documents": stats.documents,
        "dead_documents": stats.dead_documents,
        "doc_ids": stats.doc_ids,
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
        "bytes_written_in_life": written.total(),
        "bytes_written_in_life_for": {
            "log": written.log,
            "moved_documents": written.moved_documents,
            "dictionary": written.nodes,
            "postings": written.postings,
            "tables": written.tables,
            "roots": written.roots,
        },
        "source_bytes": stats.lifetime.source_bytes,
        "host_write_amplification": stats.lifetime.host_write_amplification(),
        "longest_stall_us": stats.lifetime.longest_stall.as_micros() as u64,
        "device_free": stats.device_free,
        "memory": {
            "budget": memory.budget,
            "used": memory.used,
            "peak": memory.peak,
            "frames": memory.frames,
            "posting_buffer": memory.posting_buffer,
            "tables": memory.tables,
        },
        "trees": {
            "frequent_lists": tree(&stats.frequent_lists),
            "long_lists": tree(&stats.long_lists),
            "short_lists": tree(&stats.short_lists),
            "delta_postings": stats.delta_postings.iter().map(tree).collect::<Vec<_>>(),
            "ids": tree(&stats.ids),
            "columns": tree(&stats.columns),
        },
        "id_runs": stats.id_runs,
        "backend": backend.to_string(),
    })
}

/// The figures of a tree.
pub fn tree(figures: &TreeFigures) -> Value {
    json!({
        "height": figures.height,
        "nodes": figures.nodes,
        "leaves": figures.leaves,
        "entries": figures.entries,
    })
}

fn print(stats: &Stats, backend: Backend, output: &mut Output) -> Outcome<()> {
    output.line(format!(
        "{:<12}{:>14}",
        "documents",
        grouped(stats.documents)
    ))?;
    if stats.dead_documents > 0 {
        let dead = grouped(stats.dead_documents);
        output.line(format!("{:<12}{dead:>14}", "dead"))?;
    }
    output.line(format!("{:<12}{:>14}", "terms", grouped(stats.terms)))?;
    if stats.terms_in_memory > 0 {
        let waiting = grouped(stats.terms_in_memory);
        output.line(format!("{:<12}{waiting:>14}", "in the log"))?;
    }
    for (part, bytes) in rows(&stats.bytes) {
        output.line(format!("{part:<12}{:>14}", human(bytes)))?;
    }
    if let Some(amplification) = stats.lifetime.host_write_amplification() {
        let written = stats.lifetime.written.total();
        let source = human(stats.lifetime.source_bytes);
        let stall = stats.lifetime.longest_stall.as_secs_f64() * 1e3;
        let line = format!(
            "written in its life: {}, {amplification:.2} times the {source} of sources; longest wait of a write {stall:.0} ms",
            human(written)
        );
        output.line(output.dim(&line))?;
    }
    if let Some(warning) = doc_ids_warning(stats.doc_ids) {
        output.line(warning)?;
    }
    let memory = &stats.memory;
    let line = output.dim(&format!(
        "memory: {} of {}, frames {}; {backend}",
        human(memory.used),
        human(memory.budget),
        human(memory.frames),
    ));
    output.line(line)
}

/// Returns a warning if doc IDs may run out: from 80 % in use on.
pub fn doc_ids_warning(used: u32) -> Option<String> {
    let percent = used as u64 * 100 / u32::MAX as u64;
    (percent >= 80).then(|| {
        format!(
            "warning: {percent} % of all document numbers are used, deleted documents included: index the documents anew before they run out"
        )
    })
}

fn rows(bytes: &BytesByPart) -> [(&'static str, u64); 7] {
    [
        ("dictionary", bytes.nodes),
        ("postings", bytes.postings),
        ("sources", bytes.documents),
        ("tables", bytes.tables),
        ("roots", bytes.roots),
        ("free", bytes.dead),
        ("on flash", bytes.allocated),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_comes_at_four_fifths_of_the_doc_ids() {
        assert_eq!(doc_ids_warning(3_000_000_000), None);
        let warning = doc_ids_warning(3_500_000_000).unwrap();
        assert!(warning.contains("81 %"), "{warning}");
    }
}
