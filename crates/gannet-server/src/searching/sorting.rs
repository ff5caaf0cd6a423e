//! `sort` by fields, scores, `_doc` and `_id`, and `search_after` with the values of a hit.

use gannet::aggregations::{DateFormat, Zone};
use gannet::values::{DateFormats, Value as Sorted};
use gannet::{SortBy, SortKey, SortValue};
use serde_json::{Value, json};

use super::docvalues::date_format;
use crate::fault::{Fault, Outcome};
use crate::json::{Members, kind_of};

/// Reads `sort`: keys, each a name or an object of a name.
pub fn sort_keys(sort: &Value) -> Outcome<Vec<SortKey>> {
    single_keys(sort).iter().map(sort_key).collect()
}

/// Reads the formats of dates that keys name, by the places of the keys.
pub fn sort_formats(sort: &Value) -> Outcome<Vec<Option<DateFormat>>> {
    let format = |key: &Value| {
        let how = key.as_object().and_then(|key| key.values().next());
        let format = how.and_then(|how| how.get("format")?.as_str());
        format.map(date_format).transpose()
    };
    single_keys(sort).iter().map(format).collect()
}

/// The keys of a sort one by one, of which an object may have several.
pub fn single_keys(sort: &Value) -> Vec<Value> {
    let keys = match sort {
        Value::Array(keys) => keys.as_slice(),
        one => std::slice::from_ref(one),
    };
    let parts = |key: &Value| match key {
        Value::Object(several) if several.len() > 1 => several
            .iter()
            .map(|(name, how)| json!({ name: how }))
            .collect(),
        one => vec![one.clone()],
    };
    keys.iter().flat_map(parts).collect()
}

/// Reads the keys of the parameter of a URL: names, each with its direction behind a colon.
pub fn sort_parameter(written: &str) -> Outcome<Vec<SortKey>> {
    let key = |part: &str| match part.split_once(':') {
        Some((name, order)) => directed(name, order),
        None => Ok(key_of(part)),
    };
    written.split(',').map(key).collect()
}

fn sort_key(key: &Value) -> Outcome<SortKey> {
    let object = match key {
        Value::String(name) => return Ok(key_of(name)),
        Value::Number(name) => return Ok(key_of(&name.to_string())),
        Value::Object(object) if object.len() == 1 => object,
        other => {
            return Err(Fault::parsing(format!(
                "[sort] expected the name of a field or an object of one, found {}",
                kind_of(other)
            )));
        }
    };
    let Some((name, how)) = object.iter().next() else {
        return Err(Fault::parsing("[sort] expected the name of a field"));
    };
    if let Value::String(order) = how {
        return directed(name, order);
    }
    let members = Members::of("sort", how)?;
    members.check(
        &["order", "missing", "unmapped_type", "mode", "format"],
        &["nested", "numeric_type"],
    )?;
    let mut key = match members.text("order")? {
        Some(order) => directed(name, order)?,
        None => key_of(name),
    };
    key.missing_first = match members.text("missing")? {
        None | Some("_last") => false,
        Some("_first") => true,
        Some(other) => {
            return Err(Fault::query_not_there(&format!(
                "[missing] of [sort] with a value, as [{other}]: only [_first] and [_last] are"
            )));
        }
    };
    match (members.text("mode")?, key.descending) {
        (None, _) | (Some("min"), false) | (Some("max"), true) => Ok(key),
        (Some(mode), _) => Err(Fault::query_not_there(&format!(
            "[mode] of [sort] by [{name}] in this direction, as [{mode}],"
        ))),
    }
}

/// A key in its usual direction.
fn key_of(name: &str) -> SortKey {
    let by = match name {
        "_score" => SortBy::Score,
        "_doc" | "_shard_doc" => SortBy::Doc,
        "_id" => SortBy::Id,
        field => SortBy::Field(field.to_owned()),
    };
    SortKey {
        descending: by == SortBy::Score,
        by,
        missing_first: false,
        missing_like: None,
    }
}

fn directed(name: &str, order: &str) -> Outcome<SortKey> {
    let descending = match order {
        "asc" => false,
        "desc" => true,
        other => {
            return Err(Fault::illegal(format!(
                "No enum constant org.elasticsearch.search.sort.SortOrder.{other}: the [order] of [{name}] is [asc] or [desc]"
            )));
        }
    };
    Ok(SortKey {
        descending,
        ..key_of(name)
    })
}

