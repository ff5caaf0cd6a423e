//! Dates in an answer: ISO 8601, milliseconds, or a pattern of Java's letters.

use jiff::civil::DateTime;

use super::zone::{Zone, date_time};

/// The form in which dates are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DateFormat {
    /// As `2020-01-05T10:11:12.123Z`.
    Iso,
    /// Milliseconds since 1970.
    Milliseconds,
    /// Seconds since 1970.
    Seconds,
    /// A pattern: `yyyy-MM-dd'T'HH:mm:ss.SSS`.
    Pattern(String),
}

impl DateFormat {
    /// Reads a format. None if it has a letter that is not supported. Of alternatives, which `||`
    /// parts, the first one prints.
    pub fn of(text: &str) -> Option<DateFormat> {
        let first = text.split("||").next().unwrap_or(text);
        match first {
            "epoch_millis" => Some(DateFormat::Milliseconds),
            "epoch_second" => Some(DateFormat::Seconds),
            "date_time"
            | "strict_date_time"
            | "date_optional_time"
            | "strict_date_optional_time"
            // Dates are whole milliseconds.
            | "strict_date_optional_time_nanos"
            | "iso8601" => Some(DateFormat::Iso),
            "date" | "strict_date" => Some(DateFormat::Pattern("yyyy-MM-dd".to_owned())),
            pattern => {
                let parts = parts(pattern)?;
                (!parts.is_empty()).then(|| DateFormat::Pattern(pattern.to_owned()))
            }
        }
    }

    /// Returns the text in a request.
    pub fn name(&self) -> &str {
        match self {
            DateFormat::Iso => "strict_date_optional_time",
            DateFormat::Milliseconds => "epoch_millis",
            DateFormat::Seconds => "epoch_second",
            DateFormat::Pattern(pattern) => pattern,
        }
    }

    /// Returns a date as text, as clocks of a zone show it. Years of more than four digits have a
    /// sign, as in Java.
    pub fn print(&self, milliseconds: i64, zone: &Zone) -> String {
        let pattern = match self {
            DateFormat::Milliseconds => return milliseconds.to_string(),
            DateFormat::Seconds => return milliseconds.div_euclid(1_000).to_string(),
            DateFormat::Iso => "uuuu-MM-dd'T'HH:mm:ss.SSSXXX",
            DateFormat::Pattern(pattern) => pattern,
        };
        let offset = zone.offset_ms(milliseconds);
        let local = milliseconds.checked_add(offset).and_then(local_time);
        let (Some((local, year)), Some(parts)) = (local, parts(pattern)) else {
            return milliseconds.to_string();
        };
        let number = |letter, width: usize| {
            let number = match letter {
                'M' => i64::from(local.month()),
                'd' => i64::from(local.day()),
                'H' => i64::from(local.hour()),
                'm' => i64::from(local.minute()),
                's' => i64::from(local.second()),
                'S' => i64::from(local.millisecond()),
                letter => return year_text(year, letter, width),
            };
            format!("{number:0width$}")
        };
        let texts = parts.into_iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Zone => zone_text(offset),
            Part::Number(letter, width) => number(letter, width),
        });
        texts.collect()
    }
}

/// The milliseconds after which the calendar begins anew, and the years of it.
const CYCLE_MS: i64 = 146_097 * 86_400_000;
const CYCLE_YEARS: i64 = 400;

/// The date of milliseconds, and its year. One beyond the years of four digits is in a year of the
/// same calendar.
fn local_time(milliseconds: i64) -> Option<(DateTime, i64)> {
    if let Some(time) = date_time(milliseconds) {
        return Some((time, i64::from(time.year())));
    }
    let time = date_time(milliseconds.rem_euclid(CYCLE_MS))?;
    let cycles = milliseconds.div_euclid(CYCLE_MS);
    Some((time, i64::from(time.year()) + cycles * CYCLE_YEARS))
}

fn year_text(year: i64, letter: char, width: usize) -> String {
    if width == 2 {
        return format!("{:02}", year % 100);
    }
    let has_more_digits = year.abs() > 9_999;
    // `y` counts the years before the first from there.
    let year = if has_more_digits && letter == 'y' && year < 0 {
        1 - year
    } else {
        year
    };
    if has_more_digits && width == 4 {
        return format!("{year:+}");
    }
    format!("{year:0width$}")
}

enum Part {
    Text(String),
    Number(char, usize),
    /// `Z` or an offset.
    Zone,
}

/// Parts a pattern, none if a letter is not supported.
fn parts(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter == '\'' {
            let mut text = String::new();
            loop {
                match rest.next()? {
                    '\'' => break,
                    inner => text.push(inner),
                }
            }
            parts.push(Part::Text(if text.is_empty() {
                "'".to_owned()
            } else {
                text
            }));
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            parts.push(Part::Text(letter.to_string()));
            continue;
        }
        let mut width = 1;
        while rest.next_if_eq(&letter).is_some() {
            width += 1;
        }
        parts.push(match (letter, width) {
            ('y' | 'u', 1 | 2 | 4) | ('M' | 'd' | 'H' | 'm' | 's', 1 | 2) | ('S', 3) => {
                Part::Number(letter, width)
            }
            ('X', 3) | ('Z', 1) => Part::Zone,
            _ => return None,
        });
    }
    Some(parts)
}

fn zone_text(offset_ms: i64) -> String {
    if offset_ms == 0 {
        return "Z".to_owned();
    }
    let sign = if offset_ms < 0 { '-' } else { '+' };
    let minutes = offset_ms.abs() / 60_000;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Java 21 prints the first and the last millisecond that a long has.
    #[test]
    fn years_of_more_than_four_digits_have_a_sign() {
        for (format, first, last) in [
            (
                "strict_date_optional_time",
                "-292275055-05-16T16:47:04.192Z",
                "+292278994-08-17T07:12:55.807Z",
            ),
            ("yyyy/MM/dd", "+292275056/05/16", "+292278994/08/17"),
            ("uuuu", "-292275055", "+292278994"),
            ("y-MM", "292275056-05", "292278994-08"),
            (
                "epoch_millis",
                "-9223372036854775808",
                "9223372036854775807",
            ),
        ] {
            let format = DateFormat::of(format).unwrap();
            assert_eq!(format.print(i64::MIN, &Zone::utc()), first);
            assert_eq!(format.print(i64::MAX, &Zone::utc()), last);
        }
        let iso = DateFormat::Iso;
        assert_eq!(iso.print(-1, &Zone::utc()), "1969-12-31T23:59:59.999Z");
    }
}
