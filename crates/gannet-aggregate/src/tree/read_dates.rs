//! Reading aggregations that make buckets of dates.

use gannet_values::{Rounding, date_arithmetic};
use serde_json::Value;

use super::members::Members;
use super::read::Reader;
use super::{DateHistogram, DateRanges};
use crate::dates::fixed::date_of;
use crate::dates::format::DateFormat;
use crate::dates::rounding::{Interval, Step, Unit};
use crate::dates::zone::Zone;
use crate::error::{Error, Result};

/// The longest fixed interval and offset: 10,000 years of 366 days.
const LENGTH_MAX_MS: i64 = 366 * 86_400_000 * 10_000;

impl Reader<'_> {
    pub(super) fn date_range(&mut self, members: &mut Members<'_>) -> Result<DateRanges> {
        let now_ms = self.now_ms;
        let ranges = self.ranges(members, |_, value| date(value, now_ms))?;
        Ok(DateRanges {
            ranges,
            format: self.format(members)?,
        })
    }

    pub(super) fn date_histogram(&mut self, members: &mut Members<'_>) -> Result<DateHistogram> {
        let now_ms = self.now_ms;
        Ok(DateHistogram {
            interval: self.interval(members)?,
            field: members.field()?,
            common: self.histogram_common(members, |_, value| date(value, now_ms))?,
            format: self.format(members)?,
        })
    }

    pub(super) fn format(&mut self, members: &mut Members<'_>) -> Result<Option<DateFormat>> {
        let Some(text) = members.string("format")? else {
            return Ok(None);
        };
        let format = DateFormat::of(text);
        format.map(Some).ok_or_else(|| {
            members.wrong(
                "format",
                "epoch_millis, epoch_second, strict_date_optional_time, or a pattern of the \
                 letters y M d H m s S X",
            )
        })
    }

    /// Reads the format of keys that a later request has in `after`.
    pub(super) fn readable_format(
        &mut self,
        members: &mut Members<'_>,
    ) -> Result<Option<DateFormat>> {
        let format = self.format(members)?;
        let is_readable = |format: &DateFormat| {
            if *format == DateFormat::Milliseconds {
                return true;
            }
            // Any time shows if the parts of a format are those of a date that is read.
            let text = format.print(1_577_934_671_123, &Zone::utc());
            date_of(&text).is_some_and(|read| format.print(read, &Zone::utc()) == text)
        };
        if format.as_ref().is_some_and(|format| !is_readable(format)) {
            let text = "epoch_millis, or a begin of yyyy-MM-dd'T'HH:mm:ss.SSS, in a composite";
            return Err(members.wrong("format", text));
        }
        Ok(format)
    }

    pub(super) fn interval(&mut self, members: &mut Members<'_>) -> Result<Interval> {
        let calendar = members.string("calendar_interval")?;
        let fixed = members.string("fixed_interval")?;
        let step = match (calendar, fixed) {
            (Some(name), None) => Unit::of(name).map(Step::Calendar).ok_or_else(|| {
                members.wrong(
                    "calendar_interval",
                    "minute, hour, day, week, month, quarter or year, or 1m to 1y",
                )
            })?,
            (None, Some(text)) => length(text)
                .filter(|length| *length > 0)
                .map(Step::Fixed)
                .ok_or_else(|| members.wrong("fixed_interval", "a time above 0, such as 90m"))?,
            _ => {
                let text = "needs either \"calendar_interval\" or \"fixed_interval\"";
                return Err(Error::request(format!("{} {text}", members.of)));
            }
        };
        let zone = match members.string("time_zone")? {
            None => Zone::utc(),
            Some(name) => Zone::of(name)?,
        };
        let offset_ms = match members.string("offset")? {
            None => 0,
            Some(text) => signed_length(text)
                .ok_or_else(|| members.wrong("offset", "a time such as +6h or -1d"))?,
        };
        Ok(Interval {
            step,
            zone,
            offset_ms,
        })
    }
}

/// Reads a date: milliseconds, or a text with arithmetic.
pub(crate) fn date(value: &Value, now_ms: i64) -> Result<i64> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .ok_or_else(|| Error::request(format!("{number} is no date in milliseconds"))),
        Value::String(text) => date_arithmetic(text, now_ms, Rounding::Down)
            .map_err(|error| Error::request(error.to_string())),
        other => Err(Error::request(format!("{other} is no date"))),
    }
}

fn signed_length(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(rest) => length(rest).map(|length| -length),
        None => length(text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Reads a time such as `90m`, in milliseconds.
fn length(text: &str) -> Option<i64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (count, unit) = text.split_at(digits);
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let length = count.parse::<i64>().ok()?.checked_mul(unit)?;
    (length <= LENGTH_MAX_MS).then_some(length)
}
