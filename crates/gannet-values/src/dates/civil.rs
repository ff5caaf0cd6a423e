//! Calendar dates of UTC and their milliseconds.

use jiff::SignedDuration;
use jiff::civil::{DateTime, date};

/// The first millisecond of the year -9999, before which no date is.
pub const DATE_MIN_MS: i64 = -377_705_116_800_000;

/// The last millisecond of the year 9999, after which no date is.
pub const DATE_MAX_MS: i64 = 253_402_300_799_999;

/// Returns the milliseconds of a calendar date and time in UTC.
pub(crate) fn milliseconds(time: DateTime) -> i64 {
    let since = time.duration_since(epoch());
    // Below a millisecond, rounds down for dates before 1970 too.
    let below = i64::from(since.subsec_nanos().rem_euclid(1_000_000) > 0 && since.is_negative());
    let whole = since.as_secs() * 1_000 + i64::from(since.subsec_nanos() / 1_000_000);
    whole - below
}

/// Returns the calendar date and time of UTC milliseconds, none outside of the years of four
/// digits.
pub(crate) fn date_time(milliseconds: i64) -> Option<DateTime> {
    let since = SignedDuration::from_millis(milliseconds);
    epoch().checked_add(since).ok()
}

fn epoch() -> DateTime {
    date(1970, 1, 1).at(0, 0, 0, 0)
}
