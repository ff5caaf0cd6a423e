//! A mix of operations on one structure, and what it did with the device.
//!
//! Records are numbered; the key of each is drawn from its number alone, so that other programs can
//! ask for the same and none has to remember them. The oldest are deleted first.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use gannet_ssd::profile::X25_E;
use serde_json::{Map, Value as Json, json};

use super::{
    BTree, FdTree, InPlace, LaTree, NODE_BYTES, OrderedIndex, Packed, Rolling, Sequential,
    Settings, Units, Work,
};
use crate::Outcome;
use crate::random::{Random, nth};

/// Nodes in memory while the records are loaded, which is not measured.
const LOAD_CACHE: usize = 16_384;
const LOAD_BUFFER: usize = 1_024;

/// Operations between two looks at what is in memory.
const MEMORY_EVERY: u64 = 64;

/// Bits of a value that are the number of its record. Above are those that count its updates.
const NUMBER_BITS: u32 = 32;

/// Of skewed keys so many of ten fall into the first tenth of all.
const SKEW: u64 = 9;

/// The arguments of `gannet-lab trees`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder, which must not be there
    folder: PathBuf,
    /// The structure
    #[arg(long, value_enum)]
    structure: Structure,
    /// Records that are there before anything is measured
    #[arg(long, default_value_t = 400_000)]
    records: u64,
    /// Operations that are measured
    #[arg(long, default_value_t = 100_000)]
    operations: u64,
    /// Of a hundred operations so many insert, search, update, delete and go through a range
    #[arg(long, num_args = 5, default_values_t = [100, 0, 0, 0, 0])]
    mix: Vec<usize>,
    /// Insertions before anything is measured, each followed by the deletion of the oldest record
    #[arg(long, default_value_t = 0)]
    churn: u64,
    /// Keys of a range
    #[arg(long, default_value_t = 100)]
    range: usize,
    /// Keys that are inserted while it is measured: all over, or nine of ten in a tenth of all
    #[arg(long, value_enum, default_value_t = Keys::Uniform)]
    keys: Keys,
    /// Keys of a node at most
    #[arg(long, default_value_t = 256)]
    fan_out: usize,
    /// Changed nodes that are written together
    #[arg(long, default_value_t = 32)]
    write_buffer: usize,
    /// Nodes of the buffer cache
    #[arg(long, default_value_t = 0)]
    cache: usize,
    /// Nodes that operations take which wait in memory, of the LA-tree and of Gannet
    #[arg(long, default_value_t = 32)]
    buffers: usize,
    /// The same while records are loaded. More is faster, and leaves fuller or emptier nodes than
    /// operations do
    #[arg(long, default_value_t = 32)]
    load_buffers: usize,
    /// Nodes of the head of an FD-tree
    #[arg(long, default_value_t = 112)]
    head: usize,
    /// How many times larger a level of an FD-tree is than the one above it
    #[arg(long, default_value_t = 128)]
    ratio: usize,
    /// Pages of a buffer of an LA-tree at most
    #[arg(long, default_value_t = 16)]
    buffer_most: usize,
    /// Nodes of a subfile
    #[arg(long, default_value_t = Settings::default().subfile)]
    subfile: u32,
    /// A subfile of which fewer than so many percent count is cleaned
    #[arg(long, default_value_t = 5)]
    valid_percent: u32,
    /// Nodes that lie apart are written in one batch, in place of one after the other
    #[arg(long)]
    batched: bool,
    /// BFTL gives each node that it gathers sectors of its own
    #[arg(long)]
    apart: bool,
    /// What the choice of keys starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only loads the records
    #[arg(long, conflicts_with = "loaded")]
    load_only: bool,
    /// The folder is there and has the records
    #[arg(long)]
    loaded: bool,
    /// Keeps a trace of all that is measured in the folder
    #[arg(long)]
    trace: bool,
}

/// A structure of the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Structure {
    /// B+-tree in place, with a write buffer
    BTree,
    /// AS B-tree as printed
    AsBTree,
    /// BFTL
    Bftl,
    /// FD-tree
    FdTree,
    /// LA-tree
    LaTree,
    /// Changes merged round and round, on the nodes of the others
    Rolling,
    /// The engine's tree with its own packing, and all that waits merged at once as it does
    Gannet,
    /// The engine's tree with changes merged round and round, which the engine does not do
    GannetRolling,
}

/// Which keys are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Keys {
    Uniform,
    Skewed,
}

/// What operations draw from.
struct Stream<'a> {
    arguments: &'a Arguments,
    random: Random,
    /// Numbers of the records that are there.
    records: Range<u64>,
    /// Updates so far: each gives a value that was not there, as the same one would be no change.
    updates: u64,
}

