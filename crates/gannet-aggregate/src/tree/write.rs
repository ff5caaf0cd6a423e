//! Printing a tree as the JSON that it is read from.

use std::fmt;

use serde_json::{Map, Value, json};

use super::addresses::ip_ranges_json;
use super::{
    Aggregation, Aggregations, Bounds, Composite, FilterId, HistogramCommon, Kind, Metric,
    MetricKind, Order, OrderBy, RangeOf, Scalar, SourceKind, Terms,
};
use crate::dates::rounding::{Interval, Step};
use gannet_values::Number;

impl Aggregations {
    /// Returns the JSON that [`Aggregations::from_json`] reads. `filter` gives the JSON of filters.
    pub fn to_json(&self, filter: &dyn Fn(FilterId) -> Value) -> Value {
        let members = self
            .list
            .iter()
            .map(|own| (own.name.clone(), own.to_json(filter)));
        Value::Object(members.collect())
    }
}

/// Prints the JSON, with `{"filter": N}` in place of filters.
impl fmt::Display for Aggregations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json(&|id| json!({ "filter": id })))
    }
}

impl Aggregation {
    fn to_json(&self, filter: &dyn Fn(FilterId) -> Value) -> Value {
        let (kind, parameters) = kind_json(&self.kind, filter);
        let mut members = Map::new();
        members.insert(kind.to_owned(), parameters);
        if !self.children.is_empty() {
            members.insert("aggs".to_owned(), self.children.to_json(filter));
        }
        Value::Object(members)
    }
}

fn kind_json(kind: &Kind, filter: &dyn Fn(FilterId) -> Value) -> (&'static str, Value) {
    match kind {
        Kind::Terms(terms) if terms.max_doc_count.is_some() => ("rare_terms", rare_json(terms)),
        Kind::Terms(terms) => ("terms", terms_json(terms)),
        Kind::Range(own) => {
            let ranges = own
                .ranges
                .iter()
                .map(|range| range_json(range, number_json));
            let mut object = json!({ "field": own.field, "ranges": ranges.collect::<Vec<_>>() });
            put(&mut object, "keyed", own.keyed.then_some(Value::Bool(true)));
            put(
                &mut object,
                "missing",
                own.missing.as_ref().map(scalar_json),
            );
            ("range", object)
        }
        Kind::DateRange(own) => {
            let ranges = &own.ranges;
            let list = ranges
                .ranges
                .iter()
                .map(|range| range_json(range, |ms| json!(ms)));
            let mut object = json!({ "field": ranges.field, "ranges": list.collect::<Vec<_>>() });
            put(
                &mut object,
                "keyed",
                ranges.keyed.then_some(Value::Bool(true)),
            );
            put(
                &mut object,
                "missing",
                ranges.missing.as_ref().map(scalar_json),
            );
            put(
                &mut object,
                "format",
                own.format.as_ref().map(|own| json!(own.name())),
            );
            ("date_range", object)
        }
        Kind::IpRange(own) => ("ip_range", ip_ranges_json(own)),
        Kind::Histogram(own) => {
            let mut object = json!({ "field": own.field, "interval": own.interval });
            put(
                &mut object,
                "offset",
                (own.offset != 0.0).then(|| json!(own.offset)),
            );
            common_json(&own.common, |end| json!(end), &mut object);
            ("histogram", object)
        }
        Kind::DateHistogram(own) => {
            let mut object = json!({ "field": own.field });
            interval_json(&own.interval, &mut object);
            put(
                &mut object,
                "format",
                own.format.as_ref().map(|own| json!(own.name())),
            );
            common_json(&own.common, |end| json!(end), &mut object);
            ("date_histogram", object)
        }
        Kind::Filter(id) => ("filter", filter(*id)),
        Kind::Filters(own) => {
            let filters = own.filters.iter();
            let filters = if own.keyed {
                Value::Object(
                    filters
                        .map(|(name, id)| (name.clone(), filter(*id)))
                        .collect(),
                )
            } else {
                Value::Array(filters.map(|(_, id)| filter(*id)).collect())
            };
            let mut object = json!({ "filters": filters });
            put(
                &mut object,
                "other_bucket_key",
                own.other.as_ref().map(|own| json!(own)),
            );
            ("filters", object)
        }
        Kind::Missing(field) => ("missing", json!({ "field": field })),
        Kind::Global => ("global", json!({})),
        Kind::Composite(own) => ("composite", composite_json(own)),
        Kind::Metric(own) => (own.kind.name(), metric_json(own)),
    }
}

fn put(object: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(members), Some(value)) = (object.as_object_mut(), value) {
        members.insert(name.to_owned(), value);
    }
}

fn number_json(number: &Number) -> Value {
    match number {
        Number::Long(long) => json!(long),
        Number::Double(double) => json!(double),
    }
}

fn scalar_json(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Number(number) => number_json(number),
        Scalar::Text(text) => json!(text),
    }
}

fn list_json(list: &[Scalar]) -> Value {
    list.iter().map(scalar_json).collect()
}

