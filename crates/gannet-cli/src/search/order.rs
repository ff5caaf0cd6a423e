//! The order of hits by values: its keys, and the values of hits as JSON.

use gannet::values::Value;
use gannet::{SortKey, SortValue};
use serde_json::Value as Json;

use crate::columns;
use crate::failure::{Failure, Outcome};

/// The keys of an order.
pub fn keys(written: &[String]) -> Outcome<Vec<SortKey>> {
    let keys = written.iter().map(|key| Ok(SortKey::parse(key)?));
    keys.collect()
}

/// The values behind which the hits begin.
pub fn after(written: Option<&str>) -> Outcome<Option<Vec<SortValue>>> {
    let Some(written) = written else {
        return Ok(None);
    };
    let wrong = |reason: &str| {
        Failure::caller(format!(
            "--after {written}: {reason}; give the values of the last hit as \"sort\" has them, such as \
             '[\"2023-05-17T00:00:00.000Z\",17]'"
        ))
    };
    let values: Vec<Json> =
        serde_json::from_str(written).map_err(|_| wrong("expected a JSON array"))?;
    let value = |value: Json| match value {
        Json::Null => Ok(None),
        Json::Bool(value) => Ok(Some(Value::Boolean(value))),
        Json::String(text) => Ok(Some(Value::Keyword(text.into()))),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(long), _) => Ok(Some(Value::Long(long))),
            (None, Some(double)) => Ok(Some(Value::Double(double))),
            (None, None) => Err(wrong("a number is too large")),
        },
        Json::Array(_) | Json::Object(_) => Err(wrong("expected numbers, strings and booleans")),
    };
    let values = values.into_iter().map(value).collect::<Outcome<_>>()?;
    Ok(Some(values))
}

/// A value as JSON: dates in ISO 8601, null where there is none.
pub fn json_of(value: &SortValue) -> Json {
    value.as_ref().map_or(Json::Null, columns::json_of)
}

/// The values of a hit on one line.
pub fn text_of(values: &[SortValue]) -> String {
    let each = values.iter().map(|value| match value {
        None => "-".to_owned(),
        Some(value) => value.to_string(),
    });
    each.collect::<Vec<_>>().join("  ")
}
