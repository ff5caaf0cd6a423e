//! Queries that are plain words, in one field or in several: what is run of them where their lists
//! are hot or all pages are in memory, and how the ranking goes on where they are not.

use std::sync::Arc;

use super::{QueryRun, RunPhase};
use crate::analysis::{FieldId, split_term_key};
use crate::base::{DocId, Interrupt, Result};
use crate::cache::{Pages, Step, Stop};
use crate::documents::LiveCursor;
use crate::postings::BLOCK;
use crate::search::build::cursor_bytes;
use crate::search::hot::{Decodable, HotEntry, HotLists, HotRun, HotWord, NormColumn, Origin};
use crate::search::lists::{OpenLists, OpenTerm};
use crate::search::matching::matcher::Role;
use crate::search::matching::matches::DocRange;
use crate::search::plan::{PlanNode, PlanSlot};
use crate::search::rank::Ranker;
use crate::search::scoring::bm25::Statistics;
use crate::search::scoring::scorer::Scorer;
use crate::search::view::SearchView;
use crate::search::words::{WordClause, WordList, WordsFound, WordsRun};

/// Blocks of a page at most, about, whose best scores are kept for each word.
const BESTS_MAX: usize = 1024;

/// Words that a query may have, in all fields.
const WORDS_MAX: usize = 32;

/// Boosts of more may give scores that are no numbers.
const BOOST_MAX: f32 = 1e30;

/// A query that is words: in each clause the best of some, as in several fields. All clauses must
/// match, or any; others may add to the score, or must not match.
#[derive(Default)]
pub(super) struct PlainWords<'a> {
    /// The words in the order of the query.
    words: Vec<PlainWord<'a>>,
    clauses: Vec<WordClause>,
}

struct PlainWord<'a> {
    slot: PlanSlot,
    field: FieldId,
    term: &'a OpenTerm,
    boost: f32,
}