fn order_json(order: &[Order]) -> Value {
    let one = |own: &Order| {
        let by = match &own.by {
            OrderBy::Count => "_count".to_owned(),
            OrderBy::Key => "_key".to_owned(),
            OrderBy::Metric(name, None) => name.clone(),
            OrderBy::Metric(name, Some(number)) => format!("{name}.{number}"),
        };
        let direction = if own.ascending { "asc" } else { "desc" };
        Value::Object(Map::from_iter([(by, json!(direction))]))
    };
    order.iter().map(one).collect()
}

fn terms_json(terms: &Terms) -> Value {
    let mut object = json!({
        "field": terms.field,
        "size": terms.size,
        "order": order_json(&terms.order),
        "min_doc_count": terms.min_doc_count,
    });
    put(
        &mut object,
        "include",
        terms.include.as_deref().map(list_json),
    );
    let exclude = Some(&terms.exclude).filter(|list| !list.is_empty());
    put(&mut object, "exclude", exclude.map(|list| list_json(list)));
    put(
        &mut object,
        "missing",
        terms.missing.as_ref().map(scalar_json),
    );
    put(
        &mut object,
        "format",
        terms.format.as_ref().map(|own| json!(own.name())),
    );
    object
}

fn rare_json(terms: &Terms) -> Value {
    let mut object = terms_json(terms);
    if let Some(members) = object.as_object_mut() {
        for name in ["size", "order", "min_doc_count"] {
            members.remove(name);
        }
    }
    put(
        &mut object,
        "max_doc_count",
        terms.max_doc_count.map(|most| json!(most)),
    );
    object
}

fn range_json<T>(range: &RangeOf<T>, end: impl Fn(&T) -> Value) -> Value {
    let mut object = json!({});
    put(&mut object, "key", range.key.as_ref().map(|key| json!(key)));
    put(&mut object, "from", range.from.as_ref().map(&end));
    put(&mut object, "to", range.to.as_ref().map(&end));
    object
}

fn common_json<T>(common: &HistogramCommon<T>, end: impl Fn(&T) -> Value, object: &mut Value) {
    let bounds = |bounds: &Bounds<T>| {
        let mut object = json!({});
        put(&mut object, "min", bounds.min.as_ref().map(&end));
        put(&mut object, "max", bounds.max.as_ref().map(&end));
        object
    };
    put(object, "min_doc_count", Some(json!(common.min_doc_count)));
    put(
        object,
        "extended_bounds",
        common.extended_bounds.as_ref().map(bounds),
    );
    put(
        object,
        "hard_bounds",
        common.hard_bounds.as_ref().map(bounds),
    );
    put(object, "order", Some(order_json(&common.order)));
    put(object, "keyed", common.keyed.then_some(Value::Bool(true)));
    put(object, "missing", common.missing.as_ref().map(scalar_json));
}

fn interval_json(interval: &Interval, object: &mut Value) {
    let (name, step) = match interval.step {
        Step::Fixed(length) => ("fixed_interval", format!("{length}ms")),
        Step::Calendar(unit) => ("calendar_interval", unit.name().to_owned()),
    };
    put(object, name, Some(json!(step)));
    let zone = interval.zone.name();
    put(object, "time_zone", (zone != "UTC").then(|| json!(zone)));
    let offset = interval.offset_ms;
    put(
        object,
        "offset",
        (offset != 0).then(|| json!(format!("{offset}ms"))),
    );
}

fn composite_json(own: &Composite) -> Value {
    let source = |source: &super::Source| {
        let mut object = json!({ "field": source.field });
        let kind = match &source.kind {
            SourceKind::Terms => "terms",
            SourceKind::Histogram { interval } => {
                put(&mut object, "interval", Some(json!(interval)));
                "histogram"
            }
            SourceKind::DateHistogram { interval, format } => {
                interval_json(interval, &mut object);
                put(
                    &mut object,
                    "format",
                    format.as_ref().map(|own| json!(own.name())),
                );
                "date_histogram"
            }
        };
        put(
            &mut object,
            "order",
            (!source.ascending).then(|| json!("desc")),
        );
        let missing = source.missing_bucket.then_some(Value::Bool(true));
        put(&mut object, "missing_bucket", missing);
        json!({ source.name.as_str(): { kind: object } })
    };
    let sources: Vec<Value> = own.sources.iter().map(source).collect();
    let mut object = json!({ "size": own.size, "sources": sources });
    let after = own.after.as_ref().map(|after| {
        let values = after
            .iter()
            .map(|own| own.as_ref().map_or(Value::Null, scalar_json));
        let names = own.sources.iter().map(|source| source.name.clone());
        Value::Object(names.zip(values).collect())
    });
    put(&mut object, "after", after);
    object
}

fn metric_json(own: &Metric) -> Value {
    let mut object = json!({ "field": own.field });
    match &own.kind {
        MetricKind::ExtendedStats { sigma } => put(&mut object, "sigma", Some(json!(sigma))),
        MetricKind::Percentiles { percents, keyed } => {
            put(&mut object, "percents", Some(json!(percents)));
            put(&mut object, "keyed", (!keyed).then_some(Value::Bool(false)));
        }
        _ => {}
    }
    put(
        &mut object,
        "missing",
        own.missing.as_ref().map(scalar_json),
    );
    put(
        &mut object,
        "format",
        own.format.as_ref().map(|own| json!(own.name())),
    );
    object
}
