//! The answer to a query: each part is tried on each document.
//!
//! A part of a query gives a *column*: for each document its score, or nothing where it does not
//! match.

use std::cell::Cell;

use gannet::{Operator, Query};

use super::asked::{Asked, Form, asked};
use super::bm25;
use super::check::{Rejection, check, pattern_of};
use super::patterns::{FREQUENT_MAX, FUZZY_MAX, fits, similar};
use super::phrase::{Word, frequency};
use super::ranges::{is_between, is_value_between};
use super::regexp::fits_regexp;
use super::view::{Seen, View};

/// The documents that a query finds.
pub struct Answer {
    /// Set if a fuzzy word stands for more terms than are taken.
    pub is_cut: bool,
    /// Documents with their scores: the best first, among equals in the order of their numbers.
    pub hits: Vec<(usize, f32)>,
}

/// Scores by document, nothing where it does not match.
pub type Column = Vec<Option<f32>>;

/// The documents of a view that are not deleted and match `query`.
pub fn answer(view: &View<'_>, query: &Query) -> Result<Answer, Rejection> {
    let evaluation = Evaluation::new(view);
    check(view, query)?;
    let column = evaluation.column(query, 1.0);
    let column = column.unwrap_or_else(|| evaluation.nothing());
    let all = view.documents.iter().zip(column);
    let live = all.filter(|(document, _)| document.is_live);
    let mut hits: Vec<_> = live
        .filter_map(|(document, score)| Some((document.number, score?)))
        .collect();
    hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let is_cut = evaluation.is_cut.get();
    Ok(Answer { is_cut, hits })
}

/// Returns true if a query asks only for texts of which only some of the fields have a word.
pub fn is_partial(view: &View<'_>, query: &Query) -> bool {
    Evaluation::new(view).is_partial(query)
}

/// The score of each document of a view that `query` matches, deleted ones too, and whether a fuzzy
/// word stands for more terms than are taken. No column: the analyzers leave no word of it.
pub fn column(view: &View<'_>, query: &Query) -> Result<(Option<Column>, bool), Rejection> {
    let evaluation = Evaluation::new(view);
    check(view, query)?;
    let column = evaluation.column(query, 1.0);
    Ok((column, evaluation.is_cut.get()))
}

/// The terms that the last word of a phrase may be.
struct Ends {
    terms: Vec<usize>,
    place: u32,
    /// Set if the idf of each counts.
    each_counts: bool,
}

struct Evaluation<'a> {
    view: &'a View<'a>,
    is_cut: Cell<bool>,
}

