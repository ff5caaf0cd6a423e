//! The members of a JSON object, values as they are written.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// The members of an object in their order.
pub struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Those of a text, which must be one object.
    pub fn of(json: &'a [u8]) -> serde_json::Result<Members<'a>> {
        serde_json::from_slice(json)
    }

    /// The value of a member, where it is not null.
    pub fn value(&self, name: &str) -> Option<&'a str> {
        let mut members = self.0.iter();
        let found = members.find(|(other, _)| other == name);
        let value = found.map(|(_, value)| value.get());
        value.filter(|value| *value != "null")
    }

    /// Whether there is a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }
}

/// A document without its member `id`, which an index may know without it: put into the source of
/// one that does not have it, it would be a field beside the ID. What is no object stays.
pub fn without_id(document: &[u8]) -> Cow<'_, [u8]> {
    let members = Members::of(document.trim_ascii());
    let Some(members) = members.ok().filter(|members| members.has("id")) else {
        return Cow::Borrowed(document);
    };
    let mut out = vec![b'{'];
    for (name, value) in members.0.iter().filter(|(name, _)| name != "id") {
        if out.len() > 1 {
            out.push(b',');
        }
        let member = format!("{}:{}", serde_json::Value::from(name.as_str()), value.get());
        out.extend_from_slice(member.as_bytes());
    }
    out.push(b'}');
    Cow::Owned(out)
}

/// The ID that a JSON value is: a string, or an integer as its digits.
pub fn id_of(value: &str) -> Option<String> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    match !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Some(value.to_owned()),
        false => serde_json::from_str(value).ok(),
    }
}

/// Why a text is no JSON object, with the column.
pub fn fault(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = words.strip_suffix(&place).unwrap_or(&words);
    format!("column {}: {reason}", error.column().max(1))
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_loses_its_id_alone() {
        for (document, expected) in [
            (
                r#"{"id":"a","x":1.50,"y":{"id":2}}"#,
                r#"{"x":1.50,"y":{"id":2}}"#,
            ),
            (r#"{"id":7}"#, "{}"),
            (r#"{ "x": 1 }"#, r#"{ "x": 1 }"#),
            ("[1]", "[1]"),
        ] {
            assert_eq!(*without_id(document.as_bytes()), *expected.as_bytes());
        }
    }
}
