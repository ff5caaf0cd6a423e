//! Expansion: which terms of a field a pattern stands for, on the device and in memory.
//!
//! The dictionary gives terms in order together with their entries, so that an expansion needs no
//! look-ups afterwards. The pattern tells of the lower bounds of nodes whether anything in them may
//! match: only such nodes are read, many at once.
//!
//! Few terms are kept. All terms of a prefix, wildcard or range score the same, so when they become
//! many, only the set of their documents is kept; the terms found so far are added to it. Where the
//! pattern is the last word of a phrase, positions are needed: the most frequent terms, or the
//! first in order, are looked up once all are known.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::column_range::{
    ColumnRange, column_of_ranges, column_of_values, not_kept, without_column,
};
use super::first_terms::FirstTerms;
use super::frequent::MostFrequent;
use super::range_terms::RangeTerms;
use crate::analysis::{Field, FieldId, term_key};
use crate::base::{Budget, DocId, Error, Reservation, Result, Steps};
use crate::btree::{Scan, TreeView};
use crate::cache::{Pages, Step};
use crate::postings::{DELTA_LEVELS, TermPostings, TermTree, TermVisitor};
use crate::search::lists::collector::Collector;
use crate::search::lists::{PatternDocuments, Sources};
use crate::search::matching::matcher::for_all;
use crate::search::plan::{PlannedPattern, WantedTerms};
use crate::search::query::fields::{has_order, without_terms};
use crate::search::query::pattern::{Pattern, Verdict};
use crate::search::query::ranges::{check_words, unordered};
use crate::search::view::SearchView;

/// The most terms of a prefix, wildcard or range that are kept.
pub const TERMS_MAX: usize = 64;

/// The most terms that a fuzzy term stands for: the most similar ones, among equals the first in
/// order.
pub const FUZZY_MAX: usize = 50;

/// A term's entry and its delta postings on each level may stand in a leaf each, which are held
/// until all of a round are found.
pub const PAGES_PER_KEY: usize = 1 + DELTA_LEVELS;

/// The most terms that are kept while the most similar are looked for.
const SIMILAR_MAX: usize = 1024;

/// A term that a pattern stands for.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// Its key.
    pub key: Vec<u8>,
    /// Its entry in the dictionary, if it is there.
    pub postings: Option<TermPostings>,
    /// 1, or less for fuzzy terms that differ.
    pub similarity: f32,
}

/// The terms of a pattern, or their documents.
pub enum Expansion {
    /// Few terms: in the order of their keys, or for a fuzzy pattern the most similar first.
    Terms(Vec<Expanded>),
    /// The documents of many terms.
    Documents(PatternDocuments),
}

/// An expansion under way.
pub struct Expander {
    field: FieldId,
    pattern: Arc<Pattern>,
    written: String,
    stems: bool,
    wanted: WantedTerms,
    /// The terms of which only some are wanted, until all are known.
    chosen_of: Option<TermChoice>,
    /// The terms of them that are to be looked up.
    chosen: VecDeque<Vec<u8>>,
    found: BTreeMap<Vec<u8>, (Option<TermPostings>, f32)>,
    memory: Reservation,
    /// Collects documents instead, once the terms are many.
    collector: Option<Collector>,
    /// The documents, if these are known from before.
    known: Option<PatternDocuments>,
    limits: ExpansionLimits,
    /// The range or the values that the pattern is, as long as these were not looked at.
    range: Option<RangeRun>,
    /// Through each of the dictionary's trees; nothing when it has ended.
    scans: [Option<Scan>; TermTree::ALL.len()],
    /// Set if terms were dropped to keep memory bounded.
    dropped: bool,
    walked_memory: bool,
    done: bool,
}

/// Terms of which some are chosen once all are known.
enum TermChoice {
    MostFrequent(MostFrequent),
    First(FirstTerms),
}

impl TermChoice {
    /// Adds documents of a term.
    fn add(&mut self, key: &[u8], documents: u64) -> Result<()> {
        match self {
            TermChoice::MostFrequent(counted) => counted.add(key, documents),
            TermChoice::First(first) if documents > 0 => first.add(key),
            TermChoice::First(_) => Ok(()),
        }
    }

