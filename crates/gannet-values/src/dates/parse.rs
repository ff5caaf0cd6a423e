//! Dates from text: ISO 8601 from the year down to the fraction of a second, with a zone.
//!
//! A text means all milliseconds that begin with it: `2020-01` is the whole month. So a date has a
//! first and a last millisecond, and the ends of a range take the one that fits.

use jiff::civil::{DateTime, date};

use super::civil::{DATE_MAX_MS, DATE_MIN_MS, milliseconds};

/// The milliseconds that a written date means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateRange {
    /// The first of them, in UTC since 1970.
    pub first_ms: i64,
    /// The last of them.
    pub last_ms: i64,
}

/// Reads a date: `2020`, `2020-01`, `2020-01-05`, `2020-01-05T10`, `2020-01-05T10:11`,
/// `2020-01-05T10:11:12`, `2020-01-05T10:11:12.123`, the last four with `Z`, `+02:00`, `+0200` or
/// `+02`. A space may stand for `T`. None if it is no such date.
pub fn parse_date(text: &str) -> Option<DateRange> {
    read(text).map(|(range, _)| range)
}

/// Reads a date that has at least year, month and day, and returns its first millisecond.
pub fn parse_full_date(text: &str) -> Option<i64> {
    let (range, has_day) = read(text)?;
    has_day.then_some(range.first_ms)
}

/// Returns the date, and if it has a day.
fn read(text: &str) -> Option<(DateRange, bool)> {
    let mut rest = Rest {
        bytes: text.as_bytes(),
    };
    let year = rest.number(4)?;
    let (mut month, mut day) = (None, None);
    if rest.take(b"-") {
        month = Some(rest.number(2)?);
        if rest.take(b"-") {
            day = Some(rest.number(2)?);
        }
    }
    let has_day = day.is_some();
    let (mut time, mut zone) = (Time::default(), 0);
    if has_day && rest.take(b"Tt ") {
        time = rest.time()?;
        zone = rest.zone()?;
    }
    if !rest.bytes.is_empty() {
        return None;
    }
    let first = first(year, month, day, &time)?;
    let length = length(first, month, day, &time)?;
    let first_ms = milliseconds(first)
        .checked_add(time.milliseconds)?
        .checked_sub(zone)?;
    let last_ms = first_ms.checked_add(length)?.checked_sub(1)?;
    let is_date = DATE_MIN_MS <= first_ms && last_ms <= DATE_MAX_MS;
    is_date.then_some((DateRange { first_ms, last_ms }, has_day))
}

fn first(year: i16, month: Option<i16>, day: Option<i16>, time: &Time) -> Option<DateTime> {
    let month = i8::try_from(month.unwrap_or(1)).ok()?;
    let day = i8::try_from(day.unwrap_or(1)).ok()?;
    let [hour, minute, second] = [time.hour, time.minute, time.second]
        .map(|part| i8::try_from(part.unwrap_or(0)).unwrap_or(i8::MAX));
    DateTime::new(year, month, day, hour, minute, second, 0).ok()
}

/// Returns the milliseconds that begin with what was written.
fn length(first: DateTime, month: Option<i16>, day: Option<i16>, time: &Time) -> Option<i64> {
    const DAY: i64 = 86_400_000;
    if let Some(length) = time.length() {
        return Some(length);
    }
    let days = match (month, day) {
        (_, Some(_)) => 1,
        (Some(_), None) => i64::from(first.days_in_month()),
        (None, None) => i64::from(date(first.year(), 1, 1).days_in_year()),
    };
    days.checked_mul(DAY)
}

/// The time of a day as far as it was written.
#[derive(Default)]
struct Time {
    hour: Option<i16>,
    minute: Option<i16>,
    second: Option<i16>,
    /// Of the fraction.
    milliseconds: i64,
    /// The milliseconds that begin with the fraction, if there is one.
    of_fraction: Option<i64>,
}

impl Time {
    fn length(&self) -> Option<i64> {
        self.of_fraction
            .or(self.second.map(|_| 1_000))
            .or(self.minute.map(|_| 60_000))
            .or(self.hour.map(|_| 3_600_000))
    }
}

/// The text that remains to be read.
struct Rest<'a> {
    bytes: &'a [u8],
}

impl Rest<'_> {
    fn take(&mut self, any_of: &[u8]) -> bool {
        match self.bytes.split_first() {
            Some((first, rest)) if any_of.contains(first) => {
                self.bytes = rest;
                true
            }
            _ => false,
        }
    }

    fn digit(&mut self) -> Option<i16> {
        let (first, rest) = self.bytes.split_first()?;
        let digit = first.is_ascii_digit().then(|| i16::from(first - b'0'))?;
        self.bytes = rest;
        Some(digit)
    }

    /// Reads exactly so many digits, at most four.
    fn number(&mut self, digits: usize) -> Option<i16> {
        let mut number = 0;
        for _ in 0..digits {
            number = number * 10 + self.digit()?;
        }
        Some(number)
    }

    fn time(&mut self) -> Option<Time> {
        let mut time = Time {
            hour: Some(self.number(2)?),
            ..Time::default()
        };
        if self.take(b":") {
            time.minute = Some(self.number(2)?);
            if self.take(b":") {
                time.second = Some(self.number(2)?);
                if self.take(b".,") {
                    self.fraction(&mut time)?;
                }
            }
        }
        Some(time)
    }

    /// Reads 1 to 9 digits. What is below a millisecond is dropped.
    fn fraction(&mut self, time: &mut Time) -> Option<()> {
        let mut unit = 1_000;
        time.milliseconds = i64::from(self.digit()?) * 100;
        unit /= 10;
        for _ in 1..9 {
            let Some(digit) = self.digit() else {
                break;
            };
            unit /= 10;
            time.milliseconds += i64::from(digit) * unit;
        }
        time.of_fraction = Some(unit.max(1));
        Some(())
    }

    /// Reads the zone, if there is one, and returns its offset in milliseconds.
    fn zone(&mut self) -> Option<i64> {
        if self.take(b"Zz") {
            return Some(0);
        }
        let sign = match self.bytes.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Some(0),
        };
        self.take(b"+-");
        let hours = self.number(2)?;
        let has_minutes = self.take(b":") || !self.bytes.is_empty();
        let minutes = if has_minutes { self.number(2)? } else { 0 };
        // ISO 8601 and Java's zones end at 18 hours.
        let is_zone = hours <= 18 && minutes < 60 && hours * 60 + minutes <= 18 * 60;
        is_zone.then(|| sign * i64::from(hours * 60 + minutes) * 60_000)
    }
}
