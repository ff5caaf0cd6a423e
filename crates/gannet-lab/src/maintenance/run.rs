//! `gannet-lab maintenance`: makes a stream of flushes, has one strategy maintain it, measures how the device takes batches.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::{Subcommand, ValueEnum};
use gannet::lab::PAGE_SIZE;
use serde_json::{Value as Json, json};

use super::coding::Coding;
use super::invert::{self, Wanted};
use super::measure::{Asked, Asking};
use super::psync;
use super::queries::{LONG_SHARE, Mix, Scoring};
use super::{
    Blocks, Contiguous, Files, Flush, Gannet, LongInPlace, LongMerged, Rule, Strategy, Stream,
    SubIndexes, TermNumber,
};
use crate::Outcome;
use crate::random::Random;
use crate::trace::{DESKSTAR, Model, Work};

/// A list is of the paper's setting if more than one of so many documents has its term in the end: it fills more than a block
/// at the paper's size of a collection, and at ours.
const KEPT_SHARE: u32 = 500;

/// Over how many postings, as a share of documents, a list is long for the hybrids: half, of all and of a flush, as in the paper.
const HYBRID_SHARE: u64 = 2;

/// Lists that are looked at in the end.
const CHECKED: usize = 100;

/// The arguments of `gannet-lab maintenance`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Invert a corpus once, flush by flush
    Invert {
        /// The corpus: JSON lines
        corpus: PathBuf,
        /// The folder of the stream, which must not be there
        stream: PathBuf,
        /// Documents at most
        #[arg(long, default_value_t = u32::MAX)]
        documents: u32,
        /// In how many flushes
        #[arg(long, default_value_t = 100)]
        flushes: u32,
        /// The field that words are taken from
        #[arg(long, default_value = "body")]
        field: String,
    },
    /// Have one strategy maintain a stream, and ask it
    Run(RunArguments),
    /// Measure rates of random batches by outstanding transfers and their size
    Psync(psync::Arguments),
}

/// The arguments of `gannet-lab maintenance run`.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArguments {
    /// The stream
    stream: PathBuf,
    /// The folder of the lists, which must not be there
    folder: PathBuf,
    /// The strategy
    #[arg(long, value_enum)]
    strategy: Name,
    /// What lists hold, and which there are
    #[arg(long, value_enum, default_value_t = Setting::Full)]
    setting: Setting,
    /// Only the first so many flushes
    #[arg(long, default_value_t = usize::MAX)]
    flushes: usize,
    /// Take no flush in after so many seconds of maintenance, and ask of what is there
    #[arg(long, default_value_t = f64::INFINITY)]
    most_seconds: f64,
    /// Blocks that MFIS reads together
    #[arg(long, default_value_t = 1024)]
    threshold: usize,
    /// r of Geometric Partitioning
    #[arg(long, default_value_t = 3)]
    ratio: u64,
    /// MiB for frames of Gannet's dictionary; the others' vocabulary is in memory whole, and what they merge with takes no more
    #[arg(long, default_value_t = 32)]
    memory: usize,
    /// Lists, and pairs of lists, that are asked for after some flushes
    #[arg(long, default_value_t = 200)]
    queries: usize,
    /// After every so many flushes
    #[arg(long, default_value_t = 5)]
    query_every: usize,
    /// Lists, and pairs of lists, that are asked for in the end
    #[arg(long, default_value_t = 2_000)]
    last_queries: usize,
    /// Threads that ask for pairs at the same time in the end
    #[arg(long, default_value_t = 8)]
    threads: usize,
    /// Seconds in which they do
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// What the choice of queries starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep a trace of all that is done in the folder
    #[arg(long)]
    trace: bool,
}

/// A strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// No-Merge: a sub-index for each flush
    NoMerge,
    /// Immediate Merge: one sub-index, made anew by each flush
    ImmediateMerge,
    /// Geometric Partitioning
    Geometric,
    /// Logarithmic Merge
    Logarithmic,
    /// In-place contiguous
    InPlaceC,
    /// In-place non-contiguous, one transfer at a time
    InPlaceNc,
    /// HLM_NC
    HlmNc,
    /// SSD_Hybrid
    SsdHybrid,
    /// MFIS as printed
    Mfis,
    /// Gannet's own
    Gannet,
}

/// What lists hold, and which there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Setting {
    /// Long lists only, postings of eight bytes without positions; Gannet's as it codes them, with positions that are all 0
    Paper,
    /// All terms, coded, with positions
    Full,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Invert {
            corpus,
            stream,
            documents,
            flushes,
            field,
        } => {
            let wanted = Wanted {
                corpus,
                field,
                documents: *documents,
                flushes: *flushes,
            };
            invert::invert(&wanted, stream)
        }
        Command::Run(arguments) => maintain(arguments),
        Command::Psync(arguments) => psync::run(arguments),
    }
}

