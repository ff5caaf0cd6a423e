//! A peer for comparisons: Tantivy behind the two commands and the JSON names of `gannet index` and
//! `gannet bench`, so that one script can drive both engines and read both answers.

mod bench;
mod index;
mod words;

use peer::{Options, Outcome};
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() {
    let outcome = Options::from_arguments(std::env::args().skip(1)).and_then(run);
    peer::finish("tantivy-peer", outcome);
}

fn run(options: Options) -> Outcome {
    match options.command.as_str() {
        "index" => index::run(&options),
        "bench" => bench::run(&options),
        other => Err(peer::unknown(other)),
    }
}
