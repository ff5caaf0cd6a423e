//! A node of a run: an aggregation that collects, decides, or is done and only leads documents on.
//!
//! - Waiting: an aggregation above has not chosen its buckets yet.
//! - Collecting: passes count its documents.
//! - Deciding: it asks for terms, to order or to name its buckets.
//! - Done: its buckets are known, and documents are led to the nodes below.

use super::below::Below;
use super::buckets::BucketNode;
use super::composite::CompositeNode;
use super::context::Context;
use super::hashing::Hashing;
use super::metric::MetricNode;
use super::request::Request;
use crate::batch::{Chunk, Pairs};
use crate::memory::{Full, Ledger};
use crate::state::MetricState;
use crate::tree::MetricKind;

pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) phase: Phase,
    /// Its numbers order the buckets above, so it collects before they are chosen.
    pub(crate) is_eager: bool,
    pub(crate) work: Work,
    pub(crate) children: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Waiting,
    Collecting,
    Deciding,
    Done,
}

pub(crate) enum Work {
    Metric(Box<MetricNode>),
    Hashing(Box<Hashing>),
    Buckets(Box<BucketNode>),
    Composite(Box<CompositeNode>),
}

impl Below for Node {
    fn wants_pass(&self) -> bool {
        self.phase == Phase::Collecting || self.leads_on()
    }

    fn collect(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: Pairs<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        let is_counting = self.phase == Phase::Collecting;
        if !self.wants_pass() {
            return Ok(());
        }
        let result = match &mut self.work {
            Work::Metric(own) => {
                let result = own.collect(chunk, pairs, &mut context.ledger);
                let is_cut = own.kind == MetricKind::Cardinality;
                if result.is_err() && is_cut && !self.is_eager && !context.is_whole {
                    context.note_short(&self.name);
                    own.fail(context.documents, &mut context.ledger);
                    return Ok(());
                }
                result
            }
            Work::Hashing(_) => Ok(()),
            Work::Buckets(own) => {
                let children = &mut self.children;
                let result = own.collect(chunk, pairs, is_counting, children, context);
                if result.is_err() && is_counting && own.cut.is_some() && !context.is_whole {
                    context.note_short(&self.name);
                    own.fail(context);
                    children.iter_mut().for_each(|child| child.clear(context));
                    return Ok(());
                }
                result
            }
            Work::Composite(own) => {
                let children = &mut self.children;
                let result = own.collect(chunk, pairs, is_counting, children, context);
                if result.is_err() && is_counting {
                    context.note_short(&self.name);
                    own.fail(context);
                    return Ok(());
                }
                result
            }
        };
        if result.is_err() {
            context.note_short(&self.name);
        }
        result
    }

    fn clear(&mut self, context: &mut Context<'_>) {
        if let Work::Metric(own) = &mut self.work {
            own.clear(&mut context.ledger);
        }
    }

    fn ordering(&self) -> Option<&[MetricState]> {
        match &self.work {
            Work::Metric(metric) if self.is_eager => Some(&metric.found),
            _ => None,
        }
    }

    fn settle(&mut self, found: Vec<MetricState>, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        match &mut self.work {
            Work::Metric(metric) => metric.settle(found, ledger),
            _ => Ok(()),
        }
    }
}

impl Node {
    /// Begins to collect, and so do all below that need not wait.
    pub(crate) fn start(&mut self, is_whole: bool) {
        self.phase = Phase::Collecting;
        let waits = match &self.work {
            Work::Metric(_) | Work::Hashing(_) => false,
            Work::Buckets(own) => own.cut.is_some() && !is_whole,
            Work::Composite(_) => true,
        };
        for child in &mut self.children {
            if !waits || child.is_eager {
                child.start(is_whole);
            } else {
                child.phase = Phase::Waiting;
            }
        }
    }

    fn leads_on(&self) -> bool {
        self.phase == Phase::Done && self.children.iter().any(Below::wants_pass)
    }

    /// Calls `each` for all nodes whose columns and filters a pass reads.
    pub(crate) fn for_each_reading(&self, each: &mut dyn FnMut(&Node)) {
        if self.wants_pass() {
            each(self);
            self.children
                .iter()
                .for_each(|child| child.for_each_reading(each));
        }
    }

    /// Ends a pass, given the number of buckets above.
    pub(crate) fn end_of_pass(
        &mut self,
        above: usize,
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        let result = match self.phase {
            Phase::Waiting | Phase::Deciding => Ok(()),
            Phase::Done => self.end_children(context),
            Phase::Collecting => self.end_collecting(above, context),
        };
        if result.is_err() {
            context.note_short(&self.name);
        }
        result
    }

    fn end_children(&mut self, context: &mut Context<'_>) -> Result<(), Full> {
        let above = match &self.work {
            Work::Metric(_) | Work::Hashing(_) => return Ok(()),
            Work::Buckets(own) => own.table.len(),
            Work::Composite(own) => own.len(),
        };
        let mut children = self.children.iter_mut();
        children.try_for_each(|child| child.end_of_pass(above, context))
    }

