//! What a query wants marked in the snippets of a field: the terms and phrases of all that may match.
//!
//! What must not match is never marked. A pattern marks the terms that it was found to stand for.

use super::highlight::{SnippetOptions, Wanted, WantedPhrase, snippets};
use super::lists::{OpenLists, OpenTerm};
use super::plan::Node;
use crate::analysis::{Field, FieldId, Scratch, split_term_key};
use crate::base::Result;
use crate::documents::{Document, Value};

/// Makes the snippets of one field for document after document.
pub struct Marker {
    field: Field,
    wanted: Wanted,
    options: SnippetOptions,
    scratch: Scratch,
}

impl Marker {
    /// A marker for `field` of what `node` asks for.
    pub fn new(
        field: &Field,
        node: &Node,
        lists: &OpenLists,
        options: SnippetOptions,
    ) -> Result<Marker> {
        let mut wanted = Wanted::default();
        want(node, field.id, lists, &mut wanted)?;
        Ok(Marker {
            field: field.clone(),
            wanted,
            options,
            scratch: Scratch::default(),
        })
    }

    /// The field's name and the snippets of all its values, at most as many as the options say.
    pub fn mark(&mut self, document: &Document) -> (String, Vec<String>) {
        let Marker {
            field,
            wanted,
            options,
            scratch,
        } = self;
        let values = document.fields.iter();
        let texts = values.filter_map(|(name, value)| match value {
            Value::Text(text) if *name == field.name => Some(text),
            _ => None,
        });
        let all = texts.flat_map(|text| snippets(&field.analyzer, text, wanted, options, scratch));
        let most = options.fragments.max(1);
        (field.name.clone(), all.take(most).collect())
    }
}

fn want(node: &Node, field: FieldId, lists: &OpenLists, wanted: &mut Wanted) -> Result<()> {
    match node {
        Node::Term(slot, _) => {
            let term = lists.terms[*slot].iter();
            want_terms(term, field, wanted)
        }
        Node::Pattern(slot, _) => want_terms(lists.patterns[*slot].1.iter(), field, wanted),
        Node::Phrase { words, slop, .. } => {
            let mut terms = Vec::new();
            for (slot, place) in words {
                let open = lists.terms[*slot].as_ref();
                match open.map(|open| text_in(open, field)).transpose()?.flatten() {
                    Some(term) => terms.push((term, *place)),
                    None => return Ok(()),
                }
            }
            wanted.phrase(WantedPhrase { terms, slop: *slop });
            Ok(())
        }
        Node::Any { parts, .. } | Node::Best(parts) => want_all(parts, field, lists, wanted),
        Node::Filtered {
            required, optional, ..
        } => {
            want_all(required, field, lists, wanted)?;
            want_all(optional, field, lists, wanted)
        }
        Node::None | Node::All(_) | Node::Exists(..) | Node::Id(..) => Ok(()),
    }
}

fn want_all(nodes: &[Node], field: FieldId, lists: &OpenLists, wanted: &mut Wanted) -> Result<()> {
    let mut nodes = nodes.iter();
    nodes.try_for_each(|node| want(node, field, lists, wanted))
}

fn want_terms<'a>(
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
fn text_in(term: &OpenTerm, field: FieldId) -> Result<Option<String>> {
    let (of, text) = split_term_key(&term.key)?;
    let text = String::from_utf8_lossy(text);
    Ok((of == field).then(|| text.into_owned()))
}
