//! The arguments of both commands: flags with one value each, switches, and places.

use std::collections::HashMap;
use std::time::Duration;

use crate::Failure;

const SWITCHES: [&str; 6] = [
    "--json",
    "--count",
    "--fetch",
    "--distinct",
    "--merge",
    "--random-advice",
];

/// The command line, taken apart but not yet judged.
pub struct Options {
    /// `index` or `bench`.
    pub command: String,
    /// What is no flag: the index folder first, then files.
    pub places: Vec<String>,
    values: HashMap<String, String>,
}

impl Options {
    /// Takes the arguments apart; a flag that is no switch takes the argument after it.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let command = arguments.next().ok_or("expected index or bench")?;
        let (mut places, mut values) = (Vec::new(), HashMap::new());
        while let Some(argument) = arguments.next() {
            if SWITCHES.contains(&argument.as_str()) {
                values.insert(argument, String::new());
            } else if argument.starts_with('-') && argument != "-" {
                let value = arguments
                    .next()
                    .ok_or(format!("{argument} needs a value"))?;
                values.insert(argument, value);
            } else {
                places.push(argument);
            }
        }
        if places.len() < 2 {
            return Err("expected an index folder and at least one file".into());
        }
        Ok(Self {
            command,
            places,
            values,
        })
    }

    /// The number given with `flag`, or `default`.
    pub fn number(&self, flag: &str, default: usize) -> Result<usize, Failure> {
        let given = self.values.get(flag).map(|value| value.parse());
        given
            .unwrap_or(Ok(default))
            .map_err(|_| format!("{flag} expects a number").into())
    }

    /// The seconds given with `flag`.
    pub fn seconds(&self, flag: &str) -> Result<Option<Duration>, Failure> {
        let Some(text) = self.text(flag) else {
            return Ok(None);
        };
        let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
        match seconds {
            Some(Ok(time)) => Ok(Some(time)),
            _ => Err(format!("{flag} expects seconds, found {text:?}").into()),
        }
    }

    /// The text given with `flag`.
    pub fn text(&self, flag: &str) -> Option<&str> {
        self.values.get(flag).map(String::as_str)
    }

    /// Whether the switch was given.
    pub fn has(&self, switch: &str) -> bool {
        self.values.contains_key(switch)
    }
}