/// What operations of one kind did.
#[derive(Default)]
struct Done {
    count: u64,
    work: Work,
    seconds: f64,
}

const KINDS: [&str; 5] = ["insert", "search", "update", "delete", "range"];

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    if folder.exists() != arguments.loaded {
        let problem = if arguments.loaded {
            "is not there: load it first, with --load-only"
        } else {
            "is there already: name another folder"
        };
        return Err(format!("{} {problem}", folder.display()).into());
    }
    if arguments.mix.iter().sum::<usize>() == 0 {
        return Err("--mix has no operations: one of its numbers must be above 0".into());
    }
    let load_seconds = if arguments.loaded {
        None
    } else {
        Some(load(arguments)?)
    };
    if arguments.load_only {
        println!("{}", json!({ "load_seconds": load_seconds }));
        return Ok(());
    }
    let started = Instant::now();
    let mut index = open(arguments, &settings(arguments))?;
    let open_seconds = started.elapsed().as_secs_f64();
    let mut stream = Stream::new(arguments);
    let unchurned = index.work();
    for _ in 0..arguments.churn {
        stream.operate(&mut *index, 0)?;
        stream.operate(&mut *index, 3)?;
    }
    if arguments.churn > 0 {
        index.settle()?;
    }
    let before = index.work();
    let mut done: [Done; KINDS.len()] = Default::default();
    let (mut memory, mut waiting) = (0, 0);
    let started = Instant::now();
    for number in 0..arguments.operations {
        if number % MEMORY_EVERY == 0 {
            memory = index.memory().max(memory);
            waiting = index.waiting().max(waiting);
        }
        let kind = stream.kind();
        let (work, begun) = (index.work(), Instant::now());
        stream.operate(&mut *index, kind)?;
        done[kind].add(index.work().less(work), begun.elapsed().as_secs_f64());
    }
    index.settle()?;
    let seconds = started.elapsed().as_secs_f64();
    let cleaning = index.cleaning();
    let report = json!({
        "structure": arguments.structure.to_possible_value().map(|name| name.get_name().to_owned()),
        "records": arguments.records,
        "operations": arguments.operations,
        "mix": arguments.mix,
        "keys": arguments.keys.to_possible_value().map(|name| name.get_name().to_owned()),
        "fan_out": arguments.fan_out,
        "write_buffer": arguments.write_buffer,
        "cache": arguments.cache,
        "buffers": arguments.buffers,
        "head": arguments.head,
        "ratio": arguments.ratio,
        "buffer_most": arguments.buffer_most,
        "memory_bytes": memory,
        "waiting": waiting,
        "subfile": arguments.subfile,
        "valid_percent": arguments.valid_percent,
        "batched": arguments.batched,
        "apart": arguments.apart,
        "node_bytes": NODE_BYTES,
        "load_seconds": load_seconds,
        "open_seconds": open_seconds,
        "seconds": seconds,
        "file_bytes": index.file_bytes(),
        "churn": arguments.churn,
        "churned": report(before.less(unchurned)),
        "work": report(index.work().less(before)),
        "kinds": kinds(&done),
        "moved_nodes": cleaning.moved,
        "subfiles": cleaning.subfiles,
        "model": X25_E.name,
    });
    println!("{report}");
    Ok(())
}

fn settings(arguments: &Arguments) -> Settings {
    Settings {
        fan_out: arguments.fan_out,
        write_buffer: arguments.write_buffer,
        cache: arguments.cache,
        buffers: arguments.buffers,
        head: arguments.head,
        ratio: arguments.ratio,
        buffer_most: arguments.buffer_most,
        subfile: arguments.subfile,
        valid_percent: arguments.valid_percent,
        one_by_one: !arguments.batched,
        apart: arguments.apart,
        trace: arguments.trace && !arguments.load_only,
        ..Settings::default()
    }
}

/// Inserts the records; gives the seconds that it took.
fn load(arguments: &Arguments) -> Outcome<f64> {
    let loading = Settings {
        cache: LOAD_CACHE,
        write_buffer: LOAD_BUFFER,
        buffers: arguments.load_buffers,
        one_by_one: false,
        trace: false,
        ..settings(arguments)
    };
    let started = Instant::now();
    let mut index = open(arguments, &loading)?;
    for number in 0..arguments.records {
        index.insert(&key(arguments, number), number)?;
    }
    index.settle()?;
    Ok(started.elapsed().as_secs_f64())
}

