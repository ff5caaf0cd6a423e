//! Dates in queries: in the formats of a field or of a request, in a time zone, with arithmetic.

use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

use gannet::Query;
use gannet::aggregations::Zone;
use gannet::values::{DATE_MAX_MS, DateFormats, Rounding, add_date_terms, format_date};

use super::ends::{LOWER, UPPER};
use super::field::{Clause, Target, text_of};
use crate::fault::{Fault, Outcome};

/// The first millisecond of the year 0, before which no document has a date.
const YEAR_0_MS: i64 = -62_167_219_200_000;

const DAY_MS: i64 = 86_400_000;

/// Reads the dates of one field.
pub struct DateReader<'r> {
    field: &'r str,
    formats: &'r DateFormats,
    zone: Option<Zone>,
    now_ms: i64,
}

impl<'r> DateReader<'r> {
    /// Of a field with these formats.
    pub fn new(field: &'r str, formats: &'r DateFormats) -> DateReader<'r> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        DateReader {
            field,
            formats,
            zone: None,
            now_ms: now.map_or(0, |now| now.as_millis() as i64),
        }
    }

    /// Reads a date, and gives the milliseconds of the end that it is: `now`, or a date, with
    /// arithmetic behind it as in `now-1d/d` and `2024-01-01||+1M/d`.
    fn end(&self, text: &str, rounding: Rounding) -> Outcome<i64> {
        let (begin, terms) = match (text.strip_prefix("now"), text.split_once("||")) {
            (Some(terms), _) => (self.now_ms, terms),
            (None, Some((date, terms))) => (self.date(date, Rounding::Down)?, terms),
            (None, None) => return self.date(text, rounding),
        };
        let local = self
            .zone
            .as_ref()
            .map_or(begin, |zone| zone.local_of(begin));
        let end = add_date_terms(local, terms, rounding).map_err(|error| {
            Fault::date(format!(
                "failed to parse date field [{text}] of field [{}]: {error}",
                self.field
            ))
        })?;
        Ok(self.zone.as_ref().map_or(end, |zone| zone.utc_of(end)))
    }

    fn date(&self, text: &str, rounding: Rounding) -> Outcome<i64> {
        let read = self.formats.read_with_zone(text).ok_or_else(|| {
            Fault::date(format!(
                "failed to parse date field [{text}] with format [{}], of field [{}]",
                self.formats, self.field
            ))
        })?;
        let zone = self.zone.as_ref().filter(|_| read.is_local);
        let utc = |local: i64| zone.map_or(local, |zone| zone.utc_of(local));
        Ok(match rounding {
            Rounding::Down => utc(read.range.first_ms),
            Rounding::Up => {
                // As in Elasticsearch, a month or a year stands for its first day.
                let day = read.range.first_ms.saturating_add(DAY_MS);
                let end = read.range.last_ms.saturating_add(1).min(day);
                utc(end).saturating_sub(1)
            }
        })
    }

    /// The milliseconds that a date means.
    pub fn span(&self, text: &str) -> Outcome<RangeInclusive<i64>> {
        Ok(self.end(text, Rounding::Down)?..=self.end(text, Rounding::Up)?)
    }
}

/// Documents with a date between two ends.
pub fn between(target: &Target<'_>, range: RangeInclusive<i64>) -> Query {
    let (first, last) = range.into_inner();
    let (first, last) = (first.max(YEAR_0_MS), last.min(DATE_MAX_MS));
    if first > last {
        return Query::MatchNone;
    }
    Query::Range {
        field: Some(target.name.to_owned()),
        lower: std::ops::Bound::Included(format_date(first)),
        upper: std::ops::Bound::Included(format_date(last)),
    }
}

/// `range` over dates.
pub fn range(clause: &Clause<'_>, target: &Target<'_>, formats: &DateFormats) -> Outcome<Query> {
    let members = clause.members();
    let members = members.ok_or_else(|| {
        Fault::parsing("[range] query malformed, no start_object after field name")
    })?;
    let own = members.text("format")?.map(DateFormats::of).transpose();
    let own = own.map_err(|error| Fault::illegal(error.to_string()))?;
    let mut reader = DateReader::new(target.name, own.as_ref().unwrap_or(formats));
    if let Some(zone) = members.text("time_zone")? {
        let zone = Zone::of(zone).map_err(|error| Fault::illegal(error.to_string()))?;
        reader.zone = Some(zone);
    }
    let lower = match LOWER.of(members)? {
        None => YEAR_0_MS,
        Some((value, true)) => reader.end(&text_of(value, target.name)?, Rounding::Down)?,
        Some((value, false)) => {
            let end = reader.end(&text_of(value, target.name)?, Rounding::Up)?;
            end.saturating_add(1)
        }
    };
    let upper = match UPPER.of(members)? {
        None => DATE_MAX_MS,
        Some((value, true)) => reader.end(&text_of(value, target.name)?, Rounding::Up)?,
        Some((value, false)) => {
            let end = reader.end(&text_of(value, target.name)?, Rounding::Down)?;
            end.saturating_sub(1)
        }
    };
    if target.is_there {
        Ok(between(target, lower..=upper))
    } else {
        Ok(Query::MatchNone)
    }
}
