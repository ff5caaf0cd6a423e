//! The arguments of both commands.

use std::path::PathBuf;
use std::str::FromStr;

use peer::Failure;

/// The command line.
pub struct Options {
    /// `load` or `run`.
    pub command: String,
    /// `redb`, `fjall` or `lmdb`.
    pub store: String,
    pub folder: PathBuf,
    /// Records that `load` makes and `run` finds.
    pub records: u64,
    pub operations: u64,
    /// Of 100 operations so many insert, search, update, delete, and read a range.
    pub mix: [u64; 5],
    pub seed: u64,
    /// The store's own memory.
    pub cache_bytes: usize,
    /// Write operations of a transaction.
    pub commit_every: Option<u64>,
}

impl Options {
    /// Reads the arguments after the program's name.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut place = |what: &str| arguments.next().ok_or(format!("expected {what}"));
        let mut options = Self {
            command: place("load or run")?,
            store: place("a store after the command")?,
            folder: place("a folder after the store")?.into(),
            records: 0,
            operations: 0,
            mix: [0; 5],
            seed: 1,
            cache_bytes: 256 << 20,
            commit_every: None,
        };
        while let Some(flag) = arguments.next() {
            match flag.as_str() {
                "--records" => options.records = number(&flag, &mut arguments)?,
                "--operations" => options.operations = number(&flag, &mut arguments)?,
                "--seed" => options.seed = number(&flag, &mut arguments)?,
                "--cache-bytes" => options.cache_bytes = number(&flag, &mut arguments)?,
                "--commit-every" => options.commit_every = Some(number(&flag, &mut arguments)?),
                "--mix" => {
                    for share in &mut options.mix {
                        *share = number(&flag, &mut arguments)?;
                    }
                }
                other => return Err(format!("unknown argument {other:?}").into()),
            }
        }
        if options.records == 0 {
            return Err("--records expects the number of records loaded, at least 1".into());
        }
        if options.commit_every == Some(0) {
            return Err("--commit-every expects at least 1, found 0".into());
        }
        Ok(options)
    }
}

fn number<T: FromStr>(
    flag: &str,
    arguments: &mut impl Iterator<Item = String>,
) -> Result<T, Failure> {
    let text = arguments.next().ok_or(format!("{flag} needs a value"))?;
    text.parse()
        .map_err(|_| format!("{flag} expects a number, found {text:?}").into())
}