#[cfg(test)]
impl RunArguments {
    /// Those of a test.
    pub(super) fn of_test(
        folder: &std::path::Path,
        strategy: Name,
        setting: Setting,
    ) -> RunArguments {
        RunArguments {
            stream: PathBuf::new(),
            folder: folder.to_owned(),
            strategy,
            setting,
            flushes: usize::MAX,
            most_seconds: f64::INFINITY,
            threshold: 32,
            ratio: 3,
            memory: 4,
            queries: 0,
            query_every: 1,
            last_queries: 0,
            threads: 0,
            seconds: 0.0,
            seed: 1,
            trace: false,
        }
    }
}

/// What of a stream is maintained.
pub(super) struct Input {
    pub(super) stream: Stream,
    pub(super) setting: Setting,
    pub(super) flushes: usize,
}

impl Input {
    /// Whether a term's list is maintained.
    pub(super) fn has(&self, term: TermNumber) -> bool {
        let frequency = self.stream.frequencies[term as usize];
        self.setting == Setting::Full || frequency > self.stream.documents() / KEPT_SHARE
    }

    /// A flush as strategies get it.
    pub(super) fn flush(&self, number: usize) -> Outcome<Flush> {
        let mut flush = self.stream.flush(number)?;
        flush.retain(|term| self.has(term));
        if self.setting == Setting::Paper {
            flush.forget_positions();
        }
        Ok(flush)
    }

    fn largest_flush(&self) -> Outcome<u64> {
        let mut largest = 0;
        for number in 0..self.flushes {
            largest = largest.max(self.flush(number)?.postings());
        }
        Ok(largest)
    }
}

impl Name {
    /// Opens it in a folder.
    pub(super) fn open(
        self,
        input: &Input,
        arguments: &RunArguments,
    ) -> Outcome<Box<dyn Strategy>> {
        let keys = Arc::new(input.stream.keys.clone());
        let folder = &arguments.folder;
        if self == Name::Gannet {
            let norms = Arc::new(input.stream.norms.clone());
            let memory = arguments.memory << 20;
            let gannet = Gannet::new(folder, keys, norms, memory, arguments.trace)?;
            return Ok(Box::new(gannet));
        }
        let coding = match input.setting {
            Setting::Paper => Coding::Plain,
            Setting::Full => Coding::Packed,
        };
        let documents = u64::from(input.stream.documents());
        let files = Arc::new(Files::open(folder, arguments.trace)?);
        let terms = keys.len();
        let merged = |files, keys, rule| SubIndexes::new(files, keys, coding, rule, [0, 1]);
        Ok(match self {
            Name::NoMerge => Box::new(merged(files, keys, Rule::Never)),
            Name::ImmediateMerge => Box::new(merged(files, keys, Rule::AtOnce)),
            Name::Logarithmic => Box::new(merged(files, keys, Rule::Logarithmic)),
            Name::Geometric => {
                let rule = Rule::Geometric {
                    ratio: arguments.ratio,
                    buffer: input.largest_flush()?,
                };
                Box::new(merged(files, keys, rule))
            }
            Name::InPlaceC => Box::new(Contiguous::new(files, terms, coding)?),
            Name::InPlaceNc => Box::new(Blocks::new(files, 0, terms, coding, 1)?),
            Name::Mfis => Box::new(Blocks::new(
                files,
                0,
                terms,
                coding,
                arguments.threshold.max(2),
            )?),
            Name::HlmNc => {
                let threshold = documents / HYBRID_SHARE;
                Box::new(LongInPlace::new(files, keys, coding, threshold)?)
            }
            Name::SsdHybrid | Name::Gannet => {
                let flush = documents.div_ceil(input.stream.flushes as u64);
                Box::new(LongMerged::new(files, keys, coding, flush / HYBRID_SHARE))
            }
        })
    }
}