/// The values behind which hits begin, of which dates may be in the formats of their keys.
pub fn values_after(
    value: &Value,
    keys: usize,
    formats: &[Option<DateFormat>],
) -> Outcome<Vec<SortValue>> {
    let Value::Array(values) = value else {
        return Err(Fault::parsing(format!(
            "[search_after] expected a list, found {}",
            kind_of(value)
        )));
    };
    if values.len() != keys {
        return Err(Fault::illegal(format!(
            "search_after has {} value(s) but sort has {keys}.",
            values.len()
        )));
    }
    let of_format = |text: &str, format: &DateFormat| {
        let is_printed = |ms: &i64| format.print(*ms, &Zone::utc()) == text;
        if let Some(ms) = [i64::MIN, i64::MAX].into_iter().find(is_printed) {
            // It stands for a missing value.
            return Ok(Sorted::Date(ms));
        }
        let read = DateFormats::of(format.name()).ok();
        let date = read.and_then(|formats| formats.read(text));
        date.map(|date| Sorted::Date(date.first_ms)).ok_or_else(|| {
            Fault::illegal(format!(
                "[search_after] has [{text}], which is no date in the format [{}] of its key",
                format.name()
            ))
        })
    };
    let read = |(at, value): (usize, &Value)| match value {
        Value::String(text) => match formats.get(at) {
            Some(Some(format)) => of_format(text, format).map(Some),
            _ => Ok(Some(Sorted::Keyword(text.clone().into()))),
        },
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(Sorted::Boolean(*value))),
        Value::Number(number) => Ok(match number.as_i64() {
            Some(long) => Some(Sorted::Long(long)),
            None => number.as_f64().map(Sorted::Double),
        }),
        other => Err(Fault::parsing(format!(
            "[search_after] expected values, found {}",
            kind_of(other)
        ))),
    };
    values.iter().enumerate().map(read).collect()
}

/// The values of a hit in an answer: dates in the formats of their keys, or in milliseconds.
pub fn sort_json(values: &[SortValue], formats: &[Option<DateFormat>]) -> Vec<Value> {
    let value = |(at, value): (usize, &SortValue)| match (value, formats.get(at)) {
        (Some(Sorted::Date(ms)), Some(Some(format))) => json!(format.print(*ms, &Zone::utc())),
        (value, _) => plain_json(value),
    };
    values.iter().enumerate().map(value).collect()
}

fn plain_json(value: &SortValue) -> Value {
    match value {
        None => Value::Null,
        Some(Sorted::Long(value) | Sorted::Date(value)) => json!(value),
        Some(Sorted::Double(value)) => json!(value),
        // As in Elasticsearch, where only fields of values tell booleans as such.
        Some(Sorted::Boolean(value)) => json!(i64::from(*value)),
        Some(Sorted::Ip(address)) => json!(address.to_string()),
        Some(Sorted::Keyword(text)) => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let read = |sort: Value| {
            let keys = sort_keys(&sort).unwrap();
            let each = keys
                .into_iter()
                .map(|key| (key.by, key.descending, key.missing_first));
            each.collect::<Vec<_>>()
        };
        let field = |name: &str| SortBy::Field(name.to_owned());
        assert_eq!(read(json!("year")), [(field("year"), false, false)]);
        assert_eq!(read(json!(["_score"])), [(SortBy::Score, true, false)]);
        let keys = json!([
            {"at": {"order": "desc", "unmapped_type": "boolean", "missing": "_first"}},
            {"n": "asc"},
            "_doc"
        ]);
        let expected = [
            (field("at"), true, true),
            (field("n"), false, false),
            (SortBy::Doc, false, false),
        ];
        assert_eq!(read(keys), expected);
        let several = read(json!({"b": {"order": "desc"}, "a": "asc"}));
        assert_eq!(
            several,
            [(field("b"), true, false), (field("a"), false, false)]
        );
        for wrong in [
            json!([[]]),
            json!([{"a": "up"}]),
            json!([{"a": {"mode": "avg"}}]),
            json!([{"a": {"missing": 7}}]),
        ] {
            assert!(sort_keys(&wrong).is_err(), "{wrong}");
        }
        let url = sort_parameter("year:desc,_doc").unwrap();
        assert_eq!((url.len(), url[0].descending), (2, true));
    }
}
