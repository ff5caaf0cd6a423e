//! Intervals of time: which one a date is in, and which one is next.
//!
//! A calendar interval is cut by what clocks of the zone show: a day may have 23 hours. A fixed
//! interval is a number of milliseconds, counted from 1970 as clocks show it. Where clocks are set
//! back, an interval of less than a day begins twice, and the later begin is taken if it is past.

use jiff::ToSpan;
use jiff::civil::DateTime;

use super::zone::{Instants, Zone, date_time};

/// Intervals that follow each other without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Their length.
    pub step: Step,
    /// Whose clocks count.
    pub zone: Zone,
    /// Milliseconds by which all begins are later.
    pub offset_ms: i64,
}

/// The length of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many milliseconds, above 0.
    Fixed(i64),
    /// A unit of the calendar.
    Calendar(Unit),
}

/// A unit of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 60 seconds.
    Minute,
    /// 60 minutes.
    Hour,
    /// From midnight to midnight.
    Day,
    /// From Monday to Sunday.
    Week,
    /// From the first to the last day.
    Month,
    /// Three months.
    Quarter,
    /// From January to December.
    Year,
}

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Unit {
    const NAMES: [(Unit, &'static str, &'static str); 7] = [
        (Unit::Minute, "1m", "minute"),
        (Unit::Hour, "1h", "hour"),
        (Unit::Day, "1d", "day"),
        (Unit::Week, "1w", "week"),
        (Unit::Month, "1M", "month"),
        (Unit::Quarter, "1q", "quarter"),
        (Unit::Year, "1y", "year"),
    ];

    /// Returns the unit that a request names, such as `month` or `1M`.
    pub fn of(name: &str) -> Option<Unit> {
        let mut names = Unit::NAMES.iter();
        let found = names.find(|(_, short, long)| name == *short || name == *long);
        found.map(|(unit, ..)| *unit)
    }

    /// Returns the name in a request.
    pub fn name(self) -> &'static str {
        let mut names = Unit::NAMES.iter();
        let found = names.find(|(unit, ..)| *unit == self);
        found.map_or("1d", |(_, short, _)| short)
    }
}

impl Interval {
    /// Returns the begin of the interval that a date is in.
    pub fn begin(&self, milliseconds: i64) -> i64 {
        let shifted = milliseconds.saturating_sub(self.offset_ms);
        self.begin_unshifted(shifted).saturating_add(self.offset_ms)
    }

    /// Returns the begin of the interval after the one that begins at `begin`.
    pub fn next(&self, begin: i64) -> i64 {
        let unshifted = begin.saturating_sub(self.offset_ms);
        self.next_unshifted(unshifted)
            .saturating_add(self.offset_ms)
    }

    fn begin_unshifted(&self, time: i64) -> i64 {
        if self.zone.is_utc() {
            return self.step.begin(time);
        }
        let local = self
            .step
            .begin(time.saturating_add(self.zone.offset_ms(time)));
        match self.zone.instants(local) {
            Instants::One(instant) | Instants::Gap(instant) => instant,
            Instants::Two(_, later) if later <= time && !self.step.is_of_days() => later,
            Instants::Two(earlier, _) => earlier,
        }
    }

    fn next_unshifted(&self, begin: i64) -> i64 {
        if self.zone.is_utc() {
            return self.step.after(begin);
        }
        // By what clocks show, and by the time that passes: the earlier one that is later.
        let local = self
            .step
            .after(begin.saturating_add(self.zone.offset_ms(begin)));
        let shown = match self.zone.instants(local) {
            Instants::One(instant) | Instants::Two(instant, _) | Instants::Gap(instant) => instant,
        };
        let passed = self.begin_unshifted(self.step.after(begin));
        let both = [shown, passed].into_iter().filter(|next| *next > begin);
        both.min().unwrap_or_else(|| self.step.after(begin))
    }
}

impl Step {
    fn is_of_days(self) -> bool {
        !matches!(
            self,
            Step::Fixed(_) | Step::Calendar(Unit::Minute | Unit::Hour)
        )
    }

    /// Returns the begin of the interval in UTC.
    fn begin(self, time: i64) -> i64 {
        let length = match self {
            Step::Fixed(length) => length,
            Step::Calendar(Unit::Minute) => MINUTE,
            Step::Calendar(Unit::Hour) => HOUR,
            Step::Calendar(Unit::Day) => DAY,
            Step::Calendar(unit) => {
                return date_time(time)
                    .and_then(|time| begin_of(unit, time))
                    .map_or(time, milliseconds);
            }
        };
        time.saturating_sub(time.rem_euclid(length.max(1)))
    }

    /// Returns the begin of the next interval in UTC, given a begin.
    fn after(self, begin: i64) -> i64 {
        let length = match self {
            Step::Fixed(length) => length,
            Step::Calendar(Unit::Minute) => MINUTE,
            Step::Calendar(Unit::Hour) => HOUR,
            Step::Calendar(Unit::Day) => DAY,
            Step::Calendar(Unit::Week) => 7 * DAY,
            Step::Calendar(unit) => {
                let months = match unit {
                    Unit::Month => 1,
                    Unit::Quarter => 3,
                    _ => 12,
                };
                let next = date_time(begin).and_then(|time| time.checked_add(months.months()).ok());
                return next.map_or(i64::MAX, milliseconds);
            }
        };
        begin.saturating_add(length)
    }
}

fn begin_of(unit: Unit, time: DateTime) -> Option<DateTime> {
    let date = time.date();
    let first = match unit {
        Unit::Week => {
            let since = i64::from(date.weekday().to_monday_zero_offset());
            date.checked_sub(since.days()).ok()?
        }
        Unit::Month => date.first_of_month(),
        Unit::Quarter => {
            let month = (date.month() - 1) / 3 * 3 + 1;
            date.with().month(month).day(1).build().ok()?
        }
        Unit::Year => date.first_of_year(),
        Unit::Minute | Unit::Hour | Unit::Day => date,
    };
    Some(first.to_datetime(jiff::civil::Time::midnight()))
}

/// Returns the milliseconds of a whole second.
fn milliseconds(time: DateTime) -> i64 {
    let epoch = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
    time.duration_since(epoch).as_secs().saturating_mul(1_000)
}
