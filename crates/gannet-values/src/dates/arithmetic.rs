//! Arithmetic with dates as Elasticsearch writes it: `now-7d/d`, `2020-01-05||+1M/d`.
//!
//! Terms are carried out from left to right in UTC. Rounding takes the first millisecond of the
//! unit at a lower end of a range, and the last one at an upper end.

use jiff::civil::{DateTime, Time};
use jiff::{Span, ToSpan};

use super::civil::{DATE_MAX_MS, DATE_MIN_MS, date_time, milliseconds};
use super::parse::parse_date;

/// The direction in which a date that means several milliseconds is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the first millisecond: `gte` and `lt`.
    Down,
    /// To the last millisecond: `lte` and `gt`.
    Up,
}

/// A text that is no date and no arithmetic with dates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    /// The part before the arithmetic is no date.
    #[error(
        "\"{0}\" is no date: write it as 2020, 2020-01, 2020-01-05 or 2020-01-05T10:11:12.123+02:00, \
         as milliseconds since 1970, or begin with now"
    )]
    Date(String),
    /// The arithmetic has a mistake.
    #[error(
        "\"{0}\" is no arithmetic with dates: write terms such as +1M, -7d or /d, with the units y, M, \
         w, d, h, m and s"
    )]
    Arithmetic(String),
    /// The result is before the year -9999 or after 9999.
    #[error("\"{0}\" is outside of the years that dates have, -9999 to 9999")]
    Range(String),
}

/// Evaluates a date, or arithmetic with one, and returns UTC milliseconds.
///
/// The text is `now` or a date, with `||` after the date if arithmetic follows. A whole number of
/// five digits or more is milliseconds since 1970. Without arithmetic, a date is rounded as
/// [`parse_date`] says; with `||` it is its first millisecond, as Elasticsearch has it.
pub fn date_arithmetic(text: &str, now_ms: i64, rounding: Rounding) -> Result<i64, DateError> {
    let (begin, terms) = match text.strip_prefix("now") {
        Some(terms) => (now_ms, terms),
        None => match text.split_once("||") {
            Some((date, terms)) => (anchor(date, Rounding::Down)?, terms),
            None => return anchor(text, rounding),
        },
    };
    add_date_terms(begin, terms, rounding).map_err(|error| match error {
        DateError::Range(_) => DateError::Range(text.to_owned()),
        DateError::Arithmetic(_) => DateError::Arithmetic(text.to_owned()),
        other => other,
    })
}

/// Carries out terms such as `-7d/d` from a date on, and returns UTC milliseconds.
pub fn add_date_terms(begin_ms: i64, terms: &str, rounding: Rounding) -> Result<i64, DateError> {
    let range = || DateError::Range(terms.to_owned());
    let mut time = date_time(begin_ms).ok_or_else(range)?;
    let mut rest = terms;
    while !rest.is_empty() {
        let (term, after) =
            read_term(rest).ok_or_else(|| DateError::Arithmetic(terms.to_owned()))?;
        time = term.carry_out(time, rounding).ok_or_else(range)?;
        rest = after;
    }
    Ok(milliseconds(time))
}

fn anchor(text: &str, rounding: Rounding) -> Result<i64, DateError> {
    if let Some(milliseconds) = written_milliseconds(text) {
        let is_date = (DATE_MIN_MS..=DATE_MAX_MS).contains(&milliseconds);
        return is_date
            .then_some(milliseconds)
            .ok_or_else(|| DateError::Range(text.to_owned()));
    }
    let range = parse_date(text).ok_or_else(|| DateError::Date(text.to_owned()))?;
    Ok(match rounding {
        Rounding::Down => range.first_ms,
        Rounding::Up => range.last_ms,
    })
}

/// Four digits are a year, so only longer numbers are milliseconds.
fn written_milliseconds(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.len() > 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

impl Unit {
    fn of(letter: char) -> Option<Unit> {
        match letter {
            'y' => Some(Unit::Year),
            'M' => Some(Unit::Month),
            'w' => Some(Unit::Week),
            'd' => Some(Unit::Day),
            'h' | 'H' => Some(Unit::Hour),
            'm' => Some(Unit::Minute),
            's' => Some(Unit::Second),
            _ => None,
        }
    }

    fn span(self, count: i64) -> Option<Span> {
        let span = Span::new();
        match self {
            Unit::Year => span.try_years(count),
            Unit::Month => span.try_months(count),
            Unit::Week => span.try_weeks(count),
            Unit::Day => span.try_days(count),
            Unit::Hour => span.try_hours(count),
            Unit::Minute => span.try_minutes(count),
            Unit::Second => span.try_seconds(count),
        }
        .ok()
    }

    /// Returns the begin of the unit in which a time is. Weeks begin on Monday.
    fn begin(self, time: DateTime) -> Option<DateTime> {
        let day = time.date().to_datetime(Time::midnight());
        match self {
            Unit::Year => Some(day.date().first_of_year().to_datetime(Time::midnight())),
            Unit::Month => Some(day.date().first_of_month().to_datetime(Time::midnight())),
            Unit::Week => {
                let since = day.weekday().to_monday_zero_offset();
                day.checked_sub(i64::from(since).days()).ok()
            }
            Unit::Day => Some(day),
            Unit::Hour => Some(time.date().at(time.hour(), 0, 0, 0)),
            Unit::Minute => Some(time.date().at(time.hour(), time.minute(), 0, 0)),
            Unit::Second => Some(time.date().at(time.hour(), time.minute(), time.second(), 0)),
        }
    }
}

enum Term {
    Add(i64, Unit),
    Round(Unit),
}

impl Term {
    fn carry_out(&self, time: DateTime, rounding: Rounding) -> Option<DateTime> {
        match self {
            Term::Add(count, unit) => time.checked_add(unit.span(*count)?).ok(),
            Term::Round(unit) => {
                let begin = unit.begin(time)?;
                match rounding {
                    Rounding::Down => Some(begin),
                    Rounding::Up => last_of(begin, *unit),
                }
            }
        }
    }
}

fn last_of(begin: DateTime, unit: Unit) -> Option<DateTime> {
    // One less before the addition, so that the last year of all has an end.
    let below = begin.checked_add(unit.span(1)?);
    match below {
        Ok(next) => next.checked_sub(1.millisecond()).ok(),
        Err(_) => date_time(DATE_MAX_MS),
    }
}

/// Reads one term, and returns it with what follows.
fn read_term(text: &str) -> Option<(Term, &str)> {
    let mut rest = text.chars();
    let operation = rest.next()?;
    let rest = rest.as_str();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (count, rest) = rest.split_at(digits);
    let mut after = rest.chars();
    let unit = Unit::of(after.next()?)?;
    let count = if count.is_empty() {
        1
    } else {
        count.parse().ok()?
    };
    let term = match operation {
        '+' => Term::Add(count, unit),
        '-' => Term::Add(-count, unit),
        '/' if count == 1 => Term::Round(unit),
        _ => return None,
    };
    Some((term, after.as_str()))
}