    /// Returns true if neither this term nor any behind it in order can be chosen.
    fn is_behind(&self, key: &[u8]) -> bool {
        match self {
            TermChoice::MostFrequent(_) => false,
            TermChoice::First(first) => first.is_behind(key),
        }
    }

    /// The keys that are chosen, in order, and whether others would have been worth it.
    fn finish(self) -> Result<(Vec<Vec<u8>>, bool)> {
        match self {
            TermChoice::MostFrequent(counted) => counted.finish(),
            TermChoice::First(first) => Ok((first.finish(), false)),
        }
    }
}

/// A range, or some values, of which it is first decided how their documents are found.
enum RangeRun {
    Undecided,
    /// By the values of a column.
    Column(Box<ColumnRange>),
    /// By terms that are whole strings.
    Terms(Box<RangeTerms>),
}

/// The resources of an expansion.
#[derive(Clone)]
pub struct ExpansionLimits {
    /// Pages that it asks for at once.
    pub pages_per_round: usize,
    /// The budget of its memory.
    pub budget: Budget,
}

impl Expander {
    /// The terms that a planned pattern stands for.
    pub fn new(planned: PlannedPattern, limits: ExpansionLimits) -> Result<Expander> {
        let PlannedPattern {
            field,
            pattern,
            written,
            wanted,
            stems,
        } = planned;
        let is_of_values = matches!(pattern, Pattern::Range(..) | Pattern::OneOf(_));
        let range = is_of_values.then_some(RangeRun::Undecided);
        let memory = || limits.budget.reserve("the terms of a pattern", 0);
        let chosen_of = match wanted {
            WantedTerms::First(most) => Some(TermChoice::First(FirstTerms::new(most, memory()?))),
            WantedTerms::MostFrequent if !pattern.is_fuzzy() => {
                Some(TermChoice::MostFrequent(MostFrequent::new(memory()?)))
            }
            WantedTerms::MostFrequent | WantedTerms::All => None,
        };
        Ok(Expander {
            field,
            range,
            scans: scans(field, &pattern),
            pattern: Arc::new(pattern),
            written,
            stems,
            wanted,
            chosen_of,
            chosen: VecDeque::new(),
            found: BTreeMap::new(),
            memory: limits.budget.reserve("the terms of a pattern", 0)?,
            collector: None,
            known: None,
            limits,
            dropped: false,
            walked_memory: false,
            done: false,
        })
    }

    /// The same where its documents may be known.
    pub fn knowing(mut self, documents: Option<PatternDocuments>) -> Expander {
        self.done = documents.is_some();
        self.known = documents;
        self
    }

    /// Finds all terms.
    pub fn step(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        while !self.done {
            if self.range.is_some() {
                self.settle_range(view, pages)?;
                continue;
            }
            let scanned = self.scan(view, pages);
            // Also if the scans stopped: one round then serves both.
            if let Some(collector) = &mut self.collector {
                collector.read(pages)?;
            }
            scanned?;
            if self.walked_memory {
                self.look_up_chosen(view, pages)?;
                self.done = true;
            } else if self.scans.iter().all(Option::is_none) {
                self.walk_memory(view, pages)?;
                self.walked_memory = true;
            }
        }
        Ok(())
    }

    /// Finds the documents of a range by its column, or the ends of its terms where it has none.
    fn settle_range(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        match &mut self.range {
            Some(RangeRun::Undecided) => {
                self.range = decide(self.field, &self.pattern, view, &self.limits.budget)?;
                return Ok(());
            }
            Some(RangeRun::Column(column)) => column.step(pages)?,
            Some(RangeRun::Terms(range)) => {
                let (from, to) = range.step(view, pages)?;
                self.pattern = Arc::new(Pattern::Range(from, to));
                self.scans = scans(self.field, &self.pattern);
            }
            None => {}
        }
        if let Some(RangeRun::Column(column)) = self.range.take() {
            self.known = Some(PatternDocuments {
                field: self.field,
                pattern: Arc::clone(&self.pattern),
                written: self.written.clone(),
                set: Arc::new(column.finish()),
                of_values: true,
                sources: Sources::default(),
            });
            self.done = true;
        }
        Ok(())
    }

