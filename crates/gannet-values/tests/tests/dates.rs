//! Dates as text, against a calendar that counts days.

use gannet_values::{
    DATE_MAX_MS, DATE_MIN_MS, DateRange, format_date, parse_date, parse_full_date,
};
use proptest::prelude::*;

pub const DAY: i64 = 86_400_000;

/// Returns the days of a month.
pub fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the milliseconds of a day, counted year by year and month by month.
pub fn day_ms(year: i64, month: i64, day: i64) -> i64 {
    let of_year = |year| (1..=12).map(|month| days_of(year, month)).sum::<i64>();
    let mut days: i64 = (1970..year).map(of_year).sum::<i64>();
    days -= (year..1970).map(of_year).sum::<i64>();
    days += (1..month).map(|month| days_of(year, month)).sum::<i64>();
    (days + day - 1) * DAY
}

/// A date with as many of its parts as are written.
#[derive(Clone, Debug)]
struct Written {
    parts: [i64; 6],
    count: usize,
    fraction: String,
    zone: Option<(i64, &'static str)>,
}

fn written() -> impl Strategy<Value = Written> {
    let parts = (
        1..=9_999_i64,
        1..=12_i64,
        1..=31_i64,
        0..24_i64,
        0..60_i64,
        0..60_i64,
    );
    let zones = prop::sample::select(vec![
        None,
        Some((0, "Z")),
        Some((120, "+02:00")),
        Some((-330, "-0530")),
        Some((60, "+01")),
    ]);
    (parts, 1..=7_usize, "[0-9]{1,9}", zones).prop_map(|(parts, count, fraction, zone)| {
        let (year, month, day, hour, minute, second) = parts;
        let day = day.min(days_of(year, month));
        Written {
            parts: [year, month, day, hour, minute, second],
            count,
            fraction,
            zone: zone.filter(|_| count > 3),
        }
    })
}

impl Written {
    fn text(&self) -> String {
        let [year, parts @ ..] = self.parts;
        let mut text = format!("{year:04}");
        for (part, before) in parts
            .iter()
            .zip(["-", "-", "T", ":", ":"])
            .take(self.count - 1)
        {
            text.push_str(&format!("{before}{part:02}"));
        }
        if self.count == 7 {
            text.push_str(&format!(".{}", self.fraction));
        }
        text.push_str(self.zone.map_or("", |(_, text)| text));
        text
    }

    fn range(&self) -> DateRange {
        let [year, month, day, hour, minute, second] = self.parts;
        let (month, day) = (
            if self.count > 1 { month } else { 1 },
            if self.count > 2 { day } else { 1 },
        );
        let times = [(hour, 3_600_000), (minute, 60_000), (second, 1_000)];
        let given = times.iter().take(self.count.saturating_sub(3));
        let mut first_ms = day_ms(year, month, day);
        first_ms += given.map(|(part, unit)| part * unit).sum::<i64>();
        first_ms -= self.zone.map_or(0, |(minutes, _)| minutes * 60_000);
        let digits = self.fraction.len().min(3) as u32;
        let unit = 10_i64.pow(3 - digits);
        let length = match self.count {
            1 => day_ms(year + 1, 1, 1) - day_ms(year, 1, 1),
            2 => days_of(year, month) * DAY,
            3 => DAY,
            4 => 3_600_000,
            5 => 60_000,
            6 => 1_000,
            _ => unit,
        };
        if self.count == 7 {
            let fraction: i64 = self.fraction[..digits as usize].parse().expect("digits");
            first_ms += fraction * unit;
        }
        DateRange {
            first_ms,
            last_ms: first_ms + length - 1,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    /// A date means the milliseconds from its first to its last one.
    #[test]
    fn a_date_means_all_that_begins_with_it(written in written()) {
        let range = written.range();
        let is_date = DATE_MIN_MS <= range.first_ms && range.last_ms <= DATE_MAX_MS;
        let text = written.text();
        prop_assert_eq!(parse_date(&text), is_date.then_some(range), "{}", text);
        let full = (is_date && written.count > 2).then_some(range.first_ms);
        prop_assert_eq!(parse_full_date(&text), full);
        prop_assert_eq!(parse_date(&text.replace('T', " ")), parse_date(&text));
    }

    /// A date is read as it is printed.
    #[test]
    fn dates_are_read_as_they_are_printed(ms in day_ms(0, 1, 1)..=DATE_MAX_MS) {
        let range = DateRange { first_ms: ms, last_ms: ms };
        prop_assert_eq!(parse_date(&format_date(ms)), Some(range));
    }

    /// Any text and any number are read and printed without panics.
    #[test]
    fn any_text_is_read_as_a_date(text in "[0-9TZ:. +-]{0,28}", ms in any::<i64>()) {
        let _ = (parse_date(&text), format_date(ms));
        if let Some(range) = parse_date(&text) {
            prop_assert!(range.first_ms <= range.last_ms);
        }
    }
}

/// Dates that are none are not read.
#[test]
fn what_is_no_date_is_not_read() {
    let wrong = [
        "",
        "20",
        "202",
        "20200",
        "2020-",
        "2020-1",
        "2020-13",
        "2020-00",
        "2020-02-30",
        "2019-02-29",
        "2020-01-05T",
        "2020-01-05T24",
        "2020-01-05T10:60",
        "2020-01-05T10:11:60",
        "2020-01-05Z",
        "2020-01-05T10:11:12.",
        "2020-01-05T10:11:12.1234567890",
        "2020-01-05T10+19:00",
        "2020-01-05T10+02:0",
        "2020-01-05T10+02:",
        "2020-01-05T10+2",
        "2020-01-05 ",
        " 2020",
        "2020-01T10",
        "2020-01-05X10",
        "20200105",
        "now",
        "\u{661}\u{661}\u{661}\u{661}",
    ];
    for text in wrong {
        assert_eq!(parse_date(text), None, "{text}");
    }
}

/// The ends of what dates can be, and their text.
#[test]
fn the_ends_of_dates_are_printed() {
    assert_eq!(format_date(DATE_MAX_MS), "9999-12-31T23:59:59.999Z");
    assert_eq!(format_date(DATE_MIN_MS), "-009999-01-01T00:00:00.000Z");
    assert_eq!(format_date(DATE_MAX_MS + 1), (DATE_MAX_MS + 1).to_string());
    assert_eq!(format_date(-1), "1969-12-31T23:59:59.999Z");
    assert_eq!(
        parse_date("9999").map(|range| range.last_ms),
        Some(DATE_MAX_MS)
    );
    assert_eq!(parse_date("9999-12-31T23:30-01:00"), None);
}
