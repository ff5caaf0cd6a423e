//! The last word of a phrase where it may be any of several terms: in a document it stands where
//! any of them does.
//!
//! Most candidates have few of the terms. Where each list stands is kept beside the cursors, so
//! that only lists are asked that are behind a candidate.

use super::matcher::for_all;
use super::tokens::TokenRoom;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::postings::{TermCursor, TermList};

/// Candidates times lists for which pages are noted at once, at most.
const PROBES_MAX: usize = 1 << 18;

/// Terms of which a candidate costs one step.
const TERMS_PER_STEP: usize = 16;

/// Any of several terms at one place of a phrase.
pub struct AnyWord {
    cursors: Vec<TermCursor>,
    /// The document of each cursor, once all were advanced.
    docs: Vec<DocId>,
    started: bool,
    /// The positions of one of them.
    read: Vec<u32>,
}

impl AnyWord {
    /// Any of the terms with these lists.
    pub fn new<'l>(lists: impl Iterator<Item = &'l TermList>) -> AnyWord {
        let cursors: Vec<TermCursor> = lists.map(TermList::cursor).collect();
        AnyWord {
            docs: vec![0; cursors.len()],
            cursors,
            started: false,
            read: Vec::new(),
        }
    }

    /// Reports whether a document has any of the terms.
    pub fn is_in(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        pages.count_steps(1 + self.docs.len() / TERMS_PER_STEP)?;
        let started = self.started;
        let each = self.cursors.iter_mut().zip(&mut self.docs);
        let behind = each.filter(|(_, at)| !started || **at < doc);
        for_all(behind, |(cursor, at)| {
            *at = cursor.advance(doc, pages)?;
            Ok(())
        })?;
        self.started = true;
        Ok(self.docs.contains(&doc))
    }

    /// Puts into `out` where the terms are in a document that has any of them.
    pub fn positions(
        &mut self,
        doc: DocId,
        room: &mut TokenRoom,
        word: usize,
        pages: &mut Pages<'_>,
        out: &mut Vec<u32>,
    ) -> Step<()> {
        out.clear();
        let AnyWord {
            cursors,
            docs,
            read,
            ..
        } = self;
        let here = cursors.iter_mut().zip(docs).filter(|(_, at)| **at == doc);
        let mut tokens = 0;
        for_all(here, |(cursor, _)| {
            tokens += cursor.frequency() as usize;
            room.reserve(word, tokens)?;
            pages.count_steps(cursor.frequency() as usize)?;
            cursor.positions(pages, read)?;
            out.extend_from_slice(read);
            Ok(())
        })?;
        out.sort_unstable();
        out.dedup();
        Ok(())
    }

    /// Notes the pages that tell where the terms are in these documents.
    pub fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        let most = (PROBES_MAX / self.cursors.len().max(1)).max(1);
        let docs = &docs[..docs.len().min(most)];
        for_all(&mut self.cursors, |cursor| {
            pages.count_steps(1 + docs.len())?;
            cursor.prefetch_positions(docs, pages)
        })
    }
}
