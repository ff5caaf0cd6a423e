//! Time limits as people write and read them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use gannet::Options;

/// Units by the letters that stand behind a number, longest first among those that end alike.
const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// The word that stands for no limit.
const NONE: &str = "none";

/// A time limit, written like `500ms`, `10s`, `2m` or `none`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimit(Option<Duration>);

impl TimeLimit {
    /// These options with this limit for the log.
    pub fn of_log(self, options: Options) -> Options {
        self.0
            .map_or(options.clone(), |most| options.log_time(most))
    }

    /// The time; nothing if there is no limit.
    pub fn time(self) -> Option<Duration> {
        self.0
    }
}

impl FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeLimit, String> {
        let lower = text.trim().to_ascii_lowercase();
        if lower == NONE {
            return Ok(TimeLimit(None));
        }
        let mut units = UNITS.iter();
        let found = units.find_map(|(name, seconds)| Some((lower.strip_suffix(name)?, *seconds)));
        let (number, unit) = found.unwrap_or((&lower, 1.0));
        let seconds = number.trim().parse::<f64>().map(|number| number * unit);
        let time = seconds.ok().filter(|seconds| *seconds > 0.0);
        let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match time {
            Some(time) => Ok(TimeLimit(Some(time))),
            None => Err(format!(
                "{text:?} is no time limit; write it like 500ms, 10s, 2m, or none"
            )),
        }
    }
}

impl fmt::Display for TimeLimit {
    /// So that it reads back as the same limit.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => out.write_str(NONE),
            Some(time) if time.subsec_nanos() == 0 => write!(out, "{}s", time.as_secs()),
            Some(time) => write!(out, "{}ms", time.as_secs_f64() * 1_000.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_and_without_units() {
        for (text, limit) in [
            ("500ms", Some(Duration::from_millis(500))),
            ("10s", Some(Duration::from_secs(10))),
            ("1.5 S", Some(Duration::from_millis(1_500))),
            ("2m", Some(Duration::from_secs(120))),
            ("1h", Some(Duration::from_secs(3_600))),
            ("7", Some(Duration::from_secs(7))),
            ("none", None),
        ] {
            let read: TimeLimit = text.parse().unwrap();
            assert_eq!(read.time(), limit, "{text}");
            assert_eq!(read.to_string().parse(), Ok(read), "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_is_answered_with_examples() {
        for text in ["", "s", "-1s", "0", "nan", "1e400", "3 weeks"] {
            let error = text.parse::<TimeLimit>().unwrap_err();
            assert!(error.contains("500ms") && error.contains("none"), "{error}");
        }
    }
}
