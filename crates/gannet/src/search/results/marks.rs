//! Finds what a query marks in the snippets of a field: the terms and phrases of all that may
//! match.
//!
//! Excluded clauses are never marked. A pattern marks the terms that it stands for.

use super::highlight::{SnippetOptions, Wanted, snippets};
use crate::analysis::{Field, FieldId, Schema, Scratch, split_term_key};
use crate::base::{Result, Steps};
use crate::documents::each_text;
use crate::search::lists::{OpenLists, OpenTerm};
use crate::search::plan::PlanNode;

/// Makes the snippets of one field for document after document.
pub struct Marker {
    field: Field,
    /// The name under which documents have its values: that of another field for a multi-field.
    source: String,
    wanted: Wanted,
    options: SnippetOptions,
    scratch: Scratch,
}

impl Marker {
    /// A marker for `field` of what `node` asks for.
    pub fn new(
        field: &Field,
        schema: &Schema,
        node: &PlanNode,
        lists: &OpenLists,
        options: SnippetOptions,
    ) -> Result<Marker> {
        let mut wanted = Wanted::default();
        for node in node.matching() {
            node.as_kind(|kind| kind.want(field.id, lists, &mut wanted))?;
        }
        Ok(Marker {
            source: field
                .rules
                .source
                .and_then(|source| schema.field(source))
                .unwrap_or(field)
                .name
                .clone(),
            field: field.clone(),
            wanted,
            options,
            scratch: Scratch::default(),
        })
    }

    /// The field's name and the snippets of all its values in a JSON source, at most as many as the
    /// options say.
    pub fn mark(&mut self, source: &[u8], steps: &mut Steps<'_>) -> Result<(String, Vec<String>)> {
        let Marker {
            field,
            source: name,
            wanted,
            options,
            scratch,
        } = self;
        let most = options.fragments.max(1);
        let mut made = Ok(Vec::new());
        each_text(source, name, &mut |text| {
            if let Ok(all) = &mut made
                && all.len() < most
            {
                match snippets(&field.analyzer, text, wanted, options, scratch, steps) {
                    Ok(more) => all.extend(more.into_iter().take(most - all.len())),
                    Err(error) => made = Err(error),
                }
            }
        })?;
        Ok((field.name.clone(), made?))
    }
}

/// Bytes that markers for some fields take of what `node` asks for.
pub fn marker_bytes(fields: &[&Field], node: &PlanNode, lists: &OpenLists) -> usize {
    const WORD_BYTES: usize = 128;
    let words = lists
        .all()
        .map(|open| WORD_BYTES + open.key.len())
        .sum::<usize>();
    let scratch = fields.iter().map(|field| field.analyzer.scratch_bytes());
    // A word may be wanted by itself and in phrases.
    let ordered = node.matching();
    let ordered = ordered.map(|node| node.as_kind(|kind| kind.ordered_words()));
    2 * words + ordered.sum::<usize>() * size_of::<(usize, u32)>() + scratch.sum::<usize>()
}

/// Wants the terms among these that are of `field`.
pub fn want_terms<'a>(
    terms: impl Iterator<Item = &'a OpenTerm>,
    field: FieldId,
    wanted: &mut Wanted,
) -> Result<()> {
    for term in terms {
        if let Some(text) = text_in(term, field)? {
            wanted.term(text);
        }
    }
    Ok(())
}

/// The text of a term if it is one of `field`.
pub fn text_in(term: &OpenTerm, field: FieldId) -> Result<Option<String>> {
    let (of, text) = split_term_key(&term.key)?;
    let text = String::from_utf8_lossy(text);
    Ok((of == field).then(|| text.into_owned()))
}
