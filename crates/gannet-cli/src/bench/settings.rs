//! The resolved arguments of `gannet bench`.

use std::time::Duration;

use gannet::diagnostics::Techniques;
use gannet::{Query, SearchOptions};

use super::queries::{self, ALL_FIELDS};
use crate::arguments::BenchArguments;
use crate::failure::{Failure, Outcome};

/// The longest measurement: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// The resolved arguments of a measurement.
pub struct Settings {
    pub queries: Vec<Query>,
    pub options: SearchOptions,
    pub threads: usize,
    pub group: usize,
    /// Asks for this time before it measures ...
    pub warm: Option<Duration>,
    /// ... ends after this time ...
    pub time: Option<Duration>,
    /// ... or after so many queries.
    pub count_max: usize,
}

impl Settings {
    pub fn resolve(arguments: &BenchArguments) -> Outcome<Settings> {
        let mut queries = queries::read(arguments)?;
        if arguments.distinct {
            queries::keep_distinct(&mut queries);
        }
        let time = arguments.seconds.map(duration).transpose()?;
        let warm = arguments.warm.map(duration).transpose()?;
        let endless = time.is_some() && !arguments.distinct;
        let highlight =
            (arguments.fetch && arguments.field != ALL_FIELDS).then(|| arguments.field.clone());
        Ok(Settings {
            options: SearchOptions {
                k: arguments.k,
                count: arguments.count,
                fetch: arguments.fetch || arguments.ids,
                sources: arguments.fetch,
                highlight: highlight.into_iter().collect(),
                deadline: arguments.timeout.time(),
                list_pages: arguments.trace.is_some(),
                techniques: techniques(&arguments.without),
                ..SearchOptions::default()
            },
            threads: arguments.threads.into(),
            group: arguments.group.into(),
            warm,
            time,
            count_max: if endless { usize::MAX } else { queries.len() },
            queries,
        })
    }
}

/// All techniques but those of these names, which the command line checked.
fn techniques(without: &[String]) -> Techniques {
    let all = Techniques::default();
    without
        .iter()
        .fold(all, |left, name| left.without(name).unwrap_or(left))
}

fn duration(seconds: f64) -> Outcome<Duration> {
    let rejected = || Failure::caller(format!("{seconds} is no time to measure for: give seconds"));
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if time <= LONGEST => Ok(time),
        _ => Err(rejected()),
    }
}
