//! Queries that are plain words of one field: what is run of them where all pages are in memory,
//! and how the ranking goes on where they are not.

use super::{QueryRun, RunPhase};
use crate::analysis::{FieldId, split_term_key};
use crate::base::Result;
use crate::cache::Pages;
use crate::documents::LiveCursor;
use crate::postings::BLOCK;
use crate::search::build::cursor_bytes;
use crate::search::lists::{OpenLists, OpenTerm};
use crate::search::matching::matches::DocRange;
use crate::search::plan::{JoinedNodes, PlanNode};
use crate::search::rank::Ranker;
use crate::search::scoring::bm25::Statistics;
use crate::search::scoring::scorer::Scorer;
use crate::search::view::SearchView;
use crate::search::words::{WordList, WordsRun};

/// Blocks of a page at most, about, whose best scores are kept for each word.
const BESTS_MAX: usize = 1024;

/// Words that a query may have.
const WORDS_MAX: usize = 16;

/// A query that is words of one field, all of which must match, or any.
pub(super) struct PlainWords<'a> {
    field: FieldId,
    /// The words in the order of the query, each with its boost.
    words: Vec<(&'a OpenTerm, f32)>,
    all_required: bool,
}

impl<'a> PlainWords<'a> {
    /// The words of a plan, if that is all it is.
    pub(super) fn of(node: &PlanNode, lists: &'a OpenLists) -> Option<PlainWords<'a>> {
        let JoinedNodes {
            nodes,
            all_required,
            is_whole,
        } = node.as_kind(|kind| kind.joined(node))?;
        if !is_whole || nodes.len() > WORDS_MAX {
            return None;
        }
        let (mut words, mut field) = (Vec::with_capacity(nodes.len()), None);
        for node in nodes {
            let (slot, boost) = node.as_kind(|kind| kind.word())?;
            let Some(term) = &lists.terms[slot] else {
                if all_required {
                    return None;
                }
                continue;
            };
            let (its, _) = split_term_key(&term.key).ok()?;
            if *field.get_or_insert(its) != its {
                return None;
            }
            words.push((term, boost?));
        }
        let all_required = all_required || words.len() == 1;
        Some(PlainWords {
            field: field?,
            words,
            all_required,
        })
    }

    /// The number of all documents that match, deleted ones included, if it is known before a look
    /// at them.
    pub(super) fn documents(&self) -> Option<u64> {
        match self.words.as_slice() {
            [(term, _)] => Some(term.list.document_frequency()),
            _ => None,
        }
    }

    /// Bytes that the run takes, cursors apart.
    pub(super) fn memory_bytes(&self) -> usize {
        let blocks = |term: &OpenTerm| term.list.document_frequency() as usize / BLOCK + 2;
        let blocks = self
            .words
            .iter()
            .map(|(term, _)| blocks(term).min(BESTS_MAX));
        WordsRun::memory_bytes(self.words.len()) + blocks.sum::<usize>() * size_of::<f32>()
    }

    /// Makes what finds the best `k` documents of a range.
    pub(super) fn run(
        &self,
        view: &SearchView,
        statistics: &Statistics,
        live: Option<LiveCursor>,
        range: DocRange,
        k: usize,
    ) -> WordsRun {
        let lists = self.words.iter().map(|(term, boost)| {
            let frequency = std::iter::once(term.frequency);
            let scorer = Scorer::new(statistics, self.field, frequency, boost * term.similarity);
            WordList::new(term.list.cursor(), self.field, scorer)
        });
        let lists = lists.collect();
        let norms = view.tables.norm_cursor(self.field);
        WordsRun::new(lists, self.all_required, norms, live, range, k)
    }
}

impl QueryRun<'_> {
    /// Makes what runs if the query is plain words, of which some may be passed over.
    pub(super) fn plain_words(&mut self) -> Result<Option<Box<WordsRun>>> {
        let k = self.ranked();
        let is_pruned = self.options.techniques.pruning && !self.options.count && k > 0;
        if !is_pruned || self.options.from >= self.below() {
            return Ok(None);
        }
        let Some(words) = PlainWords::of(&self.node, &self.lists) else {
            return Ok(None);
        };
        let cursors = cursor_bytes(&self.node, &self.lists);
        let top = WordsRun::top_bytes(k.min(self.view.below as usize));
        let bytes = cursors + words.memory_bytes() + top;
        if self.working.grow_to(bytes).is_err() {
            // The ranking says what it lacks.
            return Ok(None);
        }
        let range = DocRange {
            first: self.options.from,
            last: self.below() - 1,
        };
        let run = words.run(self.view, self.statistics(), self.live(), range, k);
        Ok(Some(Box::new(run)))
    }

    /// Makes the ranking, which goes on where `words` ended.
    pub(super) fn ranker(&mut self, words: Option<WordsRun>) -> Result<Ranker> {
        // Its cursors go before those of the ranking are made, its best documents stay.
        let part = words.map(WordsRun::into_part);
        let top = part
            .as_ref()
            .map_or(0, |(found, _)| found.top.memory_bytes());
        let _top = self.budget.reserve("the best documents of a query", top)?;
        let built = self.build(false)?;
        let mut options = self.rank_options(&built)?;
        let (root, score, tables) = (built.root, built.score, &self.view.tables);
        let Some((found, next)) = part else {
            return Ok(Ranker::new(root, score, tables, options));
        };
        options.from = next;
        let ranker = Ranker::offering(found.top, root, score, tables, options);
        Ok(ranker.having_found(found.found, found.is_exact))
    }

    /// Leaves the rest of the words to the ranking, which reads pages.
    pub(super) fn rank_on(&mut self) -> Result<()> {
        if let RunPhase::Words(words) = std::mem::replace(&mut self.phase, RunPhase::Done) {
            self.phase = RunPhase::Rank(Box::new(self.ranker(Some(*words))?));
        }
        Ok(())
    }

    pub(super) fn end_words(&mut self, pages: &Pages<'_>) -> Result<()> {
        let RunPhase::Words(words) = std::mem::replace(&mut self.phase, RunPhase::Done) else {
            return Ok(());
        };
        let found = words.into_found();
        let known = PlainWords::of(&self.node, &self.lists).and_then(|words| words.documents());
        let is_known = self.is_whole() && self.live().is_none();
        let (total, is_exact) = match known.filter(|_| is_known) {
            Some(known) => (known, true),
            None => (found.found, found.is_exact),
        };
        self.end_ranking(found.top, total, is_exact, pages)
    }

    /// A reader of which documents are live, unless all are.
    fn live(&self) -> Option<LiveCursor> {
        let live = self.view.tables.live_cursor(self.view.dead_documents > 0);
        (!live.all_live(self.below())).then_some(live)
    }
}
