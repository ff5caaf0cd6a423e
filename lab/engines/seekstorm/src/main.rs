//! A peer for comparisons: SeekStorm behind the commands and the JSON names of `gannet index` and
//! `gannet bench`. One script can drive both engines and read both answers.

mod advice;
mod asked;
mod bench;
mod index;
mod options;
mod process;
mod words;

use std::error::Error;

use options::Options;
use seekstorm::INDEX_RUNTIME;

/// Whatever goes wrong, in words for people.
type Failure = Box<dyn Error + Send + Sync>;

/// What a command gives: its figures as one JSON object.
type Outcome = Result<serde_json::Value, Failure>;

fn main() {
    let outcome = Options::from_arguments(std::env::args().skip(1)).and_then(run);
    match outcome {
        Ok(figures) => println!("{figures}"),
        Err(error) => {
            eprintln!("seekstorm-peer: {error}");
            std::process::exit(1);
        }
    }
}

/// Runs a command on SeekStorm's own runtime, which indexes and searches whoever calls it.
fn run(options: Options) -> Outcome {
    match options.command.as_str() {
        "index" => INDEX_RUNTIME.block_on(index::run(&options)),
        "bench" => INDEX_RUNTIME.block_on(bench::run(&options)),
        other => Err(format!("unknown command {other:?}, expected index or bench").into()),
    }
}
