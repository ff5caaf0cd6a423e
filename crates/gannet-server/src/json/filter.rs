//! Parts of JSON by the paths of their members: `_source` of a search, `filter_path` of any
//! request.
//!
//! Values that stay, stay byte for byte. Objects and arrays of which nothing stays are left out.

use gannet::ObjectMembers;
use serde_json::value::RawValue;

/// The members of sources that are returned, and those that are not. `*` stands for any characters.
#[derive(Clone, Debug, Default)]
pub struct SourceFilter {
    /// Patterns of paths that are returned; all if there are none.
    pub includes: Vec<String>,
    /// Patterns of paths that are not.
    pub excludes: Vec<String>,
}

/// The members of an answer that are returned: `filter_path`.
#[derive(Clone, Debug, Default)]
pub struct FilterPaths {
    included: Vec<Vec<String>>,
    excluded: Vec<Vec<String>>,
}

/// The fate of a value at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Keep,
    Drop,
    /// As what is around it, unless a member says otherwise.
    Inherit,
}

trait Rule {
    fn judge(&self, path: &[&str]) -> Verdict;
}

impl SourceFilter {
    /// Returns true if all stays as it is.
    pub fn takes_all(&self) -> bool {
        self.includes.is_empty() && self.excludes.is_empty()
    }

    /// Returns what stays of a source.
    pub fn apply(&self, source: &str) -> String {
        if self.takes_all() {
            return source.to_owned();
        }
        prune_whole(source, self.includes.is_empty(), self)
    }
}

impl Rule for SourceFilter {
    fn judge(&self, path: &[&str]) -> Verdict {
        let path = path.join(".");
        let any = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, &path));
        if any(&self.excludes) {
            Verdict::Drop
        } else if any(&self.includes) {
            Verdict::Keep
        } else {
            Verdict::Inherit
        }
    }
}

impl FilterPaths {
    /// Reads the value of `filter_path`: paths with commas between them, those to leave out with a
    /// minus before them.
    pub fn parse(text: &str) -> FilterPaths {
        let mut paths = FilterPaths::default();
        for path in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (list, path) = match path.strip_prefix('-') {
                Some(path) => (&mut paths.excluded, path),
                None => (&mut paths.included, path),
            };
            list.push(path.split('.').map(str::to_owned).collect());
        }
        paths
    }

    /// Returns what stays of an answer.
    pub fn apply(&self, json: &str) -> String {
        if self.included.is_empty() && self.excluded.is_empty() {
            return json.to_owned();
        }
        prune_whole(json, self.included.is_empty(), self)
    }
}

impl Rule for FilterPaths {
    fn judge(&self, path: &[&str]) -> Verdict {
        let any = |list: &[Vec<String>]| list.iter().any(|pattern| fits_path(pattern, path));
        if any(&self.excluded) {
            Verdict::Drop
        } else if any(&self.included) {
            Verdict::Keep
        } else {
            Verdict::Inherit
        }
    }
}

fn fits_path(pattern: &[String], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        ([many, rest @ ..], _) if many == "**" => {
            fits_path(rest, path)
                || path
                    .split_first()
                    .is_some_and(|(_, p)| fits_path(pattern, p))
        }
        ([one, rest @ ..], [name, path @ ..]) => fits(one, name) && fits_path(rest, path),
        _ => false,
    }
}

/// Returns true if a text fits a pattern in which `*` stands for any characters.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

fn prune_whole(json: &str, kept: bool, rule: &dyn Rule) -> String {
    let mut out = String::with_capacity(json.len() / 2);
    let mut path = Vec::new();
    if prune(json, &mut path, kept, rule, &mut out) {
        out
    } else {
        "{}".to_owned()
    }
}

