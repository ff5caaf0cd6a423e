//! Asking ahead: many pages noted at once, so that many lookups take one round.
//!
//! Noting reads nothing; the pages come with the next round that any step stops for. A prefetch
//! stops only if it cannot tell yet which pages it needs, having noted those that would tell.

use super::parts::{Part, note};
use super::{BLOCK, LoadedPage, Numbers, TermCursor, noted};
use crate::base::{DocId, END, Result};
use crate::cache::{Pages, Step, Stop};
use crate::postings::codec::docs_page::DocsPage;

/// A block decoded on the side.
struct Probe {
    page: LoadedPage,
    block: usize,
    docs: Numbers,
    frequencies: Numbers,
    /// The tokens of the block before each doc.
    before: [u64; BLOCK],
}

impl TermCursor {
    /// Notes the pages needed to look up these ascending docs, as far as the round has room.
    pub fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.open(pages)?;
        let (mut complete, mut known) = (true, None);
        for doc in docs {
            if !pages.has_room() {
                break;
            }
            let part = self.part_of(*doc);
            if known.is_some_and(|(p, last)| p == part && *doc <= last) {
                continue;
            }
            if let Some(Part::Chunk(_)) = self.parts.get(part) {
                match noted(self.locate(part, *doc, pages))? {
                    Some(found) => {
                        note(self.parts[part].head()?.docs_page(found.page)?, pages)?;
                        known = Some((part, found.last));
                    }
                    None => complete = false,
                }
            }
        }
        stop_unless(complete)
    }

    /// Notes what a walk through the list will need and the entry tells: the docs pages behind
    /// heads that were not read yet.
    pub fn prefetch_whole(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        for part in &self.parts {
            if let Part::Chunk(chunk) = part {
                chunk.note_docs(pages)?;
            }
        }
        Ok(())
    }

    /// About how many docs pages the list has, one at least for each of its parts.
    pub fn docs_pages(&self) -> u64 {
        self.parts
            .iter()
            .map(|part| part.docs_pages().max(1) as u64)
            .sum()
    }

    /// Notes the next `max_pages` docs pages of a scan that starts at `target`.
    pub fn prefetch_from(
        &mut self,
        target: DocId,
        max_pages: usize,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.open(pages)?;
        let mut target = target;
        for _ in 0..max_pages {
            let part = self.part_of(target);
            let Some(Part::Chunk(_)) = self.parts.get(part) else {
                break;
            };
            let found = self.locate(part, target, pages)?;
            note(self.parts[part].head()?.docs_page(found.page)?, pages)?;
            target = found.last.saturating_add(1);
        }
        Ok(())
    }

    /// Notes the docs pages that a scan from `first` to `last` goes through, as far as the round
    /// has room.
    pub fn prefetch_within(
        &mut self,
        first: DocId,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.open(pages)?;
        let mut target = first;
        while target <= last && target != END && pages.has_room() {
            let part = self.part_of(target);
            let end = match self.parts.get(part) {
                None => break,
                Some(Part::Fragment(_)) => self.parts[part].last(),
                Some(Part::Chunk(_)) => {
                    let found = self.locate(part, target, pages)?;
                    note(self.parts[part].head()?.docs_page(found.page)?, pages)?;
                    found.last
                }
            };
            target = end.saturating_add(1);
        }
        Ok(())
    }

    /// Notes the pages with the positions of these ascending docs, those the list does not have
    /// left out. As far as the round has room. Needs the docs' own pages: see
    /// [`TermCursor::prefetch`].
    pub fn prefetch_positions(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.prefetch_tokens(docs, pages, TermCursor::note_positions)
    }

    /// Lets `note` note the pages with what is kept of the tokens of these docs, by their numbers.
    pub(super) fn prefetch_tokens(
        &mut self,
        docs: &[DocId],
        pages: &mut Pages<'_>,
        note: impl Fn(&TermCursor, usize, &DocsPage, (u64, u64), &mut Pages<'_>) -> Step<bool>,
    ) -> Step<()> {
        self.open(pages)?;
        let (mut complete, mut probe) = (true, None);
        for doc in docs {
            if !pages.has_room() {
                break;
            }
            let part = self.part_of(*doc);
            if let Some(Part::Chunk(_)) = self.parts.get(part) {
                let done = noted(self.probe(&mut probe, part, *doc, &note, pages))?;
                complete &= done == Some(true);
            }
        }
        stop_unless(complete)
    }

    /// Lets `note` note the pages of one doc; tells whether it could.
    fn probe(
        &mut self,
        probe: &mut Option<Box<Probe>>,
        part: usize,
        doc: DocId,
        note: &impl Fn(&TermCursor, usize, &DocsPage, (u64, u64), &mut Pages<'_>) -> Step<bool>,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let probe = match probe {
            Some(probe) if probe.page.holds(part, doc) => {
                probe.go_to(doc)?;
                probe
            }
            _ => {
                let page = self.page_for(part, doc, pages)?;
                probe.insert(Box::new(Probe::load(page, doc)?))
            }
        };
        match probe.numbers(doc) {
            Some(numbers) => note(self, part, &probe.page.docs, numbers, pages),
            None => Ok(true),
        }
    }

    /// The docs page that would hold a doc: the current one, or one from the frames.
    fn page_for(&mut self, part: usize, doc: DocId, pages: &mut Pages<'_>) -> Step<LoadedPage> {
        match &self.page {
            Some(page) if page.holds(part, doc) => Ok(page.clone()),
            _ => {
                let found = self.locate(part, doc, pages)?;
                self.load(part, found, pages)
            }
        }
    }
}

impl Probe {
    /// The block of a page that would hold a doc.
    fn load(page: LoadedPage, doc: DocId) -> Result<Probe> {
        let mut probe = Probe {
            block: page.docs.find(doc, 0),
            page,
            docs: [0; BLOCK],
            frequencies: [0; BLOCK],
            before: [0; BLOCK],
        };
        probe.decode()?;
        Ok(probe)
    }

    /// Goes to the block of the same page that would hold a doc.
    fn go_to(&mut self, doc: DocId) -> Result<()> {
        let block = self.page.docs.find(doc, self.block);
        if block != self.block {
            self.block = block;
            self.decode()?;
        }
        Ok(())
    }

    fn decode(&mut self) -> Result<()> {
        let page = &self.page.docs;
        if !page.docs(self.block, &mut self.docs, &mut self.frequencies)? {
            page.frequencies(self.block, &mut self.frequencies)?;
        }
        let mut sum = 0;
        for (before, frequency) in self.before.iter_mut().zip(&self.frequencies) {
            *before = sum;
            sum += *frequency as u64;
        }
        Ok(())
    }

    /// The numbers of a doc's first position and of the first after its last, if the block has the
    /// doc.
    fn numbers(&self, doc: DocId) -> Option<(u64, u64)> {
        let entry = &self.page.docs.blocks()[self.block];
        let docs = &self.docs[..entry.count as usize];
        let at = docs.partition_point(|held| *held < doc);
        if docs.get(at) != Some(&doc) {
            return None;
        }
        let first = entry.first_position as u64 + self.before[at];
        Some((first, first + self.frequencies[at] as u64))
    }
}

fn stop_unless(complete: bool) -> Step<()> {
    if complete { Ok(()) } else { Err(Stop::Pages) }
}
