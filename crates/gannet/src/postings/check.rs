//! Checking one list: everything is decoded and compared with what heads, directories and the entry
//! say.
//!
//! Every posting is shown to the caller, who knows what it should be: from positions and phrase
//! filters alone nobody can tell which words stand in a document.

use super::cursor::TermCursor;
use super::cursor::TermList;
use crate::base::{DocId, END, Error, Result};
use crate::cache::{Pages, finish};
use crate::postings::codec::entry::{ChunkRef, TermEntry};
use crate::postings::codec::impacts::Pair;
use crate::postings::codec::tokens::Tokens;

/// The most faults that are told of one list.
const FAULTS_MAX: usize = 20;

/// Answers a check about docs, and takes its postings.
pub trait PostingVisitor {
    /// The doc's norm in the field; 0 if that is not known any more.
    fn norm(&mut self, doc: DocId) -> Result<u8>;

    /// Takes the tokens of the next posting.
    fn visit(&mut self, doc: DocId, tokens: &Tokens);
}

/// Reads a whole list and says what is wrong with it; nothing if all is well.
///
/// Errors of the device or the memory budget are errors; damaged bytes are faults.
pub fn check(
    entry: &TermEntry,
    pages: &mut Pages<'_>,
    visitor: &mut dyn PostingVisitor,
) -> Result<Vec<String>> {
    let mut walk = ListWalk {
        cursor: TermList::new(entry.clone().into(), Vec::new()).cursor(),
        visitor,
        faults: Vec::new(),
        parts: vec![SeenPart::default(); entry.chunks.len() + 1],
    };
    match walk.run(entry, pages) {
        Err(error @ Error::Damaged { .. }) => walk.faults.push(error.to_string()),
        other => other?,
    }
    Ok(walk.faults)
}

struct ListWalk<'v> {
    cursor: TermCursor,
    visitor: &'v mut dyn PostingVisitor,
    faults: Vec<String>,
    /// The figures of each chunk, then of the tail.
    parts: Vec<SeenPart>,
}

/// The figures of a part of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SeenPart {
    count: u64,
    total: u64,
    first: Option<DocId>,
    last: Option<DocId>,
}

impl ListWalk<'_> {
    fn run(&mut self, entry: &TermEntry, pages: &mut Pages<'_>) -> Result<()> {
        entry.tail.check()?;
        let (mut before, mut page_last, mut tokens) = (None, None, Tokens::default());
        let list_bound = finish(pages, |pages| self.cursor.list_bound(pages))?;
        loop {
            pages.trim();
            let doc = finish(pages, |pages| self.cursor.next(pages))?;
            if doc == END || self.faults.len() >= FAULTS_MAX {
                break;
            }
            self.expect(
                before.is_none_or(|before| before < doc),
                doc,
                "docs do not ascend",
            );
            if page_last.is_none_or(|last| doc > last) {
                page_last = Some(finish(pages, |pages| self.cursor.bound(doc, pages))?.last);
            }
            let posting = Pair {
                frequency: self.cursor.frequency(),
                norm: self.norm(doc)?,
            };
            self.check_bounds(doc, posting, pages)?;
            self.expect(
                list_bound
                    .pairs()
                    .iter()
                    .any(|pair| pair.dominates(posting)),
                doc,
                "its score may be above the bound of the list",
            );
            self.read_tokens(doc, &mut tokens, pages)?;
            self.see(entry, doc, posting.frequency);
            before = Some(doc);
        }
        if self.faults.is_empty() {
            self.check_totals(entry);
        }
        Ok(())
    }

    /// A norm that is not known any more, of a deleted document, is below no bound.
    fn norm(&mut self, doc: DocId) -> Result<u8> {
        Ok(match self.visitor.norm(doc)? {
            0 => u8::MAX,
            norm => norm,
        })
    }

    fn check_bounds(&mut self, doc: DocId, posting: Pair, pages: &mut Pages<'_>) -> Result<()> {
        let page = finish(pages, |pages| self.cursor.bound(doc, pages))?;
        let held = |pair: &Pair| pair.dominates(posting);
        let mut sound = vec![(page.last >= doc, page.pairs().iter().any(held))];
        if let Some(blocks) = self.cursor.blocks_ahead(doc) {
            let mut block = (blocks.lasts().next() >= Some(doc), false);
            blocks.each_pair(blocks.first(), |pair| block.1 |= held(&pair))?;
            sound.push(block);
        }
        for (within, held) in sound {
            self.expect(held, doc, "its score may be above the bound");
            self.expect(within, doc, "it lies behind its page");
        }
        Ok(())
    }

    /// Reads positions and phrase filter, and shows them.
    fn read_tokens(
        &mut self,
        doc: DocId,
        tokens: &mut Tokens,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        let cursor = &mut self.cursor;
        finish(pages, |pages| {
            cursor.positions(pages, &mut tokens.positions)
        })?;
        finish(pages, |pages| {
            cursor.filter_of_doc(pages, &mut tokens.filter)
        })?;
        let frequency = cursor.frequency() as usize;
        self.expect(
            tokens.positions.len() == frequency,
            doc,
            "positions do not match its frequency",
        );
        self.visitor.visit(doc, tokens);
        Ok(())
    }

    /// Counts a posting for the part that it belongs to.
    fn see(&mut self, entry: &TermEntry, doc: DocId, frequency: u32) {
        let part = entry.chunks.partition_point(|chunk| chunk.last < doc);
        let seen = &mut self.parts[part];
        seen.count += 1;
        seen.total += frequency as u64;
        seen.first = seen.first.or(Some(doc));
        seen.last = Some(doc);
    }

    fn check_totals(&mut self, entry: &TermEntry) {
        let chunks = entry.chunks.iter().map(SeenPart::expected_of);
        let tail = SeenPart {
            count: entry.tail.count as u64,
            total: entry.tail.total_frequency,
            ..self.parts[entry.chunks.len()]
        };
        for (expected, got) in chunks.chain([tail]).zip(&self.parts) {
            if expected != *got {
                self.faults.push(format!("expected {expected}, got {got}"));
            }
        }
    }

    fn expect(&mut self, held: bool, doc: DocId, fault: &str) {
        if !held {
            self.faults.push(format!("doc {doc}: {fault}"));
        }
    }
}

impl SeenPart {
    fn expected_of(chunk: &ChunkRef) -> SeenPart {
        SeenPart {
            count: chunk.count as u64,
            total: chunk.total_frequency as u64,
            first: Some(chunk.first),
            last: Some(chunk.last),
        }
    }
}

impl std::fmt::Display for SeenPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SeenPart { count, total, .. } = self;
        write!(f, "{count} postings with {total} positions")?;
        match (self.first, self.last) {
            (Some(first), Some(last)) => write!(f, " from doc {first} to {last}"),
            _ => Ok(()),
        }
    }
}