    /// Looks up the terms that were chosen, if only some are wanted.
    fn look_up_chosen(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        if let Some(chosen_of) = self.chosen_of.take() {
            let (keys, is_cut) = chosen_of.finish()?;
            self.dropped = is_cut;
            let bytes = keys.iter().map(|key| bytes_of(key, &None));
            self.memory.grow_to(bytes.sum())?;
            self.chosen = keys.into();
        }
        let at_once = (self.limits.pages_per_round / PAGES_PER_KEY).max(1);
        while !self.chosen.is_empty() {
            let count = at_once.min(self.chosen.len());
            let keys = self.chosen.iter().take(count).map(Vec::as_slice);
            let keys: Vec<&[u8]> = keys.collect();
            let entries = view.terms.lookup_all(&keys, pages)?;
            for (key, entry) in self.chosen.drain(..count).zip(entries) {
                let postings = entry.decode()?;
                let more = postings.as_ref().map_or(0, TermPostings::memory_bytes);
                self.memory.grow_to(self.memory.bytes() + more)?;
                self.found.insert(key, (postings, 1.0));
            }
        }
        Ok(())
    }

    /// Goes on through all trees, as far as lists may be opened.
    fn scan(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        for_all((0..).zip(TermTree::ALL), |(at, which)| {
            let Some(mut scan) = self.scans[at].take() else {
                return Ok(());
            };
            let ended = self.go_through(which, view.terms.tree(which), &mut scan, pages);
            self.scans[at] = (!matches!(ended, Ok(true))).then_some(scan);
            ended.map(drop)
        })
    }

    /// Goes on in one tree; tells whether it came to the end of what may match.
    fn go_through(
        &mut self,
        which: TermTree,
        tree: &TreeView,
        scan: &mut Scan,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        while !self.collector.as_ref().is_some_and(Collector::is_full) {
            if !self.advance(tree, scan, pages)? {
                return Ok(true);
            }
            pages.count_steps(self.pattern.steps())?;
            match self.take(which, scan.key(), scan.value(), pages)? {
                Verdict::End => return Ok(true),
                Verdict::SkipTo(term) => {
                    let mut key = Vec::new();
                    term_key(self.field, &term, &mut key);
                    scan.skip_to(&key);
                }
                Verdict::Match(_) | Verdict::Next => {}
            }
        }
        Ok(false)
    }

    /// The field.
    pub fn field(&self) -> FieldId {
        self.field
    }

    /// The pattern as it was written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The pattern.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// Returns true if the terms of the field are stems.
    pub fn stems(&self) -> bool {
        self.stems
    }

    /// The terms that are wanted.
    pub fn wanted(&self) -> WantedTerms {
        self.wanted
    }

    /// Returns true if the pattern is fuzzy.
    pub fn is_fuzzy(&self) -> bool {
        self.pattern.is_fuzzy()
    }

    /// Returns true if it is no surprise that it stands for no term.
    pub fn may_be_empty(&self) -> bool {
        self.is_fuzzy() || self.pattern.is_of_words()
    }

    /// Returns true if it stands for more terms than are taken.
    pub fn is_cut(&self) -> bool {
        self.dropped || self.is_fuzzy() && self.found.len() > FUZZY_MAX
    }

    /// Returns true if it stands for a term, as far as it is known.
    pub fn has_terms(&self) -> bool {
        !self.found.is_empty() || self.collector.is_some() || self.known.is_some()
    }

    /// Returns the terms, or the documents, that were found.
    pub fn finish(self) -> Expansion {
        if let Some(known) = self.known {
            return Expansion::Documents(known);
        }
        if let Some(collector) = self.collector {
            let (set, sources) = collector.finish();
            return Expansion::Documents(PatternDocuments {
                field: self.field,
                pattern: self.pattern,
                written: self.written,
                set,
                of_values: false,
                sources,
            });
        }
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
        Expansion::Terms(terms)
    }

    /// Goes to the next key that may match.
    fn advance(&self, tree: &TreeView, scan: &mut Scan, pages: &mut Pages<'_>) -> Step<bool> {
        let (field, pattern) = (self.field, &*self.pattern);
        let matters = |from: &[u8], to: Option<&[u8]>| may_match(pattern, field, from, to);
        scan.advance_where(&matters, tree, pages)
    }

