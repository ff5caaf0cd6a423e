//! Caches of a search engine in tiers, as the hybrid cache paper compares them (Li et al., 2012).
//!
//! A [`Cache`] owns entries and their sizes; a [`Policy`] decides which of them goes. So far there
//! is one tier of results, under LRU ([`Lru`]): the command asks the queries of a log and prints
//! the hit ratio by capacity (the line RC of the paper's figure 14a, on another log).

mod cache;
mod lru;
mod policy;

use std::path::PathBuf;

use serde_json::json;

use crate::Outcome;

pub use cache::Cache;
pub use lru::Lru;
pub use policy::Policy;

/// Bytes of a result entry in the paper: 50 documents of 400 bytes.
const RESULT_BYTES: u64 = 50 * 400;

/// The arguments of `gannet-lab tiers`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The log: lines of NAME<TAB>WORDS, in the order in which they were asked
    log: PathBuf,
    /// Bytes of the cache
    #[arg(long, num_args = 1.., default_values_t = [1 << 20, 5 << 20, 20 << 20, 50 << 20, 100 << 20, 200 << 20])]
    capacities: Vec<u64>,
    /// Bytes of an entry
    #[arg(long, default_value_t = RESULT_BYTES)]
    entry_bytes: u64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let path = arguments.log.display();
    let log = std::fs::read_to_string(&arguments.log);
    let log = log.map_err(|error| format!("{path}: {error}"))?;
    let queries = log
        .lines()
        .enumerate()
        .map(|(at, line)| match line.split_once('\t') {
            Some((_, words)) => Ok(words),
            None => Err(format!(
                "{path}, line {}: expected a name, a tab and words",
                at + 1
            )),
        });
    let queries: Vec<&str> = queries.collect::<Result<_, _>>()?;
    let ratios = arguments.capacities.iter().map(|capacity| {
        let hits = result_hits(&queries, *capacity, arguments.entry_bytes);
        json!({ "capacity": capacity, "hits": hits, "hit_ratio": hits as f64 / queries.len().max(1) as f64 })
    });
    let ratios: Vec<_> = ratios.collect();
    let report = json!({
        "policy": "lru", "queries": queries.len(), "entry_bytes": arguments.entry_bytes,
        "capacities": ratios,
    });
    println!("{report}");
    Ok(())
}

/// Queries that find their results in a cache that takes each result that it had not.
fn result_hits(queries: &[&str], capacity: u64, entry_bytes: u64) -> usize {
    let mut cache = Cache::new(capacity, Lru::default());
    let asked = queries.iter().filter(|query| {
        let is_hit = cache.ask(*query);
        if !is_hit {
            cache.admit(**query, entry_bytes);
        }
        is_hit
    });
    asked.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fits_is_found_again() {
        let queries = ["a", "b", "a", "c", "b", "a"];
        assert_eq!(result_hits(&queries, 0, 10), 0, "nothing fits");
        assert_eq!(
            result_hits(&queries, 20, 10),
            1,
            "two fit, and a third drives the oldest out"
        );
        assert_eq!(result_hits(&queries, 30, 10), 3, "all fit");
    }
}
