//! An index whose documents are all replaced, in random order, of which half are deleted then, and
//! which is vacuumed and cleaned, while a reader tries to keep its snapshot. The folder's size is
//! looked at all the time; the index that is built of the documents that are left, in one go, is
//! what it is compared with. `sizes` are the documents and the bytes on flash at each look.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Document, Error, Index, Limits, Operator, Snapshot};
use serde_json::{Value, json};

use crate::Outcome;
use crate::random::Random;

/// Documents of one batch.
const BATCH: usize = 500;

/// How often the folder's size is looked at, and how often the reader asks.
const LOOK: Duration = Duration::from_millis(20);

/// The arguments of `gannet-lab churn`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of the index, which must not be there
    index: PathBuf,
    /// The folder of the index that is built of what is left, which must not be there
    fresh: PathBuf,
    /// JSON lines with external IDs
    corpus: PathBuf,
    /// The memory budget in bytes
    #[arg(long, default_value_t = gannet::MEMORY_DEFAULT)]
    memory: usize,
    /// What the reader asks: words, any of which may match
    #[arg(long, default_value = "what is the year of")]
    query: String,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the phases and prints figures of each.
pub fn run(arguments: &Arguments) -> Outcome {
    for folder in [&arguments.index, &arguments.fresh] {
        if folder.exists() {
            return Err(format!("{} is there already: remove it first", folder.display()).into());
        }
    }
    let mut corpus = Lines::of(&arguments.corpus)?;
    let index = open(&arguments.index, arguments)?;
    let mut phases = vec![phase("fill", &index, arguments, || {
        corpus.write(&index, &corpus.lines, BATCH)
    })?];
    let full = folder_bytes(&arguments.index);
    Random::new(arguments.seed, "churn").shuffle(&mut corpus.lines);
    phases.push(phase("replace", &index, arguments, || {
        corpus.write(&index, &corpus.lines, BATCH)
    })?);
    let gone = corpus.lines.split_off(corpus.lines.len() / 2);
    phases.push(phase("delete", &index, arguments, || {
        corpus.delete(&index, &gone)
    })?);
    phases.push(phase("vacuum", &index, arguments, || {
        until_done(|| index.vacuum())
    })?);
    phases.push(phase("clean", &index, arguments, || {
        until_done(|| index.clean())
    })?);
    index.close()?;
    let left = folder_bytes(&arguments.index);
    let fresh = open(&arguments.fresh, arguments)?;
    corpus.lines.sort_unstable();
    corpus.write(&fresh, &corpus.lines, BATCH)?;
    until_done(|| fresh.clean())?;
    fresh.close()?;
    let figures = json!({
        "phases": phases,
        "full_bytes": full,
        "index_bytes": left,
        "fresh_bytes": folder_bytes(&arguments.fresh),
        "documents": corpus.lines.len(),
        "settings": {"memory_bytes": arguments.memory, "query": arguments.query, "seed": arguments.seed, "batch": BATCH},
    });
    println!("{figures}");
    Ok(())
}

fn open(folder: &Path, arguments: &Arguments) -> gannet::Result<Index> {
    // Its steps are phases here.
    let limits = Limits {
        maintain_after: None,
        ..Limits::default()
    };
    let options = Index::options().memory(arguments.memory);
    options.limits(limits).open(folder)
}

fn until_done(mut step: impl FnMut() -> gannet::Result<bool>) -> Outcome {
    while step()? {}
    Ok(())
}

