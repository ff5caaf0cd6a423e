//! Formats of dates, against dates that are spelled in ISO 8601.

use gannet_values::{DateFormats, format_date, parse_date};
use proptest::prelude::*;

#[test]
fn a_text_means_what_begins_with_it() {
    for (formats, text, first, last) in [
        (
            "yyyy-MM-dd",
            "2024-02-29",
            "2024-02-29T00:00:00.000Z",
            "2024-02-29T23:59:59.999Z",
        ),
        (
            "yyyy-MM",
            "2024-02",
            "2024-02-01T00:00:00.000Z",
            "2024-02-29T23:59:59.999Z",
        ),
        (
            "yyyy",
            "2023",
            "2023-01-01T00:00:00.000Z",
            "2023-12-31T23:59:59.999Z",
        ),
        (
            "d.M.yyyy",
            "5.12.2023",
            "2023-12-05T00:00:00.000Z",
            "2023-12-05T23:59:59.999Z",
        ),
        (
            "dd/MMM/yyyy:HH:mm:ss Z",
            "05/Mar/2023:10:11:12 +0200",
            "2023-03-05T08:11:12.000Z",
            "2023-03-05T08:11:12.999Z",
        ),
        ("yyyyMMdd'T'HHmmss.SSSX", "20230305T101112.5", "", ""),
        (
            "basic_date_time",
            "20230305T101112.500Z",
            "2023-03-05T10:11:12.500Z",
            "2023-03-05T10:11:12.500Z",
        ),
        (
            "yyyy-MM-dd HH:mm||epoch_second",
            "2023-03-05 10:11",
            "2023-03-05T10:11:00.000Z",
            "2023-03-05T10:11:59.999Z",
        ),
        (
            "yyyy-MM-dd HH:mm||epoch_second",
            "1.25",
            "1970-01-01T00:00:01.250Z",
            "1970-01-01T00:00:01.259Z",
        ),
        (
            "epoch_second",
            "-1",
            "1969-12-31T23:59:59.000Z",
            "1969-12-31T23:59:59.999Z",
        ),
        (
            "strict_date_optional_time||epoch_millis",
            "1700000000123",
            "2023-11-14T22:13:20.123Z",
            "2023-11-14T22:13:20.123Z",
        ),
        (
            "strict_date_optional_time||epoch_millis",
            "2023",
            "2023-01-01T00:00:00.000Z",
            "2023-12-31T23:59:59.999Z",
        ),
        (
            "epoch_millis||year",
            "2023",
            "1970-01-01T00:00:02.023Z",
            "1970-01-01T00:00:02.023Z",
        ),
        (
            "yyyy-MM-dd''X",
            "2023-03-05'+01:30",
            "2023-03-04T22:30:00.000Z",
            "2023-03-05T22:29:59.999Z",
        ),
        ("yyyy-MM-dd", "2023-02-29", "", ""),
        ("yyyy-MM-dd", "2023-02-28 ", "", ""),
        ("yyyy-MM-dd", "2023-2-28", "", ""),
        ("MMMM yyyy", "Mai 2023", "", ""),
        ("epoch_millis", "", "", ""),
        ("epoch_millis", "99999999999999999", "", ""),
        ("epoch_second", "9223372036854775807", "", ""),
        ("yyyy X", "2023 +19:00", "", ""),
        ("yyyy X", "2023 +1", "", ""),
        ("yyyy X", "2023 é", "", ""),
    ] {
        let found = DateFormats::of(formats).unwrap().read(text);
        let shown = found.map(|range| (format_date(range.first_ms), format_date(range.last_ms)));
        let wanted = (!first.is_empty()).then(|| (first.to_owned(), last.to_owned()));
        assert_eq!(shown, wanted, "{formats} {text}");
    }
}

#[test]
fn a_text_without_a_zone_may_be_of_any() {
    for (formats, text, is_local) in [
        ("iso8601", "2024-02-29", true),
        ("iso8601", "2024-02-29T10:11", true),
        ("iso8601", "2024-02-29T10:11Z", false),
        ("iso8601", "2024-02-29T10:11-05:00", false),
        ("epoch_millis", "7", false),
        ("epoch_second", "7", false),
        ("yyyy X", "2024 Z", false),
        ("yyyy X||yyyy", "2024", true),
    ] {
        let read = DateFormats::of(formats).unwrap().read_with_zone(text);
        assert_eq!(read.map(|read| read.is_local), Some(is_local), "{text}");
    }
}

#[test]
fn formats_that_are_not_known_are_named() {
    for formats in [
        "",
        "yyyy-MM-ddThh",
        "yyyy||",
        "HH:mm",
        "week_date",
        "yyyy'",
        "yy-MM",
    ] {
        let error = DateFormats::of(formats).unwrap_err().to_string();
        assert!(error.contains("no format of dates"), "{error}");
    }
    assert!(DateFormats::of(&"yyyy||".repeat(40)).is_err());
    assert!(DateFormats::of(&"y".repeat(2_000)).is_err());
}

proptest! {
    #[test]
    fn what_a_pattern_prints_is_read_as_the_same_date(ms in -62_167_219_200_000i64..253_402_300_799_999) {
        let iso = format_date(ms);
        let (day, time) = iso.split_at(10);
        let (year, rest) = day.split_at(4);
        let text = format!("{}.{}.{year} {}", &rest[4..6], &rest[1..3], &time[1..13]);
        let formats = DateFormats::of("epoch_second||dd.MM.yyyy HH:mm:ss.SSS").unwrap();
        let read = formats.read(&text).unwrap();
        prop_assert_eq!((read.first_ms, read.last_ms), (ms, ms));
        prop_assert_eq!(parse_date(&iso).map(|range| range.first_ms), Some(read.first_ms));
    }

    #[test]
    fn no_text_and_no_format_panics(format in ".{0,20}", text in ".{0,20}", number in "-?[0-9]{0,20}(\\.[0-9]{0,10})?") {
        if let Ok(formats) = DateFormats::of(&format) {
            formats.read(&text);
        }
        let formats = DateFormats::of("epoch_second||epoch_millis||yyyy-MM-dd X||MMM yyyy").unwrap();
        formats.read(&text);
        formats.read(&number);
    }
}
