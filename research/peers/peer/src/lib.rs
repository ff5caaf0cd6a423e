//! What the peers for comparisons have in common: the command line, what the system says of the
//! process, and the figures by the JSON names of `gannet index` and `gannet bench`. Each peer is a
//! program of its own, so that none builds the libraries of another.

mod bench;
mod options;
mod process;

pub use bench::{Asked, DUMPED, Opened, Run, Work, queries};
pub use options::Options;
pub use process::{Usage, allocated_bytes, peak_resident_bytes};

/// Whatever goes wrong, in words for people.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a command gives: its figures as one JSON object.
pub type Outcome = Result<serde_json::Value, Failure>;

/// Prints what a command gave; ends the process with 1 where it failed.
pub fn finish(program: &str, outcome: Outcome) {
    match outcome {
        Ok(figures) => println!("{figures}"),
        Err(error) => {
            eprintln!("{program}: {error}");
            std::process::exit(1);
        }
    }
}

/// The error for a command that there is not.
pub fn unknown(command: &str) -> Failure {
    format!("unknown command {command:?}, expected index or bench").into()
}
