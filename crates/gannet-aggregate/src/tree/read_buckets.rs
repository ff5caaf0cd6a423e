//! Reading aggregations that make buckets of numbers and of values.

use gannet_values::Number;
use serde_json::Value;

use super::members::{Members, number, scalar};
use super::read::Reader;
use super::{
    BUCKETS_MAX, Bounds, Histogram, HistogramCommon, Order, OrderBy, RangeOf, Ranges, Scalar, Terms,
};
use crate::error::{Error, Result};

/// The most documents that a rare term may be in.
const RARE_MAX: u64 = 100;

/// The most ranges of an aggregation, each of which every value is compared with.
const RANGES_MAX: usize = 1_024;

impl Reader<'_> {
    pub(super) fn terms(&mut self, members: &mut Members<'_>) -> Result<Terms> {
        // Counts are exact, so how many buckets a shard sends and how it counts says nothing.
        members.ignore(&[
            "shard_size",
            "execution_hint",
            "collect_mode",
            "shard_min_doc_count",
        ]);
        if members.boolean("show_term_doc_count_error")? {
            let text = "is not supported: counts are exact, so no bucket has an error";
            let of = &members.of;
            return Err(Error::request(format!(
                "\"show_term_doc_count_error\" of {of} {text}"
            )));
        }
        let terms = Terms {
            field: members.field()?,
            size: members.size(1 << 24)?,
            order: self.order(members, true)?.unwrap_or(vec![Order::COUNT]),
            min_doc_count: members.whole("min_doc_count", 1)?,
            max_doc_count: None,
            include: self.values(members, "include")?,
            exclude: self.values(members, "exclude")?.unwrap_or_default(),
            missing: members.scalar("missing")?,
            format: self.format(members)?,
        };
        if terms.min_doc_count == 0 {
            return Err(members.wrong(
                "min_doc_count",
                "1 or more: values of no document have no bucket",
            ));
        }
        Ok(terms)
    }

    pub(super) fn rare_terms(&mut self, members: &mut Members<'_>) -> Result<Terms> {
        // Counts are exact, so the precision of a filter says nothing.
        members.ignore(&["precision"]);
        let most = members.whole("max_doc_count", 1)?;
        if !(1..=RARE_MAX).contains(&most) {
            return Err(members.wrong("max_doc_count", &format!("1 to {RARE_MAX}")));
        }
        Ok(Terms {
            size: BUCKETS_MAX,
            order: vec![Order {
                ascending: true,
                ..Order::COUNT
            }],
            max_doc_count: Some(most),
            include: self.values(members, "include")?,
            exclude: self.values(members, "exclude")?.unwrap_or_default(),
            missing: members.scalar("missing")?,
            format: self.format(members)?,
            ..Terms::of(members.field()?)
        })
    }

    fn values(
        &mut self,
        members: &mut Members<'_>,
        name: &'static str,
    ) -> Result<Option<Vec<Scalar>>> {
        match members.take(name) {
            None => Ok(None),
            Some(Value::Array(list)) if list.len() <= BUCKETS_MAX => {
                let values: Option<Vec<Scalar>> = list.iter().map(scalar).collect();
                values
                    .map(Some)
                    .ok_or_else(|| members.wrong(name, "a list of values"))
            }
            Some(_) => Err(members.wrong(
                name,
                "a list of at most 65536 values; patterns and partitions are not supported",
            )),
        }
    }

    /// Reads an order: an object with one member, or a list of them.
    fn order(&mut self, members: &mut Members<'_>, by_metric: bool) -> Result<Option<Vec<Order>>> {
        let list = match members.take("order") {
            None => return Ok(None),
            Some(Value::Array(list)) => list.iter().collect(),
            Some(one) => vec![one],
        };
        let wrong = || {
            members.wrong(
                "order",
                "objects such as {\"_count\": \"desc\"}, {\"_key\": \"asc\"} or, of terms, the \
                 name of a metric below it",
            )
        };
        let mut order = Vec::new();
        for value in list {
            let object = value.as_object().filter(|object| !object.is_empty());
            for (by, direction) in object.ok_or_else(wrong)? {
                let ascending = match direction.as_str() {
                    Some("asc") => true,
                    Some("desc") => false,
                    _ => return Err(wrong()),
                };
                let by = match by.as_str() {
                    "_count" => OrderBy::Count,
                    "_key" => OrderBy::Key,
                    path if by_metric && !path.contains('>') => metric_of(path),
                    _ => return Err(wrong()),
                };
                order.push(Order { by, ascending });
            }
        }
        Ok(Some(order))
    }

    pub(super) fn range(&mut self, members: &mut Members<'_>) -> Result<Ranges<Number>> {
        let end = |members: &Members<'_>, value: &Value| {
            let text = value.as_str().and_then(Number::parse);
            number(value)
                .or(text)
                .ok_or_else(|| members.wrong("from and to", "numbers"))
        };
        self.ranges(members, end)
    }

    pub(super) fn ranges<T: PartialOrd>(
        &mut self,
        members: &mut Members<'_>,
        end: impl Fn(&Members<'_>, &Value) -> Result<T>,
    ) -> Result<Ranges<T>> {
        let list = members.list("ranges")?.map(Vec::as_slice);
        let list = list.unwrap_or_default();
        if list.is_empty() || list.len() > RANGES_MAX {
            return Err(members.wrong("ranges", &format!("a list of 1 to {RANGES_MAX} ranges")));
        }
        let mut ranges = Vec::new();
        for value in list {
            let mut own = Members::of(format!("a range of {}", members.of), value)?;
            let key = own.string("key")?.map(str::to_owned);
            let mut read = |name| {
                let value = own.take(name);
                value.map(|value| end(&own, value)).transpose()
            };
            let (from, to) = (read("from")?, read("to")?);
            if let (Some(from), Some(to)) = (&from, &to)
                && from > to
            {
                let text = format!("a range of {} is upside down: from is above to", members.of);
                return Err(Error::request(text));
            }
            own.end()?;
            ranges.push(RangeOf { key, from, to });
        }
        Ok(Ranges {
            field: members.field()?,
            ranges,
            keyed: members.boolean("keyed")?,
            missing: members.scalar("missing")?,
        })
    }

    pub(super) fn number_interval(&mut self, members: &mut Members<'_>) -> Result<f64> {
        let interval = members.double("interval")?;
        let interval = interval.filter(|interval| *interval > 0.0);
        interval.ok_or_else(|| members.wrong("interval", "a number above 0"))
    }

    pub(super) fn histogram(&mut self, members: &mut Members<'_>) -> Result<Histogram> {
        let interval = self.number_interval(members)?;
        let offset = members.double("offset")?.unwrap_or_default();
        let end = |members: &Members<'_>, value: &Value| {
            value
                .as_f64()
                .filter(|end| end.is_finite())
                .ok_or_else(|| members.wrong("min and max", "numbers"))
        };
        Ok(Histogram {
            field: members.field()?,
            interval,
            offset,
            common: self.histogram_common(members, end)?,
        })
    }

    pub(super) fn histogram_common<T: PartialOrd + Copy>(
        &mut self,
        members: &mut Members<'_>,
        end: impl Fn(&Members<'_>, &Value) -> Result<T>,
    ) -> Result<HistogramCommon<T>> {
        let common = HistogramCommon {
            min_doc_count: members.whole("min_doc_count", 0)?,
            extended_bounds: bounds(members, "extended_bounds", &end)?,
            hard_bounds: bounds(members, "hard_bounds", &end)?,
            order: self.order(members, false)?.unwrap_or(vec![Order::KEY]),
            keyed: members.boolean("keyed")?,
            missing: members.scalar("missing")?,
        };
        if common.extended_bounds.is_some() && common.min_doc_count > 0 {
            let text = "needs \"min_doc_count\": 0, since it adds empty buckets";
            let of = &members.of;
            return Err(Error::request(format!(
                "\"extended_bounds\" of {of} {text}"
            )));
        }
        let (extended, hard) = (&common.extended_bounds, &common.hard_bounds);
        if let (Some(extended), Some(hard)) = (extended, hard)
            && (hard.min > extended.min && extended.min.is_some()
                || hard.max.is_some() && extended.max > hard.max)
        {
            return Err(members.wrong("extended_bounds", "within \"hard_bounds\""));
        }
        Ok(common)
    }
}

fn metric_of(path: &str) -> OrderBy {
    match path.split_once('.') {
        Some((name, number)) => OrderBy::Metric(name.to_owned(), Some(number.to_owned())),
        None => OrderBy::Metric(path.to_owned(), None),
    }
}

fn bounds<T: PartialOrd + Copy>(
    members: &mut Members<'_>,
    name: &'static str,
    end: &impl Fn(&Members<'_>, &Value) -> Result<T>,
) -> Result<Option<Bounds<T>>> {
    let Some(value) = members.take(name) else {
        return Ok(None);
    };
    let mut own = Members::of(format!("\"{name}\" of {}", members.of), value)?;
    let mut read = |name| {
        let value = own.take(name);
        value.map(|value| end(&own, value)).transpose()
    };
    let bounds = Bounds {
        min: read("min")?,
        max: read("max")?,
    };
    own.end()?;
    if let (Some(min), Some(max)) = (bounds.min, bounds.max)
        && min > max
    {
        return Err(members.wrong(name, "bounds whose min is not above their max"));
    }
    Ok(Some(bounds))
}
