//! `gannet index`: documents from files into an index.
//!
//! The crate `gannet-input` reads, prepares and writes them. `refusals` tells of lines that were
//! rejected, `progress` entertains a terminal, `report` sums up.

mod progress;
mod refusals;
mod report;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use gannet::{Analyzer, Index};
use gannet_input::{Done, End, Input, Pipeline, PipelineOptions, Rejection, Watcher};

use crate::arguments::{Common, IndexArguments};
use crate::failure::{Failure, Outcome, remark};
use crate::output::Output;
use crate::size::counted;
use crate::spinner::spinner;
use crate::{interrupt, process};
use progress::Progress;
use refusals::Refusals;
use report::{Report, report};

/// There is at most one thread for so much of the memory budget.
const MEMORY_PER_THREAD: usize = 4 << 20;

/// What a run works with: the arguments, checked.
struct Settings {
    index: PathBuf,
    sources: Vec<Input>,
    threads: usize,
    commit_every: Option<u64>,
    default_analyzer: Option<Analyzer>,
    field_analyzers: Vec<(String, Analyzer)>,
    strict: bool,
}

impl Settings {
    fn resolve(common: &Common, arguments: &IndexArguments) -> Outcome<Settings> {
        let mut settings = Settings {
            index: arguments.index.clone(),
            sources: Input::all(&arguments.files, arguments.format)?,
            threads: threads(common, arguments),
            commit_every: arguments.commit_every,
            default_analyzer: None,
            field_analyzers: Vec::new(),
            strict: arguments.strict,
        };
        for choice in &arguments.analyzer {
            settings.choose_analyzer(choice)?;
        }
        Ok(settings)
    }

    /// `NAME` or `FIELD=NAME`.
    fn choose_analyzer(&mut self, choice: &str) -> Outcome<()> {
        match choice.rsplit_once('=') {
            Some((field, name)) => {
                let analyzer = Analyzer::named(name)?;
                self.field_analyzers.push((field.to_owned(), analyzer));
            }
            None => self.default_analyzer = Some(Analyzer::named(choice)?),
        }
        Ok(())
    }

    /// Rejects analyzers for fields that have another one.
    fn check_analyzers(&self, index: &Index) -> Outcome<()> {
        let snapshot = index.snapshot();
        for (name, analyzer) in &self.field_analyzers {
            if let Some(field) = snapshot.schema().named(name)
                && field.analyzer != *analyzer
            {
                return Err(Failure::caller(format!(
                    "field {name:?} has the analyzer {} since it was first indexed, not {}: leave the option out, or index into a new folder",
                    field.analyzer.name(),
                    analyzer.name()
                )));
            }
        }
        Ok(())
    }

    /// What to tell of analyzers for fields that no document has: most likely a name is misspelt.
    fn unused_analyzers(&self, index: &Index) -> Vec<String> {
        let snapshot = index.snapshot();
        let unused = self.field_analyzers.iter().filter_map(|(name, analyzer)| {
            let error = snapshot.check_field(name).err()?;
            let choice = format!("{name}={}", analyzer.name());
            Some(format!("--analyzer {choice} was not used: {error}"))
        });
        unused.collect()
    }

    fn open(&self, common: &Common, arguments: &IndexArguments) -> gannet::Result<Index> {
        let mut options = Index::options()
            .memory(common.memory.bytes())
            .backend(common.backend.into())
            .durability(arguments.durability.into())
            .phrase_filters(arguments.phrase_filters);
        if let Some(analyzer) = self.default_analyzer {
            options = options.analyzer(analyzer);
        }
        for (field, analyzer) in &self.field_analyzers {
            options = options.field_analyzer(field, *analyzer);
        }
        options.open(&self.index)
    }
}

/// How many threads prepare documents: what each of them holds besides its documents must fit
/// beside the budget.
fn threads(common: &Common, arguments: &IndexArguments) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let asked = arguments.threads.map_or_else(processors, usize::from);
    asked.min((common.memory.bytes() / MEMORY_PER_THREAD).max(1))
}

/// Indexes the files and says what came of it.
pub fn run(common: &Common, arguments: &IndexArguments, output: &mut Output) -> Outcome<()> {
    let settings = Settings::resolve(common, arguments)?;
    let (started, cpu_before) = (Instant::now(), process::cpu_time());
    let is_new = !settings.index.exists();
    let index = settings.open(common, arguments)?;
    settings.check_analyzers(&index)?;
    interrupt::catch()?;
    let mut done = index_all(&index, &settings);
    let durable = finish(&index, &mut done);
    let unused = settings.unused_analyzers(&index);
    let (stats, counters, backend) = (index.stats().ok(), index.counters(), index.backend());
    let closed = index.close();
    if let (Err(error), End::Whole) = (closed, &done.end) {
        done.end = End::Failed(error);
    }
    let ended = ended(&done, &settings, durable);
    let is_empty = stats.as_ref().is_some_and(|stats| stats.doc_ids == 0);
    if is_new && is_empty && ended.is_err() {
        // Nothing was taken: no index is left that nobody asked for.
        let _ = std::fs::remove_dir_all(&settings.index);
    }
    report(
        &Report {
            common,
            arguments,
            settings: &settings,
            done: &done,
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
    ended
}

/// Takes the documents of all sources, and tells on standard error how far it came and what was
/// rejected.
fn index_all(index: &Index, settings: &Settings) -> Done {
    let taken = Arc::new(AtomicU64::new(0));
    let options = PipelineOptions {
        threads: settings.threads,
        commit_every: settings.commit_every,
        strict: settings.strict,
    };
    let mut teller = Teller {
        progress: Progress::new(settings.sources.iter(), &taken),
        refusals: Refusals::default(),
    };
    let pipeline = Pipeline::new(index, options, Arc::new(interrupt::asked), &mut teller);
    let done = pipeline.run(settings.sources.clone(), &taken);
    teller.progress.end();
    teller.refusals.close();
    done
}

/// Tells of a run on standard error.
struct Teller {
    progress: Progress,
    refusals: Refusals,
}

impl Watcher for Teller {
    fn wrote(&mut self, done: &Done) {
        self.progress.show(done.documents, done.source_bytes);
    }

    fn rejected(&mut self, rejection: Rejection) {
        if let Some(sentence) = self.refusals.note(&rejection) {
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

/// How the process is to end after the summary.
fn ended(done: &Done, settings: &Settings, durable: bool) -> Outcome<()> {
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
        End::Failed(error) => Err(Failure::from(error.clone()).and_say(&match durable {
            true => before,
            false => format!(
                "{} taken before it, of which the index keeps those that were durable: count them with `gannet stats`",
                counted(done.documents, "document")
            ),
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
