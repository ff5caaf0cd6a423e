//! Checking one list: everything is decoded and compared with what heads, directories and the entry say.

use super::cursor::TermCursor;
use super::entry::TermEntry;
use super::frontier::Pair;
use super::list::TermList;
use crate::base::{DocId, END, Error, Result};
use crate::cache::{Pages, finish};

/// The most faults that are told of one list.
const FAULTS_MAX: usize = 20;

/// Reads a whole list and says what is wrong with it; nothing if all is well.
///
/// Errors of the device or the memory budget are errors; damaged bytes are faults.
pub fn check(entry: &TermEntry, pages: &mut Pages<'_>) -> Result<Vec<String>> {
    let mut walk = Walk {
        cursor: TermList::new(entry.clone().into(), None).cursor(),
        faults: Vec::new(),
        count: 0,
        total: 0,
    };
    match walk.run(entry, pages) {
        Err(error @ Error::Damaged { .. }) => walk.faults.push(error.to_string()),
        other => other?,
    }
    Ok(walk.faults)
}

struct Walk {
    cursor: TermCursor,
    faults: Vec<String>,
    count: u64,
    total: u64,
}

impl Walk {
    fn run(&mut self, entry: &TermEntry, pages: &mut Pages<'_>) -> Result<()> {
        entry.tail.check()?;
        let (mut before, mut page_last, mut positions) = (None, None, Vec::new());
        loop {
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
            self.check_bounds(doc, pages)?;
            finish(pages, |pages| self.cursor.positions(pages, &mut positions))?;
            let frequency = self.cursor.frequency() as usize;
            self.expect(
                positions.len() == frequency,
                doc,
                "positions do not match its frequency",
            );
            before = Some(doc);
            self.count += 1;
            self.total += frequency as u64;
        }
        if self.faults.is_empty() {
            self.check_totals(entry);
        }
        Ok(())
    }

    fn check_bounds(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Result<()> {
        let frequency = self.cursor.frequency();
        let page = finish(pages, |pages| self.cursor.bound(doc, pages))?;
        let held = |pair: &Pair| pair.frequency >= frequency;
        let mut sound = vec![(page.last >= doc, page.pairs().iter().any(held))];
        if let Some(blocks) = self.cursor.blocks_ahead(doc) {
            let mut block = (blocks.lasts().next() >= Some(doc), false);
            blocks.each_pair(blocks.first(), |pair| block.1 |= held(&pair))?;
            sound.push(block);
        }
        for (within, held) in sound {
            self.expect(held, doc, "its frequency is above the bound");
            self.expect(within, doc, "it lies behind its page");
        }
        Ok(())
    }

    fn check_totals(&mut self, entry: &TermEntry) {
        let expected = (entry.document_frequency(), entry.total_frequency());
        if expected != (self.count, self.total) {
            self.faults.push(format!(
                "expected {} postings with {} positions, got {} with {}",
                expected.0, expected.1, self.count, self.total
            ));
        }
        for chunk in &entry.chunks {
            self.expect(
                chunk.first <= chunk.last,
                chunk.first,
                "its chunk ends before it",
            );
        }
    }

    fn expect(&mut self, held: bool, doc: DocId, fault: &str) {
        if !held {
            self.faults.push(format!("doc {doc}: {fault}"));
        }
    }
}