/// Appends what stays of a value; returns false if that is nothing.
fn prune(
    json: &str,
    path: &mut Vec<String>,
    kept: bool,
    rule: &dyn Rule,
    out: &mut String,
) -> bool {
    let json = json.trim();
    if json.starts_with('{')
        && let Ok(ObjectMembers(members)) = serde_json::from_str(json)
    {
        return prune_object(&members, path, kept, rule, out);
    }
    if json.starts_with('[')
        && let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(json)
    {
        return prune_array(&elements, path, kept, rule, out);
    }
    if kept {
        out.push_str(json);
    }
    kept
}

fn prune_object(
    members: &[(String, &str)],
    path: &mut Vec<String>,
    kept: bool,
    rule: &dyn Rule,
    out: &mut String,
) -> bool {
    let before = out.len();
    out.push('{');
    let empty = out.len();
    for (name, value) in members {
        path.push(name.clone());
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let kept = match rule.judge(&parts) {
            Verdict::Drop => {
                path.pop();
                continue;
            }
            Verdict::Keep => true,
            Verdict::Inherit => kept,
        };
        let start = out.len();
        if start > empty {
            out.push(',');
        }
        out.push_str(&serde_json::Value::from(name.as_str()).to_string());
        out.push(':');
        if !prune(value, path, kept, rule, out) {
            out.truncate(start);
        }
        path.pop();
    }
    if out.len() == empty && !(kept && members.is_empty()) {
        out.truncate(before);
        return false;
    }
    out.push('}');
    true
}

fn prune_array(
    elements: &[&RawValue],
    path: &mut Vec<String>,
    kept: bool,
    rule: &dyn Rule,
    out: &mut String,
) -> bool {
    let before = out.len();
    out.push('[');
    let empty = out.len();
    for element in elements {
        let start = out.len();
        if start > empty {
            out.push(',');
        }
        if !prune(element.get(), path, kept, rule, out) {
            out.truncate(start);
        }
    }
    if out.len() == empty && !(kept && elements.is_empty()) {
        out.truncate(before);
        return false;
    }
    out.push(']');
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str =
        r#"{"a":1.50,"b":{"c":[{"d":1,"e":2},{"d":3}],"f":"x, y"},"g":[],"h":{"d":null}}"#;

    #[test]
    fn sources_are_cut_by_their_paths() {
        for (includes, excludes, expected) in [
            (vec![], vec![], JSON),
            (vec!["a"], vec![], r#"{"a":1.50}"#),
            (
                vec!["b.c.d", "h"],
                vec![],
                r#"{"b":{"c":[{"d":1},{"d":3}]},"h":{"d":null}}"#,
            ),
            (vec!["b"], vec!["b.c"], r#"{"b":{"f":"x, y"}}"#),
            (
                vec!["*.d"],
                vec![],
                r#"{"b":{"c":[{"d":1},{"d":3}]},"h":{"d":null}}"#,
            ),
            (vec![], vec!["b", "g", "h"], r#"{"a":1.50}"#),
            (vec!["zzz"], vec![], "{}"),
        ] {
            let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
            let filter = SourceFilter {
                includes: owned(includes),
                excludes: owned(excludes),
            };
            assert_eq!(filter.apply(JSON), expected, "{filter:?}");
        }
    }

    #[test]
    fn answers_are_cut_by_filter_path() {
        let answer = r#"{"took":3,"errors":true,"items":[{"index":{"status":200}},{"create":{"status":409,"error":{"type":"x"}}}]}"#;
        for (paths, expected) in [
            (
                "errors,items.*.error",
                r#"{"errors":true,"items":[{"create":{"error":{"type":"x"}}}]}"#,
            ),
            ("errors,items.*", &answer[..1].to_owned().add(&answer[10..])),
            (
                "**.type",
                r#"{"items":[{"create":{"error":{"type":"x"}}}]}"#,
            ),
            ("-items", r#"{"took":3,"errors":true}"#),
            ("took,-took", "{}"),
        ] {
            assert_eq!(
                FilterPaths::parse(paths).apply(answer),
                *expected,
                "{paths}"
            );
        }
    }

    use std::ops::Add;
}
