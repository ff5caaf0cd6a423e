//! The documents of many terms, collected into a set: what a pattern finds whose terms are too many
//! to be kept.
//!
//! Postings in dictionary leaves are added as the leaves are gone through. Lists with chunks are
//! opened, as many as a round has pages for, and read side by side.
//!
//! Invariant: documents of an open list are in the set up to where its cursor stands; the list is
//! dropped once it has ended.

use std::sync::Arc;

use super::Sources;
use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step, Stop};
use crate::postings::{TermCursor, TermList, TermPostings};
use crate::search::matching::doc_set::{AHEAD_PAGES, DocSet};

/// Of the memory that is free, open lists take about one part of so many.
const LISTS_SHARE: usize = 16;

/// Documents being collected.
pub struct Collector {
    set: DocSet,
    open: Vec<OpenList>,
    /// The cost of the open lists: memory, and pages in a round.
    memory: Reservation,
    pages: u64,
    /// The cost at which they are read.
    limit: Size,
    sources: Sources,
}

struct OpenList {
    cursor: TermCursor,
    size: Size,
}

/// The cost of an open list.
#[derive(Clone, Copy)]
struct Size {
    bytes: usize,
    /// Pages that it asks for in one round, at most.
    pages: u64,
}

impl Collector {
    /// Will read lists of about so many pages at once.
    pub fn new(pages_at_once: usize, budget: &Budget) -> Result<Collector> {
        let free = budget.total().saturating_sub(budget.used());
        Ok(Collector {
            set: DocSet::new(budget)?,
            open: Vec::new(),
            pages: 0,
            memory: budget.reserve("the lists of a prefix, wildcard or range", 0)?,
            limit: Size {
                bytes: free / LISTS_SHARE,
                pages: pages_at_once as u64,
            },
            sources: Sources::default(),
        })
    }

    /// Counts a term.
    pub fn count_term(&mut self) {
        self.sources.terms += 1;
    }

    /// Adds a document.
    pub fn insert(&mut self, doc: DocId) -> Result<()> {
        self.set.insert(doc)
    }

    /// Adds what the dictionary has of a term, or a part of it. What stands in chunks is added by
    /// [`Collector::read`].
    pub fn add(&mut self, postings: TermPostings, pages: &mut Pages<'_>) -> Result<()> {
        if postings.entry.chunks.is_empty() {
            pages.count_steps(postings.document_frequency() as usize)?;
            return postings.each_doc_at_hand(|doc| self.set.insert(doc));
        }
        let chunks = postings.entry.chunks.iter();
        let docs = chunks.map(|chunk| chunk.place.part(0, chunk.docs_length).page_count() as u64);
        self.sources.pages += docs.sum::<u64>();
        self.sources.lists += 1;
        let list = TermList::new(postings, Vec::new());
        let cursor = list.cursor();
        let size = Size {
            bytes: size_of::<OpenList>() + list.memory_bytes() + list.cursor_bytes(),
            pages: cursor.docs_pages().min(AHEAD_PAGES as u64),
        };
        self.memory.grow_to(self.memory.bytes() + size.bytes)?;
        self.pages += size.pages;
        self.open.push(OpenList { cursor, size });
        Ok(())
    }

    /// Returns true if the open lists are to be read before others are opened.
    pub fn is_full(&self) -> bool {
        let Size { bytes, pages } = self.limit;
        !self.open.is_empty() && (self.memory.bytes() >= bytes || self.pages >= pages)
    }

    /// Reads open lists to their ends.
    pub fn read(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let (set, mut failed) = (&mut self.set, None);
        self.open.retain_mut(|list| {
            if failed.is_some() {
                return true;
            }
            match set.insert_all(&mut list.cursor, pages) {
                Ok(()) => return false,
                Err(Stop::Pages) => {}
                Err(Stop::Failed(error)) => failed = Some(error),
            }
            true
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        self.pages = self.open.iter().map(|list| list.size.pages).sum();
        let bytes = self.open.iter().map(|list| list.size.bytes);
        self.memory.grow_to(bytes.sum())?;
        if self.open.is_empty() {
            Ok(())
        } else {
            Err(Stop::Pages)
        }
    }

    /// The set, once all lists were read, and what it was made of.
    pub fn finish(self) -> (Arc<DocSet>, Sources) {
        (Arc::new(self.set), self.sources)
    }
}
