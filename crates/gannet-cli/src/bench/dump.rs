//! Writes the best documents of the first queries down, in the form that other engines' programs
//! write too.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use gannet::{SearchOptions, Snapshot};
use serde_json::{Value, json};

use super::settings::Settings;
use crate::failure::{Failure, Outcome};
use crate::search::score;

/// The number of queries that are written down.
const DUMPED: usize = 200;

/// Asks the first queries once more, outside of the measurement, since IDs are only known with
/// documents.
pub fn write(path: &Path, snapshot: &Snapshot, settings: &Settings) -> Outcome<()> {
    let unwritable = |error| Failure::file(path, &error);
    let mut file = BufWriter::new(File::create(path).map_err(unwritable)?);
    let options = SearchOptions {
        fetch: true,
        sources: false,
        highlight: Vec::new(),
        ..settings.options.clone()
    };
    for (number, query) in settings.queries.iter().take(DUMPED).enumerate() {
        let results = snapshot
            .search_all(std::slice::from_ref(query), &options)
            .swap_remove(0)?;
        let hits = results.hits.iter();
        let hits: Vec<Value> = hits
            .map(|hit| json!({"id": hit.id, "score": score(hit.score)}))
            .collect();
        let total = settings.options.count.then_some(results.total);
        let row = json!({"query": number, "total": total, "hits": hits});
        writeln!(file, "{row}").map_err(unwritable)?;
    }
    file.flush().map_err(unwritable)
}
