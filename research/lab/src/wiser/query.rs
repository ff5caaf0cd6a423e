//! Queries as the paper runs them: list by list and page by page, every match is scored, and the
//! ten best documents are read with the offsets of the words.

use gannet::{Error, Result};

use super::code::{BEFORE, BEHIND};
use super::documents::Texts;
use super::filter::{bits_of, fingerprint};
use super::lists::{Cursor, Lists};
use super::pages::Pages;
use crate::queries::{Kind, Query};

/// Documents of an answer.
const BEST: usize = 10;

/// How many times the bytes of filters the bytes of positions must be for filters to be asked. The
/// paper says *much smaller* and no number.
const MUCH_SMALLER: u64 = 2;

/// When Bloom filters are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filters {
    /// There are none.
    Off,
    /// Those of the first word of a pair, always: the paper's *plain* ones.
    Plain,
    /// Those of the word that has fewer bytes of them, always.
    TwoWay,
    /// The same where they are much smaller than the positions: the paper's rule.
    CostAware,
}

/// An index with what a query needs of it.
pub struct Engine<'a> {
    /// Its lists.
    pub lists: &'a Lists,
    /// Whether term entries are in memory.
    pub entries_in_memory: bool,
    /// When filters are asked.
    pub filters: Filters,
    /// Its documents.
    pub texts: &'a Texts,
    /// Tokens of each document, in memory.
    pub lengths: &'a [u32],
    /// Their mean.
    pub mean_length: f64,
}

/// What a query found, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Documents that match.
    pub total: u64,
    /// The best, the best first.
    pub best: Vec<u32>,
    /// Filters that were asked, and those that did not rule the document out.
    pub tests: u64,
    /// Of these, those that passed.
    pub passed: u64,
    /// Whether zones were prefetched.
    pub prefetched: bool,
}

/// A filter that a phrase asks: of which word, on which side, for which bits.
struct Test {
    word: usize,
    side: usize,
    bits: u128,
}

