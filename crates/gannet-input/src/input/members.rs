//! The members of a JSON object, values as they are written.

use std::borrow::Cow;

use gannet::ObjectMembers;

/// Returns the members of a text, which must be one object.
pub fn members_of(json: &[u8]) -> serde_json::Result<ObjectMembers<'_>> {
    serde_json::from_slice(json)
}

/// A document without its member `id`, which an index may know without it: put into the source of
/// one that does not have it, it would be a field beside the ID. What is no object stays.
pub fn without_id(document: &[u8]) -> Cow<'_, [u8]> {
    let members = members_of(document.trim_ascii());
    let Some(members) = members.ok().filter(|members| members.has("id")) else {
        return Cow::Borrowed(document);
    };
    let mut out = vec![b'{'];
    for (name, value) in members.0.iter().filter(|(name, _)| name != "id") {
        if out.len() > 1 {
            out.push(b',');
        }
        let member = format!("{}:{}", serde_json::Value::from(name.as_str()), value);
        out.extend_from_slice(member.as_bytes());
    }
    out.push(b'}');
    Cow::Owned(out)
}

/// The ID that a JSON value is: a string, or an integer as its digits.
pub fn id_of(value: &str) -> Option<String> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        Some(value.to_owned())
    } else {
        serde_json::from_str(value).ok()
    }
}

/// Why a text is no JSON object, with the column.
pub fn fault(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = words.strip_suffix(&place).unwrap_or(&words);
    format!("column {}: {reason}", error.column().max(1))
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
