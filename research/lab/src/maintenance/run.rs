//! `gannet-lab maintenance`: makes a stream of flushes, has one strategy maintain it, measures how
//! the device takes batches.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Subcommand, ValueEnum};
use gannet::device::PAGE_SIZE;
use gannet_ssd::Work;
use gannet_ssd::hdd::DESKSTAR;
use serde_json::{Value as Json, json};

use super::arguments::RunArguments;
use super::input::Input;
use super::invert::{self, Wanted};
use super::measure::{Asked, Asking};
use super::psync;
use super::queries::{Mix, Scoring};
use super::{Strategy, Stream, TermNumber};
use crate::Outcome;
use crate::random::Random;

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
        kept_share: arguments.kept_share,
    };
    let mut strategy = arguments.strategy.open(&input, arguments)?;
    let mix = Mix::new(&input.stream, arguments.long_share, |term| input.has(term));
    let scoring = Scoring::of_norms(&input.stream.norms);
    let asking = Asking {
        mix: &mix,
        scoring: &scoring,
        seed: arguments.seed,
    };
    let mut given = vec![0; input.stream.keys.len()];
    let (mut flushes, mut asked) = (Vec::new(), Vec::new());
    let (mut seconds, mut postings, mut maintained) = (0.0, 0, Work::default());
    for number in 0..input.flushes {
        let flush = input.flush(number)?;
        postings += flush.postings();
        for (term, fragment) in &flush.terms {
            given[*term as usize] += fragment.count as usize;
        }
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
    check(&input, &given, &*strategy, &mix, arguments.seed)?;
    let last = asking.ask(&*strategy, arguments.last_queries, u64::MAX)?;
    let together = asking.ask_together(&*strategy, arguments.threads, arguments.seconds)?;
    let kept = strategy.kept()?;
    let report = json!({
        "strategy": named(arguments.strategy), "setting": named(arguments.setting),
        "kept_share": arguments.kept_share, "long_share": arguments.long_share, "threshold": arguments.threshold, "ratio": arguments.ratio, "memory_bytes": arguments.memory << 20,
        "seed": arguments.seed, "page_bytes": PAGE_SIZE, "model": DESKSTAR.name,
        "queries": arguments.queries, "query_every": arguments.query_every,
        "last_queries": arguments.last_queries, "stream": input.stream.meta, "postings": postings,
        "lists": lists(&input, &mix), "flush_count": input.flushes,
        "seconds": seconds, "work": work(maintained),
        "file_bytes": kept.file_bytes, "vocabulary_bytes": kept.vocabulary_bytes,
        "written_for_vocabulary": kept.written_for_vocabulary, "written_for_tables": kept.written_for_tables,
        "details": strategy.details(), "flushes": flushes, "asked": asked,
        "last": { "lists": last[0].json(), "pairs": last[1].json() },
        "together": together,
    });
    println!("{report}");
    Ok(())
}

/// Compares some lists with how many postings the flushes gave them, of a whole stream with how
/// many documents their terms have, too, and looks whether they ascend.
pub(super) fn check(
    input: &Input,
    given: &[usize],
    strategy: &dyn Strategy,
    mix: &Mix,
    seed: u64,
) -> Outcome {
    let is_whole = input.flushes == input.stream.flushes;
    let mut random = Random::new(seed, "check");
    for term in (0..CHECKED).map_while(|_| mix.draw(&mut random)) {
        let docs = strategy.postings(term)?.docs;
        let of_stream = input.stream.frequencies[term as usize] as usize;
        let expected = given[term as usize];
        let is_all = docs.len() == expected && (expected == of_stream || !is_whole);
        if !is_all || !docs.is_sorted_by(|one, next| one < next) {
            let found = docs.len();
            return Err(format!("{found} postings of term {term} in place of {expected}, of {of_stream} in all; this is a defect").into());
        }
    }
    Ok(())
}

/// How many lists there are, and of these how many long and short ones are asked for.
fn lists(input: &Input, mix: &Mix) -> Json {
    let terms = 0..input.stream.keys.len() as TermNumber;
    let all = terms.filter(|term| input.has(*term)).count();
    let [long, short] = mix.counts();
    json!({ "all": all, "long": long, "short": short })
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
        "modelled_seconds": work.modelled_read_seconds() + work.modelled_write_seconds(),
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
