//! A peer for comparisons: SeekStorm behind the commands and the JSON names of `gannet index` and
//! `gannet bench`. One script can drive both engines and read both answers.

mod advice;
mod asked;
mod bench;
mod index;
mod words;

use peer::{Options, Outcome};
use seekstorm::INDEX_RUNTIME;

fn main() {
    let outcome = Options::from_arguments(std::env::args().skip(1)).and_then(run);
    peer::finish("seekstorm-peer", outcome);
}

/// Runs a command on SeekStorm's own runtime, which indexes and searches whoever calls it.
fn run(options: Options) -> Outcome {
    match options.command.as_str() {
        "index" => INDEX_RUNTIME.block_on(index::run(&options)),
        "bench" => INDEX_RUNTIME.block_on(bench::run(&options)),
        other => Err(peer::unknown(other)),
    }
}
