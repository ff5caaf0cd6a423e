//! The oracle: evaluates a query by looking at every document, by rules written down once more.

use std::ops::Bound;

use super::world::{FIELDS, WHOLE, WORDS, World};
use crate::analysis::{FieldId, FieldKind};
use crate::documents::length_to_norm;
use crate::search::query::{Operator, PatternPart, Query, automatic_distance, pattern_parts};
use crate::search::run::expand::FUZZY_MAX;
use crate::search::scoring::bm25::{Bm25, NormCache, idf};
use crate::search::scoring::term_scorer::TermScorer;

pub struct Naive<'a> {
    world: &'a World,
}

/// The score of a document that matches.
type Score = Option<f32>;

impl Naive<'_> {
    pub fn new(world: &World) -> Naive<'_> {
        Naive { world }
    }

    /// All matching live documents with their scores, best first.
    pub fn search(&self, query: &Query) -> Vec<(u32, f32)> {
        let live = (0..self.world.docs.len()).filter(|doc| !self.world.deleted[*doc]);
        let scored = live.filter_map(|doc| Some((doc as u32, self.score(query, doc, 1.0)?)));
        let mut scored: Vec<(u32, f32)> = scored.collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored
    }

    fn score(&self, query: &Query, doc: usize, boost: f32) -> Score {
        match query {
            Query::MatchAll => Some(boost),
            Query::MatchNone => None,
            Query::Boost { query, factor } => self.score(query, doc, boost * factor),
            Query::Exists { field } => {
                let field = FIELDS.iter().position(|(name, _)| name == field)?;
                (!self.world.docs[doc][field].is_empty()).then_some(boost)
            }
            Query::OneOf { field, .. } | Query::Regexp { field, .. } => {
                self.leaf(query, Some(field), doc, boost)
            }
            Query::Bool { .. } => self.bool(query, doc, boost),
            Query::Best {
                queries,
                tie_breaker,
            } => {
                let scores = queries.iter();
                let scores = scores.filter_map(|query| self.score(query, doc, boost));
                let scores: Vec<f32> = scores.collect();
                let best = f64::from(scores.iter().copied().reduce(f32::max)?);
                let sum: f64 = scores.iter().map(|score| f64::from(*score)).sum();
                let others = (sum - best) * f64::from(*tie_breaker);
                let is_sum = *tie_breaker == 1.0;
                Some(if is_sum { sum } else { best + others } as f32)
            }
            Query::Text { field, .. }
            | Query::Phrase { field, .. }
            | Query::PhrasePattern { field, .. }
            | Query::Prefix { field, .. }
            | Query::Wildcard { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Range { field, .. } => self.leaf(query, field.as_deref(), doc, boost),
        }
    }

    fn bool(&self, query: &Query, doc: usize, boost: f32) -> Score {
        let Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match,
        } = query
        else {
            return None;
        };
        let all = |queries: &[Query]| -> Option<Vec<f32>> {
            queries.iter().map(|q| self.score(q, doc, boost)).collect()
        };
        let mut scores = all(must)?;
        all(filter)?;
        if must_not.iter().any(|q| self.score(q, doc, boost).is_some()) {
            return None;
        }
        let some: Vec<f32> = should
            .iter()
            .filter_map(|q| self.score(q, doc, boost))
            .collect();
        let nothing_else = must.is_empty() && filter.is_empty();
        let needed = match *minimum_should_match as usize {
            0 if nothing_else && !should.is_empty() => 1,
            given => given,
        };
        if some.len() < needed || (nothing_else && should.is_empty() && must_not.is_empty()) {
            return None;
        }
        match needed {
            0 => scores.extend(some),
            _ => scores.push(sum(&some)),
        }
        Some(sum(&scores))
    }

    fn leaf(&self, leaf: &Query, field: Option<&str>, doc: usize, boost: f32) -> Score {
        if let Query::Text { text, .. } = leaf
            && field == Some("id")
        {
            return (*text == format!("id-{doc}")).then_some(boost);
        }
        let searched = FIELDS
            .iter()
            .enumerate()
            .filter(|(_, (name, kind))| match field {
                Some(field) => *name == field,
                None => *kind == FieldKind::Text,
            });
        let scores = searched.filter_map(|(at, _)| self.in_field(leaf, at, doc, boost));
        scores.reduce(f32::max)
    }

    fn in_field(&self, leaf: &Query, field: usize, doc: usize, boost: f32) -> Score {
        let words = &self.world.docs[doc][field];
        let any = |holds: &dyn Fn(&str) -> bool| words.iter().any(|w| holds(w)).then_some(boost);
        match leaf {
            Query::Text { text, operator, .. } => {
                let asked: Vec<&str> = split(text, field);
                let scores = asked.iter().map(|word| self.term(word, field, doc, boost));
                let scores: Vec<Score> = scores.collect();
                if *operator == Operator::And && scores.contains(&None) || asked.is_empty() {
                    return None;
                }
                let scores: Vec<f32> = scores.into_iter().flatten().collect();
                (!scores.is_empty()).then(|| sum(&scores))
            }
            Query::Phrase { text, slop, .. } => {
                let asked = split(text, field);
                match asked.len() {
                    0 => None,
                    1 => self.term(asked[0], field, doc, boost),
                    _ => self.phrase(&asked, *slop, field, doc, boost),
                }
            }
            Query::PhrasePattern {
                text,
                pattern,
                slop,
                first,
                ..
            } => {
                let last = AskedEnd {
                    pattern,
                    first: *first,
                };
                self.ending(text, last, *slop, field, doc, boost)
            }
            Query::Prefix { prefix, .. } => any(&|word| word.starts_with(prefix.as_str())),
            Query::Wildcard { pattern, .. } => {
                let parts: Vec<PatternPart> = pattern_parts(pattern).collect();
                any(&|word| fits(&parts, &word.chars().collect::<Vec<_>>()))
            }
            Query::Range { lower, upper, .. } => any(&|word| {
                let above = match lower {
                    Bound::Included(lower) => word >= lower.as_str(),
                    Bound::Excluded(lower) => word > lower.as_str(),
                    Bound::Unbounded => true,
                };
                above
                    && match upper {
                        Bound::Included(upper) => word <= upper.as_str(),
                        Bound::Excluded(upper) => word < upper.as_str(),
                        Bound::Unbounded => true,
                    }
            }),
            Query::OneOf { values, .. } => any(&|word| values.iter().any(|one| one == word)),
            // No random query is one: the tests of the crate compare them with an oracle.
            Query::Regexp { .. } => None,
            Query::Fuzzy { text, distance, .. } => {
                let distance = distance.unwrap_or_else(|| automatic_distance(text));
                self.fuzzy(text, distance as usize, field, doc, boost)
            }
            // Not asked of fields one by one.
            Query::MatchAll
            | Query::MatchNone
            | Query::Exists { .. }
            | Query::Bool { .. }
            | Query::Best { .. }
            | Query::Boost { .. } => None,
        }
    }

    fn frequency(&self, word: &str, field: usize, doc: usize) -> usize {
        let words = &self.world.docs[doc][field];
        words.iter().filter(|w| **w == word).count()
    }

    fn idf(&self, word: &str, field: usize) -> f32 {
        let known = WORDS.iter().find(|known| **known == word);
        let df = known.and_then(|word| self.world.frequencies.get(&(field, *word)));
        let df = df.copied().unwrap_or(0);
        idf(
            self.world.view.statistics.of(field as FieldId).documents,
            df,
        )
    }

    fn bm25(&self, idf: f32, frequency: f32, field: usize, doc: usize, boost: f32) -> Score {
        let norms = NormCache::new(
            self.world
                .view
                .statistics
                .of(field as FieldId)
                .average_length(),
        );
        // Whole values count as one token.
        let length = match FIELDS[field] {
            (WHOLE, _) | (_, FieldKind::Exact) => 1,
            (_, FieldKind::Text) => self.world.docs[doc][field].len() as u32,
        };
        let norm = length_to_norm(length);
        (frequency > 0.0).then(|| Bm25::new(idf, boost, norms).score(frequency, norm))
    }

    fn term(&self, word: &str, field: usize, doc: usize, boost: f32) -> Score {
        let frequency = self.frequency(word, field, doc) as f32;
        if frequency > 0.0 {
            self.bm25(self.idf(word, field), frequency, field, doc, boost)
        } else {
            None
        }
    }

    fn fuzzy(&self, text: &str, distance: usize, field: usize, doc: usize, boost: f32) -> Score {
        let mut near: Vec<(f32, &str)> = Vec::new();
        for word in WORDS {
            let edits = edits(text, word);
            let shorter = text.len().min(word.len());
            let similarity = if edits < shorter || edits == 0 {
                1.0 - edits as f32 / shorter.max(1) as f32
            } else {
                0.25 / edits as f32
            };
            if edits <= distance {
                near.push((similarity, word));
            }
        }
        assert!(near.len() <= FUZZY_MAX);
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        // All count as the most frequent one.
        let each = near.iter().map(|(_, word)| self.idf(word, field));
        let least = each.reduce(f32::min)?;
        let scores = near.iter().filter_map(|(similarity, word)| {
            let frequency = self.frequency(word, field, doc) as f32;
            let score = || self.bm25(least, frequency, field, doc, boost * similarity);
            (frequency > 0.0).then(score).flatten()
        });
        let scores: Vec<f32> = scores.collect();
        (!scores.is_empty()).then(|| sum(&scores))
    }

    /// A phrase whose last word is any that fits a pattern, or any of the first ones. The oracle
    /// for slop wants that no word before it does.
    fn ending(
        &self,
        text: &str,
        last: AskedEnd<'_>,
        slop: u32,
        field: usize,
        doc: usize,
        boost: f32,
    ) -> Score {
        let words = &self.world.docs[doc][field];
        let mut parts: Vec<PatternPart> = pattern_parts(last.pattern).collect();
        let asked: Vec<&str> = match FIELDS[field] {
            (WHOLE, _) | (_, FieldKind::Exact) => {
                parts.splice(0..0, text.chars().map(PatternPart::Literal));
                Vec::new()
            }
            _ => text.split_whitespace().collect(),
        };
        let is_fitting = |word: &&str| fits(&parts, &word.chars().collect::<Vec<_>>());
        let count = |word: &&str| self.world.frequencies.get(&(field, *word)).copied();
        let there = WORDS.iter().filter(|word| count(word).is_some());
        let mut ends: Vec<&str> = there.copied().filter(|word| is_fitting(word)).collect();
        ends.sort_unstable();
        ends.truncate(last.first.map_or(ends.len(), |first| first as usize));
        let is_end = |word: &&str| ends.contains(word);
        if asked.is_empty() && last.first.is_some() {
            let each = ends.iter();
            let scores = each.filter_map(|word| self.term(word, field, doc, boost));
            let scores: Vec<f32> = scores.collect();
            return (!scores.is_empty()).then(|| sum(&scores));
        }
        if asked.is_empty() {
            return words.iter().any(&is_end).then_some(boost);
        }
        // All that may end it are one word.
        const END: &str = "the last word";
        let mut asked = asked;
        asked.push(END);
        let words: Vec<&str> = words
            .iter()
            .map(|word| if is_end(word) { END } else { *word })
            .collect();
        let frequency = match slop {
            0 => {
                let before = &asked[..asked.len() - 1];
                let whole = &self.world.docs[doc][field];
                let starts = whole.windows(asked.len()).zip(words.windows(asked.len()));
                let stands = |(whole, words): &(&[&str], &[&str])| {
                    whole[..before.len()] == *before && words[before.len()] == END
                };
                starts.filter(stands).count() as f32
            }
            _ => sloppy(&words, &asked, slop as i64),
        };
        let most = ends.iter().filter_map(count).max()?;
        let documents = self.world.view.statistics.of(field as FieldId).documents;
        let before = asked[..asked.len() - 1].iter();
        let idfs = before.map(|word| self.idf(word, field) as f64);
        let of_ends = match last.first {
            None => idf(documents, most) as f64,
            Some(_) => ends.iter().map(|word| self.idf(word, field) as f64).sum(),
        };
        let sum = idfs.sum::<f64>() + of_ends;
        self.bm25(sum as f32, frequency, field, doc, boost)
    }

    fn phrase(&self, asked: &[&str], slop: u32, field: usize, doc: usize, boost: f32) -> Score {
        let words = &self.world.docs[doc][field];
        let frequency = match slop {
            0 => words.windows(asked.len()).filter(|w| *w == asked).count() as f32,
            _ => sloppy(words, asked, slop as i64),
        };
        if frequency == 0.0 {
            return None;
        }
        let idfs = asked.iter().map(|word| self.idf(word, field) as f64);
        self.bm25(idfs.sum::<f64>() as f32, frequency, field, doc, boost)
    }
}

