//! An index that was built by many flushes, as one is that has grown over time.
//!
//! `gannet index` flushes when its memory is full, so the number of flushes depends on the memory.
//! Here a commit follows every N documents. It is a checkpoint, which is what the other engines'
//! commit does to their files, or only a sync, which is what it promises.

use std::time::{Duration, Instant};

use gannet::{Index, PreparedBatch};
use serde_json::json;

use crate::prepared::prepare_all;
use crate::process::thread_cpu_time;
use crate::{IndexArguments, Left, Outcome};

/// Builds the index and prints figures as `gannet index --json` does.
pub fn run(arguments: &IndexArguments) -> Outcome {
    let folder = &arguments.index;
    if folder.exists() {
        return Err(format!("{} is there already: remove it first", folder.display()).into());
    }
    let start = Instant::now();
    let options = Index::options().memory(arguments.memory);
    let options = options.phrase_filters(arguments.phrase_filters);
    let index = options.open(folder)?;
    let mut writing = Writing {
        index: &index,
        arguments,
        commits: 0,
        most_files: 0,
        longest_write: Duration::ZERO,
        serial: Duration::ZERO,
        longest_commit: Duration::ZERO,
    };
    prepare_all(&index, arguments, |batch, ends_commit| {
        if let Some(batch) = batch {
            writing.write(batch)?;
        }
        if ends_commit {
            writing.commit()
        } else {
            Ok(())
        }
    })?;
    index.checkpoint()?;
    // The other engines end their merges too.
    let leaving = Instant::now();
    match arguments.left {
        Left::Written => {}
        Left::Kept => while index.maintain()? {},
        Left::Cleaned => while index.clean()? {},
    }
    let seconds_of_maintenance = leaving.elapsed().as_secs_f64();
    let stats = index.stats()?;
    let figures = json!({
        "documents": stats.documents,
        "seconds": start.elapsed().as_secs_f64(),
        "seconds_of_maintenance": seconds_of_maintenance,
        "commits": writing.commits,
        "most_files": writing.most_files,
        // What cannot be spread over more cores: the writer's own processor time.
        "serial_us_per_document": writing.serial.as_secs_f64() * 1e6 / stats.documents.max(1) as f64,
        "longest_write_seconds": writing.longest_write.as_secs_f64(),
        "longest_commit_seconds": writing.longest_commit.as_secs_f64(),
        "flushes": stats.flushes,
        "bytes_written": stats.io.written_bytes,
        "bytes_written_for": {
            "log": stats.written.log, "moved_documents": stats.written.moved_documents,
            "nodes": stats.written.nodes, "postings": stats.written.postings,
            "tables": stats.written.tables, "roots": stats.written.roots,
        },
        "nodes_written_for": {
            "frequent_lists": stats.frequent_lists.written_nodes,
            "long_lists": stats.long_lists.written_nodes, "short_lists": stats.short_lists.written_nodes,
            "delta_postings": stats.delta_postings.map(|level| level.written_nodes), "ids": stats.ids.written_nodes,
        },
        "index_bytes": stats.bytes.allocated,
        "bytes": {
            "nodes": stats.bytes.nodes, "postings": stats.bytes.postings,
            "documents": stats.bytes.documents, "tables": stats.bytes.tables,
            "dead": stats.bytes.dead,
        },
        "settings": {
            "memory_bytes": arguments.memory,
            "commit_every": arguments.commit_every,
            "flush_every": arguments.flush_every,
            "threads": arguments.threads,
            "phrase_filters": arguments.phrase_filters.name(),
            "left": format!("{:?}", arguments.left),
        },
    });
    index.close()?;
    println!("{figures}");
    Ok(())
}

/// Batches on their way into an index.
struct Writing<'a> {
    index: &'a Index,
    arguments: &'a IndexArguments,
    commits: usize,
    most_files: usize,
    longest_write: Duration,
    /// Processor time of the thread that writes, in writes alone.
    serial: Duration,
    longest_commit: Duration,
}

impl Writing<'_> {
    fn write(&mut self, batch: PreparedBatch) -> Outcome {
        let (start, before) = (Instant::now(), thread_cpu_time());
        self.index.write_prepared(batch)?;
        self.longest_write = self.longest_write.max(start.elapsed());
        self.serial += thread_cpu_time().saturating_sub(before);
        Ok(())
    }

    fn commit(&mut self) -> Outcome {
        let start = Instant::now();
        self.commits += 1;
        match self.arguments.flush_every {
            0 => self.index.sync()?,
            every if self.commits.is_multiple_of(every) => self.index.checkpoint()?,
            _ => self.index.sync()?,
        }
        self.longest_commit = self.longest_commit.max(start.elapsed());
        let files = std::fs::read_dir(&self.arguments.index)?.count();
        self.most_files = self.most_files.max(files);
        Ok(())
    }
}