impl<'a> PlainWords<'a> {
    /// The words of a plan, if that is all it is.
    pub(super) fn of(node: &PlanNode, lists: &'a OpenLists) -> Option<PlainWords<'a>> {
        let mut joined = node.as_kind(|kind| kind.joined(node))?;
        if let ([only], []) = (joined.nodes, joined.optional) {
            // Any of some words, but none of others.
            let excluded = joined.excluded;
            joined = only.as_kind(|kind| kind.joined(only))?;
            if !joined.is_whole() {
                return None;
            }
            joined.excluded = excluded;
        }
        let role = if joined.all_required {
            Role::Required
        } else {
            Role::Optional
        };
        let mut words = PlainWords::default();
        for (nodes, role) in [
            (joined.nodes, role),
            (joined.optional, Role::Optional),
            (joined.excluded, Role::Excluded),
        ] {
            nodes
                .iter()
                .try_for_each(|node| words.add(node, role, lists))?;
        }
        (words.clauses.iter().any(|clause| clause.role == role)).then_some(words)
    }

    /// Adds a clause, if it is words.
    fn add(&mut self, node: &PlanNode, role: Role, lists: &'a OpenLists) -> Option<()> {
        let first = self.words.len();
        for node in node.as_kind(|kind| kind.alternatives(node))? {
            let (slot, boost) = node.as_kind(|kind| kind.word())?;
            let Some(term) = &lists.terms[slot] else {
                continue;
            };
            let boost = match role {
                Role::Excluded => 1.0,
                Role::Required | Role::Optional => boost?,
            };
            // Scores that are no numbers are left to the ranking.
            if boost > BOOST_MAX || self.words.len() == WORDS_MAX {
                return None;
            }
            let (field, _) = split_term_key(&term.key).ok()?;
            self.words.push(PlainWord {
                slot,
                field,
                term,
                boost,
            });
        }
        let words = first..self.words.len();
        match (words.is_empty(), role) {
            (true, Role::Required) => return None,
            (true, Role::Optional | Role::Excluded) => {}
            (false, _) => self.clauses.push(WordClause { words, role }),
        }
        Some(())
    }

    /// The number of all documents that match, deleted ones included, if it is known before a look
    /// at them.
    pub(super) fn documents(&self) -> Option<u64> {
        match self.words.as_slice() {
            [word] => Some(word.term.list.document_frequency()),
            _ => None,
        }
    }

    /// Bytes that the run takes, cursors apart.
    pub(super) fn memory_bytes(&self) -> usize {
        let blocks = |term: &OpenTerm| term.list.document_frequency() as usize / BLOCK + 2;
        let blocks = self
            .words
            .iter()
            .map(|word| blocks(word.term).min(BESTS_MAX));
        WordsRun::memory_bytes(self.words.len()) + blocks.sum::<usize>() * size_of::<f32>()
    }

    /// Makes what finds the best `k` documents of a range.
    fn run(
        &self,
        view: &SearchView,
        statistics: &Statistics,
        live: Option<LiveCursor>,
        range: DocRange,
        k: usize,
    ) -> WordsRun {
        let lists = self.words.iter().map(|word| {
            let scorer = word.scorer(statistics);
            WordList::new(word.term.list.cursor(), word.field, scorer)
        });
        let lists = lists.collect();
        let norms = |field| view.tables.norm_cursor(field);
        WordsRun::new(lists, &self.clauses, norms, live, range, k)
    }

    /// Makes the run over hot lists, if all are hot and of no later state.
    fn hot_run(
        &self,
        entries: &[&Arc<HotEntry>],
        norms: &[Arc<NormColumn>],
        view: &SearchView,
        statistics: &Statistics,
        k: usize,
    ) -> Option<HotRun> {
        let deleted = view.tables.deleted_count();
        let (mut words, mut has_dead) = (Vec::with_capacity(entries.len()), false);
        for ((entry, word), norms) in entries.iter().zip(&self.words).zip(norms) {
            let list = entry.list()?;
            let is_later = list.origin.state > view.state || norms.state > view.state;
            if is_later || list.until > view.below || list.until > norms.below() {
                return None;
            }
            // Where nothing was deleted since, what a vacuum has left is live.
            has_dead |= view.dead_documents > 0 || list.origin.deleted != Some(deleted);
            let scorer = word.scorer(statistics);
            let mean_length = statistics.of(word.field).average_length();
            words.push(HotWord::new(list, Arc::clone(norms), scorer, mean_length)?);
        }
        let live = view.tables.live_cursor(has_dead);
        let live = (!live.all_live(view.below)).then_some(live);
        Some(HotRun::new(words, &self.clauses, live, k))
    }

    /// Goes on to decode the lists that are used often, as far as their pages are in memory.
    fn decode(
        &self,
        hot: &HotLists,
        entries: &[&Arc<HotEntry>],
        view: &SearchView,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        for (entry, word) in entries.iter().zip(&self.words) {
            if !entry.is_worth_decoding(view.below) {
                continue;
            }
            let PlainWord { term, field, .. } = *word;
            let frequency = std::iter::once(term.list.document_frequency());
            let deleted = view.tables.deleted_count();
            let word = Decodable {
                cursor: &mut term.list.cursor(),
                norms: &mut view.tables.norm_cursor(field),
                field,
                origin: Origin {
                    state: view.state,
                    deleted: (view.dead_documents == 0).then_some(deleted),
                    mean_length: view.statistics.of(field).average_length(),
                },
                renumbered: view.renumbered,
                scorer: &Scorer::new(&view.statistics, field, frequency, 1.0),
            };
            pages.peek(|pages| entry.decode(hot, word, view.below, pages))?;
        }
        Ok(())
    }
}

impl PlainWord<'_> {
    fn scorer(&self, statistics: &Statistics) -> Scorer {
        let PlainWord {
            field, term, boost, ..
        } = *self;
        let frequency = std::iter::once(term.frequency);
        Scorer::new(statistics, field, frequency, boost * term.similarity)
    }
}