fn maintain(arguments: &RunArguments) -> Outcome {
    let folder = &arguments.folder;
    if folder.exists() {
        return Err(format!("{} is there already: name another folder", folder.display()).into());
    }
    let stream = Stream::open(&arguments.stream)?;
    let mut input = Input {
        flushes: stream.flushes.min(arguments.flushes),
        stream,
        setting: arguments.setting,
    };
    let mut strategy = arguments.strategy.open(&input, arguments)?;
    let mix = Mix::new(&input.stream, |term| input.has(term));
    let scoring = Scoring::of_norms(&input.stream.norms);
    let asking = Asking {
        mix: &mix,
        scoring: &scoring,
        seed: arguments.seed,
    };
    let (mut flushes, mut asked) = (Vec::new(), Vec::new());
    let (mut seconds, mut postings, mut maintained) = (0.0, 0, Work::default());
    for number in 0..input.flushes {
        let flush = input.flush(number)?;
        postings += flush.postings();
        let before = strategy.work();
        let started = Instant::now();
        strategy.flush(&flush)?;
        seconds += started.elapsed().as_secs_f64();
        maintained = maintained.and(strategy.work().less(before));
        flushes.push(json!({ "seconds": seconds, "work": work(maintained) }));
        if (number + 1).is_multiple_of(arguments.query_every.max(1)) {
            let found = asking.ask(&*strategy, arguments.queries, number as u64)?;
            asked.push(json!({ "flushes": number + 1, "lists": found[0].json(), "pairs": found[1].json() }));
        }
        if (number + 1).is_multiple_of(10) {
            eprintln!(
                "{} of {} flushes: {seconds:.1} s",
                number + 1,
                input.flushes
            );
        }
        if seconds > arguments.most_seconds {
            input.flushes = number + 1;
            break;
        }
    }
    check(&input, &*strategy, &mix, arguments)?;
    let last = asking.ask(&*strategy, arguments.last_queries, u64::MAX)?;
    let together = asking.ask_together(&*strategy, arguments.threads, arguments.seconds)?;
    let kept = strategy.kept()?;
    let report = json!({
        "strategy": named(arguments.strategy), "setting": named(arguments.setting),
        "threshold": arguments.threshold, "ratio": arguments.ratio, "memory_bytes": arguments.memory << 20,
        "seed": arguments.seed, "page_bytes": PAGE_SIZE, "model": Model::Seeks(&DESKSTAR).name(),
        "queries": arguments.queries, "query_every": arguments.query_every,
        "last_queries": arguments.last_queries, "stream": input.stream.meta, "postings": postings,
        "lists": lists(&input, &mix), "flush_count": input.flushes,
        "seconds": seconds, "work": work(maintained),
        "file_bytes": kept.file_bytes, "vocabulary_bytes": kept.vocabulary_bytes,
        "written_for_vocabulary": kept.written_for_vocabulary, "written_for_tables": kept.written_for_tables,
        "flushes": flushes, "asked": asked,
        "last": { "lists": last[0].json(), "pairs": last[1].json() },
        "together": together,
    });
    println!("{report}");
    Ok(())
}

/// Compares some lists with how many documents their terms have, and looks whether they ascend.
fn check(input: &Input, strategy: &dyn Strategy, mix: &Mix, arguments: &RunArguments) -> Outcome {
    let mut random = Random::new(arguments.seed, "check");
    for term in (0..CHECKED).map_while(|_| mix.draw(&mut random)) {
        let found = strategy.postings(term)?;
        let expected = input.stream.frequencies[term as usize] as usize;
        let is_all = found.docs.len() == expected || input.flushes < input.stream.flushes;
        if !is_all || !found.docs.is_sorted_by(|one, next| one < next) {
            let (name, found) = (named(arguments.strategy), found.docs.len());
            return Err(format!("{name} has {found} postings of term {term} in place of {expected}; this is a defect").into());
        }
    }
    Ok(())
}

/// How many lists there are, and of these how many long and short ones are asked for.
fn lists(input: &Input, mix: &Mix) -> Json {
    let terms = 0..input.stream.keys.len() as TermNumber;
    let all = terms.filter(|term| input.has(*term)).count();
    let [long, short] = mix.counts();
    json!({ "all": all, "long": long, "short": short, "long_share": LONG_SHARE, "kept_share": KEPT_SHARE })
}

fn named(value: impl ValueEnum) -> String {
    let possible = value.to_possible_value();
    possible.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// What was done as JSON.
pub(super) fn work(work: Work) -> Json {
    json!({
        "reads": work.reads, "read_bytes": work.read_bytes,
        "writes": work.writes, "written_bytes": work.written_bytes,
        "modelled_seconds": work.modelled_read_seconds + work.modelled_write_seconds,
    })
}

impl Asked {
    fn json(&self) -> Json {
        json!({
            "count": self.count, "mean_us": self.mean_us, "p50_us": self.percentiles_us[0],
            "p99_us": self.percentiles_us[1], "bytes": self.bytes, "found": self.found, "work": work(self.work),
        })
    }
}
