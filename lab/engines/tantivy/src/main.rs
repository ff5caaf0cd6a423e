//! A peer for comparisons: Tantivy behind the two commands and the JSON names of `gannet index` and
//! `gannet bench`, so that one script can drive both engines and read both answers.

mod bench;
mod index;
mod options;
mod process;
mod words;

use options::Options;

/// What a command gives: its figures as one JSON object.
type Outcome = Result<serde_json::Value, Box<dyn std::error::Error + Send + Sync>>;

fn main() {
    let outcome =
        Options::from_arguments(std::env::args().skip(1)).and_then(|options| {
            match options.command.as_str() {
                "index" => index::run(&options),
                "bench" => bench::run(&options),
                other => Err(format!("unknown command {other:?}, expected index or bench").into()),
            }
        });
    match outcome {
        Ok(figures) => println!("{figures}"),
        Err(error) => {
            eprintln!("tantivy-peer: {error}");
            std::process::exit(1);
        }
    }
}