impl Engine<'_> {
    /// Answers a query and reads what snippets of the answer need.
    pub fn ask(&self, query: &Query, pages: &mut Pages) -> Result<Answer> {
        let mut answer = Answer::default();
        let words: Vec<&str> = query.words.split(' ').collect();
        let mut entries = Vec::new();
        for word in &words {
            match self.lists.entry(word, self.entries_in_memory, pages)? {
                Some(entry) => entries.push(entry),
                None => return Ok(answer),
            }
        }
        let zones: Vec<_> = entries.iter().map(|entry| self.lists.zone(entry)).collect();
        answer.prefetched = pages.set_zones(&zones);
        let cursors = entries.iter().map(|entry| self.lists.open(entry, pages));
        let mut cursors: Vec<Cursor> = cursors.collect::<Result<_>>()?;
        let tests = match query.kind {
            Kind::Phrase => self.tests(&words, &cursors),
            Kind::Term | Kind::And => Vec::new(),
            Kind::Or => {
                return Err(Error::invalid(
                    "expected queries of term, and or phrase, found or",
                ));
            }
        };
        let mut scored = self.matches(query.kind, &mut cursors, &tests, &mut answer, pages)?;
        scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        answer.total = scored.len() as u64;
        answer.best = scored.iter().take(BEST).map(|(_, doc)| *doc).collect();
        self.mark(&words, &mut cursors, &answer.best, pages)?;
        Ok(answer)
    }

    /// The filters that are asked for a phrase: one for two words that follow each other.
    fn tests(&self, words: &[&str], cursors: &[Cursor]) -> Vec<Test> {
        let pairs = (0..words.len() - 1).filter(|at| words[*at] != words[at + 1]);
        let tests = pairs.filter_map(|at| {
            let ((behind, one), (before, other)) =
                (cursors[at].costs(BEHIND), cursors[at + 1].costs(BEFORE));
            let is_first = self.filters == Filters::Plain || behind <= before;
            let (word, side, neighbour) = if is_first {
                (at, BEHIND, words[at + 1])
            } else {
                (at + 1, BEFORE, words[at])
            };
            let pays = behind.min(before) * MUCH_SMALLER <= one + other;
            let bits = bits_of(fingerprint(neighbour));
            let is_asked = match self.filters {
                Filters::Off => false,
                Filters::Plain | Filters::TwoWay => bits != 0,
                Filters::CostAware => bits != 0 && pays,
            };
            is_asked.then_some(Test { word, side, bits })
        });
        tests.collect()
    }

    /// The documents that match, with their scores.
    fn matches(
        &self,
        kind: Kind,
        cursors: &mut [Cursor],
        tests: &[Test],
        answer: &mut Answer,
        pages: &mut Pages,
    ) -> Result<Vec<(f64, u32)>> {
        let rarities: Vec<f64> = cursors
            .iter()
            .map(|cursor| self.rarity(cursor.count))
            .collect();
        let mut order: Vec<usize> = (0..cursors.len()).collect();
        order.sort_by_key(|word| cursors[*word].count);
        let (mut scored, mut frequencies, mut next) = (Vec::new(), vec![0; cursors.len()], 0);
        'documents: loop {
            for word in &order {
                let Some((doc, frequency)) = cursors[*word].seek(next, pages)? else {
                    return Ok(scored);
                };
                frequencies[*word] = frequency;
                // The first list proposes; another that goes on is asked from there.
                if doc > next && *word != order[0] {
                    next = doc;
                    continue 'documents;
                }
                next = doc;
            }
            let length = self.lengths[next as usize];
            let score = match kind {
                Kind::Phrase => {
                    let frequency = phrase_frequency(cursors, tests, answer, pages)?;
                    let rarity = rarities.iter().sum();
                    (frequency > 0).then(|| self.score(rarity, frequency, length))
                }
                _ => Some(
                    (0..cursors.len())
                        .map(|word| self.score(rarities[word], frequencies[word], length))
                        .sum(),
                ),
            };
            scored.extend(score.map(|score| (score, next)));
            next += 1;
        }
    }

    fn rarity(&self, count: u32) -> f64 {
        let (all, count) = (self.lengths.len() as f64, f64::from(count));
        (1.0 + (all - count + 0.5) / (count + 0.5)).ln()
    }

    /// BM25 of one word.
    fn score(&self, rarity: f64, frequency: u32, length: u32) -> f64 {
        let (frequency, length) = (f64::from(frequency), f64::from(length) / self.mean_length);
        rarity * frequency / (frequency + 1.2 * (0.25 + 0.75 * length))
    }

    /// Reads the documents with the words' offsets, and makes sure that the words are there.
    fn mark(
        &self,
        words: &[&str],
        cursors: &mut [Cursor],
        docs: &[u32],
        pages: &mut Pages,
    ) -> Result<()> {
        for doc in docs {
            let mut marks = Vec::new();
            for (word, cursor) in words.iter().zip(&mut *cursors) {
                cursor.seek(*doc, pages)?;
                let offsets = cursor.offsets(pages)?.into_iter();
                marks.extend(offsets.map(|(start, length)| (*word, start..start + length)));
            }
            let text = self.texts.read(*doc, pages)?;
            let is_there = |(word, place): &(&str, std::ops::Range<usize>)| {
                text.get(place.clone())
                    .is_some_and(|found| is_analyzed(found, word))
            };
            if !marks.iter().all(is_there) {
                return Err(Error::invalid(format!(
                    "offsets of document {doc} name other words; this is a defect"
                )));
            }
        }
        Ok(())
    }
}

/// Whether a text is a word once its letters are lowercased as the analyzer does: one by one.
fn is_analyzed(text: &str, word: &str) -> bool {
    let letters = text.chars();
    letters
        .map(|letter| letter.to_lowercase().next().unwrap_or(letter))
        .eq(word.chars())
}

/// How often the document that all cursors are on has the words one behind the other, the filters
/// asked before positions.
fn phrase_frequency(
    cursors: &[Cursor],
    tests: &[Test],
    answer: &mut Answer,
    pages: &mut Pages,
) -> Result<u32> {
    for test in tests {
        answer.tests += 1;
        if !cursors[test.word].passes(test.side, test.bits, pages)? {
            return Ok(0);
        }
        answer.passed += 1;
    }
    let mut positions = Vec::new();
    for cursor in cursors {
        positions.push(cursor.positions(pages)?);
    }
    let starts = positions[0].iter().filter(|start| {
        (0..)
            .zip(&positions)
            .all(|(place, of)| of.binary_search(&(**start + place)).is_ok())
    });
    Ok(starts.count() as u32)
}
