//! Intervals of time in zones, against going through time minute by minute.

use gannet_aggregate::{DateFormat, Interval, Step, Unit, Zone};
use proptest::prelude::*;

const MINUTE: i64 = 60_000;

fn zones() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Sao_Paulo",
        "Asia/Kathmandu",
        "+05:30",
        "-09:30",
        "Africa/Casablanca",
    ])
}

fn steps() -> impl Strategy<Value = Step> {
    let units = [
        Unit::Minute,
        Unit::Hour,
        Unit::Day,
        Unit::Week,
        Unit::Month,
        Unit::Quarter,
        Unit::Year,
    ];
    let lengths = [
        MINUTE,
        15 * MINUTE,
        60 * MINUTE,
        90 * MINUTE,
        720 * MINUTE,
        1_440 * MINUTE,
    ];
    prop_oneof![
        prop::sample::select(units.to_vec()).prop_map(Step::Calendar),
        prop::sample::select(lengths.to_vec()).prop_map(Step::Fixed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// A date is in the interval that begins at or before it and ends after it; a begin is its own.
    #[test]
    fn intervals_follow_each_other(
        zone in zones(),
        step in steps(),
        offset in -30_i64..30,
        // 1960 to 2040, in minutes.
        minute in -5_259_600_i64..36_816_480,
    ) {
        let interval = Interval {
            step,
            zone: Zone::of(zone).expect("a zone"),
            offset_ms: offset * 60 * MINUTE,
        };
        let time = minute * MINUTE + 7;
        let begin = interval.begin(time);
        let next = interval.next(begin);
        prop_assert!(begin <= time, "{} {}", begin, time);
        prop_assert_eq!(interval.begin(begin), begin);
        prop_assert!(next > begin);
        prop_assert_eq!(interval.begin(next), next);
        prop_assert!(next > time, "{} to {} at {}", begin, next, time);
        prop_assert_eq!(interval.begin(next - 1), begin);
    }

    /// Days, months and years begin when clocks show midnight, or at the first time after it.
    #[test]
    fn days_begin_at_midnight(zone in zones(), minute in 0_i64..36_816_480) {
        let zone = Zone::of(zone).expect("a zone");
        let text = DateFormat::of("yyyy-MM-dd HH:mm").expect("a format");
        let interval = |unit| Interval { step: Step::Calendar(unit), zone: zone.clone(), offset_ms: 0 };
        let time = minute * MINUTE;
        let (now, day) = (text.print(time, &zone), interval(Unit::Day).begin(time));
        let begin = text.print(day, &zone);
        prop_assert_eq!(&now[..10], &begin[..10]);
        let before = text.print(day - MINUTE, &zone);
        prop_assert!(before[..10] != begin[..10] || begin.ends_with("00:00"), "{} {}", before, begin);
        let month = text.print(interval(Unit::Month).begin(time), &zone);
        prop_assert_eq!(format!("{}-01", &now[..7]), &month[..10]);
        let year = text.print(interval(Unit::Year).begin(time), &zone);
        prop_assert_eq!(format!("{}-01-01", &now[..4]), &year[..10]);
    }

    /// Formats print any time without panics, and unknown letters are rejected.
    #[test]
    fn any_format_is_read(text in "[a-zA-Z' :.-]{0,12}", ms in any::<i64>()) {
        if let Some(format) = DateFormat::of(&text) {
            let _ = format.print(ms, &Zone::utc());
        }
    }
}

/// A day on which clocks are set forward has 23 hours, one on which they are set back 25.
#[test]
fn days_have_23_to_25_hours() {
    let hours = |unit, date: &str| {
        let interval = Interval {
            step: Step::Calendar(unit),
            zone: Zone::of("Europe/Berlin").expect("a zone"),
            offset_ms: 0,
        };
        let noon = gannet_values::parse_date(date).expect("a date").first_ms;
        let begin = interval.begin(noon);
        let end = interval.next(begin);
        let hour = Interval {
            step: Step::Calendar(Unit::Hour),
            ..interval
        };
        let mut hours = 0;
        let mut at = begin;
        while at < end {
            at = hour.next(at);
            hours += 1;
        }
        (end - begin, hours)
    };
    assert_eq!(hours(Unit::Day, "2023-03-26T12"), (23 * 3_600_000, 23));
    assert_eq!(hours(Unit::Day, "2023-10-29T12"), (25 * 3_600_000, 25));
    assert_eq!(hours(Unit::Day, "2023-06-01T12"), (24 * 3_600_000, 24));
}

/// Dates are printed in patterns, and as clocks of a zone show them.
#[test]
fn dates_are_printed_in_formats() {
    let time = 1_577_934_671_123;
    let print = |format, zone| {
        let format = DateFormat::of(format).expect("a format");
        format.print(time, &Zone::of(zone).expect("a zone"))
    };
    assert_eq!(
        print("strict_date_optional_time", "UTC"),
        "2020-01-02T03:11:11.123Z"
    );
    assert_eq!(
        print("strict_date_optional_time", "+01:00"),
        "2020-01-02T04:11:11.123+01:00"
    );
    assert_eq!(print("epoch_millis", "+01:00"), "1577934671123");
    assert_eq!(
        print("yyyy-MM-dd'T'HH:mm", "America/New_York"),
        "2020-01-01T22:11"
    );
    assert_eq!(print("dd.M.yy||epoch_millis", "UTC"), "02.1.20");
    assert_eq!(DateFormat::of("yyyy-QQ"), None);
    assert!(Zone::of("Europe/Nowhere").is_err());
}