impl<'a> Evaluation<'a> {
    fn new(view: &'a View<'a>) -> Evaluation<'a> {
        let is_cut = Cell::new(false);
        Evaluation { view, is_cut }
    }

    /// The column of a query, unless the analyzers leave no word of it.
    fn column(&self, query: &Query, boost: f32) -> Option<Column> {
        match query {
            Query::MatchAll => Some(self.each(|_| Some(boost))),
            Query::MatchNone => Some(self.nothing()),
            Query::Exists { field } => Some(match self.view.field(field) {
                None => self.nothing(),
                Some(at) => self.each(|doc| (!doc.fields[at].is_empty()).then_some(boost)),
            }),
            Query::OneOf { field, .. } | Query::Regexp { field, .. } => {
                self.leaf(query, Some(field), boost)
            }
            Query::Boost { query, factor } => self.column(query, boost * factor),
            Query::Bool { .. } => self.bool(query, boost),
            Query::Best {
                queries,
                tie_breaker,
            } => self.best(queries, *tie_breaker, boost),
            Query::Text { field, .. }
            | Query::Phrase { field, .. }
            | Query::PhrasePattern { field, .. }
            | Query::Prefix { field, .. }
            | Query::Wildcard { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Range { field, .. } => self.leaf(query, field.as_deref(), boost),
        }
    }

    fn each(&self, score: impl Fn(&Seen<'_>) -> Option<f32>) -> Column {
        self.view.documents.iter().map(score).collect()
    }

    fn nothing(&self) -> Column {
        vec![None; self.view.documents.len()]
    }

    fn bool<'q>(&self, query: &'q Query, boost: f32) -> Option<Column> {
        let Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match,
        } = query
        else {
            return Some(self.nothing());
        };
        if query.children().next().is_none() {
            return Some(self.nothing());
        }
        // Those of which a word is left.
        let columns = |queries: &[&Query]| -> Vec<Column> {
            let each = queries.iter();
            each.filter_map(|query| self.column(query, boost)).collect()
        };
        let asked = should.len();
        let is_partial = self.is_partial(query);
        let split = |queries: &'q [Query]| -> (Vec<&'q Query>, Vec<&'q Query>) {
            queries.iter().partition(|query| self.is_partial(query))
        };
        let ((adding, must), (unscored, filter)) = (split(must), split(filter));
        let must_not: Vec<&Query> = must_not.iter().collect();
        let should: Vec<&Query> = should.iter().collect();
        let (filter, must_not) = (columns(&filter), columns(&must_not));
        let (must, mut should) = (columns(&must), columns(&should));
        let (mut adding, unscored) = (columns(&adding), columns(&unscored));
        let unscored = unscored
            .into_iter()
            .map(|column| column.into_iter().map(|score| score.map(|_| 0.0)).collect());
        adding.extend(unscored);
        if [&must, &should, &filter, &must_not, &adding]
            .iter()
            .all(|list| list.is_empty())
        {
            return None;
        }
        let most = if should.len() < asked {
            should.len()
        } else {
            usize::MAX
        };
        if is_partial {
            should.append(&mut adding);
        }
        let only_optional = must.is_empty() && filter.is_empty() && !should.is_empty();
        let minimum = (*minimum_should_match as usize).min(most);
        let minimum = minimum.max(usize::from(only_optional));
        let documents = 0..self.view.documents.len();
        let scores = documents
            .map(|doc| {
                let of = |columns: &[Column]| {
                    columns
                        .iter()
                        .filter_map(|column| column[doc])
                        .collect::<Vec<f32>>()
                };
                let (needed, optional) = (of(&must), of(&should));
                let matches = needed.len() == must.len()
                    && of(&filter).len() == filter.len()
                    && of(&must_not).is_empty()
                    && optional.len() >= minimum;
                let more = of(&adding);
                matches.then(|| sum(needed.iter().chain(&optional).chain(&more)))
            })
            .collect();
        Some(scores)
    }

    /// The best of some queries, and a part of the others.
    fn best(&self, queries: &[Query], tie: f32, boost: f32) -> Option<Column> {
        if queries.is_empty() {
            return Some(self.nothing());
        }
        let columns = queries.iter().filter_map(|query| self.column(query, boost));
        let columns: Vec<Column> = columns.collect();
        if columns.is_empty() {
            return None;
        }
        let documents = 0..self.view.documents.len();
        let scores = documents.map(|doc| {
            let found = columns.iter().filter_map(|column| column[doc]);
            let found: Vec<f32> = found.collect();
            let best = found.iter().copied().reduce(f32::max)?;
            Some(best + (sum(found.iter()) - best) * tie)
        });
        Some(scores.collect())
    }

    /// A leaf in its field, or the best of all text fields.
    fn leaf(&self, query: &Query, name: Option<&str>, boost: f32) -> Option<Column> {
        let fields: Vec<usize> = match name {
            Some(name) => self.view.field(name).into_iter().collect(),
            None => (0..self.view.fields.len())
                .filter(|at| self.view.fields[*at].is_text)
                .collect(),
        };
        if fields.is_empty() {
            return Some(self.nothing());
        }
        let mut best: Option<Column> = None;
        for field in fields.into_iter().filter(|at| self.has_words(query, *at)) {
            let best = best.get_or_insert_with(|| self.nothing());
            for (best, score) in best.iter_mut().zip(self.in_field(query, field, boost)) {
                *best = [*best, score].into_iter().flatten().reduce(f32::max);
            }
        }
        best
    }

    /// Returns true if a query asks only for texts of which the analyzers of only some of the
    /// fields leave a word.
    fn is_partial(&self, query: &Query) -> bool {
        match query {
            Query::Boost { query, .. } => self.is_partial(query),
            Query::Best { queries, .. } => {
                let mut left = queries
                    .iter()
                    .filter(|query| self.is_left(query))
                    .peekable();
                left.peek().is_some() && left.all(|query| self.is_partial(query))
            }
            Query::Bool { must_not, .. } => {
                let mut left = query
                    .children()
                    .filter(|query| self.is_left(query))
                    .peekable();
                !must_not.iter().any(|query| self.is_left(query))
                    && left.peek().is_some()
                    && left.all(|query| self.is_partial(query))
            }
            Query::Text { field: None, .. }
            | Query::Phrase { field: None, .. }
            | Query::PhrasePattern { field: None, .. }
            | Query::Prefix { field: None, .. }
            | Query::Wildcard { field: None, .. }
            | Query::Fuzzy { field: None, .. } => {
                let fields = 0..self.view.fields.len();
                let texts = fields.filter(|at| self.view.fields[*at].is_text);
                let (with, without): (Vec<usize>, Vec<usize>) =
                    texts.partition(|at| self.has_words(query, *at));
                !with.is_empty() && !without.is_empty()
            }
            Query::Text { field: Some(_), .. }
            | Query::Phrase { field: Some(_), .. }
            | Query::PhrasePattern { field: Some(_), .. }
            | Query::Prefix { field: Some(_), .. }
            | Query::Wildcard { field: Some(_), .. }
            | Query::Fuzzy { field: Some(_), .. }
            | Query::MatchAll
            | Query::MatchNone
            | Query::Range { .. }
            | Query::OneOf { .. }
            | Query::Regexp { .. }
            | Query::Exists { .. } => false,
        }
    }

    /// Returns true if the analyzers leave anything of a query.
    fn is_left(&self, query: &Query) -> bool {
        let has_words = |field: Option<&str>| match field.map(|name| self.view.field(name)) {
            None => {
                let mut fields = 0..self.view.fields.len();
                fields.any(|at| self.view.fields[at].is_text && self.has_words(query, at))
            }
            Some(at) => at.is_none_or(|at| self.has_words(query, at)),
        };
        match query {
            Query::Boost { query, .. } => self.is_left(query),
            Query::Bool { .. } | Query::Best { .. } => {
                let mut children = query.children().peekable();
                children.peek().is_none() || children.any(|query| self.is_left(query))
            }
            Query::Text { field, .. }
            | Query::Phrase { field, .. }
            | Query::PhrasePattern { field, .. }
            | Query::Prefix { field, .. }
            | Query::Wildcard { field, .. }
            | Query::Fuzzy { field, .. } => has_words(field.as_deref()),
            Query::MatchAll
            | Query::MatchNone
            | Query::Range { .. }
            | Query::OneOf { .. }
            | Query::Regexp { .. }
            | Query::Exists { .. } => true,
        }
    }

    /// Returns true if the analyzer of a field leaves any word of a text or a pattern.
    fn has_words(&self, query: &Query, at: usize) -> bool {
        match query {
            Query::Text { text, .. } | Query::Phrase { text, .. } => {
                !self.view.fields[at].analyze(text).is_empty()
            }
            Query::PhrasePattern { .. }
            | Query::Prefix { .. }
            | Query::Wildcard { .. }
            | Query::Fuzzy { .. } => pattern_of(query).is_none_or(|(_, glyphs, fuzzy)| {
                let asked = asked(&self.view.fields[at], &glyphs, fuzzy);
                !matches!(asked, Asked::Nothing)
            }),
            Query::MatchAll
            | Query::MatchNone
            | Query::Range { .. }
            | Query::OneOf { .. }
            | Query::Regexp { .. }
            | Query::Exists { .. }
            | Query::Bool { .. }
            | Query::Best { .. }
            | Query::Boost { .. } => true,
        }
    }

    fn in_field(&self, query: &Query, at: usize, boost: f32) -> Column {
        match query {
            Query::Text { text, operator, .. } => self.text(text, *operator, at, boost),
            Query::Phrase { text, slop, .. } => self.phrase(text, *slop, at, boost),
            Query::Range { lower, upper, .. } if self.view.fields[at].is_text => {
                self.any_term(at, boost, |term| is_between(term, lower, upper))
            }
            Query::Range { lower, upper, .. } => {
                self.any_term(at, boost, |term| is_value_between(term, lower, upper))
            }
            Query::OneOf { values, .. } => {
                self.any_term(at, boost, |term| values.iter().any(|value| value == term))
            }
            Query::Regexp { pattern, .. } => {
                self.any_term(at, boost, |term| fits_regexp(pattern, term))
            }
            Query::PhrasePattern { slop, first, .. } => {
                self.pattern(query, *slop, *first, at, boost)
            }
            Query::Prefix { .. } | Query::Wildcard { .. } | Query::Fuzzy { .. } => {
                self.pattern(query, 0, None, at, boost)
            }
            // Not asked of fields one by one.
            Query::MatchAll
            | Query::MatchNone
            | Query::Exists { .. }
            | Query::Bool { .. }
            | Query::Best { .. }
            | Query::Boost { .. } => self.nothing(),
        }
    }

    fn pattern(
        &self,
        query: &Query,
        slop: u32,
        first: Option<u32>,
        at: usize,
        boost: f32,
    ) -> Column {
        let Some((_, glyphs, fuzzy)) = pattern_of(query) else {
            return self.nothing();
        };
        let Asked::Words(words, last) = asked(&self.view.fields[at], &glyphs, fuzzy) else {
            return self.nothing();
        };
        match last {
            None => self.phrase_of(&words, None, slop, at, boost),
            Some((forms, place)) if !words.is_empty() => {
                let terms = match first {
                    None => self.ends(&forms, fuzzy.is_some(), at),
                    Some(first) => self.first_ends(&forms, first, at),
                };
                let each_counts = first.is_some();
                let ends = Ends {
                    terms,
                    place,
                    each_counts,
                };
                self.phrase_of(&words, Some(ends), slop, at, boost)
            }
            Some((forms, _)) if first.is_some() => {
                let terms = self.first_ends(&forms, first.unwrap_or_default(), at);
                let columns = terms.into_iter().map(|term| self.term(at, term, boost));
                let columns: Vec<Column> = columns.collect();
                self.at_least(&columns, 1)
            }
            Some((forms, _)) if fuzzy.is_some() => {
                let boosted = self.similar(&forms, at).into_iter();
                let boosted = boosted.map(|(term, similarity)| (term, boost * similarity));
                let boosted: Vec<(usize, f32)> = boosted.collect();
                // All count as the most frequent one.
                let each = boosted.iter().map(|(term, _)| self.idf(at, *term));
                let least = each.reduce(f32::min).unwrap_or_default();
                let columns = self.terms(at, &boosted, |_| least);
                self.at_least(&columns, 1)
            }
            Some((forms, _)) => self.any_term(at, boost, |term| has_form(&forms, term)),
        }
    }

    /// The terms that the last word of a phrase may be.
    fn ends(&self, forms: &[Form], is_fuzzy: bool, at: usize) -> Vec<usize> {
        if is_fuzzy {
            return self
                .similar(forms, at)
                .into_iter()
                .map(|one| one.0)
                .collect();
        }
        let (terms, statistics) = (&self.view.fields[at].terms, &self.view.statistics[at]);
        let all = 0..terms.len();
        let fitting = all.filter(|term| statistics.has(*term) && has_form(forms, &terms[*term]));
        let mut fitting: Vec<usize> = fitting.collect();
        fitting.sort_by(|a, b| {
            let by_frequency = statistics.frequency(*b).cmp(&statistics.frequency(*a));
            by_frequency.then(terms[*a].cmp(&terms[*b]))
        });
        self.is_cut
            .set(self.is_cut.get() || fitting.len() > FREQUENT_MAX);
        fitting.truncate(FREQUENT_MAX);
        fitting
    }

    /// The first terms, in the order of their bytes, that have one of some forms.
    fn first_ends(&self, forms: &[Form], first: u32, at: usize) -> Vec<usize> {
        let (terms, statistics) = (&self.view.fields[at].terms, &self.view.statistics[at]);
        let all = 0..terms.len();
        let fitting = all.filter(|term| statistics.has(*term) && has_form(forms, &terms[*term]));
        let mut fitting: Vec<usize> = fitting.collect();
        fitting.sort_by(|a, b| terms[*a].cmp(&terms[*b]));
        fitting.truncate(first as usize);
        fitting
    }

    /// The terms that are near one of some forms, the most similar first.
    fn similar(&self, forms: &[Form], at: usize) -> Vec<(usize, f32)> {
        let terms = &self.view.fields[at].terms;
        let is_there = |term| self.view.statistics[at].has(term);
        let mut best: Vec<(usize, f32)> = Vec::new();
        for form in forms {
            let Form::Near(word, distance) = form else {
                continue;
            };
            for (term, similarity) in similar(word, (*distance).into(), terms, is_there) {
                match best.iter_mut().find(|(known, _)| *known == term) {
                    Some((_, known)) => *known = known.max(similarity),
                    None => best.push((term, similarity)),
                }
            }
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(terms[a.0].cmp(&terms[b.0])));
        self.is_cut.set(self.is_cut.get() || best.len() > FUZZY_MAX);
        best.truncate(FUZZY_MAX);
        best
    }

    fn text(&self, text: &str, operator: Operator, at: usize, boost: f32) -> Column {
        let field = &self.view.fields[at];
        let words = field.analyze(text);
        let each = words.iter().map(|(word, _)| match field.number(word) {
            Some(term) => self.term(at, term, boost),
            None => self.nothing(),
        });
        let each: Vec<Column> = each.collect();
        match operator {
            Operator::Or => self.at_least(&each, 1),
            Operator::And => self.at_least(&each, each.len()),
        }
    }

    /// The sum of the columns where at least `minimum` of them match.
    fn at_least(&self, columns: &[Column], minimum: usize) -> Column {
        let documents = 0..self.view.documents.len();
        documents
            .map(|doc| {
                let scores: Vec<f32> = columns.iter().filter_map(|column| column[doc]).collect();
                (scores.len() >= minimum).then(|| sum(scores.iter()))
            })
            .collect()
    }

    fn term(&self, at: usize, term: usize, boost: f32) -> Column {
        let idf = self.idf(at, term);
        self.terms(at, &[(term, boost)], |_| idf).swap_remove(0)
    }

    /// The columns of several terms with their boosts, in one pass over the tokens; `idf` says what
    /// each counts.
    fn terms(&self, at: usize, wanted: &[(usize, f32)], idf: impl Fn(usize) -> f32) -> Vec<Column> {
        let field = &self.view.fields[at];
        let mut is_wanted = vec![false; field.terms.len()];
        wanted.iter().for_each(|(term, _)| is_wanted[*term] = true);
        let totals = self.view.statistics[at].totals;
        let weights: Vec<f32> = wanted
            .iter()
            .map(|(term, boost)| boost * idf(*term))
            .collect();
        let mut columns = vec![self.nothing(); wanted.len()];
        for (doc, document) in self.view.documents.iter().enumerate() {
            let tokens = &document.fields[at];
            let its: Vec<usize> = tokens
                .iter()
                .filter(|one| is_wanted[one.term])
                .map(|one| one.term)
                .collect();
            if its.is_empty() {
                continue;
            }
            for ((column, (term, _)), weight) in columns.iter_mut().zip(wanted).zip(&weights) {
                let frequency = its.iter().filter(|one| *one == term).count() as f32;
                let length = field.scored_length(tokens);
                column[doc] =
                    (frequency > 0.0).then(|| bm25::score(*weight, frequency, length, totals));
            }
        }
        columns
    }

    fn phrase(&self, text: &str, slop: u32, at: usize, boost: f32) -> Column {
        let words = self.view.fields[at].analyze(text);
        self.phrase_of(&words, None, slop, at, boost)
    }

    /// Words at their places, and behind them any of some terms.
    fn phrase_of(
        &self,
        words: &[(String, u32)],
        last: Option<Ends>,
        slop: u32,
        at: usize,
        boost: f32,
    ) -> Column {
        let field = &self.view.fields[at];
        let known = words
            .iter()
            .map(|(word, place)| Some((vec![field.number(word)?], *place)));
        let Some(mut known) = known.collect::<Option<Vec<(Vec<usize>, u32)>>>() else {
            return self.nothing();
        };
        let each_counts = last.as_ref().is_some_and(|last| last.each_counts);
        known.extend(last.map(|last| (last.terms, last.place)));
        if let [(terms, _)] = known.as_slice() {
            return self.term(at, terms[0], boost);
        }
        // Of several terms at one place the most frequent counts, or each.
        let idfs = known.iter().map(|(terms, _)| {
            if each_counts {
                return terms
                    .iter()
                    .map(|term| f64::from(self.idf(at, *term)))
                    .sum();
            }
            let statistics = &self.view.statistics[at];
            let most = terms.iter().max_by_key(|term| statistics.frequency(**term));
            most.map_or(0.0, |term| f64::from(self.idf(at, *term)))
        });
        let weight = boost * idfs.sum::<f64>() as f32;
        let totals = self.view.statistics[at].totals;
        self.each(|doc| {
            let tokens = &doc.fields[at];
            let words = known.iter().map(|(terms, place)| {
                let its = tokens.iter().filter(|one| terms.contains(&one.term));
                Word {
                    place: *place,
                    tokens: its.map(|one| (one.term, one.position)).collect(),
                }
            });
            let words: Vec<Word> = words.collect();
            let frequency = frequency(&words, slop);
            let score = || bm25::score(weight, frequency, field.scored_length(tokens), totals);
            (frequency > 0.0).then(score)
        })
    }

    /// Documents with any term that `wanted` holds for.
    fn any_term(&self, at: usize, boost: f32, wanted: impl Fn(&str) -> bool) -> Column {
        let terms = self.view.fields[at].terms.iter().enumerate();
        let wanted: Vec<bool> = terms
            .map(|(number, term)| self.view.statistics[at].has(number) && wanted(term))
            .collect();
        self.each(|doc| {
            let mut tokens = doc.fields[at].iter();
            tokens.any(|one| wanted[one.term]).then_some(boost)
        })
    }

    fn idf(&self, at: usize, term: usize) -> f32 {
        let statistics = &self.view.statistics[at];
        bm25::idf(statistics.totals, statistics.frequency(term))
    }
}

/// Lucene adds in double precision and rounds the sum.
fn sum<'a>(scores: impl Iterator<Item = &'a f32>) -> f32 {
    scores.map(|score| f64::from(*score)).sum::<f64>() as f32
}

fn has_form(forms: &[Form], term: &str) -> bool {
    forms.iter().any(|form| match form {
        Form::Fits(glyphs) => fits(glyphs, term),
        Form::Near(..) => false,
    })
}
