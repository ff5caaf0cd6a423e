//! Expansion: which terms of a field a pattern stands for, on the device and in memory.
//!
//! The dictionary gives terms in order together with their entries, so that an expansion needs no look-ups
//! afterwards. Where the pattern skips far, the walk descends anew instead of reading what lies between.

use std::collections::BTreeMap;

use super::pattern::{Pattern, Verdict};
use super::view::SearchView;
use crate::analysis::{FieldId, term_key};
use crate::base::{Error, Result};
use crate::cache::{Pages, Step};
use crate::dictionary::Scan;
use crate::postings::TermEntry;

/// The most terms that a prefix, wildcard or range may stand for.
pub const EXPANSIONS_MAX: usize = 1024;

/// The most terms that a fuzzy term stands for: the most similar ones, among equals the first in order.
pub const FUZZY_MAX: usize = 50;

/// Keys passed over one by one before a skip descends anew.
const PASSED_MAX: usize = 32;

/// A term that a pattern stands for.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// Its key.
    pub key: Vec<u8>,
    /// Its entry in the dictionary, if it is there.
    pub entry: Option<TermEntry>,
    /// 1, or less for fuzzy terms that differ.
    pub similarity: f32,
}

/// An expansion under way.
pub struct Expansion {
    field: FieldId,
    pattern: Pattern,
    found: BTreeMap<Vec<u8>, (Option<TermEntry>, f32)>,
    scan: Option<Scan>,
    skip_to: Vec<u8>,
    passed: usize,
    done: bool,
}

impl Expansion {
    /// The terms of `field` that `pattern` stands for.
    pub fn new(field: FieldId, pattern: Pattern) -> Expansion {
        let mut skip_to = Vec::new();
        term_key(field, pattern.start(), &mut skip_to);
        Expansion {
            field,
            pattern,
            found: BTreeMap::new(),
            scan: None,
            skip_to,
            passed: 0,
            done: false,
        }
    }

    /// Finds all terms.
    pub fn step(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        if self.done {
            return Ok(());
        }
        while self.advance(view, pages)? {
            let Some(scan) = self.scan.take() else { break };
            let goes_on = self.take(scan.key(), Some(scan.value()))?;
            self.scan = Some(scan);
            if !goes_on {
                break;
            }
        }
        self.walk_memory(view)?;
        self.done = true;
        Ok(())
    }

    /// The terms: in the order of their keys, or for a fuzzy pattern the most similar first.
    pub fn into_terms(self) -> Vec<Expanded> {
        let fuzzy = self.pattern.is_fuzzy();
        let found = self.found.into_iter();
        let mut terms: Vec<Expanded> = found
            .map(|(key, (entry, similarity))| Expanded {
                key,
                entry,
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
    fn advance(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<bool> {
        loop {
            let scan = self
                .scan
                .get_or_insert_with(|| view.terms.scan(&self.skip_to));
            if !scan.advance(&view.terms, pages)? {
                return Ok(false);
            }
            if scan.key() >= self.skip_to.as_slice() {
                self.passed = 0;
                return Ok(true);
            }
            self.passed += 1;
            if self.passed > PASSED_MAX {
                self.scan = None;
                self.passed = 0;
            }
        }
    }

    /// Judges a key. Tells whether later ones may match.
    fn take(&mut self, key: &[u8], entry: Option<&[u8]>) -> Result<bool> {
        let Some(term) = key.strip_prefix(&self.field.to_be_bytes()) else {
            return Ok(false);
        };
        match self.pattern.judge(term) {
            Verdict::Match(similarity) => self.keep(key, entry, similarity)?,
            Verdict::Next => {}
            Verdict::SkipTo(term) => {
                self.skip_to.truncate(size_of::<FieldId>());
                self.skip_to.extend_from_slice(&term);
            }
            Verdict::End => return Ok(false),
        }
        Ok(true)
    }

    fn keep(&mut self, key: &[u8], entry: Option<&[u8]>, similarity: f32) -> Result<()> {
        let entry = entry.map(TermEntry::decode).transpose()?;
        let found = self.found.entry(key.to_vec());
        found.or_insert((entry, similarity));
        if self.found.len() > EXPANSIONS_MAX && !self.pattern.is_fuzzy() {
            return Err(Error::invalid(format!(
                "a prefix, wildcard or range stands for more than {EXPANSIONS_MAX} terms: make it narrower"
            )));
        }
        if self.found.len() > EXPANSIONS_MAX {
            self.drop_least_similar();
        }
        Ok(())
    }

    /// Keeps memory bounded when very many terms are similar.
    fn drop_least_similar(&mut self) {
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

    fn walk_memory(&mut self, view: &SearchView) -> Result<()> {
        let field = self.field.to_be_bytes();
        let wanted = |key: &[u8]| {
            let term = key.strip_prefix(&field);
            let judge = |term| matches!(self.pattern.judge(term), Verdict::Match(_));
            term.is_some_and(judge)
        };
        for key in view.buffer.keys(view.below, &wanted) {
            self.take(&key, None)?;
        }
        Ok(())
    }
}
