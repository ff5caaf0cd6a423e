//! A partial update: some members of a JSON object replaced, all others as they were, byte for
//! byte.

use std::collections::HashMap;

use super::flatten::DEPTH_MAX;
use super::members::ObjectMembers;

/// The object `source` with the members of the object `partial`: what both have as objects is
/// merged likewise, everything else is taken from `partial`. Members that only `partial` has come
/// last.
pub(super) fn merge(source: &str, partial: &str) -> serde_json::Result<String> {
    merge_to(DEPTH_MAX, source, partial)
}

/// [`merge`] of what may be nested so deep; nothing deeper is a document, whoever parses the result
/// finds that.
fn merge_to(depth: usize, source: &str, partial: &str) -> serde_json::Result<String> {
    let ObjectMembers(old) = serde_json::from_str(source)?;
    let ObjectMembers(new) = serde_json::from_str(partial)?;
    // The last of several members of one name counts.
    let mut left: HashMap<&str, &str> = new.iter().map(|(name, value)| (&**name, *value)).collect();
    let mut out = String::with_capacity(source.len() + partial.len());
    for (name, value) in &old {
        match left.remove(&**name) {
            Some(replacement) if depth > 0 && is_object(value) && is_object(replacement) => {
                let merged = merge_to(depth - 1, value, replacement)?;
                push(name, &merged, &mut out)?;
            }
            Some(replacement) => push(name, replacement, &mut out)?,
            None => push(name, value, &mut out)?,
        }
    }
    for (name, _) in &new {
        if let Some(value) = left.remove(&**name) {
            push(name, value, &mut out)?;
        }
    }
    out.push_str(if out.is_empty() { "{}" } else { "}" });
    Ok(out)
}

fn is_object(value: &str) -> bool {
    value.starts_with('{')
}

fn push(name: &str, value: &str, out: &mut String) -> serde_json::Result<()> {
    out.push(if out.is_empty() { '{' } else { ',' });
    out.push_str(&serde_json::to_string(name)?);
    out.push(':');
    out.push_str(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Document;

    #[test]
    fn members_are_replaced_and_all_others_stay_byte_for_byte() {
        let source = r#"{"a": 1.50e0, "b":{"c":[1,2],"d":"x\u0041"},"e":null}"#;
        let cases = [
            (
                "{}",
                r#"{"a":1.50e0,"b":{"c":[1,2],"d":"x\u0041"},"e":null}"#,
            ),
            (
                r#"{"e":{"f":1}, "g": 99999999999999999999}"#,
                r#"{"a":1.50e0,"b":{"c":[1,2],"d":"x\u0041"},"e":{"f":1},"g":99999999999999999999}"#,
            ),
            (
                r#"{"b":{"c":3,"h":true}}"#,
                r#"{"a":1.50e0,"b":{"c":3,"d":"x\u0041","h":true},"e":null}"#,
            ),
            (r#"{"b":7,"b":8}"#, r#"{"a":1.50e0,"b":8,"e":null}"#),
        ];
        for (partial, expected) in cases {
            assert_eq!(merge(source, partial).unwrap(), expected);
        }
        assert_eq!(merge("{}", "{}").unwrap(), "{}");
    }

    #[test]
    fn what_is_no_object_is_rejected() {
        for partial in ["", "[]", "7", "{", r#"{"a":}"#, r#"{"a":1} {}"#] {
            assert!(merge(r#"{"a":1}"#, partial).is_err(), "{partial}");
        }
    }

    #[test]
    fn what_is_nested_too_deep_costs_little_and_is_no_document() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
        let merged = merge(&deep, &deep).unwrap();
        assert!(Document::parse(merged.as_bytes()).is_err());
    }
}
