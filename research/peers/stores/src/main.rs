//! Peers for comparisons of ordered indexes: the key-value stores redb, fjall and LMDB behind one
//! pair of commands, with keys of 8 bytes (big-endian) and values of 8 bytes (little-endian).

mod latency;
mod load;
mod options;
mod records;
mod run;
mod stores;

use options::Options;

fn main() {
    let outcome = Options::from_arguments(std::env::args().skip(1)).and_then(|options| {
        let outcome: peer::Outcome = match options.command.as_str() {
            "load" => load::load(&options),
            "run" => run::run(&options),
            other => return Err(format!("expected load or run, found {other:?}").into()),
        };
        outcome.map_err(|error| {
            let (store, folder) = (&options.store, options.folder.display());
            format!("{store} in {folder}: {error}").into()
        })
    });
    peer::finish("stores-peer", outcome);
}
