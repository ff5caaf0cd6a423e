//! Checks what Elasticsearch rejects of `aggs` before it reads a kind: names, kinds, and numbers
//! out of their range. The errors have its types.

use serde_json::{Map, Value};

use crate::fault::{Fault, Outcome};

/// The kinds that there are.
const KINDS: [&str; 22] = [
    "avg",
    "cardinality",
    "composite",
    "date_histogram",
    "date_range",
    "extended_stats",
    "filter",
    "filters",
    "global",
    "histogram",
    "ip_range",
    "max",
    "min",
    "missing",
    "percentiles",
    "range",
    "rare_terms",
    "stats",
    "sum",
    "terms",
    "top_hits",
    "value_count",
];

/// Kinds of Elasticsearch that are not there.
const NOT_THERE: [&str; 46] = [
    "adjacency_matrix",
    "auto_date_histogram",
    "avg_bucket",
    "boxplot",
    "bucket_script",
    "bucket_selector",
    "bucket_sort",
    "categorize_text",
    "children",
    "cumulative_cardinality",
    "cumulative_sum",
    "derivative",
    "diversified_sampler",
    "extended_stats_bucket",
    "geo_bounds",
    "geo_centroid",
    "geo_distance",
    "geohash_grid",
    "geotile_grid",
    "ip_prefix",
    "matrix_stats",
    "max_bucket",
    "median_absolute_deviation",
    "min_bucket",
    "moving_fn",
    "multi_terms",
    "nested",
    "normalize",
    "parent",
    "percentile_ranks",
    "percentiles_bucket",
    "random_sampler",
    "rate",
    "reverse_nested",
    "sampler",
    "scripted_metric",
    "serial_diff",
    "significant_terms",
    "significant_text",
    "stats_bucket",
    "string_stats",
    "sum_bucket",
    "t_test",
    "top_metrics",
    "variable_width_histogram",
    "weighted_avg",
];

/// Units of calendars, with and without the number one before them.
const CALENDAR: [&str; 14] = [
    "minute", "hour", "day", "week", "month", "quarter", "year", "1m", "1h", "1d", "1w", "1M",
    "1q", "1y",
];

/// Fails at aggregations that cannot be read.
pub fn check_aggregations(aggs: &Value) -> Outcome<()> {
    let Value::Object(aggs) = aggs else {
        return Ok(());
    };
    aggs.iter().try_for_each(|(name, value)| match value {
        Value::Object(members) => check_one(name, members),
        _ => Ok(()),
    })
}

fn check_one(name: &str, members: &Map<String, Value>) -> Outcome<()> {
    if name.contains(['[', ']', '>']) {
        return Err(Fault::parsing(format!(
            "Invalid aggregation name [{name}]. Aggregation names can contain any character except '[', ']', and '>'"
        )));
    }
    let mut kind: Option<(&String, &Value)> = None;
    for (member, value) in members {
        match (member.as_str(), kind) {
            ("aggs" | "aggregations", _) => check_aggregations(value)?,
            ("meta", _) => {}
            (_, Some((other, _))) => {
                return Err(Fault::parsing(format!(
                    "Found two aggregation type definitions in [{name}]: [{other}] and [{member}]"
                )));
            }
            _ => kind = Some((member, value)),
        }
    }
    let Some((kind, value)) = kind else {
        return Err(Fault::parsing(format!(
            "Missing definition for aggregation [{name}]"
        )));
    };
    if NOT_THERE.contains(&kind.as_str()) {
        return Err(Fault::query_not_there(&format!("the aggregation [{kind}]")));
    }
    if !KINDS.contains(&kind.as_str()) {
        return Err(Fault::parsing(format!("Unknown aggregation type [{kind}]")));
    }
    check_numbers(kind, value)
}

/// Fails at numbers that no aggregation of a kind can have.
fn check_numbers(kind: &str, value: &Value) -> Outcome<()> {
    let failed = |member: &str, what: &str| {
        Err(Fault::content(format!(
            "[{kind}] failed to parse field [{member}]: it must be {what}, not {}",
            value[member]
        )))
    };
    let number = |member: &str| value.get(member).and_then(Value::as_f64);
    match kind {
        "terms" | "composite" if number("size").is_some_and(|size| size < 1.0) => {
            failed("size", "1 or more")
        }
        "histogram" if number("interval").is_some_and(|interval| interval <= 0.0) => {
            failed("interval", "above 0")
        }
        "date_histogram" => match value.get("calendar_interval").and_then(Value::as_str) {
            Some(unit) if !CALENDAR.contains(&unit) => failed(
                "calendar_interval",
                "a unit of the calendar, as month or 1M",
            ),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_cannot_be_read_has_the_type_that_clients_know() {
        for (aggs, kind, part) in [
            (
                json!({ "a[b]": {} }),
                "parsing_exception",
                "Invalid aggregation name",
            ),
            (
                json!({ "a": {} }),
                "parsing_exception",
                "Missing definition",
            ),
            (
                json!({ "a": { "max": {}, "min": {} } }),
                "parsing_exception",
                "[max] and [min]",
            ),
            (
                json!({ "a": { "global": {}, "aggs": { "b": { "nosuch": {} } } } }),
                "parsing_exception",
                "[nosuch]",
            ),
            (
                json!({ "a": { "t_test": {} } }),
                "parsing_exception",
                "not there",
            ),
            (
                json!({ "a": { "terms": { "size": 0 } } }),
                "x_content_parse_exception",
                "[size]",
            ),
            (
                json!({ "a": { "histogram": { "interval": 0 } } }),
                "x_content_parse_exception",
                "[interval]",
            ),
            (
                json!({ "a": { "date_histogram": { "calendar_interval": "2d" } } }),
                "x_content_parse_exception",
                "[calendar_interval]",
            ),
        ] {
            let fault = check_aggregations(&aggs).unwrap_err();
            assert_eq!(fault.kind, kind, "{aggs}");
            assert!(fault.reason.contains(part), "{aggs}: {}", fault.reason);
        }
        let fine = json!({ "a": { "terms": { "field": "x", "size": 1 } } });
        check_aggregations(&fine).unwrap();
        assert!(KINDS.is_sorted() && NOT_THERE.is_sorted());
    }
}
