//! The command line.

use std::path::PathBuf;

use crate::trace::Prefix;

/// What a run is told.
#[derive(Debug)]
pub struct Options {
    pub trace: PathBuf,
    /// A folder on the device; what is in it may be overwritten.
    pub folder: PathBuf,
    pub memory: usize,
    pub flash: usize,
    /// The order in memory: `lru`, `lfu`, `s3fifo` or `sieve`.
    pub algorithm: String,
    /// Bytes above which nothing is admitted to flash.
    pub admitted: usize,
    pub block: usize,
    pub prefix: Prefix,
}

const USAGE: &str = "usage: foyer-peer TRACE FOLDER --memory BYTES --flash BYTES [--algorithm lru|lfu|s3fifo|sieve] \
                     [--admitted BYTES] [--block BYTES] [--prefix mean|longest|grows]";

impl Options {
    /// Reads the arguments.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            trace: PathBuf::new(),
            folder: PathBuf::new(),
            memory: 0,
            flash: 0,
            algorithm: "lru".to_owned(),
            admitted: usize::MAX,
            block: 1 << 20,
            prefix: Prefix::Mean,
        };
        let mut places = Vec::new();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                places.push(argument);
                continue;
            }
            let value = arguments
                .next()
                .ok_or(format!("{argument} has no value; {USAGE}"))?;
            options.set(&argument, value)?;
        }
        let [trace, folder] = <[String; 2]>::try_from(places).map_err(|_| USAGE.to_owned())?;
        (options.trace, options.folder) = (trace.into(), folder.into());
        match options.memory > 0 && options.flash > 0 {
            true => Ok(options),
            false => Err(format!("--memory and --flash are needed; {USAGE}")),
        }
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        let number = || {
            value
                .parse::<usize>()
                .map_err(|_| format!("{name} {value}: expected a number of bytes"))
        };
        match name {
            "--memory" => self.memory = number()?,
            "--flash" => self.flash = number()?,
            "--admitted" => self.admitted = number()?,
            "--block" => self.block = number()?,
            "--algorithm" => self.algorithm = value,
            "--prefix" if value == "mean" => self.prefix = Prefix::Mean,
            "--prefix" if value == "longest" => self.prefix = Prefix::Longest,
            "--prefix" if value == "grows" => self.prefix = Prefix::Grows,
            "--prefix" => {
                return Err(format!("--prefix {value}: expected mean, longest or grows"));
            }
            _ => return Err(format!("unknown option {name}; {USAGE}")),
        }
        Ok(())
    }
}