impl QueryRun<'_> {
    /// Begins what runs if the query is plain words. Tells if it is.
    pub(super) fn begin_words(&mut self, pages: &mut Pages<'_>) -> Result<bool> {
        let k = self.ranked();
        let is_asked = self.options.count || k > 0;
        if !self.options.techniques.pruning || !is_asked || self.options.from >= self.below() {
            return Ok(false);
        }
        let Some(words) = PlainWords::of(&self.node, &self.lists) else {
            return Ok(false);
        };
        let cursors = cursor_bytes(&self.node, &self.lists);
        let top = WordsRun::top_bytes(k.min(self.view.below as usize));
        let hot = HotRun::memory_bytes(words.words.len());
        let bytes = cursors + words.memory_bytes() + top + hot;
        if self.working.grow_to(bytes).is_err() {
            // The ranking says what it lacks.
            return Ok(false);
        }
        let (view, statistics) = (self.view, self.statistics());
        let mut range = DocRange {
            first: self.options.from,
            last: self.below() - 1,
        };
        let found = self.hot_found(&words, k, pages)?;
        if let Some((found, until)) = found {
            if until > range.last {
                let (total, is_exact) = self.total(&words, &found);
                self.end_ranking(found.top, total, is_exact, pages)?;
                return Ok(true);
            }
            range.first = until;
            let run = words.run(view, statistics, self.live(), range, k);
            self.phase = RunPhase::Words(Box::new(run.behind(found)));
            return Ok(true);
        }
        if self.options.count || k == 0 {
            return Ok(false);
        }
        let run = words.run(view, statistics, self.live(), range, k);
        self.phase = RunPhase::Words(Box::new(run));
        Ok(true)
    }

    /// Finds the best documents in hot lists, if all words have one. Gives one past the last
    /// document that was looked at.
    fn hot_found(
        &self,
        words: &PlainWords<'_>,
        k: usize,
        pages: &mut Pages<'_>,
    ) -> Result<Option<(WordsFound, DocId)>> {
        let Some(hot) = self.resources.hot else {
            return Ok(None);
        };
        // Lists that a device has read may be cut.
        if self.offloaded.is_some() {
            return Ok(None);
        }
        let (view, statistics, options) = (self.view, self.statistics(), self.options);
        let entries = words.words.iter();
        let entries = entries.map(|word| self.hot_entries.get(word.slot));
        let Some(entries) = entries
            .collect::<Option<Vec<_>>>()
            .filter(|_| self.is_whole())
        else {
            return Ok(None);
        };
        if words.decode(hot, &entries, view, pages).is_err() {
            // The answer does not need it, unless its time is over.
            options.check()?;
        }
        let norms = words.words.iter();
        let norms = norms.map(|word| hot.known_norms(word.field, view.renumbered));
        let Some(norms) = norms.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let Some(run) = words.hot_run(&entries, &norms, view, statistics, k) else {
            return Ok(None);
        };
        let until = run.until();
        if options.count && !(run.can_count() && until >= view.below) {
            return Ok(None);
        }
        match pages.peek(|pages| run.run(options.count, pages)) {
            Ok(found) => Ok(Some((found, until))),
            Err(Stop::Pages) => Ok(None),
            Err(Stop::Failed(error)) => Err(error),
        }
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
            if self.collects() {
                let top = self.collecting()?;
                return Ok(Ranker::offering(top, root, score, tables, options));
            }
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
        let words = PlainWords::of(&self.node, &self.lists);
        let (total, is_exact) = match &words {
            Some(words) => self.total(words, &found),
            None => (found.found, found.is_exact),
        };
        self.end_ranking(found.top, total, is_exact, pages)
    }

    /// The number of documents that match, and whether it is exact.
    fn total(&self, words: &PlainWords<'_>, found: &WordsFound) -> (u64, bool) {
        let is_known = self.is_whole() && self.live().is_none();
        match words.documents().filter(|_| is_known) {
            Some(known) => (known, true),
            None => (found.found, found.is_exact),
        }
    }

    /// A reader of which documents are live, unless all are.
    fn live(&self) -> Option<LiveCursor> {
        let live = self.view.tables.live_cursor(self.view.dead_documents > 0);
        (!live.all_live(self.below())).then_some(live)
    }
}
