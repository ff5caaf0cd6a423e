//! The list of one word: its blocks with their best scores, and its documents.

use crate::analysis::FieldId;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::postings::TermCursor;
use crate::search::matching::bests::Bests;
use crate::search::matching::matches::DocRange;
use crate::search::matching::scored::best;
use crate::search::scoring::formula::Leaf;
use crate::search::scoring::scorer::Scorer;

/// The list of a word.
pub struct WordList {
    pub(super) cursor: TermCursor,
    leaf: Leaf,
    pub(super) scorer: Scorer,
    bests: Bests,
    pub(super) field_id: FieldId,
    /// The number of its field among those of the query, and that of its clause.
    pub(super) field: usize,
    pub(super) clause: usize,
    /// The best score of all its documents, once it was opened.
    pub(super) most: f32,
}

/// A stretch of documents with the best score that any of them may have.
#[derive(Clone, Copy)]
pub(super) struct Bounded {
    /// The first document.
    pub first: DocId,
    /// The last document.
    pub last: DocId,
    /// The best score.
    pub best: f32,
}

impl WordList {
    /// The list of `cursor`, whose documents `scorer` scores by their norms in `field`.
    pub fn new(cursor: TermCursor, field: FieldId, scorer: Scorer) -> WordList {
        WordList {
            cursor,
            leaf: Leaf::Ranked {
                field,
                scorer: scorer.clone(),
            },
            scorer,
            bests: Bests::default(),
            field_id: field,
            field: 0,
            clause: 0,
            most: 0.0,
        }
    }

    /// Reads the heads.
    pub(super) fn open(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let bound = self.cursor.list_bound(pages)?;
        self.most = best(&self.leaf, bound.pairs());
        Ok(())
    }

    /// The documents from `target` to the end of their page, by the head alone.
    pub(super) fn page(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Bounded> {
        let bound = self.cursor.bound(target, pages)?;
        Ok(Bounded {
            first: target,
            last: bound.last,
            best: best(&self.leaf, bound.pairs()),
        })
    }

    /// The documents of the first block from `target` on whose best score is worth a look, from
    /// there or from its first document on; nothing behind the last block. Of a page in which no
    /// block is, no documents at its end.
    pub(super) fn block(
        &mut self,
        target: DocId,
        is_worth: impl Fn(f32) -> bool,
        pages: &mut Pages<'_>,
    ) -> Step<Option<Bounded>> {
        self.cursor.look_at(target, pages)?;
        if let Some(blocks) = self.cursor.blocks_ahead(target) {
            let mut stretch = Bounded {
                first: target,
                last: target,
                best: 0.0,
            };
            for (last, best) in blocks.lasts().zip(self.bests.of(blocks, &self.leaf)?) {
                (stretch.last, stretch.best) = (last, *best);
                if is_worth(*best) {
                    break;
                }
                stretch.first = last + 1;
            }
            return Ok(Some(stretch));
        }
        // A tail, or postings in memory: they have no directory.
        if self.cursor.advance(target, pages)? == END {
            return Ok(None);
        }
        let best = self.page(target, pages)?.best;
        let last = self.cursor.block_docs().last();
        Ok(last.map(|last| Bounded {
            first: target,
            last: *last,
            best,
        }))
    }

    /// The best score of the documents of a range, by the blocks of the page at hand if it has all
    /// of them.
    pub(super) fn bound_within(&mut self, range: DocRange) -> Step<f32> {
        let Some(blocks) = self.cursor.blocks_ahead(range.first) else {
            return Ok(self.most);
        };
        let mut most = 0f32;
        for (last, best) in blocks.lasts().zip(self.bests.of(blocks, &self.leaf)?) {
            most = if *best > most { *best } else { most };
            if last >= range.last {
                return Ok(most);
            }
        }
        Ok(self.most)
    }

    /// The documents of the block that the list stands in, from there to `last`.
    #[inline]
    pub(super) fn docs_to(&self, last: DocId) -> &[DocId] {
        let docs = self.cursor.block_docs();
        match docs.last() {
            Some(end) if *end > last => &docs[..docs.partition_point(|doc| *doc <= last)],
            _ => docs,
        }
    }

    /// The first `count` documents from where the list stands, with their frequencies, and the
    /// scorer.
    #[inline]
    pub(super) fn block_to(&mut self, count: usize) -> (&Scorer, &[DocId], &[u32]) {
        let (docs, frequencies) = self.cursor.block();
        (&self.scorer, &docs[..count], &frequencies[..count])
    }
}