fn open(arguments: &Arguments, settings: &Settings) -> Outcome<Box<dyn OrderedIndex>> {
    let (folder, fan_out) = (&arguments.folder, settings.fan_out);
    Ok(match arguments.structure {
        Structure::BTree => Box::new(BTree::new(InPlace::open(folder, settings)?, fan_out)?),
        Structure::AsBTree => Box::new(BTree::new(Sequential::open(folder, settings)?, fan_out)?),
        Structure::Bftl => Box::new(BTree::new(Units::open(folder, settings)?, fan_out)?),
        Structure::FdTree => Box::new(FdTree::open(folder, settings)?),
        Structure::LaTree => Box::new(LaTree::open(folder, settings)?),
        Structure::Rolling => {
            let tree = BTree::new(Sequential::open(folder, settings)?, fan_out)?;
            Box::new(Rolling::new(tree, settings))
        }
        Structure::Gannet => Box::new(Rolling::whole(Packed::open(folder, settings)?, settings)),
        Structure::GannetRolling => {
            Box::new(Rolling::new(Packed::open(folder, settings)?, settings))
        }
    })
}

/// The key of a record.
fn key(arguments: &Arguments, number: u64) -> [u8; 8] {
    let key = nth(arguments.seed, number);
    let is_skewed = arguments.keys == Keys::Skewed && number >= arguments.records;
    if is_skewed && nth(key, 0) % 10 < SKEW {
        (key / 10).to_be_bytes()
    } else {
        key.to_be_bytes()
    }
}

impl<'a> Stream<'a> {
    fn new(arguments: &'a Arguments) -> Stream<'a> {
        Stream {
            arguments,
            random: Random::new(arguments.seed, "operations"),
            records: 0..arguments.records,
            updates: 0,
        }
    }

    /// Draws the next operation.
    fn kind(&mut self) -> usize {
        if self.records.is_empty() {
            return 0;
        }
        let mix = &self.arguments.mix;
        let mut drawn = self.random.below(mix.iter().sum());
        let kind = mix.iter().position(|share| {
            let here = drawn < *share;
            drawn = drawn.saturating_sub(*share);
            here
        });
        kind.unwrap_or_default()
    }

    /// Does an operation.
    fn operate(&mut self, index: &mut dyn OrderedIndex, kind: usize) -> Outcome {
        let there = (self.records.end - self.records.start).max(1);
        let number = self.records.start + self.random.below(there as usize) as u64;
        let record = key(self.arguments, number);
        match kind {
            0 => {
                let new = self.records.end;
                self.records.end += 1;
                index.insert(&key(self.arguments, new), new)?;
            }
            1 => {
                let found = index.search(&record)?;
                if found.map(|value| value % (1 << NUMBER_BITS)) != Some(number) {
                    return Err(format!("the record {number} is lost").into());
                }
            }
            2 => {
                self.updates += 1;
                index.insert(&record, self.updates << NUMBER_BITS | number)?;
            }
            3 => {
                index.delete(&key(self.arguments, self.records.start))?;
                self.records.start += 1;
            }
            _ => {
                let found = index.range(&record, self.arguments.range)?;
                if found.first().is_none_or(|(key, _)| key[..] != record) {
                    return Err(format!("a range from record {number} lacks it").into());
                }
            }
        }
        Ok(())
    }
}

impl Done {
    fn add(&mut self, work: Work, seconds: f64) {
        self.count += 1;
        self.work = self.work.and(work);
        self.seconds += seconds;
    }
}

fn kinds(done: &[Done]) -> Map<String, Json> {
    let named = KINDS.iter().zip(done).filter(|(_, done)| done.count > 0);
    let of = |done: &Done| {
        json!({
            "count": done.count,
            "seconds": done.seconds,
            "work": report(done.work),
        })
    };
    named
        .map(|(name, done)| ((*name).to_owned(), of(done)))
        .collect()
}

fn report(work: Work) -> Json {
    json!({
        "reads": work.reads,
        "read_bytes": work.read_bytes,
        "writes": work.writes,
        "written_bytes": work.written_bytes,
        "modelled_read_seconds": work.modelled_read_seconds(),
        "modelled_write_seconds": work.modelled_write_seconds(),
    })
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    #[test]
    fn an_update_is_a_change_even_where_only_changes_are_written() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("nodes");
        let words = [
            "trees",
            folder.to_str().unwrap(),
            "--structure",
            "bftl",
            "--records",
            "100",
        ];
        let matches = Arguments::augment_args(Command::new("trees")).get_matches_from(words);
        let arguments = Arguments::from_arg_matches(&matches).unwrap();
        load(&arguments).unwrap();
        let mut index = open(&arguments, &settings(&arguments)).unwrap();
        let mut stream = Stream::new(&arguments);
        let before = index.work();
        for kind in [2, 1, 2, 1] {
            stream.operate(&mut *index, kind).unwrap();
        }
        index.settle().unwrap();
        assert!(
            index.work().less(before).written_bytes > 0,
            "updates are written"
        );
    }
}
