//! Positions of the current doc.
//!
//! A posting's positions start at a number that its page's directory and the frequencies before it
//! in the block add up to; the page's table names the position page. Very many positions are read
//! in windows, so that one posting never needs more frames than [`WINDOW`]; what was read so far is
//! kept between steps.

use super::parts::read;
use crate::base::{DocId, END, Error, Result};
use crate::cache::{Pages, Step, Stop};
use crate::postings::codec::block::{BLOCK, Numbers};
use crate::postings::codec::docs_page::DocsPage;
use crate::postings::codec::head::Head;
use crate::postings::codec::position_page::PositionPage;
use crate::postings::codec::tokens::Tokens;

pub(super) const WHAT: &str = "the positions of a postings list";

/// Position pages of one posting that are asked for at once.
const WINDOW: u32 = 8;

/// The state of reading positions.
#[derive(Clone, Debug)]
pub(super) struct PositionScratch {
    /// The doc whose positions are being read, and those read so far.
    pub(super) doc: DocId,
    pub(super) read: Vec<u32>,
    /// A place in the decoded block and the positions before it.
    pub(super) before: (usize, u64),
    pub(super) page: Option<(usize, u32, PositionPage)>,
    /// The number of the first position that is decoded, and how many are.
    pub(super) block: (u32, usize),
    /// Not there before a position is read.
    pub(super) values: Option<Box<Numbers>>,
    /// The tokens of a posting in memory.
    pub(super) tokens: Tokens,
}

impl Default for PositionScratch {
    fn default() -> PositionScratch {
        PositionScratch {
            doc: END,
            read: Vec::new(),
            before: (0, 0),
            page: None,
            block: (0, 0),
            values: None,
            tokens: Tokens::default(),
        }
    }
}

impl PositionScratch {
    /// The cursor entered another block.
    pub(super) fn forget_block(&mut self) {
        self.before = (0, 0);
    }

    /// Positions in the block before place `at`.
    pub(super) fn skip_to(&mut self, at: usize, frequencies: &Numbers) -> u64 {
        if self.before.0 > at {
            self.before = (0, 0);
        }
        let between = frequencies[self.before.0..at].iter();
        let sum: u64 = between.map(|frequency| *frequency as u64).sum();
        self.before = (at, self.before.1 + sum);
        self.before.1
    }
}

impl PositionScratch {
    /// Decodes the block that holds the position with this number.
    pub(super) fn load(
        &mut self,
        part: usize,
        head: &Head,
        docs: &DocsPage,
        number: u32,
        end: u32,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let here = |page: &PositionPage| page.first <= number && number < page.end();
        if !matches!(&self.page, Some((p, _, page)) if *p == part && here(page)) {
            let follows = match &self.page {
                Some((p, ordinal, page)) if *p == part && page.end() == number => Some(ordinal + 1),
                _ => None,
            };
            let ordinal = match follows {
                Some(ordinal) => ordinal,
                None => find_page(head, docs, number, pages)?,
            };
            let span = last_page(head, docs, ordinal, end);
            note_pages(head, ordinal, span, pages)?;
            let page = load_page(head, ordinal, pages)?;
            if !here(&page) {
                let reason = format!("expected position {number} in page {ordinal}");
                return Err(Error::damaged(WHAT, reason).into());
            }
            self.block = (0, 0);
            self.page = Some((part, ordinal, page));
        }
        let decoded = number.wrapping_sub(self.block.0) < self.block.1 as u32;
        if let (false, Some((.., page))) = (decoded, &self.page) {
            self.block = (0, 0);
            let values = self.values.get_or_insert_with(|| Box::new([0; BLOCK]));
            self.block = page.block(number, values)?;
        }
        Ok(())
    }

    /// Moves positions from the decoded block to those read.
    pub(super) fn take(&mut self, number: u32, end: u32) -> Result<()> {
        let from = (number - self.block.0) as usize;
        let count = (self.block.1 - from).min((end - number) as usize);
        let mut position = self.read.last().copied().unwrap_or(0);
        let values = self.values.as_deref().map_or(&[][..], |values| values);
        for value in &values[from..from + count] {
            position = position
                .checked_add(*value)
                .ok_or_else(|| Error::damaged(WHAT, "expected 32-bit positions"))?;
            self.read.push(position);
        }
        Ok(())
    }
}

/// The position page with this number: the table's word, or a binary search where the table has
/// strides.
pub(super) fn find_page(
    head: &Head,
    docs: &DocsPage,
    number: u32,
    pages: &mut Pages<'_>,
) -> Step<u32> {
    let mut low = docs.position_page(number);
    if docs.knows_position_pages() {
        return Ok(low);
    }
    let mut high = low.saturating_add(docs.stride()).min(head.position_pages());
    while high.saturating_sub(low) > 1 {
        let middle = low + (high - low) / 2;
        if load_page(head, middle, pages)?.first <= number {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// The last of the pages to ask for together.
pub(super) fn last_page(head: &Head, docs: &DocsPage, first: u32, end: u32) -> u32 {
    let last = docs.position_page(end.saturating_sub(1)).max(first);
    last.min(first.saturating_add(WINDOW - 1))
        .min(head.position_pages().saturating_sub(1))
}

pub(super) fn note_pages(head: &Head, first: u32, last: u32, pages: &mut Pages<'_>) -> Step<()> {
    let spans = (first..=last).filter_map(|ordinal| head.position_page(ordinal));
    for address in spans.flat_map(|span| span.pages()) {
        pages.want(address)?;
    }
    Ok(())
}

fn load_page(head: &Head, ordinal: u32, pages: &mut Pages<'_>) -> Step<PositionPage> {
    let Some(span) = head.position_page(ordinal) else {
        return Err(Stop::Failed(Error::damaged(
            WHAT,
            "expected more position pages",
        )));
    };
    let bytes = read(span, pages)?;
    let length = bytes.len();
    Ok(PositionPage::parse(bytes, 0..length)?)
}
