//! Postings and values: all that the documents of a batch bring beside themselves.

use crate::analysis::{Field, FieldId, FieldKind};
use crate::columns::{Columns, FoundValue, FoundValues, KEYWORD_BYTES_MAX, TEXT_BYTES_MAX};
use crate::documents::Value;
use crate::postings::InvertedBatch;
use gannet_values::{Number, parse_full_date};

/// Where a date has its first hyphens, so that most other texts are not looked at further.
const HYPHENS: [usize; 2] = [4, 7];

/// The postings and values of a batch of documents.
#[derive(Debug, Default)]
pub(crate) struct BatchContent {
    pub(crate) inverted: InvertedBatch,
    pub(crate) values: FoundValues,
}

/// Adds a value of a document, unless no column takes any of its field.
pub(super) fn find_value(
    values: &mut FoundValues,
    document: u32,
    field: &Field,
    value: &Value,
    columns: &Columns,
) {
    let known = columns.of_field(field.id);
    let is_closed = |id: &u16| columns.get(*id).is_none_or(|column| column.closed);
    if !known.is_empty() && known.iter().all(is_closed) {
        return;
    }
    let (Value::Text(text) | Value::Exact(text)) = value;
    if field.rules.is_too_long(text) {
        values.add(document, field.id, FoundValue::LongText);
        return;
    }
    match value {
        Value::Exact(text) if field.kind == FieldKind::Exact => {
            values.add(document, field.id, exact(text));
        }
        Value::Exact(text) => values.add_spelled(document, field.id, text),
        Value::Text(text) => {
            let is_whole = field.is_whole();
            let most = if is_whole {
                KEYWORD_BYTES_MAX
            } else {
                TEXT_BYTES_MAX
            };
            if text.len() > most {
                values.add(document, field.id, FoundValue::LongText);
            } else {
                values.add_text(document, field.id, text, date(text));
            }
        }
    }
}

/// Notes that a value of a document is none of its field.
pub(super) fn find_misfit(values: &mut FoundValues, document: u32, field: FieldId) {
    values.add(document, field, FoundValue::Misfits(1));
}

/// A number or a boolean as JSON has it.
fn exact(text: &str) -> FoundValue {
    match text {
        "true" => return FoundValue::Boolean(true),
        "false" => return FoundValue::Boolean(false),
        _ => {}
    }
    let is_whole = !text.contains(['.', 'e', 'E']);
    match Number::parse(text) {
        Some(Number::Long(value)) if is_whole => FoundValue::Whole(value),
        Some(number) if is_whole => FoundValue::Beyond(number.nearest_double()),
        Some(number) => FoundValue::Fraction(number.nearest_double()),
        None => FoundValue::Misfits(1),
    }
}

fn date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let has_hyphens = HYPHENS.iter().all(|at| bytes.get(*at) == Some(&b'-'));
    if has_hyphens {
        parse_full_date(text)
    } else {
        None
    }
}
