//! `highlight`: the engine makes snippets of any field by one set of options.

use std::borrow::Cow;

use gannet::{FieldKind, Schema, SnippetOptions};
use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::json::{Members, fits, kind_of};

const OPTIONS: [&str; 9] = [
    "fields",
    "pre_tags",
    "post_tags",
    "number_of_fragments",
    "fragment_size",
    "no_match_size",
    "encoder",
    "type",
    "require_field_match",
];

const NOT_THERE: [&str; 13] = [
    "boundary_chars",
    "boundary_max_scan",
    "boundary_scanner",
    "boundary_scanner_locale",
    "force_source",
    "fragmenter",
    "fragment_offset",
    "highlight_query",
    "matched_fields",
    "max_analyzed_offset",
    "order",
    "phrase_limit",
    "tags_schema",
];

/// The fields of which snippets are made, as patterns, and their form.
#[derive(Clone, Debug)]
pub struct HighlightRequest {
    patterns: Vec<String>,
    /// The form of all snippets.
    pub snippets: SnippetOptions,
}

impl HighlightRequest {
    /// Reads the member `highlight` of a body.
    pub fn parse(value: &Value) -> Outcome<HighlightRequest> {
        let members = Members::of("highlight", value)?;
        members.check(&OPTIONS, &NOT_THERE)?;
        let common = options(&members, &elasticsearch())?;
        let none = Value::Array(Vec::new());
        let fields = members.get("fields").unwrap_or(&none);
        if !fields.is_object() && !fields.is_array() {
            return Err(Fault::content(format!(
                "[highlight] fields doesn't support values of this type: {}",
                kind_of(fields)
            )));
        }
        let mut patterns = Vec::new();
        let mut own: Option<SnippetOptions> = None;
        let lists = match fields {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        for list in lists {
            for (pattern, value) in Members::of("fields", list)?.iter() {
                let field = Members::of(pattern, value)?;
                field.check(&OPTIONS[1..], &NOT_THERE)?;
                let asked = options(&field, &common)?;
                if own.as_ref().is_some_and(|own| !are_alike(own, &asked)) {
                    return Err(Fault::query_not_there(
                        "[highlight] with other options for one field than for another",
                    ));
                }
                own = Some(asked);
                patterns.push(pattern.to_owned());
            }
        }
        Ok(HighlightRequest {
            patterns,
            snippets: own.unwrap_or(common),
        })
    }

    /// The text fields of an index that it asks for.
    pub fn fields(&self, schema: &Schema) -> Vec<String> {
        let texts = schema.fields().iter();
        let texts = texts.filter(|field| field.kind == FieldKind::Text);
        let is_asked = |name: &str| self.patterns.iter().any(|pattern| fits(pattern, name));
        texts
            .filter(|field| is_asked(&field.name))
            .map(|field| field.name.clone())
            .collect()
    }
}

/// Returns Elasticsearch's defaults.
fn elasticsearch() -> SnippetOptions {
    SnippetOptions {
        fragments: 5,
        characters: 100,
        ..SnippetOptions::default()
    }
}

fn options(members: &Members<'_>, others: &SnippetOptions) -> Outcome<SnippetOptions> {
    let mut options = others.clone();
    if let Some(fragments) = members.count("number_of_fragments")? {
        options.fragments = fragments;
    }
    if let Some(characters) = members.count("fragment_size")? {
        options.characters = characters.max(1);
    }
    if let Some(beginning) = members.count("no_match_size")? {
        options.beginning = beginning;
    }
    for (name, tag) in [
        ("pre_tags", &mut options.pre),
        ("post_tags", &mut options.post),
    ] {
        match members.texts(name)?.as_deref() {
            None => {}
            Some([one]) => *tag = Cow::Owned((*one).to_owned()),
            Some(_) => {
                return Err(Fault::query_not_there(&format!(
                    "[{name}] other than one tag"
                )));
            }
        }
    }
    match members.text("encoder")? {
        None => {}
        Some("default") => options.escape_html = false,
        Some("html") => options.escape_html = true,
        Some(other) => {
            return Err(Fault::parsing(format!(
                "[highlight] [encoder] is default or html, not [{other}]"
            )));
        }
    }
    if members.flag("require_field_match")? == Some(false) {
        return Err(Fault::query_not_there("[require_field_match] of [false]"));
    }
    match members.text("type")? {
        None | Some("unified" | "plain") => Ok(options),
        Some(other) => Err(Fault::query_not_there(&format!(
            "[highlight] of type [{other}]"
        ))),
    }
}

fn are_alike(one: &SnippetOptions, other: &SnippetOptions) -> bool {
    let figures = |options: &SnippetOptions| {
        (
            options.fragments,
            options.characters,
            options.beginning,
            options.escape_html,
        )
    };
    figures(one) == figures(other) && one.pre == other.pre && one.post == other.post
}
