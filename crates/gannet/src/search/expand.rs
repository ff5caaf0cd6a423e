//! Expansion: which terms of a field a pattern stands for, on the device and in memory.
//!
//! The dictionary gives terms in order together with their entries, so that an expansion needs no look-ups
//! afterwards. The pattern tells of the lower bounds of nodes whether anything in them may match: only such nodes
//! are read, many at once.

use std::collections::BTreeMap;

use super::matcher::for_all;
use super::pattern::{Pattern, Verdict};
use super::view::SearchView;
use crate::analysis::{FieldId, term_key};
use crate::base::{Budget, Error, Reservation, Result, Steps};
use crate::cache::{Pages, Step};
use crate::dictionary::{Scan, TreeView};
use crate::postings::{TermPostings, TermTree};

/// The most terms that a prefix, wildcard or range may stand for.
pub const EXPANSIONS_MAX: usize = 1024;

/// The most terms that a fuzzy term stands for: the most similar ones, among equals the first in order.
pub const FUZZY_MAX: usize = 50;

/// A term that a pattern stands for.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// Its key.
    pub key: Vec<u8>,
    /// What the dictionary has of it, if it is there.
    pub postings: Option<TermPostings>,
    /// 1, or less for fuzzy terms that differ.
    pub similarity: f32,
}

/// An expansion under way.
pub struct Expansion {
    field: FieldId,
    pattern: Pattern,
    found: BTreeMap<Vec<u8>, (Option<TermPostings>, f32)>,
    memory: Reservation,
    /// Through each of the dictionary's trees; nothing when it has ended.
    scans: [Option<Scan>; TermTree::ALL.len()],
    /// Whether terms were dropped to keep memory bounded.
    dropped: bool,
    done: bool,
}

impl Expansion {
    /// The terms of `field` that `pattern` stands for.
    pub fn new(field: FieldId, pattern: Pattern, budget: &Budget) -> Result<Expansion> {
        let mut start = Vec::new();
        term_key(field, pattern.start(), &mut start);
        Ok(Expansion {
            field,
            pattern,
            found: BTreeMap::new(),
            memory: budget.reserve("the terms of a pattern", 0)?,
            scans: TermTree::ALL.map(|_| Some(Scan::new(&start))),
            dropped: false,
            done: false,
        })
    }

    /// Finds all terms.
    pub fn step(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        if self.done {
            return Ok(());
        }
        for_all((0..).zip(TermTree::ALL), |(at, which)| {
            let Some(mut scan) = self.scans[at].take() else {
                return Ok(());
            };
            let stopped = self.go_through(which, view.terms.tree(which), &mut scan, pages);
            self.scans[at] = stopped.is_err().then_some(scan);
            stopped
        })?;
        self.walk_memory(view, pages.steps())?;
        self.done = true;
        Ok(())
    }

    /// Goes on to the end of what may match in one tree.
    fn go_through(
        &mut self,
        which: TermTree,
        tree: &TreeView,
        scan: &mut Scan,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        while self.advance(tree, scan, pages)? {
            pages.count_steps(self.pattern.steps())?;
            match self.take(scan.key(), Some((which, scan.value())))? {
                Verdict::End => break,
                Verdict::SkipTo(term) => {
                    let mut key = Vec::new();
                    term_key(self.field, &term, &mut key);
                    scan.skip_to(&key);
                }
                Verdict::Match(_) | Verdict::Next => {}
            }
        }
        Ok(())
    }

    /// The field.
    pub fn field(&self) -> FieldId {
        self.field
    }

    /// Whether the pattern stands for more terms than are taken.
    pub fn is_cut(&self) -> bool {
        self.dropped || self.pattern.is_fuzzy() && self.found.len() > FUZZY_MAX
    }

    /// The terms: in the order of their keys, or for a fuzzy pattern the most similar first.
    pub fn into_terms(self) -> Vec<Expanded> {
        let fuzzy = self.pattern.is_fuzzy();
        let found = self.found.into_iter();
        let mut terms: Vec<Expanded> = found
            .map(|(key, (postings, similarity))| Expanded {
                key,
                postings,
                similarity,
            })
            .collect();
        if fuzzy {
            terms.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
            terms.truncate(FUZZY_MAX);
        }
        terms
    }

