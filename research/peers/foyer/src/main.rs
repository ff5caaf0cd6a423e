//! The foyer peer: a trace of `gannet-lab tiers --trace` through foyer's hybrid cache.
//!
//! A query asks for its result and, if that is nowhere, for the prefix of each of its lists. What
//! is nowhere is inserted with as many bytes as the trace says. The first half of the trace warms
//! the cache, the second half is counted. One JSON object is printed.

mod options;
mod run;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let done = options::Options::parse(std::env::args().skip(1)).and_then(|options| {
        let queries = trace::read(&options.trace, options.prefix)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
        runtime.block_on(run::run(&options, &queries))
    });
    match done {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("foyer-peer: {error}");
            ExitCode::FAILURE
        }
    }
}
