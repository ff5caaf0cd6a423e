//! Selects the fields of stored documents that are shown.
//!
//! A field has the name that it has in the index: `by.name` is the member `name` of the object
//! `by`. The name of an object stands for all that is in it. Values are passed on as they are
//! stored.

use gannet::Snapshot;
use serde_json::json;

use crate::failure::Outcome;
use crate::members::{append_compact, compact, items, members};
use crate::output::Output;

/// The member that is the external ID.
const ID: &str = "id";

/// The fields that were named, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Nothing means all.
    names: Option<Vec<String>>,
}

impl Fields {
    /// The fields of these names, which the index must have; all fields if there are none.
    pub fn named(names: &[String], snapshot: &Snapshot) -> Outcome<Fields> {
        let mut wanted: Vec<String> = Vec::new();
        for name in names.iter().map(|name| name.trim()) {
            if name != ID && !is_object(name, snapshot) {
                snapshot.check_field(name)?;
            }
            if !wanted.iter().any(|other| other == name) {
                wanted.push(name.to_owned());
            }
        }
        let names = (!wanted.is_empty()).then_some(wanted);
        Ok(Fields { names })
    }

    /// The same, where all fields of the index are named: the ID first.
    pub fn one_by_one(self, snapshot: &Snapshot) -> Fields {
        let all = || {
            let fields = snapshot.schema().fields().iter();
            let names = fields.map(|field| field.name.clone());
            let names = names.filter(|name| name != ID);
            std::iter::once(ID.to_owned()).chain(names).collect()
        };
        Fields {
            names: Some(self.names.unwrap_or_else(all)),
        }
    }

    /// Returns true if all fields are shown.
    pub fn are_all(&self) -> bool {
        self.names.is_none()
    }

    /// The names, where they were named.
    pub fn names(&self) -> &[String] {
        self.names.as_deref().unwrap_or_default()
    }

    /// Prints a source on one line, with these fields only.
    pub fn print(&self, source: &str, output: &mut Output) -> Outcome<()> {
        if self.are_all() {
            return compact(source).try_for_each(|piece| output.bytes(piece.as_bytes()));
        }
        let mut line = String::new();
        self.append(source, &mut line);
        output.bytes(line.as_bytes())
    }

    /// A document as one line of JSON. One whose source does not have its ID gets it, so that the
    /// line can be indexed again.
    pub fn document(&self, id: &str, source: &str) -> String {
        let mut line = String::new();
        self.append(source, &mut line);
        let wants_id = self
            .names
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| name == ID));
        if wants_id && !members(source).any(|(name, _)| name == ID) {
            let comma = if line.len() > "{}".len() { "," } else { "" };
            line.insert_str(1, &format!("\"{ID}\":{}{comma}", json!(id)));
        }
        line
    }

    /// The text of each named field that a document has, in the order of the names.
    pub fn values<'a>(&'a self, source: &'a str) -> impl Iterator<Item = (&'a str, String)> {
        let each = self.names().iter();
        each.filter_map(move |name| Some((name.as_str(), value(name, source)?)))
    }

    /// The text of each named field of a document, empty where it has none.
    pub fn cells<'a>(&'a self, id: &'a str, source: &'a str) -> impl Iterator<Item = String> {
        self.names()
            .iter()
            .map(move |name| match value(name, source) {
                Some(value) => value,
                None if name == ID => id.to_owned(),
                None => String::new(),
            })
    }

    fn append(&self, source: &str, line: &mut String) {
        match &self.names {
            None => append_compact(source, line),
            Some(names) if !append_selected(source, "", names, line) => line.push_str("{}"),
            Some(_) => {}
        }
    }
}

/// Returns true if the index has fields within an object of this name.
fn is_object(name: &str, snapshot: &Snapshot) -> bool {
    let mut fields = snapshot.schema().fields().iter();
    fields.any(|field| is_within(&field.name, name))
}