    /// Judges a key of a tree and takes it if it matches.
    fn take(
        &mut self,
        which: TermTree,
        key: &[u8],
        value: &[u8],
        pages: &mut Pages<'_>,
    ) -> Result<Verdict> {
        let verdict = judge(&self.pattern, self.field, key);
        let Verdict::Match(similarity) = verdict else {
            return Ok(verdict);
        };
        if let Some(chosen_of) = &mut self.chosen_of {
            if chosen_of.is_behind(key) {
                return Ok(Verdict::End);
            }
            let mut postings = TermPostings::default();
            postings.take(which, value)?;
            chosen_of.add(key, postings.document_frequency())?;
            return Ok(verdict);
        }
        match &mut self.collector {
            Some(collector) => {
                let mut postings = TermPostings::default();
                postings.take(which, value)?;
                collector.count_term();
                collector.add(postings, pages)?;
            }
            None => {
                self.keep(key, Some((which, value)), similarity)?;
                self.collect_many(pages)?;
            }
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
        if self.found.len() > SIMILAR_MAX && self.pattern.is_fuzzy() {
            self.drop_least_similar();
            let found = self.found.iter();
            let bytes = found.map(|(key, (postings, _))| bytes_of(key, postings));
            self.memory.grow_to(bytes.sum())?;
        }
        Ok(())
    }

    /// Returns true if the terms are more than are kept.
    fn are_many(&self) -> bool {
        self.found.len() > TERMS_MAX && !self.pattern.is_fuzzy()
    }

    /// Has the documents collected from now on if the terms are many.
    fn collect_many(&mut self, pages: &mut Pages<'_>) -> Result<()> {
        if !self.are_many() {
            return Ok(());
        }
        let ExpansionLimits {
            pages_per_round,
            budget,
        } = &self.limits;
        let mut collector = Collector::new(*pages_per_round, budget)?;
        for (postings, _) in std::mem::take(&mut self.found).into_values() {
            // Those that only memory has are found there once more.
            if let Some(postings) = postings {
                collector.count_term();
                collector.add(postings, pages)?;
            }
        }
        self.memory.grow_to(0)?;
        self.collector = Some(collector);
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

    /// Takes the terms in memory: keeps them, or collects their documents where they are many.
    fn walk_memory(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Result<()> {
        if let Some(chosen_of) = &mut self.chosen_of {
            let mut counter = TermCounter {
                chosen_of,
                field: self.field,
                pattern: &self.pattern,
                key: Vec::new(),
                documents: 0,
                steps: pages.steps(),
            };
            view.buffer.visit_terms(view.below, &mut counter)?;
            return counter.add();
        }
        if self.collector.is_none() {
            let mut keeper = Keeper {
                expander: self,
                steps: pages.steps(),
            };
            view.buffer.visit_terms(view.below, &mut keeper)?;
            self.collect_many(pages)?;
        }
        if let Some(collector) = &mut self.collector {
            let mut joiner = TermCollector {
                collector,
                field: self.field,
                pattern: &self.pattern,
                steps: pages.steps(),
            };
            view.buffer.visit_terms(view.below, &mut joiner)?;
        }
        Ok(())
    }
}

/// Counts the documents of the terms in memory that match.
struct TermCounter<'a, 's> {
    chosen_of: &'a mut TermChoice,
    field: FieldId,
    pattern: &'a Pattern,
    /// The last term that matched, and how many documents were shown of it.
    key: Vec<u8>,
    documents: u64,
    steps: &'a mut Steps<'s>,
}

impl TermCounter<'_, '_> {
    fn add(&mut self) -> Result<()> {
        match std::mem::take(&mut self.documents) {
            0 => Ok(()),
            documents => self.chosen_of.add(&self.key, documents),
        }
    }
}

impl TermVisitor for TermCounter<'_, '_> {
    fn wants(&mut self, key: &[u8]) -> Result<bool> {
        self.add()?;
        self.steps.count(self.pattern.steps())?;
        let is_wanted = !self.chosen_of.is_behind(key)
            && matches!(judge(self.pattern, self.field, key), Verdict::Match(_));
        if is_wanted {
            self.key.clear();
            self.key.extend_from_slice(key);
        }
        Ok(is_wanted)
    }

    fn doc(&mut self, _: DocId) -> Result<()> {
        self.steps.count(1)?;
        self.documents += 1;
        Ok(())
    }
}

/// Keeps the terms in memory that match, until they are many.
struct Keeper<'a, 's> {
    expander: &'a mut Expander,
    steps: &'a mut Steps<'s>,
}

impl TermVisitor for Keeper<'_, '_> {
    fn wants(&mut self, key: &[u8]) -> Result<bool> {
        let expander = &mut *self.expander;
        if expander.are_many() {
            return Ok(false);
        }
        self.steps.count(expander.pattern.steps())?;
        if let Verdict::Match(similarity) = judge(&expander.pattern, expander.field, key) {
            expander.keep(key, None, similarity)?;
        }
        Ok(false)
    }

    fn doc(&mut self, _: DocId) -> Result<()> {
        Ok(())
    }
}

/// Collects the documents of the terms in memory that match.
struct TermCollector<'a, 's> {
    collector: &'a mut Collector,
    field: FieldId,
    pattern: &'a Pattern,
    steps: &'a mut Steps<'s>,
}

impl TermVisitor for TermCollector<'_, '_> {
    fn wants(&mut self, key: &[u8]) -> Result<bool> {
        self.steps.count(self.pattern.steps())?;
        let verdict = judge(self.pattern, self.field, key);
        let matches = matches!(verdict, Verdict::Match(_));
        if matches {
            self.collector.count_term();
        }
        Ok(matches)
    }

    fn doc(&mut self, doc: DocId) -> Result<()> {
        self.steps.count(1)?;
        self.collector.insert(doc)
    }
}

/// Decides how the documents of a range or of some values are found; by the terms of the pattern if
/// by nothing else. Fails where neither values nor terms have an order, or where whole strings are
/// not kept.
fn decide(
    field: FieldId,
    pattern: &Pattern,
    view: &SearchView,
    budget: &Budget,
) -> Result<Option<RangeRun>> {
    // A declared number or date has the order of its values, though its terms have one too.
    let ordered = column_of_ranges(field, view);
    let asked = view.schema.field(field);
    let has_terms = |asked: &Field| has_order(asked) && !asked.rules.without_terms;
    let asked = asked.filter(|asked| ordered.is_some() || !has_terms(asked));
    let column = match (pattern, asked) {
        (Pattern::OneOf(values), Some(asked)) => match column_of_values(field, view) {
            Some(column) => ColumnRange::of_values(&column, values, view, budget)?,
            None => return Err(without_column(asked, view).unwrap_or_else(|| not_kept(asked))),
        },
        (Pattern::OneOf(_), None) => return Ok(None),
        (Pattern::Range(from, to), Some(asked)) => {
            let ends = (from.clone(), to.clone());
            match ordered {
                Some(column) => ColumnRange::new(&column, &ends, view, budget)?,
                None if asked.rules.without_terms => return Err(without_terms(asked)),
                None => {
                    let error = without_column(asked, view);
                    return Err(error.unwrap_or_else(|| unordered(asked, &ends)));
                }
            }
        }
        (Pattern::Range(from, to), None) => {
            let ends = (from.clone(), to.clone());
            check_words(&ends)?;
            let terms = RangeTerms::new(field, ends);
            return Ok(Some(RangeRun::Terms(Box::new(terms))));
        }
        _ => {
            return Err(Error::internal(
                "a pattern that is no range was settled as one",
            ));
        }
    };
    Ok(Some(RangeRun::Column(Box::new(column))))
}

/// Scans of all trees from where terms of a field may match.
fn scans(field: FieldId, pattern: &Pattern) -> [Option<Scan>; TermTree::ALL.len()] {
    let mut start = Vec::new();
    term_key(field, pattern.start(), &mut start);
    TermTree::ALL.map(|_| Some(Scan::new(&start)))
}

/// Matches a pattern against a key.
fn judge(pattern: &Pattern, field: FieldId, key: &[u8]) -> Verdict {
    let term = key.strip_prefix(&field.to_be_bytes());
    term.map_or(Verdict::End, |term| pattern.judge(term))
}

/// Bytes that a term takes that was found.
fn bytes_of(key: &[u8], postings: &Option<TermPostings>) -> usize {
    const NODE_BYTES: usize = 2 * size_of::<(Vec<u8>, (Option<TermPostings>, f32))>();
    NODE_BYTES + key.len() + postings.as_ref().map_or(0, TermPostings::memory_bytes)
}

/// Returns true if any key from `from` (included) to `to` (excluded) may be a term of `field` that
/// `pattern` stands for.
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