/// Does `work` and ends it with a checkpoint, while the folder is watched and a reader holds on to
/// a snapshot.
fn phase(
    name: &str,
    index: &Index,
    arguments: &Arguments,
    work: impl FnOnce() -> Outcome,
) -> Outcome<Value> {
    let ends = AtomicBool::new(false);
    let before = index.counters();
    let start = Instant::now();
    let (done, watched) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut sizes = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                let documents = index.snapshot().documents();
                sizes.push((documents, folder_bytes(&arguments.index)));
                thread::sleep(LOOK);
            }
            sizes
        });
        let reader = scope.spawn(|| hold_on(index, &arguments.query, &ends));
        let done = work().and_then(|()| Ok(index.checkpoint()?));
        ends.store(true, Ordering::Relaxed);
        (done, (watcher.join(), reader.join()))
    });
    done?;
    let (sizes, reader) = watched;
    let sizes = sizes.map_err(|_| "the watcher panicked")?;
    let reader = reader.map_err(|_| "the reader panicked")??;
    let stats = index.stats()?;
    let counters = index.counters();
    Ok(json!({
        "phase": name,
        "seconds": start.elapsed().as_secs_f64(),
        "bytes_written": counters.written_bytes - before.written_bytes,
        "bytes_read": counters.read_bytes - before.read_bytes,
        "largest_bytes": sizes.iter().map(|(_, bytes)| *bytes).max(),
        "sizes": sizes,
        "bytes": folder_bytes(&arguments.index),
        "dead_documents": stats.dead_documents,
        "documents": stats.documents,
        "reader": reader,
    }))
}

/// Asks one snapshot again and again as long as it is there, then the next. Each gives one answer
/// for all its life.
fn hold_on(index: &Index, words: &str, ends: &AtomicBool) -> gannet::Result<Value> {
    let (mut answers, mut expired, mut longest) = (0u64, 0u64, Duration::ZERO);
    while !ends.load(Ordering::Relaxed) {
        let (snapshot, start) = (index.snapshot(), Instant::now());
        let first = answer(&snapshot, words)?;
        while !ends.load(Ordering::Relaxed) {
            match answer(&snapshot, words) {
                Ok(again) if again == first => answers += 1,
                Ok(again) => {
                    let reason = format!("a snapshot answered {first:?}, then {again:?}");
                    return Err(Error::Invalid(reason));
                }
                Err(Error::Expired { .. }) => {
                    expired += 1;
                    break;
                }
                Err(error) => return Err(error),
            }
            thread::sleep(LOOK);
        }
        longest = longest.max(start.elapsed());
    }
    Ok(
        json!({"answers": answers, "snapshots_given_up": expired, "longest_seconds": longest.as_secs_f64()}),
    )
}

fn answer(snapshot: &Snapshot, words: &str) -> gannet::Result<(u64, Vec<u32>)> {
    let query = snapshot.parse(words, Operator::Or)?;
    let results = snapshot.search(&query).fetch(false).run()?;
    let hits = results.hits.into_iter().map(|hit| hit.doc);
    Ok((snapshot.documents(), hits.collect()))
}

/// Bytes of all files of a folder; of one that goes meanwhile, none.
fn folder_bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.sum()
}

/// Where the lines of a corpus are.
pub struct Lines {
    file: File,
    /// First byte and length of each.
    pub lines: Vec<(u64, usize)>,
}

impl Lines {
    /// Those of a file.
    pub fn of(corpus: &Path) -> Outcome<Lines> {
        let (mut lines, mut at) = (Vec::new(), 0);
        for line in BufReader::with_capacity(1 << 20, File::open(corpus)?).split(b'\n') {
            let length = line?.len();
            lines.push((at, length));
            at += length as u64 + 1;
        }
        let file = File::open(corpus)?;
        Ok(Lines { file, lines })
    }

    fn document(&self, (at, length): (u64, usize)) -> Outcome<Document> {
        let mut line = vec![0; length];
        self.file.read_exact_at(&mut line, at)?;
        Ok(Document::parse(&line)?)
    }

    /// Writes the documents of some lines, in batches of so many.
    pub fn write(&self, index: &Index, lines: &[(u64, usize)], batch: usize) -> Outcome {
        for batch in lines.chunks(batch) {
            let documents = batch.iter().map(|line| self.document(*line));
            index.write(documents.collect::<Outcome<_>>()?)?;
        }
        Ok(())
    }

    fn delete(&self, index: &Index, lines: &[(u64, usize)]) -> Outcome {
        for batch in lines.chunks(BATCH) {
            let documents = batch.iter().map(|line| self.document(*line));
            let ids: Vec<String> = documents
                .map(|document| Ok(document?.id().unwrap_or_default().to_owned()))
                .collect::<Outcome<_>>()?;
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            index.delete(&ids)?;
        }
        Ok(())
    }
}
