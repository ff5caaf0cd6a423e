//! `run STORE FOLDER`: a mix of operations on what `load` made.

use std::time::Instant;

use peer::{Failure, Outcome, Usage, allocated_bytes, peak_resident_bytes};
use serde_json::{Map, Value, json};

use crate::latency::Latency;
use crate::options::Options;
use crate::records::{Random, Records};
use crate::stores::{self, Index, Store};

/// The kinds of operations in the order of `--mix`, and the commit of a transaction.
const KINDS: [&str; 6] = ["insert", "search", "update", "delete", "range", "commit"];
const INSERT: usize = 0;
const SEARCH: usize = 1;
const UPDATE: usize = 2;
const DELETE: usize = 3;
const COMMIT: usize = 5;
/// Keys of a range.
const RANGE_KEYS: usize = 100;
/// Write operations of a transaction.
const COMMIT_EVERY: u64 = 1000;

/// What happened in the phase of operations.
struct Phase {
    seconds: f64,
    used: Usage,
    latencies: Vec<Latency>,
}

/// Runs the operations and makes their changes durable.
pub fn run(options: &Options) -> Outcome {
    if options.mix.iter().sum::<u64>() != 100 {
        return Err("--mix expects five shares that are 100 together".into());
    }
    let phase = stores::with(options, |store| {
        expect_loaded(store, options)?;
        operate(store, options)
    })?;
    let by_kind = |figure: &dyn Fn(&Latency) -> Value| -> Map<String, Value> {
        let kinds = KINDS.iter().zip(&phase.latencies);
        kinds
            .map(|(kind, times)| (kind.to_string(), figure(times)))
            .collect()
    };
    Ok(json!({
        "store": options.store, "version": stores::version(&options.store), "records": options.records,
        "operations": options.operations, "mix": options.mix, "seed": options.seed,
        "commit_every": options.commit_every.unwrap_or(COMMIT_EVERY), "cache_bytes": options.cache_bytes,
        "seconds": phase.seconds, "count": by_kind(&|times| times.count.into()),
        "p50_us": by_kind(&|times| times.percentile(0.50).into()),
        "p99_us": by_kind(&|times| times.percentile(0.99).into()),
        "file_bytes": allocated_bytes(&options.folder)?,
        "read_bytes": phase.used.bytes_read, "written_bytes": phase.used.bytes_dirtied,
        "cancelled_bytes": phase.used.bytes_cancelled, "cpu_seconds": phase.used.cpu_seconds,
        "peak_memory_bytes": peak_resident_bytes(),
    }))
}

/// Whether exactly the records that the options name are there.
fn expect_loaded(store: &mut dyn Store, options: &Options) -> Result<(), Failure> {
    let records = loaded(options);
    store.batch(&mut |index| {
        let there = |number| Ok::<_, Failure>(index.get(records.key(number))? == Some(number));
        match there(0)? && there(records.next - 1)? && !there(records.next)? {
            true => Ok(()),
            false => Err(
                "expected the records that load made and none else: give the --records and --seed \
                 that load was given, and load anew after a run"
                    .into(),
            ),
        }
    })
}

fn loaded(options: &Options) -> Records {
    Records {
        first: 0,
        next: options.records,
        seed: options.seed,
    }
}

fn operate(store: &mut dyn Store, options: &Options) -> Result<Phase, Failure> {
    let every = options.commit_every.unwrap_or(COMMIT_EVERY);
    let mut records = loaded(options);
    let mut random = Random::new(options.seed ^ 0x5555);
    let mut latencies: Vec<Latency> = KINDS.iter().map(|_| Latency::new()).collect();
    let mut found = Vec::with_capacity(RANGE_KEYS);
    let (begin, start) = (Usage::now(), Instant::now());
    let mut left = options.operations;
    while left > 0 {
        let mut worked = start;
        store.batch(&mut |index| {
            let mut writes = 0;
            let mut clock = Instant::now();
            while left > 0 && writes < every {
                let kind = draw(&options.mix, &mut random);
                perform(kind, index, &mut records, &mut random, &mut found)?;
                worked = Instant::now();
                latencies[kind].add(worked - clock);
                clock = worked;
                writes += u64::from(matches!(kind, INSERT | UPDATE | DELETE));
                left -= 1;
            }
            Ok(())
        })?;
        latencies[COMMIT].add(worked.elapsed());
    }
    store.finish()?;
    Ok(Phase {
        seconds: start.elapsed().as_secs_f64(),
        used: Usage::now().since(begin),
        latencies,
    })
}

/// A random kind of operation by the shares of the mix.
fn draw(mix: &[u64; 5], random: &mut Random) -> usize {
    let mut at = random.below(100);
    let mut kind = 0;
    while at >= mix[kind] {
        at -= mix[kind];
        kind += 1;
    }
    kind
}

fn perform(
    kind: usize,
    index: &mut dyn Index,
    records: &mut Records,
    random: &mut Random,
    found: &mut Vec<(u64, u64)>,
) -> Result<(), Failure> {
    if kind == INSERT {
        index.insert(records.key(records.next), records.next)?;
        records.next += 1;
        return Ok(());
    }
    let number = match kind {
        DELETE => (records.first < records.next).then_some(records.first),
        _ => records.any(random),
    };
    let number =
        number.ok_or("expected a record to be left, found none: load more or delete less")?;
    let key = records.key(number);
    let right = match kind {
        SEARCH => index.get(key)? == Some(number),
        UPDATE => index.insert(key, number).map(|()| true)?,
        DELETE => {
            records.first += 1;
            index.delete(key)?
        }
        _ => {
            found.clear();
            index.range(key, RANGE_KEYS, found)?;
            found.first() == Some(&(key, number))
        }
    };
    match right {
        true => Ok(()),
        false => {
            Err(format!("the key {key:016x} is lost: expected its value to be {number}").into())
        }
    }
}
