//! Snippets: the pieces of a text that show best why it was found, with what was wanted marked.
//!
//! The text is analyzed again, so nothing needs to be stored for it, and what is marked is exactly what the
//! index would match. Three steps: find the marks ([`wanted`]), choose and cut the pieces around them
//! ([`fragments`]), print them. A piece never begins or ends inside a mark or inside what readers see as one
//! character.

mod fragments;
mod wanted;

pub use wanted::{Wanted, WantedPhrase};

use std::borrow::Cow;
use std::ops::Range;

use crate::analysis::{Analyzer, Scratch};
use wanted::Mark;

/// How snippets are made.
#[derive(Clone, Debug)]
pub struct SnippetOptions {
    /// The most snippets of one text; 0 gives the whole text as one.
    pub fragments: usize,
    /// The length of a snippet in characters, without the tags. A longer mark is shown whole all the same.
    pub characters: usize,
    /// What goes before a mark.
    pub pre: Cow<'static, str>,
    /// What goes after a mark.
    pub post: Cow<'static, str>,
    /// How many characters of the text's beginning to give when there is nothing to mark; 0 gives no snippet.
    pub beginning: usize,
    /// Whether `&`, `<`, `>`, `"` and `'` in the text are written as HTML entities.
    pub escape_html: bool,
}

impl Default for SnippetOptions {
    fn default() -> SnippetOptions {
        SnippetOptions {
            fragments: 3,
            characters: 150,
            pre: "<em>".into(),
            post: "</em>".into(),
            beginning: 0,
            escape_html: false,
        }
    }
}

/// The snippets of `text`, best first: most different things wanted, then most of them, then earliest.
pub fn snippets(
    analyzer: &Analyzer,
    text: &str,
    wanted: &Wanted,
    options: &SnippetOptions,
    scratch: &mut Scratch,
) -> Vec<String> {
    let marks = wanted.marks(analyzer, text, scratch);
    let pieces = pieces(text, &marks, options);
    let print = |piece: Range<usize>| print(text, piece, &marks, options);
    pieces.into_iter().map(print).collect()
}

fn pieces(text: &str, marks: &[Mark], options: &SnippetOptions) -> Vec<Range<usize>> {
    if marks.is_empty() {
        let beginning = fragments::beginning(text, options.beginning);
        return Vec::from_iter((!beginning.is_empty()).then_some(beginning));
    }
    match options.fragments {
        0 => std::iter::once(0..text.len()).collect(),
        most => fragments::best(text, marks, options.characters, most),
    }
}

/// The text of `piece` with its marks in tags.
fn print(text: &str, piece: Range<usize>, marks: &[Mark], options: &SnippetOptions) -> String {
    let mut out = String::with_capacity(piece.len() + 32);
    let mut at = piece.start;
    let first = marks.partition_point(|mark| mark.start < piece.start);
    for mark in marks[first..]
        .iter()
        .take_while(|mark| mark.end <= piece.end)
    {
        push_text(&text[at..mark.start], options, &mut out);
        out.push_str(&options.pre);
        push_text(&text[mark.start..mark.end], options, &mut out);
        out.push_str(&options.post);
        at = mark.end;
    }
    push_text(&text[at..piece.end], options, &mut out);
    out
}

fn push_text(text: &str, options: &SnippetOptions, out: &mut String) {
    if !options.escape_html {
        return out.push_str(text);
    }
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests;