/// The last word of a phrase, and how many words it stands for.
struct AskedEnd<'q> {
    pattern: &'q str,
    first: Option<u32>,
}

fn split(text: &str, field: usize) -> Vec<&str> {
    match FIELDS[field] {
        (WHOLE, _) | (_, FieldKind::Exact) => vec![text],
        (_, FieldKind::Text) => text.split_whitespace().collect(),
    }
}

fn sum(scores: &[f32]) -> f32 {
    scores.iter().map(|score| *score as f64).sum::<f64>() as f32
}

fn fits(parts: &[PatternPart], word: &[char]) -> bool {
    match (parts.split_first(), word.split_first()) {
        (None, _) => word.is_empty(),
        (Some((PatternPart::Many, rest)), None) => fits(rest, word),
        (Some((PatternPart::Many, rest)), Some((_, tail))) => fits(rest, word) || fits(parts, tail),
        (Some((PatternPart::One, rest)), Some((_, tail))) => fits(rest, tail),
        (Some((PatternPart::Literal(c), rest)), Some((d, tail))) => c == d && fits(rest, tail),
        (Some(_), None) => false,
    }
}

/// Edits from one word to another, a swap of neighbours counted as one.
fn edits(from: &str, to: &str) -> usize {
    let (a, b) = (from.as_bytes(), to.as_bytes());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let least = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least.min(table[i - 2][j - 2] + 1)
                    } else {
                        least
                    }
                }
            };
        }
    }
    table[a.len()][b.len()]
}

/// Smallest windows of origins over distinct words, by trying all.
fn sloppy(words: &[&str], asked: &[&str], slop: i64) -> f32 {
    let origins: Vec<Vec<i64>> = (0..)
        .zip(asked)
        .map(|(place, word)| {
            let all = (0..).zip(words).filter(|(_, w)| *w == word);
            all.map(|(position, _): (i64, _)| position - place)
                .collect()
        })
        .collect();
    let holds = |low: i64, high: i64| {
        let inside = |all: &Vec<i64>| all.iter().any(|origin| (low..=high).contains(origin));
        origins.iter().all(inside)
    };
    let ends: Vec<i64> = origins.iter().flatten().copied().collect();
    let mut windows: Vec<(i64, i64)> = Vec::new();
    for low in &ends {
        for high in ends.iter().filter(|high| *high >= low) {
            let smallest = holds(*low, *high) && !holds(low + 1, *high) && !holds(*low, high - 1);
            if smallest && high - low <= slop {
                windows.push((*low, *high));
            }
        }
    }
    windows.sort_unstable();
    windows.dedup();
    let weights = windows
        .iter()
        .map(|(low, high)| 1.0 / (1.0 + (high - low) as f32));
    weights.fold(0.0, |sum, weight| sum + weight)
}
