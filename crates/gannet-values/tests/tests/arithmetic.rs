//! Arithmetic with dates, against a calendar that counts days.

use gannet_values::{DateError, Rounding, date_arithmetic, format_date, parse_date};
use proptest::prelude::*;

use crate::dates::{DAY, day_ms, days_of};

fn evaluate(text: &str, now: &str, rounding: Rounding) -> String {
    let now = parse_date(now).expect("a date").first_ms;
    match date_arithmetic(text, now, rounding) {
        Ok(ms) => format_date(ms),
        Err(error) => error.to_string(),
    }
}

/// The examples of Elasticsearch's documentation, and both ends of a range.
#[test]
fn arithmetic_is_as_elasticsearch_documents_it() {
    let now = "2001-01-01T12:00:00";
    let both = [
        ("now+1h", "2001-01-01T13:00:00.000Z"),
        ("now-1h", "2001-01-01T11:00:00.000Z"),
        ("2001.02.01||", "\"2001.02.01\" is no date"),
        ("2001-02-01||+1M", "2001-03-01T00:00:00.000Z"),
        ("2020-01-31||+1M", "2020-02-29T00:00:00.000Z"),
        ("2020||+1M", "2020-02-01T00:00:00.000Z"),
        ("2020-02-29||+1y", "2021-02-28T00:00:00.000Z"),
        ("now+d", "2001-01-02T12:00:00.000Z"),
        ("now-1w+2H-3m+4s", "2000-12-25T13:57:04.000Z"),
        ("978307200000", "2001-01-01T00:00:00.000Z"),
        ("-86400000||+1d", "1970-01-01T00:00:00.000Z"),
    ];
    for (text, expected) in both {
        for rounding in [Rounding::Down, Rounding::Up] {
            let found = evaluate(text, now, rounding);
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }
    let rounded = [
        (
            "now-1h/d",
            "2001-01-01T00:00:00.000Z",
            "2001-01-01T23:59:59.999Z",
        ),
        (
            "2014-11-18||/M",
            "2014-11-01T00:00:00.000Z",
            "2014-11-30T23:59:59.999Z",
        ),
        (
            "2014-11-18",
            "2014-11-18T00:00:00.000Z",
            "2014-11-18T23:59:59.999Z",
        ),
        (
            "2014-11",
            "2014-11-01T00:00:00.000Z",
            "2014-11-30T23:59:59.999Z",
        ),
        (
            "2014-11-18||/w",
            "2014-11-17T00:00:00.000Z",
            "2014-11-23T23:59:59.999Z",
        ),
        (
            "2014-11-18||/y",
            "2014-01-01T00:00:00.000Z",
            "2014-12-31T23:59:59.999Z",
        ),
        (
            "now/h",
            "2001-01-01T12:00:00.000Z",
            "2001-01-01T12:59:59.999Z",
        ),
        (
            "now/m",
            "2001-01-01T12:00:00.000Z",
            "2001-01-01T12:00:59.999Z",
        ),
        (
            "now/s",
            "2001-01-01T12:00:00.000Z",
            "2001-01-01T12:00:00.999Z",
        ),
        (
            "9999-06-01||/y",
            "9999-01-01T00:00:00.000Z",
            "9999-12-31T23:59:59.999Z",
        ),
    ];
    for (text, down, up) in rounded {
        assert_eq!(evaluate(text, now, Rounding::Down), down, "{text}");
        assert_eq!(evaluate(text, now, Rounding::Up), up, "{text}");
    }
}

/// Mistakes are errors that say what is wrong.
#[test]
fn mistakes_are_errors() {
    let down = |text| date_arithmetic(text, 0, Rounding::Down);
    for text in [
        "now+",
        "now+1",
        "now/2d",
        "now*1d",
        "now+1x",
        "now1d",
        "now+99999999999999999999d",
    ] {
        let error = DateError::Arithmetic(text.to_owned());
        assert_eq!(down(text), Err(error), "{text}");
    }
    for text in ["", "yesterday", "2020-13", "2020+1d"] {
        assert_eq!(down(text), Err(DateError::Date(text.to_owned())), "{text}");
    }
    for text in [
        "now+9000y",
        "now-99999999d",
        "now+9999999999999y",
        "9223372036854775807",
    ] {
        assert_eq!(down(text), Err(DateError::Range(text.to_owned())), "{text}");
    }
}

/// A calendar date and the milliseconds of its day.
#[derive(Clone, Copy)]
struct Calendar {
    year: i64,
    month: i64,
    day: i64,
    ms: i64,
}

impl Calendar {
    fn ms(self) -> i64 {
        day_ms(self.year, self.month, self.day) + self.ms
    }

    fn plus_days(mut self, count: i64) -> Calendar {
        for _ in 0..count.abs() {
            self.day += count.signum();
            if self.day == 0 {
                self = self.plus_months(-1);
                self.day = days_of(self.year, self.month);
            } else if self.day > days_of(self.year, self.month) {
                self.day = 1;
                self = self.plus_months(1);
            }
        }
        self
    }

    fn plus_months(mut self, count: i64) -> Calendar {
        let months = self.year * 12 + self.month - 1 + count;
        (self.year, self.month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        self.day = self.day.min(days_of(self.year, self.month));
        self
    }

    fn plus_ms(mut self, count: i64) -> Calendar {
        let ms = self.ms + count;
        self.ms = ms.rem_euclid(DAY);
        self.plus_days(ms.div_euclid(DAY))
    }

    fn plus(self, count: i64, unit: char) -> Calendar {
        match unit {
            'y' => self.plus_months(count * 12),
            'M' => self.plus_months(count),
            'w' => self.plus_days(count * 7),
            'd' => self.plus_days(count),
            'h' => self.plus_ms(count * 3_600_000),
            'm' => self.plus_ms(count * 60_000),
            _ => self.plus_ms(count * 1_000),
        }
    }

    fn begin(mut self, unit: char) -> Calendar {
        self.ms = match unit {
            'h' => self.ms / 3_600_000 * 3_600_000,
            'm' => self.ms / 60_000 * 60_000,
            's' => self.ms / 1_000 * 1_000,
            _ => 0,
        };
        match unit {
            'y' => (self.month, self.day) = (1, 1),
            'M' => self.day = 1,
            'w' => {
                // The first day of 1970 was a Thursday.
                let day = (day_ms(self.year, self.month, self.day) / DAY + 3).rem_euclid(7);
                self = self.plus_days(-day);
            }
            _ => {}
        }
        self
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    /// Random terms give what counting days gives.
    #[test]
    fn arithmetic_counts_days_as_a_calendar(
        year in 1900..2100_i64,
        month in 1..=12_i64,
        day in 1..=31_i64,
        ms in 0..DAY,
        terms in prop::collection::vec((0..3_usize, 0..100_i64, prop::sample::select(vec!['y', 'M', 'w', 'd', 'h', 'm', 's'])), 0..4),
        is_up in any::<bool>(),
    ) {
        let day = day.min(days_of(year, month));
        let mut calendar = Calendar { year, month, day, ms };
        let now = calendar.ms();
        let mut text = "now".to_owned();
        for (kind, count, unit) in terms {
            let sign = ['+', '-', '/'][kind];
            if sign == '/' {
                text.push_str(&format!("/{unit}"));
                calendar = calendar.begin(unit);
                if is_up {
                    calendar = calendar.plus(1, unit).plus_ms(-1);
                }
            } else {
                text.push_str(&format!("{sign}{count}{unit}"));
                calendar = calendar.plus(if sign == '+' { count } else { -count }, unit);
            }
        }
        let rounding = if is_up { Rounding::Up } else { Rounding::Down };
        prop_assert_eq!(date_arithmetic(&text, now, rounding), Ok(calendar.ms()), "{}", text);
    }

    /// Any text is evaluated without panics.
    #[test]
    fn any_text_is_evaluated(text in "(now|2020|9999-12-31|)(\\|\\|)?[-+/0-9yMwdhms]{0,14}", now in any::<i64>()) {
        let _ = date_arithmetic(&text, now, Rounding::Down);
        let _ = date_arithmetic(&text, now, Rounding::Up);
    }
}
