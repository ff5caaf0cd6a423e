//! Rules for the values of a field, as they were declared: what a null counts as, which strings are
//! too long, and whose values a multi-field takes.
//!
//! They stand in the schema, so that a replay, a check and a rebuild apply them as the writer did.
//! A field has them from its first value on, and they never change.

use std::sync::Arc;

use gannet_values::DateFormats;

use crate::base::{ByteReader, Result, put_bytes, put_varint};

/// A field's number.
pub type FieldId = u16;

const SOURCE: u8 = 1;
const IGNORE_ABOVE: u8 = 2;
const NULL_VALUE: u8 = 4;
const NULL_IS_EXACT: u8 = 8;
const DATE_FORMATS: u8 = 16;
const WITHOUT_TERMS: u8 = 32;
const FLAGS: u8 = 63;

/// The rules for the values of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueRules {
    /// The field whose values it takes, if it is a multi-field.
    pub source: Option<FieldId>,
    /// The most characters of a string that is taken.
    pub ignore_above: Option<u32>,
    /// The value that a null counts as.
    pub null_value: Option<NullValue>,
    /// The formats of its dates, if any were declared.
    pub date_formats: Option<Arc<DateFormats>>,
    /// Set if its values are not found by terms, but by its column alone.
    pub without_terms: bool,
}

/// A value that stands for null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NullValue {
    /// The value as it is spelled.
    pub text: String,
    /// Set for a number or a boolean.
    pub is_exact: bool,
}

impl ValueRules {
    /// Returns true if a string has more characters than are taken.
    pub fn is_too_long(&self, text: &str) -> bool {
        let most = self.ignore_above;
        most.is_some_and(|most| has_more_characters(text, most))
    }

    /// Appends the rules.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let is_exact = self.null_value.as_ref().is_some_and(|null| null.is_exact);
        let flags = [
            (self.source.is_some(), SOURCE),
            (self.ignore_above.is_some(), IGNORE_ABOVE),
            (self.null_value.is_some(), NULL_VALUE),
            (is_exact, NULL_IS_EXACT),
            (self.date_formats.is_some(), DATE_FORMATS),
            (self.without_terms, WITHOUT_TERMS),
        ];
        let set = flags.iter().filter(|(is_set, _)| *is_set);
        out.push(set.fold(0, |all, (_, flag)| all | flag));
        if let Some(source) = self.source {
            put_varint(out, source.into());
        }
        if let Some(most) = self.ignore_above {
            put_varint(out, most.into());
        }
        if let Some(null) = &self.null_value {
            put_bytes(out, null.text.as_bytes());
        }
        if let Some(formats) = &self.date_formats {
            put_bytes(out, formats.text().as_bytes());
        }
    }

    /// Reads what [`ValueRules::encode`] wrote.
    pub(super) fn decode(reader: &mut ByteReader<'_>) -> Result<ValueRules> {
        let flags = reader.u8()?;
        let has = |flag: u8| flags & flag != 0;
        if flags & !FLAGS != 0 || has(NULL_IS_EXACT) && !has(NULL_VALUE) {
            return Err(reader.damaged("rules of a field", flags));
        }
        let mut rules = ValueRules {
            without_terms: has(WITHOUT_TERMS),
            ..ValueRules::default()
        };
        if has(SOURCE) {
            rules.source = Some(reader.varint_u16()?);
        }
        if has(IGNORE_ABOVE) {
            rules.ignore_above = Some(reader.varint_u32()?);
        }
        if has(NULL_VALUE) {
            rules.null_value = Some(NullValue {
                text: reader.text()?.to_owned(),
                is_exact: has(NULL_IS_EXACT),
            });
        }
        if has(DATE_FORMATS) {
            let formats = DateFormats::of(reader.text()?);
            let formats = formats.map_err(|error| reader.damaged("formats of dates", error))?;
            rules.date_formats = Some(Arc::new(formats));
        }
        Ok(rules)
    }
}

/// Returns true if a text has more characters than `most`.
pub fn has_more_characters(text: &str, most: u32) -> bool {
    let most = most as usize;
    // A character has one byte at least.
    text.len() > most && text.chars().nth(most).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_come_back_as_they_were_written_and_damage_is_noticed() {
        let null_value = Some(NullValue {
            text: "none".to_owned(),
            is_exact: false,
        });
        for rules in [
            ValueRules::default(),
            ValueRules {
                source: Some(300),
                ignore_above: Some(256),
                null_value,
                date_formats: DateFormats::of("yyyy||epoch_millis").ok().map(Arc::new),
                without_terms: true,
            },
        ] {
            let mut bytes = Vec::new();
            rules.encode(&mut bytes);
            let mut reader = ByteReader::new(&bytes, "rules");
            assert_eq!(ValueRules::decode(&mut reader).unwrap(), rules);
            for length in 0..bytes.len() {
                let mut reader = ByteReader::new(&bytes[..length], "rules");
                assert!(ValueRules::decode(&mut reader).is_err());
            }
        }
        for flags in [FLAGS + 1, NULL_IS_EXACT] {
            let bytes = [flags, 0];
            let mut reader = ByteReader::new(&bytes, "rules");
            assert!(ValueRules::decode(&mut reader).is_err());
        }
    }

    #[test]
    fn strings_are_measured_in_characters() {
        let rules = ValueRules {
            ignore_above: Some(3),
            ..ValueRules::default()
        };
        assert!(!rules.is_too_long("äöü") && rules.is_too_long("äöüß"));
        assert!(!ValueRules::default().is_too_long(&"x".repeat(5_000)));
    }
}
