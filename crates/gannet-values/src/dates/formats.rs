//! Formats in which dates are written, as Elasticsearch names them: `epoch_millis`,
//! `strict_date_optional_time`, or a pattern such as `yyyy-MM-dd HH:mm`; several with `||` between.
//!
//! A text is read by the first format that takes it. It means all milliseconds that begin with it:
//! `2020-01` in the format `yyyy-MM` is the whole month.

use std::fmt;

use jiff::civil::{DateTime, date};

use super::civil::{DATE_MAX_MS, milliseconds};
use super::parse::{DateRange, parse_date};

/// Formats of one field, at most.
const FORMATS_MAX: usize = 16;

/// Characters of all formats of a field, at most.
const CHARACTERS_MAX: usize = 512;

/// The first millisecond of the year 0, before which no format reads a date.
const YEAR_0_MS: i64 = -62_167_219_200_000;

const DAY_MS: i64 = 86_400_000;

/// Formats in which dates are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormats {
    text: String,
    formats: Vec<Format>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Format {
    /// ISO 8601, from the year on.
    Iso,
    /// Milliseconds since 1970.
    Milliseconds,
    /// Seconds since 1970, perhaps with a fraction.
    Seconds,
    Pattern(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(char),
    Number(Unit, Width),
    /// The name of a month in English, of three letters or whole.
    MonthName,
    /// An offset such as `Z`, `+0200` or `+02:00`.
    Zone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    /// Digits behind the second.
    Fraction,
}

/// The digits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Width {
    least: usize,
    most: usize,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A date that was read, with what its text says of its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadDate {
    /// The milliseconds that the text means, in UTC unless it is local.
    pub range: DateRange,
    /// Set if the text has no zone, and is no count of time: it may be one of any zone.
    pub is_local: bool,
}

/// A format that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no format of dates: write strict_date_optional_time, epoch_millis, epoch_second, or a pattern with the \
     letters y, M, d, H, m, s, S and X, such as yyyy-MM-dd HH:mm; several with || between"
)]
pub struct FormatError(String);

