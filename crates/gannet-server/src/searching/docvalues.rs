//! `docvalue_fields` and `fields`: the fields whose values are wanted of each hit.

use gannet::aggregations::DateFormat;
use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::json::{Members, kind_of};

/// Fields of one request, as in Elasticsearch.
const FIELDS_MAX: usize = 100;

/// A field whose values are wanted of each hit.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueField {
    pub name: String,
    /// The format of dates, if it is not that of the mapping.
    pub format: Option<DateFormat>,
}

impl ValueField {
    /// Reads a list of names, and of objects with `field` and `format`.
    pub fn parse_all(value: &Value) -> Outcome<Vec<ValueField>> {
        let fields = ValueField::parse_list("docvalue_fields", value)?;
        if let Some(pattern) = fields.iter().find(|field| field.name.contains('*')) {
            return Err(Fault::query_not_there(&format!(
                "a pattern of names in [docvalue_fields], as [{}],",
                pattern.name
            )));
        }
        Ok(fields)
    }

    /// Reads `fields`: the same, of which names may be patterns.
    pub fn parse_patterns(value: &Value) -> Outcome<Vec<ValueField>> {
        ValueField::parse_list("fields", value)
    }

    fn parse_list(of: &str, value: &Value) -> Outcome<Vec<ValueField>> {
        let Value::Array(list) = value else {
            return Err(Fault::parsing(format!(
                "[{of}] expected a list of fields, found {}",
                kind_of(value)
            )));
        };
        if list.len() > FIELDS_MAX {
            return Err(Fault::illegal(format!(
                "Trying to retrieve too many {of}. Must be less than or equal to: [{FIELDS_MAX}] but was [{}].",
                list.len()
            )));
        }
        list.iter()
            .map(|field| ValueField::parse(of, field))
            .collect()
    }

    fn parse(of: &str, value: &Value) -> Outcome<ValueField> {
        let (name, format) = match value {
            Value::String(name) => (name.as_str(), None),
            other => {
                let members = Members::of(of, other)?;
                members.check(&["field", "format", "include_unmapped"], &[])?;
                let name = members
                    .text("field")?
                    .ok_or_else(|| Fault::parsing(format!("[{of}] needs a [field]")))?;
                (name, members.text("format")?)
            }
        };
        let format = format.filter(|format| *format != "use_field_mapping");
        Ok(ValueField {
            name: name.to_owned(),
            format: format.map(date_format).transpose()?,
        })
    }
}

/// Reads the format in which dates are printed.
pub fn date_format(text: &str) -> Outcome<DateFormat> {
    DateFormat::of(text).ok_or_else(|| {
        Fault::query_not_there(&format!(
            "the format [{text}] of dates in answers, with other letters than y, M, d, H, m, s, S and X,"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_names_or_objects() {
        let read = ValueField::parse_all(&json!([
            "a",
            { "field": "b", "format": "epoch_millis" },
            { "field": "c", "format": "use_field_mapping" },
        ]));
        let read = read.unwrap();
        let shown: Vec<(&str, bool)> = read
            .iter()
            .map(|field| (field.name.as_str(), field.format.is_some()))
            .collect();
        assert_eq!(shown, [("a", false), ("b", true), ("c", false)]);
        for wrong in [
            json!("a"),
            json!([7]),
            json!([{ "format": "epoch_millis" }]),
            json!([{ "field": "a", "format": "QQQ" }]),
            json!(["a*"]),
            json!(vec!["a"; 101]),
        ] {
            assert!(ValueField::parse_all(&wrong).is_err(), "{wrong}");
        }
    }
}
