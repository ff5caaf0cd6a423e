//! Equal scores in the order of external IDs: what follows the ranking where that is asked for.

use super::{QueryRun, RunPhase};
use crate::base::Result;
use crate::cache::Pages;
use crate::search::options::Ties;
use crate::search::rank::Ranker;
use crate::search::rank::options::RankOptions;
use crate::search::run::ties::{BestDocuments, TieOrder};
use crate::search::scoring::doc_bits::DocBits;
use crate::search::scoring::top::{Scored, TiedDocs, Top};

impl<'q> QueryRun<'q> {
    /// Returns true if documents of the same score are ordered by external IDs.
    pub(super) fn orders_ties(&self) -> bool {
        self.options.ties == Ties::ExternalId && self.options.ranked() > 0
    }

    /// Goes on with the best documents, and one more if there is one.
    pub(super) fn order_ties(&mut self, ranked: Vec<Scored>) -> Result<()> {
        let BestDocuments { surely, shared } = BestDocuments::new(ranked, self.options.ranked());
        self.phase = match shared {
            Some(score) => {
                self.best = surely;
                self.rank_tied(score)?
            }
            None => self.ordering(surely, None)?,
        };
        Ok(())
    }

    /// Goes on with the documents of the last score.
    pub(super) fn order_tied(&mut self, last: Option<Box<TiedDocs>>) -> Result<()> {
        let best = std::mem::take(&mut self.best);
        self.phase = self.ordering(best, last)?;
        Ok(())
    }

    /// Ends the order.
    pub(super) fn end_order(&mut self, pages: &Pages<'_>) -> Result<()> {
        let RunPhase::Order(order) = std::mem::replace(&mut self.phase, RunPhase::Done) else {
            return Ok(());
        };
        let ordered = order.finish();
        self.working.grow_to(0)?;
        self.end_phase("order equal scores", pages);
        self.take_hits(&ordered)
    }

    /// Ranks again: all documents of one score are looked for.
    fn rank_tied(&mut self, score: f32) -> Result<RunPhase<'q>> {
        let built = self.build(false)?;
        let options = RankOptions {
            k: 0,
            count: false,
            fetch: false,
            ..self.rank_options(&built)?
        };
        let below = self.view.below;
        let best = size_of_val(self.best.as_slice());
        let bytes = self.working.bytes() + best + DocBits::bytes(below);
        self.working.grow_to(bytes)?;
        let most = built.score.leaves().iter().map(|leaf| leaf.most() as f64);
        let top = Top::of(TiedDocs::new(score, most.sum(), below));
        let tables = &self.view.tables;
        let ranker = Ranker::offering(top, built.root, built.score, tables, options);
        Ok(RunPhase::Rank(Box::new(ranker)))
    }

    /// Orders the best documents and those of the score behind them.
    fn ordering(&mut self, best: Vec<Scored>, last: Option<Box<TiedDocs>>) -> Result<RunPhase<'q>> {
        let bytes =
            size_of_val(best.as_slice()) + last.as_ref().map_or(0, |last| last.docs().held());
        self.working.grow_to(bytes)?;
        let page = self.options.skip..self.options.ranked();
        let memory = self
            .budget
            .reserve("the IDs of documents that score the same", 0)?;
        let order = TieOrder::new(best, last, &page, self.fetcher(false), memory);
        Ok(RunPhase::Order(Box::new(order)))
    }
}
