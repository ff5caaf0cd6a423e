//! Dates in an answer: ISO 8601, milliseconds, or a pattern of Java's letters.

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

    /// Returns a date as text, as clocks of a zone show it.
    pub fn print(&self, milliseconds: i64, zone: &Zone) -> String {
        let pattern = match self {
            DateFormat::Milliseconds => return milliseconds.to_string(),
            DateFormat::Seconds => return milliseconds.div_euclid(1_000).to_string(),
            DateFormat::Iso => "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            DateFormat::Pattern(pattern) => pattern,
        };
        let offset = zone.offset_ms(milliseconds);
        let local = milliseconds.checked_add(offset).and_then(date_time);
        let (Some(local), Some(parts)) = (local, parts(pattern)) else {
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
                _ if width == 2 => i64::from(local.year()) % 100,
                _ => i64::from(local.year()),
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
