//! The positions of the current doc, as the cursor gives them.

use super::TermCursor;
use super::parts::{Part, noted};
use super::positions::WHAT;
use super::positions::find_page;
use super::positions::last_page;
use super::positions::note_pages;
use crate::base::{END, Error};
use crate::cache::{Pages, Step};
use crate::postings::codec::docs_page::DocsPage;

impl TermCursor {
    /// Puts the current doc's positions into `out`; none when there is no current doc.
    pub fn positions(&mut self, pages: &mut Pages<'_>, out: &mut Vec<u32>) -> Step<()> {
        out.clear();
        let frequency = self.frequency();
        if frequency == 0 {
            return Ok(());
        }
        let at = self.decoded.at;
        let skip = self.positions.skip_to(at, &self.decoded.frequencies);
        if let Part::Fragment(fragment) = &mut self.parts[self.part] {
            let tokens = &mut self.positions.tokens;
            fragment.tokens(skip, frequency, tokens)?;
            std::mem::swap(out, &mut tokens.positions);
            return Ok(());
        }
        if self.positions.doc != self.doc {
            self.positions.read.clear();
            self.positions.doc = self.doc;
        }
        self.read_chunk_positions(skip, frequency, pages)?;
        std::mem::swap(out, &mut self.positions.read);
        self.positions.doc = END;
        Ok(())
    }

    fn read_chunk_positions(
        &mut self,
        skip: u64,
        frequency: u32,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let Some(page) = self.page.as_ref() else {
            return Ok(());
        };
        let docs = &*page.docs;
        let first = docs.blocks()[self.decoded.block].first_position as u64 + skip;
        let end = first + frequency as u64;
        if end > u32::MAX as u64 {
            return Err(Error::damaged(WHAT, "expected fewer positions").into());
        }
        let (part, state) = (self.part, &mut self.positions);
        let head = self.parts[part].head()?;
        while state.read.len() < frequency as usize {
            let number = first as u32 + state.read.len() as u32;
            state.load(part, head, docs, number, end as u32, pages)?;
            state.take(number, end as u32)?;
        }
        Ok(())
    }

    /// Notes the position pages of a posting, whose place in a docs page is known.
    pub(super) fn note_positions(
        &self,
        part: usize,
        docs: &DocsPage,
        numbers: (u64, u64),
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let head = self.parts[part].head()?;
        let (Ok(first), Ok(end)) = (u32::try_from(numbers.0), u32::try_from(numbers.1)) else {
            return Err(Error::damaged(WHAT, "expected fewer positions").into());
        };
        let Some(ordinal) = noted(find_page(head, docs, first, pages))? else {
            return Ok(false);
        };
        note_pages(head, ordinal, last_page(head, docs, ordinal, end), pages)?;
        Ok(true)
    }
}
