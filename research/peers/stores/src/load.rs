//! `load STORE FOLDER`: a new store with the records 0..N.

use std::time::Instant;

use peer::{Failure, Outcome, allocated_bytes};
use serde_json::json;

use crate::options::Options;
use crate::records::Records;
use crate::stores::{self, Store};

/// Transactions of a load, if `--commit-every` does not say otherwise: enough that nodes are split
/// as they are when records come in one by one, and few enough that each writes many records to a
/// node.
const TRANSACTIONS: u64 = 16;

/// Inserts the records in the order of their numbers; those of one transaction sorted by key.
pub fn load(options: &Options) -> Outcome {
    let start = Instant::now();
    stores::with(options, |store| fill(store, options))?;
    Ok(json!({
        "store": options.store, "version": stores::version(&options.store), "records": options.records,
        "load_seconds": start.elapsed().as_secs_f64(), "file_bytes": allocated_bytes(&options.folder)?,
    }))
}

fn fill(store: &mut dyn Store, options: &Options) -> Result<(), Failure> {
    let every = options.commit_every;
    let every = every.unwrap_or(options.records.div_ceil(TRANSACTIONS));
    let mut records = Records {
        first: 0,
        next: 0,
        seed: options.seed,
    };
    let mut batch = Vec::new();
    while records.next < options.records {
        let end = options.records.min(records.next.saturating_add(every));
        batch.clear();
        batch.extend((records.next..end).map(|number| (records.key(number), number)));
        batch.sort_unstable();
        store.batch(&mut |index| {
            batch
                .iter()
                .try_for_each(|&(key, number)| index.insert(key, number))
        })?;
        records.next = end;
    }
    store.settle()?;
    store.finish()
}