    fn end_collecting(&mut self, above: usize, context: &mut Context<'_>) -> Result<(), Full> {
        match &mut self.work {
            Work::Metric(own) => {
                if own.end_of_pass(above, context)? {
                    self.phase = Phase::Done;
                    self.hash_distinct(above, context)?;
                }
                Ok(())
            }
            Work::Hashing(_) => Ok(()),
            Work::Buckets(own) => {
                if own.cut.is_none() || context.is_whole {
                    let is_named = own.begin_naming(context)?;
                    self.phase = if is_named {
                        Phase::Done
                    } else {
                        Phase::Deciding
                    };
                    return self.end_children(context);
                }
                if own.cut_parts(context)? {
                    return Ok(());
                }
                self.end_children(context)?;
                let Work::Buckets(own) = &mut self.work else {
                    return Ok(());
                };
                if own.begin_decision(&self.children, context).is_err() {
                    return self.cut_further(context);
                }
                self.phase = Phase::Deciding;
                self.go_on(context)
            }
            Work::Composite(own) => {
                if own.cut_parts(context)? {
                    return Ok(());
                }
                own.begin_decision();
                self.phase = Phase::Deciding;
                self.go_on(context)
            }
        }
    }

    /// Drops a decision that does not fit beside the buckets of the pass, to collect smaller parts.
    fn cut_further(&mut self, context: &mut Context<'_>) -> Result<(), Full> {
        context.note_short(&self.name);
        if let Work::Buckets(own) = &mut self.work {
            own.fail(context);
            self.children
                .iter_mut()
                .for_each(|child| child.clear(context));
            own.cut_parts(context)?;
        }
        self.start(context.is_whole);
        Ok(())
    }

    /// Turns the distinct values of a shard into hashes, which merge.
    fn hash_distinct(&mut self, above: usize, context: &mut Context<'_>) -> Result<(), Full> {
        if let Work::Metric(own) = &self.work
            && own.kind == MetricKind::Cardinality
            && context.is_whole
        {
            let hashing = Hashing::of(own, above, &mut context.ledger)?;
            self.phase = if hashing.request().is_some() {
                Phase::Deciding
            } else {
                Phase::Done
            };
            if let Work::Metric(own) = &mut self.work {
                own.clear(&mut context.ledger);
            }
            self.work = Work::Hashing(Box::new(hashing));
        }
        Ok(())
    }

    /// Returns the terms that are asked for here or below.
    pub(crate) fn request(&self) -> Option<Request> {
        let own = match &self.work {
            _ if self.phase != Phase::Deciding => None,
            Work::Metric(_) => None,
            Work::Hashing(own) => own.request(),
            Work::Buckets(own) => own.request(),
            Work::Composite(own) => own.request(),
        };
        own.or_else(|| self.children.iter().find_map(Node::request))
    }

    /// Takes the terms of the request. Returns if it was asked here or below.
    pub(crate) fn give(
        &mut self,
        terms: &[String],
        context: &mut Context<'_>,
    ) -> Result<bool, Full> {
        if self.request().is_none() {
            return Ok(false);
        }
        let is_own = self.phase == Phase::Deciding
            && match &mut self.work {
                Work::Metric(_) => false,
                Work::Hashing(own) if own.request().is_some() => {
                    own.give(terms, &mut context.ledger)?;
                    true
                }
                Work::Buckets(own) if own.request().is_some() => {
                    let given = own.give(terms, &mut context.ledger);
                    if given.is_err() && own.cut.is_some() && !context.is_whole {
                        return self.cut_further(context).map(|()| true);
                    }
                    given?;
                    true
                }
                Work::Composite(own) if own.request().is_some() => {
                    own.give(terms, context)?;
                    true
                }
                _ => false,
            };
        if is_own {
            let result = self.go_on(context);
            if result.is_err() {
                context.note_short(&self.name);
            }
            return result.map(|()| true);
        }
        for child in &mut self.children {
            if child.give(terms, context)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes on with a decision as far as no terms are missing.
    fn go_on(&mut self, context: &mut Context<'_>) -> Result<(), Full> {
        match &mut self.work {
            Work::Metric(_) => {}
            Work::Hashing(own) => {
                if own.request().is_none() {
                    self.phase = Phase::Done;
                }
            }
            Work::Buckets(own) => {
                if own.request().is_some() {
                    return Ok(());
                }
                if own.cut.is_none() || context.is_whole {
                    self.phase = Phase::Done;
                    return Ok(());
                }
                if own.decide(&mut self.children, context).is_err() {
                    return self.cut_further(context);
                }
                self.go_down(context)?;
            }
            Work::Composite(own) => {
                own.go_on(context)?;
                if own.request().is_some() {
                    return Ok(());
                }
                own.clear_pass(context);
                self.go_down(context)?;
            }
        }
        Ok(())
    }

    /// Goes on to the next part of the keys, or to the nodes below.
    fn go_down(&mut self, context: &mut Context<'_>) -> Result<(), Full> {
        let is_whole = context.is_whole;
        let is_last = match &mut self.work {
            Work::Buckets(own) => own.next_part(),
            Work::Composite(own) => own.next_part(),
            Work::Metric(_) | Work::Hashing(_) => return Ok(()),
        };
        if !is_last {
            self.start(is_whole);
            return Ok(());
        }
        self.phase = Phase::Done;
        match &mut self.work {
            Work::Buckets(own) => own.settle(&mut self.children, context)?,
            Work::Composite(own) => own.settle(context)?,
            Work::Metric(_) | Work::Hashing(_) => {}
        }
        for child in &mut self.children {
            if child.is_eager {
                child.phase = Phase::Done;
            } else {
                child.start(is_whole);
            }
        }
        Ok(())
    }
}
