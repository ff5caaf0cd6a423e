//! Dates as text.

use super::civil::date_time;

/// Returns a date in ISO 8601 with milliseconds and `Z`, such as `2020-01-05T10:11:12.123Z`. Years
/// before 0 have a sign and six digits. Milliseconds of no date are returned as a number.
pub fn format_date(milliseconds: i64) -> String {
    let Some(time) = date_time(milliseconds) else {
        return milliseconds.to_string();
    };
    let year = match time.year() {
        year @ 0.. => format!("{year:04}"),
        year => format!("-{:06}", year.unsigned_abs()),
    };
    let (month, day, hour) = (time.month(), time.day(), time.hour());
    let (minute, second, below) = (time.minute(), time.second(), time.millisecond());
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{below:03}Z")
}