    /// Goes to the next key that may match.
    fn advance(&self, tree: &TreeView, scan: &mut Scan, pages: &mut Pages<'_>) -> Step<bool> {
        let (field, pattern) = (self.field, &self.pattern);
        let matters = |from: &[u8], to: Option<&[u8]>| may_match(pattern, field, from, to);
        scan.advance_where(&matters, tree, pages)
    }

    /// Judges a key and keeps it if it matches.
    fn take(&mut self, key: &[u8], value: Option<(TermTree, &[u8])>) -> Result<Verdict> {
        let Some(term) = key.strip_prefix(&self.field.to_be_bytes()) else {
            return Ok(Verdict::End);
        };
        let verdict = self.pattern.judge(term);
        if let Verdict::Match(similarity) = verdict {
            self.keep(key, value, similarity)?;
        }
        Ok(verdict)
    }

    fn keep(
        &mut self,
        key: &[u8],
        value: Option<(TermTree, &[u8])>,
        similarity: f32,
    ) -> Result<()> {
        if !self.found.contains_key(key) {
            self.memory
                .grow_to(self.memory.bytes() + bytes_of(key, &None))?;
        }
        let found = self.found.entry(key.to_vec());
        let (postings, _) = found.or_insert((None, similarity));
        if let Some((which, value)) = value {
            let before = postings.as_ref().map_or(0, TermPostings::memory_bytes);
            let postings = postings.get_or_insert_default();
            postings.take(which, value)?;
            let bytes = self.memory.bytes() + postings.memory_bytes();
            self.memory.grow_to(bytes - before)?;
        }
        if self.found.len() > EXPANSIONS_MAX && !self.pattern.is_fuzzy() {
            return Err(Error::invalid(format!(
                "a prefix, wildcard or range stands for more than {EXPANSIONS_MAX} terms: make it narrower"
            )));
        }
        if self.found.len() > EXPANSIONS_MAX {
            self.drop_least_similar();
            let found = self.found.iter();
            let bytes = found.map(|(key, (postings, _))| bytes_of(key, postings));
            self.memory.grow_to(bytes.sum())?;
        }
        Ok(())
    }

    /// Keeps memory bounded when very many terms are similar.
    fn drop_least_similar(&mut self) {
        self.dropped = true;
        let mut ranked: Vec<f32> = self.found.values().map(|(_, s)| *s).collect();
        ranked.sort_by(|a, b| b.total_cmp(a));
        let least = ranked[FUZZY_MAX - 1];
        let mut ties = FUZZY_MAX - ranked.iter().filter(|s| **s > least).count();
        self.found.retain(|_, (_, similarity)| {
            let tie = *similarity == least && ties > 0;
            ties -= tie as usize;
            *similarity > least || tie
        });
    }

    fn walk_memory(&mut self, view: &SearchView, steps: &mut Steps<'_>) -> Result<()> {
        let cost = self.pattern.steps();
        view.buffer.each_key(view.below, &mut |key| {
            steps.count(cost)?;
            self.take(key, None).map(|_| ())
        })
    }
}

/// Bytes that a term takes that was found.
fn bytes_of(key: &[u8], postings: &Option<TermPostings>) -> usize {
    const NODE_BYTES: usize = 2 * size_of::<(Vec<u8>, (Option<TermPostings>, f32))>();
    NODE_BYTES + key.len() + postings.as_ref().map_or(0, TermPostings::memory_bytes)
}

/// Whether any key from `from` (included) to `to` (excluded) may be a term of `field` that `pattern` stands for.
fn may_match(pattern: &Pattern, field: FieldId, from: &[u8], to: Option<&[u8]>) -> bool {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    term_key(field, pattern.start(), &mut start);
    let from = from.max(&start);
    match from.strip_prefix(&field.to_be_bytes()) {
        None => false,
        Some(term) => match pattern.judge(term) {
            Verdict::Match(_) | Verdict::Next => true,
            Verdict::End => false,
            Verdict::SkipTo(next) => {
                term_key(field, &next, &mut end);
                to.is_none_or(|to| end.as_slice() < to)
            }
        },
    }
}