/// Returns true if a field is a member of the object `name`, at any depth.
fn is_within(field: &str, name: &str) -> bool {
    let rest = field.strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Appends what of `value`, which stands at `path`, belongs to the named fields; whether there was
/// any.
fn append_selected(value: &str, path: &str, names: &[String], line: &mut String) -> bool {
    if names.iter().any(|name| name == path) {
        append_compact(value, line);
        return true;
    }
    let is_array = value.starts_with('[');
    let (open, close) = if is_array { ('[', ']') } else { ('{', '}') };
    let (start, mut any) = (line.len(), false);
    line.push(open);
    let mut append = |name: Option<&str>, path: &str, value: &str| {
        let before = line.len();
        if any {
            line.push(',');
        }
        if let Some(name) = name {
            line.push_str(&format!("{}:", json!(name)));
        }
        if append_selected(value, path, names, line) {
            any = true;
        } else {
            line.truncate(before)
        }
    };
    items(value).for_each(|item| append(None, path, item));
    for (name, value) in members(value) {
        let path = joined(path, &name);
        // Nothing of what is not wanted is gone into.
        if names
            .iter()
            .any(|name| *name == path || is_within(name, &path))
        {
            append(Some(&name), &path, value);
        }
    }
    if any {
        line.push(close)
    } else {
        line.truncate(start)
    }
    any
}

fn joined(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

/// The text of a field: a string as it is, anything else as JSON; several values as a JSON array.
fn value(field: &str, source: &str) -> Option<String> {
    let mut found = Vec::new();
    collect(field, source, &mut found);
    match found.as_slice() {
        [] => None,
        [one] => Some(text(one)),
        several => {
            let mut list = "[".to_owned();
            for (at, value) in several.iter().enumerate() {
                list.push_str(if at > 0 { "," } else { "" });
                append_compact(value, &mut list);
            }
            Some(list + "]")
        }
    }
}

fn collect<'a>(field: &str, value: &'a str, found: &mut Vec<&'a str>) {
    items(value).for_each(|item| collect(field, item, found));
    for (name, value) in members(value) {
        match field.strip_prefix(name.as_str()) {
            Some("") if value != "null" => found.push(value),
            Some(rest) => {
                if let Some(rest) = rest.strip_prefix('.') {
                    collect(rest, value, found);
                }
            }
            None => {}
        }
    }
}

fn text(value: &str) -> String {
    if let Ok(text) = serde_json::from_str(value) {
        return text;
    }
    let mut json = String::new();
    append_compact(value, &mut json);
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"{"id": "a", "title":"T", "n": 1.50, "by": {"name": "M", "born": 1819},
        "tags": ["x", "y"], "parts": [{"name": "p", "size": 1}, {"size": 2}, {"name": "q"}]}"#;

    fn fields(names: &[&str]) -> Fields {
        let names = names.iter().map(|name| (*name).to_owned());
        Fields {
            names: Some(names.collect()),
        }
    }

    #[test]
    fn members_that_are_named_are_shown_where_they_stand() {
        for (names, expected) in [
            (&["title", "id"][..], r#"{"id":"a","title":"T"}"#),
            (&["n"], r#"{"n":1.50}"#),
            (&["by.name"], r#"{"by":{"name":"M"}}"#),
            (&["by"], r#"{"by":{"name":"M","born":1819}}"#),
            (&["parts.name"], r#"{"parts":[{"name":"p"},{"name":"q"}]}"#),
            (&["tags", "b"], r#"{"tags":["x","y"]}"#),
            (&["nothing"], "{}"),
        ] {
            let mut line = String::new();
            fields(names).append(SOURCE, &mut line);
            assert_eq!(line, expected, "{names:?}");
        }
    }

    #[test]
    fn a_document_has_its_id() {
        let all = Fields { names: None };
        assert_eq!(all.document("a", r#"{"b": 1}"#), r#"{"id":"a","b":1}"#);
        assert_eq!(all.document("a", "{}"), r#"{"id":"a"}"#);
        assert_eq!(all.document("7", r#"{"b":1,"id":7}"#), r#"{"b":1,"id":7}"#);
        assert_eq!(fields(&["b"]).document("a", r#"{"b":1}"#), r#"{"b":1}"#);
        assert_eq!(fields(&["id"]).document("a", r#"{"b":1}"#), r#"{"id":"a"}"#);
    }

    #[test]
    fn cells_are_texts_or_json() {
        let names = [
            "id",
            "n",
            "tags",
            "by.name",
            "parts.name",
            "parts.size",
            "none",
            "by",
        ];
        let cells: Vec<String> = fields(&names).cells("z", SOURCE).collect();
        let by = r#"{"name":"M","born":1819}"#;
        let expected = [
            "a",
            "1.50",
            r#"["x","y"]"#,
            "M",
            r#"["p","q"]"#,
            "[1,2]",
            "",
            by,
        ];
        assert_eq!(cells, expected);
        assert_eq!(fields(&["id"]).cells("z", "{}").collect::<Vec<_>>(), ["z"]);
    }
}
