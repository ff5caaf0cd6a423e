//! A time zone and its offsets from UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use crate::error::{Error, Result};

/// A time zone, by the name that a request gave it.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        self.name == other.name
    }
}

impl Zone {
    /// UTC.
    pub fn utc() -> Zone {
        Zone {
            name: "UTC".to_owned(),
            zone: TimeZone::UTC,
        }
    }

    /// Finds a zone: `UTC`, `Z`, an offset such as `+02:00`, or a name such as `Europe/Berlin`.
    pub fn of(name: &str) -> Result<Zone> {
        let zone = if matches!(name, "UTC" | "Z" | "GMT" | "Etc/UTC") {
            Some(TimeZone::UTC)
        } else if name.starts_with(['+', '-']) {
            offset(name).map(TimeZone::fixed)
        } else {
            TimeZone::get(name).ok()
        };
        let zone = zone.ok_or_else(|| {
            Error::request(format!(
                "the time zone \"{name}\" is unknown: write a name such as Europe/Berlin, or an \
                 offset such as +02:00"
            ))
        })?;
        Ok(Zone {
            name: name.to_owned(),
            zone,
        })
    }

    /// Returns the name that a request gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what clocks show at a time, as the milliseconds of that time of day and date in UTC.
    pub fn local_of(&self, milliseconds: i64) -> i64 {
        milliseconds.saturating_add(self.offset_ms(milliseconds))
    }

    /// Returns the first time at which clocks show `local`, or the one at which they skip it.
    pub fn utc_of(&self, local: i64) -> i64 {
        match self.instants(local) {
            Instants::One(time) | Instants::Two(time, _) | Instants::Gap(time) => time,
        }
    }

    pub(crate) fn is_utc(&self) -> bool {
        self.zone == TimeZone::UTC
    }

    /// Returns the offset from UTC in milliseconds at a time.
    pub(crate) fn offset_ms(&self, milliseconds: i64) -> i64 {
        i64::from(self.zone.to_offset(timestamp(milliseconds)).seconds()) * 1_000
    }

    /// Returns the times at which clocks show `local`, the milliseconds of a time of day and date
    /// as if it were UTC: one, two where clocks are set back, none where they are set forward.
    pub(crate) fn instants(&self, local: i64) -> Instants {
        let ms = |offset: Offset| local.saturating_sub(i64::from(offset.seconds()) * 1_000);
        let Some(time) = date_time(local) else {
            return Instants::One(local.saturating_sub(self.offset_ms(local)));
        };
        match self.zone.to_ambiguous_timestamp(time).offset() {
            jiff::tz::AmbiguousOffset::Unambiguous { offset } => Instants::One(ms(offset)),
            jiff::tz::AmbiguousOffset::Fold { before, after } => {
                Instants::Two(ms(before), ms(after))
            }
            jiff::tz::AmbiguousOffset::Gap { before, .. } => {
                // Clocks are set forward once, and at most a day before the time that they skip.
                let near = timestamp(ms(before) - 86_400_000);
                let next = self.zone.following(near).next();
                Instants::Gap(next.map_or(ms(before), |next| next.timestamp().as_millisecond()))
            }
        }
    }
}

/// The times at which clocks show the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instants {
    One(i64),
    /// The earlier and the later one.
    Two(i64, i64),
    /// The time at which clocks are set forward.
    Gap(i64),
}

/// Returns the time, or the nearest that there is.
fn timestamp(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(if milliseconds < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

pub(crate) fn date_time(local: i64) -> Option<DateTime> {
    let since = jiff::SignedDuration::from_millis(local);
    let epoch = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
    epoch.checked_add(since).ok()
}

fn offset(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("-", digits) => (-1, digits),
        (_, digits) => (1, digits),
    };
    let digits = digits.replace(':', "");
    let is_offset = matches!(digits.len(), 1 | 2 | 4) && digits.bytes().all(|b| b.is_ascii_digit());
    let number: i32 = is_offset.then(|| digits.parse().ok())??;
    let (hours, minutes) = if digits.len() == 4 {
        (number / 100, number % 100)
    } else {
        (number, 0)
    };
    let is_offset = hours <= 18 && minutes < 60;
    is_offset.then(|| Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok())?
}
