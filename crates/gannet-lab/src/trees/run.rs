//! A mix of operations on one structure, and what it did with the device.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::device::X25_E;
use super::{
    BTree, FdTree, InPlace, LaTree, NODE_BYTES, OrderedIndex, Sequential, Settings, Units, Work,
};
use crate::Outcome;
use crate::random::Random;

/// Nodes in memory while the records are loaded, which is not measured.
const LOAD_CACHE: usize = 16_384;
const LOAD_BUFFER: usize = 1_024;

/// Keys of a range.
const RANGE: usize = 100;

/// The arguments of `gannet-lab trees`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder, which must not be there
    folder: PathBuf,
    /// The structure: b-tree, as-b-tree, bftl, fd-tree or la-tree
    #[arg(long)]
    structure: String,
    /// Records that are there before anything is measured
    #[arg(long, default_value_t = 400_000)]
    records: usize,
    /// Operations that are measured
    #[arg(long, default_value_t = 100_000)]
    operations: usize,
    /// Of a hundred operations so many insert, search, update, delete and go through a range
    #[arg(long, num_args = 5, default_values_t = [100, 0, 0, 0, 0])]
    mix: Vec<usize>,
    /// Keys of a node at most
    #[arg(long, default_value_t = 256)]
    fan_out: usize,
    /// Changed nodes that are written together
    #[arg(long, default_value_t = 32)]
    write_buffer: usize,
    /// Nodes of the buffer cache
    #[arg(long, default_value_t = 0)]
    cache: usize,
    /// Nodes that lie apart are written in one batch, in place of one after the other
    #[arg(long)]
    batched: bool,
    /// What the choice of keys starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    if arguments.folder.exists() {
        return Err(format!(
            "{} is there already: name another folder",
            arguments.folder.display()
        )
        .into());
    }
    let settings = Settings {
        fan_out: arguments.fan_out,
        write_buffer: arguments.write_buffer,
        cache: arguments.cache,
        one_by_one: !arguments.batched,
        ..Settings::default()
    };
    let loading = Settings {
        cache: LOAD_CACHE,
        write_buffer: LOAD_BUFFER,
        one_by_one: false,
        ..settings
    };
    let mut index = open(arguments, &loading)?;
    let mut random = Random::new(arguments.seed, "trees");
    let mut keys = Vec::with_capacity(arguments.records + arguments.operations);
    let started = Instant::now();
    for _ in 0..arguments.records {
        insert(&mut *index, &mut random, &mut keys)?;
    }
    index.settle()?;
    drop(index);
    let load_seconds = started.elapsed().as_secs_f64();
    let mut index = open(arguments, &settings)?;
    let before = index.work();
    let started = Instant::now();
    for _ in 0..arguments.operations {
        operate(&mut *index, &arguments.mix, &mut random, &mut keys)?;
    }
    index.settle()?;
    let seconds = started.elapsed().as_secs_f64();
    let report = json!({
        "structure": arguments.structure,
        "records": arguments.records,
        "operations": arguments.operations,
        "mix": arguments.mix,
        "fan_out": settings.fan_out,
        "write_buffer": settings.write_buffer,
        "cache": settings.cache,
        "batched": !settings.one_by_one,
        "node_bytes": NODE_BYTES,
        "load_seconds": load_seconds,
        "seconds": seconds,
        "file_bytes": index.file_bytes(),
        "work": report(index.work().less(before)),
        "model": X25_E.name,
    });
    println!("{report}");
    Ok(())
}

fn open(arguments: &Arguments, settings: &Settings) -> Outcome<Box<dyn OrderedIndex>> {
    let (folder, fan_out) = (&arguments.folder, settings.fan_out);
    Ok(match arguments.structure.as_str() {
        "b-tree" => Box::new(BTree::new(InPlace::open(folder, settings)?, fan_out)?),
        "as-b-tree" => Box::new(BTree::new(Sequential::open(folder, settings)?, fan_out)?),
        "bftl" => Box::new(BTree::new(Units::open(folder, settings)?, fan_out)?),
        "fd-tree" => Box::new(FdTree::open(folder, settings)?),
        "la-tree" => Box::new(LaTree::open(folder, settings)?),
        other => {
            let known = "b-tree, as-b-tree, bftl, fd-tree, la-tree";
            return Err(format!("no structure is called {other}: there are {known}").into());
        }
    })
}

fn insert(index: &mut dyn OrderedIndex, random: &mut Random, keys: &mut Vec<u64>) -> Outcome {
    let key = random.next();
    index.insert(&key.to_be_bytes(), keys.len() as u64)?;
    keys.push(key);
    Ok(())
}

/// Does one operation of the mix.
fn operate(
    index: &mut dyn OrderedIndex,
    mix: &[usize],
    random: &mut Random,
    keys: &mut Vec<u64>,
) -> Outcome {
    let mut drawn = random.below(mix.iter().sum::<usize>().max(1));
    let which = mix.iter().position(|share| {
        let here = drawn < *share;
        drawn = drawn.wrapping_sub(*share);
        here
    });
    if which == Some(0) || keys.is_empty() {
        return insert(index, random, keys);
    }
    let at = random.below(keys.len());
    let key = keys[at].to_be_bytes();
    match which {
        Some(1) => {
            let found = index.search(&key)?;
            if found.is_none() {
                return Err(format!("the key {} is lost", keys[at]).into());
            }
        }
        Some(2) => index.insert(&key, at as u64)?,
        Some(3) => {
            index.delete(&key)?;
            keys.swap_remove(at);
        }
        _ => drop(index.range(&key, RANGE)?),
    }
    Ok(())
}

fn report(work: Work) -> Json {
    json!({
        "reads": work.reads,
        "read_bytes": work.read_bytes,
        "writes": work.writes,
        "written_bytes": work.written_bytes,
        "modelled_read_seconds": work.modelled_read_seconds,
        "modelled_write_seconds": work.modelled_write_seconds,
    })
}