impl DateFormats {
    /// Reads formats, with `||` between them.
    pub fn of(text: &str) -> Result<DateFormats, FormatError> {
        let parts: Vec<&str> = text.split("||").collect();
        if parts.len() > FORMATS_MAX || text.chars().count() > CHARACTERS_MAX {
            let begin = text.chars().take(40).collect();
            return Err(FormatError(begin));
        }
        let read = |part: &&str| Format::of(part).ok_or_else(|| FormatError((*part).to_owned()));
        Ok(DateFormats {
            text: text.to_owned(),
            formats: parts.iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the text that they were read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads a date of the years 0 to 9999 in the first format that takes it.
    pub fn read(&self, text: &str) -> Option<DateRange> {
        self.read_with_zone(text).map(|read| read.range)
    }

    /// The same with what the text says of its zone.
    pub fn read_with_zone(&self, text: &str) -> Option<ReadDate> {
        let mut formats = self.formats.iter();
        let found = formats.find_map(|format| {
            let is_local = format.is_local(text);
            format.read(text).map(|range| ReadDate { range, is_local })
        })?;
        let range = found.range;
        let is_date = YEAR_0_MS <= range.first_ms && range.last_ms <= DATE_MAX_MS;
        is_date.then_some(found)
    }
}

impl fmt::Display for DateFormats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Format {
    fn of(name: &str) -> Option<Format> {
        let pattern = match name {
            "epoch_millis" => return Some(Format::Milliseconds),
            "epoch_second" => return Some(Format::Seconds),
            "date_optional_time"
            | "strict_date_optional_time"
            | "strict_date_optional_time_nanos"
            | "date_time"
            | "strict_date_time"
            | "date_time_no_millis"
            | "strict_date_time_no_millis"
            | "iso8601" => return Some(Format::Iso),
            "date" | "strict_date" | "year_month_day" | "strict_year_month_day" => "yyyy-MM-dd",
            "year_month" | "strict_year_month" => "yyyy-MM",
            "year" | "strict_year" => "yyyy",
            "basic_date" => "yyyyMMdd",
            "basic_date_time" => "yyyyMMdd'T'HHmmss.SSSX",
            "basic_date_time_no_millis" => "yyyyMMdd'T'HHmmssX",
            "date_hour_minute_second" | "strict_date_hour_minute_second" => "yyyy-MM-dd'T'HH:mm:ss",
            own => own,
        };
        let parts = parts(pattern)?;
        let has_year = parts
            .iter()
            .any(|part| matches!(part, Part::Number(Unit::Year, _)));
        has_year.then_some(Format::Pattern(parts))
    }

    /// Returns true if a date in this format may be one of any zone.
    fn is_local(&self, text: &str) -> bool {
        match self {
            Format::Iso => {
                let behind_day = text.get("0000-00-00".len()..).unwrap_or_default();
                !behind_day.contains(['Z', 'z', '+', '-'])
            }
            Format::Milliseconds | Format::Seconds => false,
            Format::Pattern(parts) => !parts.contains(&Part::Zone),
        }
    }

    fn read(&self, text: &str) -> Option<DateRange> {
        match self {
            Format::Iso => parse_date(text),
            Format::Milliseconds => {
                let first_ms = whole(text)?;
                Some(DateRange {
                    first_ms,
                    last_ms: first_ms,
                })
            }
            Format::Seconds => seconds(text),
            Format::Pattern(parts) => read_pattern(parts, text),
        }
    }
}

/// Reads a whole number, which may be spelled as a fraction of zeros.
fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

fn seconds(text: &str) -> Option<DateRange> {
    let (seconds, fraction) = match text.split_once('.') {
        Some((seconds, fraction)) => (seconds, Some(fraction)),
        None => (text, None),
    };
    let first_ms = whole(seconds)?.checked_mul(1_000)?;
    let Some(fraction) = fraction else {
        return Some(DateRange {
            first_ms,
            last_ms: first_ms.checked_add(999)?,
        });
    };
    let (below, unit) = fraction_ms(fraction)?;
    let below = if seconds.starts_with('-') {
        -below
    } else {
        below
    };
    let first_ms = first_ms.checked_add(below)?;
    Some(DateRange {
        first_ms,
        last_ms: first_ms.checked_add(unit - 1)?,
    })
}

/// The milliseconds of digits behind a second, and those that begin with them.
fn fraction_ms(digits: &str) -> Option<(i64, i64)> {
    let is_fraction = (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_fraction {
        return None;
    }
    let shown = digits.get(..3).unwrap_or(digits);
    let unit = 10_i64.pow(3 - shown.len() as u32);
    Some((shown.parse::<i64>().ok()? * unit, unit))
}

/// Parts a pattern, none if a letter is not known.
fn parts(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter == '\'' {
            let mut is_empty = true;
            loop {
                match rest.next()? {
                    '\'' => break,
                    inner => parts.push(Part::Literal(inner)),
                }
                is_empty = false;
            }
            if is_empty {
                parts.push(Part::Literal('\''));
            }
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            parts.push(Part::Literal(letter));
            continue;
        }
        let mut count = 1;
        while rest.next_if_eq(&letter).is_some() {
            count += 1;
        }
        parts.push(part(letter, count)?);
    }
    (!parts.is_empty()).then_some(parts)
}

fn part(letter: char, count: usize) -> Option<Part> {
    let unit = match (letter, count) {
        ('y' | 'u', 4) => {
            let width = Width { least: 4, most: 4 };
            return Some(Part::Number(Unit::Year, width));
        }
        ('M', 3 | 4) => return Some(Part::MonthName),
        ('X' | 'x' | 'Z', 1..=3) => return Some(Part::Zone),
        ('S', 1..=9) => {
            let width = Width {
                least: count,
                most: count,
            };
            return Some(Part::Number(Unit::Fraction, width));
        }
        ('M', 1 | 2) => Unit::Month,
        ('d', 1 | 2) => Unit::Day,
        ('H', 1 | 2) => Unit::Hour,
        ('m', 1 | 2) => Unit::Minute,
        ('s', 1 | 2) => Unit::Second,
        _ => return None,
    };
    let width = Width {
        least: count,
        most: 2,
    };
    Some(Part::Number(unit, width))
}

/// The numbers of a date as far as they were written.
#[derive(Default)]
struct Written<'t> {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    hour: Option<i8>,
    minute: Option<i8>,
    second: Option<i8>,
    fraction: Option<&'t str>,
    zone_ms: i64,
}

fn read_pattern(parts: &[Part], text: &str) -> Option<DateRange> {
    let mut rest = text;
    let mut written = Written::default();
    for part in parts {
        rest = match part {
            Part::Literal(wanted) => rest.strip_prefix(*wanted)?,
            Part::MonthName => {
                let (month, behind) = month_name(rest)?;
                written.month = Some(month);
                behind
            }
            Part::Zone => {
                let (zone_ms, behind) = zone(rest)?;
                written.zone_ms = zone_ms;
                behind
            }
            Part::Number(unit, width) => {
                let digits = rest.bytes().take(width.most);
                let length = digits.take_while(u8::is_ascii_digit).count();
                if length < width.least {
                    return None;
                }
                let (digits, behind) = rest.split_at(length);
                written.set(*unit, digits)?;
                behind
            }
        };
    }
    if rest.is_empty() {
        written.range()
    } else {
        None
    }
}

impl<'t> Written<'t> {
    fn set(&mut self, unit: Unit, digits: &'t str) -> Option<()> {
        let small = || digits.parse::<i8>().ok();
        match unit {
            Unit::Year => self.year = Some(digits.parse().ok()?),
            Unit::Month => self.month = Some(small()?),
            Unit::Day => self.day = Some(small()?),
            Unit::Hour => self.hour = Some(small()?),
            Unit::Minute => self.minute = Some(small()?),
            Unit::Second => self.second = Some(small()?),
            Unit::Fraction => self.fraction = Some(digits),
        }
        Some(())
    }

    /// The milliseconds that begin with what was written; without a month it is January, and so on.
    fn range(&self) -> Option<DateRange> {
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        let [hour, minute, second] =
            [self.hour, self.minute, self.second].map(|part| part.unwrap_or(0));
        let first = DateTime::new(self.year?, month, day, hour, minute, second, 0).ok()?;
        let fraction = self.fraction.map(fraction_ms);
        let (below, length) = match fraction {
            Some(fraction) => fraction?,
            None => (0, self.length(first)),
        };
        let first_ms = milliseconds(first)
            .checked_add(below)?
            .checked_sub(self.zone_ms)?;
        Some(DateRange {
            first_ms,
            last_ms: first_ms.checked_add(length - 1)?,
        })
    }

    /// The milliseconds of the least unit that was written.
    fn length(&self, first: DateTime) -> i64 {
        if self.second.is_some() {
            1_000
        } else if self.minute.is_some() {
            60_000
        } else if self.hour.is_some() {
            3_600_000
        } else if self.day.is_some() {
            DAY_MS
        } else if self.month.is_some() {
            i64::from(first.days_in_month()) * DAY_MS
        } else {
            i64::from(date(first.year(), 1, 1).days_in_year()) * DAY_MS
        }
    }
}

/// Reads the name of a month, whole or its first three letters.
fn month_name(text: &str) -> Option<(i8, &str)> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = text.split_at(letters);
    let name = name.to_ascii_lowercase();
    let is_meant = |month: &&str| **month == name || name.len() == 3 && month.starts_with(&name);
    let at = MONTHS.iter().position(is_meant)?;
    Some((at as i8 + 1, rest))
}

/// Reads an offset in milliseconds.
fn zone(text: &str) -> Option<(i64, &str)> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Some((0, rest));
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = two_digits(rest)?;
    let behind = rest.strip_prefix(':').unwrap_or(rest);
    let (minutes, rest) = match two_digits(behind) {
        Some(read) => read,
        None if behind.len() == rest.len() => (0, rest),
        None => return None,
    };
    // ISO 8601 and Java's zones end at 18 hours.
    let is_zone = minutes < 60 && hours * 60 + minutes <= 18 * 60;
    is_zone.then_some((sign * (hours * 60 + minutes) * 60_000, rest))
}

fn two_digits(text: &str) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits
        .then(|| digits.parse().ok())?
        .map(|number| (number, rest))
}
