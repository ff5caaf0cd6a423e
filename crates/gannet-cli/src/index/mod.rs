//! `gannet index` and `gannet update`: documents from files into an index.
//!
//! The crate `gannet-input` reads, prepares and writes them. `rejections` tells of lines that were
//! rejected, `progress` entertains a terminal, `report` sums up.

mod folders;
mod progress;
mod rejections;
mod report;
mod settings;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use gannet::Index;
use gannet_input::{Done, End, Pipeline, PipelineOptions, Rejection, Watcher};
use serde_json::Value;

use crate::arguments::{Common, IndexArguments, UpdateArguments};
use crate::failure::{Failure, Outcome, remark};
use crate::output::Output;
use crate::size::counted;
use crate::spinner::spinner;
use crate::{interrupt, process};
use progress::Progress;
use rejections::Rejections;
use report::{Report, report};
use settings::Settings;

/// Indexes the files and says what came of it.
pub fn run(common: &Common, arguments: &IndexArguments, output: &mut Output) -> Outcome<()> {
    work(common, &Settings::to_index(common, arguments)?, output)
}

/// Changes documents by those of the files and says what came of it.
pub fn update(common: &Common, arguments: &UpdateArguments, output: &mut Output) -> Outcome<()> {
    work(common, &Settings::to_update(common, arguments)?, output)
}

fn work(common: &Common, settings: &Settings<'_>, output: &mut Output) -> Outcome<()> {
    let (started, cpu_before) = (Instant::now(), process::cpu_time());
    let is_new = !settings.index.exists();
    let rejections = Rejections::new(settings.arguments.rejected.as_deref(), output.is_json())?;
    let (index, made) = settings.open(common)?;
    settings.check_analyzers(&index)?;
    let folder = identity(&settings.index);
    interrupt::catch()?;
    let (mut done, rejections) = index_all(&index, settings, rejections);
    if let Some(made) = made {
        let note = format!("the folder {} did not exist and was made", made.display());
        done.notes.push(note);
    }
    let durable = finish(&index, &mut done);
    let unused = settings.unused(&index);
    let (stats, counters, backend) = (index.stats().ok(), index.counters(), index.backend());
    let closed = index.close();
    if let (Err(error), End::Whole) = (closed, &done.end) {
        done.end = End::Failed(error);
    }
    let ended = ended(&done, settings, durable);
    let is_empty = stats.as_ref().is_some_and(|stats| stats.doc_ids == 0);
    if is_new && is_empty && ended.is_err() {
        // Nothing was taken: no index is left that nobody asked for. What is there by now may be
        // another.
        if folder.is_some() && folder == identity(&settings.index) {
            let _ = std::fs::remove_dir_all(&settings.index);
        }
    }
    report(
        &Report {
            common,
            settings,
            done: &done,
            rejections: rejections.as_deref().unwrap_or_default(),
            error: ended.as_ref().err().and_then(Failure::sentence),
            durable,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: (process::cpu_time() - cpu_before).as_secs_f64(),
            stats: stats.as_ref(),
            counters: &counters,
            backend,
        },
        output,
    )?;
    output.finish()?;
    unused.iter().for_each(|unused| remark(unused));
    // JSON has them.
    let notes = done.text_notes.iter().filter(|_| !output.is_json());
    notes.for_each(|note| remark(note));
    ended?;
    rejections.map(drop)
}

/// Returns the device and the number of the folder that a name stands for.
fn identity(folder: &Path) -> Option<(u64, u64)> {
    let found = std::fs::symlink_metadata(folder).ok()?;
    found.is_dir().then(|| (found.dev(), found.ino()))
}

/// Takes the documents of all sources, and tells on standard error how far it came and what was
/// rejected.
fn index_all(
    index: &Index,
    settings: &Settings<'_>,
    rejections: Rejections,
) -> (Done, Outcome<Vec<Value>>) {
    let taken = Arc::new(AtomicU64::new(0));
    let options = PipelineOptions {
        threads: settings.threads,
        commit_every: settings.arguments.commit_every,
        strict: settings.arguments.strict,
        write: settings.write,
    };
    let mut teller = Teller {
        progress: Progress::new(settings.sources.iter(), &taken),
        rejections,
    };
    let pipeline = Pipeline::new(index, options, Arc::new(interrupt::asked), &mut teller);
    let done = pipeline.run(settings.sources.clone(), &taken);
    teller.progress.end();
    (done, teller.rejections.close())
}

/// Tells of a run on standard error.
struct Teller {
    progress: Progress,
    rejections: Rejections,
}

impl Watcher for Teller {
    fn wrote(&mut self, done: &Done) {
        self.progress.show(done.documents, done.source_bytes);
    }

    fn rejected(&mut self, rejection: Rejection) {
        if let Some(sentence) = self.rejections.note(&rejection) {
            self.progress.say(&sentence);
        }
    }
}

/// Makes what was written durable, also after an end before the end, and puts the index in order
/// unless something failed. Tells whether all that was written is durable; a failure is noted as
/// the end of the run.
fn finish(index: &Index, done: &mut Done) -> bool {
    let checkpointed = index.checkpoint();
    let durable = checkpointed.is_ok();
    let finished = match &done.end {
        End::Failed(_) => return durable,
        _ => checkpointed.and_then(|()| maintenance(index)),
    };
    if let Err(error) = finished {
        done.end = End::Failed(error);
    }
    durable
}

/// Does what the index would do by itself if it stayed open, so that whoever searches it next finds
/// it so.
fn maintenance(index: &Index) -> gannet::Result<()> {
    let bar = spinner();
    bar.set_message("delta postings join their lists");
    while !interrupt::asked() && index.maintain()? {}
    bar.finish_and_clear();
    Ok(())
}

/// Returns the outcome of the process after the summary.
fn ended(done: &Done, settings: &Settings<'_>, durable: bool) -> Outcome<()> {
    let before = match done.documents {
        0 => "no document before it is in the index".to_owned(),
        1 => "the 1 document before it is in the index".to_owned(),
        count => format!(
            "the {} before it are in the index",
            counted(count, "document")
        ),
    };
    match &done.end {
        End::Whole if interrupt::asked() => Err(interrupt::failure(
            "interrupted while the index was put in order; all documents are in it",
        )),
        End::Whole if done.rejected == 0 => Ok(()),
        End::Whole => Err(Failure::said(1)),
        End::Rejected(rejection) => Err(Failure::caller(format!("{rejection}; {before}"))),
        End::Unreadable(sentence) => Err(Failure::caller(format!("{sentence}; {before}"))),
        End::Failed(error) => Err(Failure::from(error.clone()).and_say(&if durable {
before
} else {
format!(
                "{} taken before it, of which the index keeps those that were durable: count them with `gannet stats`",
                counted(done.documents, "document")
            )
})),
        End::Interrupted => Err(interrupt::failure(format!(
            "interrupted after {}, all in the index; {}",
            counted(done.documents, "document"),
            match &done.last {
                Some(last) => last.clone(),
                None => format!("nothing was read of {}", settings.sources[0]),
            }
        ))),
    }
}
