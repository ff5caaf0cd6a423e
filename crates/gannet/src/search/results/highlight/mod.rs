//! Snippets: the pieces of a text that show best why it was found, with what was wanted marked.
//!
//! The text is analyzed again, so nothing needs to be stored for it, and what is marked is exactly
//! what the index would match. Three steps: find the marks ([`wanted`]), choose and cut the pieces
//! around them ([`fragments`]), print them. A piece never begins or ends inside a mark or inside
//! what readers see as one character.

mod fragments;
mod wanted;

pub use wanted::{MARKS_MAX, Wanted, WantedPhrase};

use std::borrow::Cow;
use std::ops::Range;

use self::fragments::WINDOW_BYTES;
use self::wanted::WordPlace;
use crate::analysis::{Analyzer, Scratch};
use crate::base::{Result, Steps};
use wanted::Mark;

/// Bytes that finding and choosing marks takes for each: marks of terms and of phrases and a place,
/// in buffers that double, and two windows with their places.
pub const MARK_BYTES: usize =
    2 * (2 * size_of::<Mark>() + size_of::<WordPlace>()) + 2 * WINDOW_BYTES;

/// Options of snippets. Of one text no more than the first 8,192 places are marked.
#[derive(Clone, Debug)]
pub struct SnippetOptions {
    /// The most snippets of one text; 0 gives the whole text as one.
    pub fragments: usize,
    /// The length of a snippet in characters, without the tags. A longer mark is shown whole all
    /// the same.
    pub characters: usize,
    /// Text before a mark.
    pub pre: Cow<'static, str>,
    /// Text behind a mark.
    pub post: Cow<'static, str>,
    /// The number of characters of the text's beginning to give if there is nothing to mark; 0
    /// gives no snippet.
    pub beginning: usize,
    /// Set to write `&`, `<`, `>`, `"` and `'` of the text as HTML entities.
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

/// Bytes that making snippets of a document takes whose source has `source` bytes, the snippets
/// themselves included.
pub fn snippet_bytes(source: usize, options: &SnippetOptions) -> usize {
    let marks = MARKS_MAX.min(source / 2 + 1);
    let tags = options.pre.len() + options.post.len();
    // A text with escapes is copied into a buffer that doubles; a character becomes six at most.
    let printed = if options.escape_html {
        6 * source
    } else {
        source
    };
    2 * source + printed + marks * (MARK_BYTES + 2 * tags) + BESIDE_BYTES
}

/// Bytes that snippets of any text take.
const BESIDE_BYTES: usize = 4 << 10;

/// The snippets of `text`, best first: most different things wanted, then most of them, then
/// earliest.
pub fn snippets(
    analyzer: &Analyzer,
    text: &str,
    wanted: &Wanted,
    options: &SnippetOptions,
    scratch: &mut Scratch,
    steps: &mut Steps<'_>,
) -> Result<Vec<String>> {
    let marks = wanted.marks(analyzer, text, scratch, steps)?;
    let pieces = pieces(text, &marks, options, steps)?;
    let print = |piece: Range<usize>| print(text, piece, &marks, options);
    Ok(pieces.into_iter().map(print).collect())
}

fn pieces(
    text: &str,
    marks: &[Mark],
    options: &SnippetOptions,
    steps: &mut Steps<'_>,
) -> Result<Vec<Range<usize>>> {
    if marks.is_empty() {
        let beginning = fragments::beginning(text, options.beginning);
        return Ok(Vec::from_iter((!beginning.is_empty()).then_some(beginning)));
    }
    match options.fragments {
        0 => Ok(std::iter::once(0..text.len()).collect()),
        most => fragments::best(text, marks, options.characters, most, steps),
    }
}

/// The text of `piece` with its marks in tags.
fn print(text: &str, piece: Range<usize>, marks: &[Mark], options: &SnippetOptions) -> String {
    let mut at = piece.start;
    let first = marks.partition_point(|mark| mark.range().start < piece.start);
    let inside = marks[first..].iter().map(Mark::range);
    let inside = inside.take_while(|mark| mark.end <= piece.end);
    let mut out =
        String::with_capacity(printed_bytes(text, &piece, inside.clone().count(), options));
    for mark in inside {
        push_text(&text[at..mark.start], options, &mut out);
        out.push_str(&options.pre);
        push_text(&text[mark.start..mark.end], options, &mut out);
        out.push_str(&options.post);
        at = mark.end;
    }
    push_text(&text[at..piece.end], options, &mut out);
    out
}

/// Bytes that a piece with so many marks takes when it is printed.
fn printed_bytes(
    text: &str,
    piece: &Range<usize>,
    marks: usize,
    options: &SnippetOptions,
) -> usize {
    let entities = text[piece.clone()].bytes().filter(|byte| is_escaped(*byte));
    let escapes = if options.escape_html {
        5 * entities.count()
    } else {
        0
    };
    piece.len() + escapes + marks * (options.pre.len() + options.post.len())
}

/// Returns true if a byte is written as an entity of up to six.
fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'')
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
