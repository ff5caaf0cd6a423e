//! WSBench: synthetic sets by kind of query and by how popular its words are, and their mix.
//!
//! A *level* is a decade of document frequencies around a power of ten: level 100 are the words in
//! 32 to 316 documents. There are 4 kinds times 6 levels:
//!
//! - `term`: a word of the level;
//! - `and`, `or`: two words of the level that stand in one document. So there is an answer, and the
//!   words have to do with each other, as those of people's queries do;
//! - `phrase`: two words that follow each other somewhere, after section 4 of the WiSER paper. The
//!   rarer one is of the level, the other is in 10,000 documents, or fewer in a small corpus.
//!
//! Queries of a set differ. A set is shorter than asked for where the corpus does not give more.
//! The mix is a sample of all sets together.

use std::collections::HashSet;

use crate::corpus::{Corpus, TermNumber};
use crate::queries::{Kind, Query, Set};
use crate::random::Random;

/// The document frequencies that levels stand around.
pub const LEVELS: [u32; 6] = [1, 10, 100, 1_000, 10_000, 100_000];

/// The document frequency from which a word is popular in a large corpus ...
const POPULAR: usize = 10_000;
/// ... and as a share of the documents in a small one, where no word might reach that.
const POPULAR_SHARE: usize = 50;

/// How many times longer than a set the mix may be: engines hold all queries in memory.
const MIX_FACTOR: usize = 2;

/// Draws in a row that give nothing new before a set is left as short as it is.
const FRUITLESS_DRAWS: usize = 100_000;

/// The 24 sets and the mix.
pub fn sets(corpus: &Corpus, seed: u64, queries: usize) -> Vec<Set> {
    let levels = levels(corpus);
    let mut sets = Vec::new();
    for kind in Kind::ALL {
        for (level, frequency) in LEVELS.iter().enumerate() {
            let name = format!("{kind}-{frequency}");
            let random = Random::new(seed, &name);
            let draw = Draw {
                corpus,
                levels: &levels,
                kind,
                level,
                random,
            };
            let queries = draw.queries(queries);
            sets.push(Set { name, queries });
        }
    }
    sets.push(mix(&sets, Random::new(seed, "mix"), MIX_FACTOR * queries));
    sets
}

fn mix(sets: &[Set], mut random: Random, wanted: usize) -> Set {
    let mut queries: Vec<Query> = sets.iter().flat_map(|set| set.queries.clone()).collect();
    random.shuffle(&mut queries);
    queries.truncate(wanted);
    let name = "mix".to_owned();
    Set { name, queries }
}

/// The level of each term that may stand in a query.
fn levels(corpus: &Corpus) -> Vec<Option<usize>> {
    let level = |term| {
        let level = level_of(corpus.frequency(term));
        corpus.is_plain(term).then_some(level)
    };
    (0..corpus.terms() as TermNumber).map(level).collect()
}

/// The level that a document frequency belongs to: the nearest on a logarithmic scale, the last one
/// open above.
fn level_of(frequency: u32) -> usize {
    // The bound between two levels is the lower one times the root of ten.
    let above = |&&level: &&u32| f64::from(frequency) > f64::from(level) * 10f64.sqrt();
    LEVELS.iter().filter(above).count().min(LEVELS.len() - 1)
}

/// How the queries of one set are drawn.
struct Draw<'a> {
    corpus: &'a Corpus,
    levels: &'a [Option<usize>],
    kind: Kind,
    level: usize,
    random: Random,
}

impl Draw<'_> {
    fn queries(mut self, wanted: usize) -> Vec<Query> {
        let found = match self.kind {
            Kind::Term => self.terms(wanted),
            Kind::And | Kind::Or => self.drawn(wanted, Draw::pair),
            Kind::Phrase => self.drawn(wanted, Draw::neighbours),
        };
        let text = |terms: Vec<TermNumber>| {
            let words: Vec<&str> = terms.iter().map(|&term| self.corpus.text(term)).collect();
            words.join(" ")
        };
        let kind = self.kind;
        let queries = found.into_iter().map(text);
        queries.map(|words| Query { kind, words }).collect()
    }

    fn terms(&mut self, wanted: usize) -> Vec<Vec<TermNumber>> {
        let all = 0..self.corpus.terms() as TermNumber;
        let mut terms: Vec<Vec<TermNumber>> = all
            .filter(|&term| self.is_of_level(term))
            .map(|term| vec![term])
            .collect();
        self.random.shuffle(&mut terms);
        terms.truncate(wanted);
        terms
    }

    /// Distinct queries that `draw` gives.
    fn drawn(
        &mut self,
        wanted: usize,
        draw: fn(&mut Self) -> Option<[TermNumber; 2]>,
    ) -> Vec<Vec<TermNumber>> {
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        let mut fruitless = 0;
        let is_empty = self.corpus.documents() == 0;
        while found.len() < wanted && fruitless < FRUITLESS_DRAWS && !is_empty {
            fruitless += 1;
            if let Some(terms) = draw(self).filter(|terms| seen.insert(*terms)) {
                found.push(terms.to_vec());
                fruitless = 0;
            }
        }
        found
    }

    /// Two words of the level from one document, in the order of their numbers.
    fn pair(&mut self) -> Option<[TermNumber; 2]> {
        let document = self.random.below(self.corpus.documents());
        let tokens = self.corpus.document(document).iter().copied();
        let mut terms: Vec<TermNumber> = tokens.filter(|&term| self.is_of_level(term)).collect();
        terms.sort_unstable();
        terms.dedup();
        if terms.len() < 2 {
            return None;
        }
        let first = self.random.below(terms.len() - 1);
        let second = first + 1 + self.random.below(terms.len() - 1 - first);
        Some([terms[first], terms[second]])
    }

    /// Two words that follow each other: a popular one, and one of the level that is no more
    /// popular.
    fn neighbours(&mut self) -> Option<[TermNumber; 2]> {
        let document = self.random.below(self.corpus.documents());
        let tokens = self.corpus.document(document);
        if tokens.len() < 2 {
            return None;
        }
        let at = self.random.below(tokens.len() - 1);
        let pair = [tokens[at], tokens[at + 1]];
        let rarer_first = self.corpus.frequency(pair[0]) <= self.corpus.frequency(pair[1]);
        let (rarer, other) = if rarer_first {
            (pair[0], pair[1])
        } else {
            (pair[1], pair[0])
        };
        let popular = POPULAR.min(self.corpus.documents() / POPULAR_SHARE);
        let holds = self.is_of_level(rarer)
            && self.corpus.is_plain(other)
            && self.corpus.frequency(other) as usize >= popular;
        holds.then_some(pair)
    }

    fn is_of_level(&self, term: TermNumber) -> bool {
        self.levels[term as usize] == Some(self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 400 documents in which `a0` is everywhere, `b0` to `b3` in every fourth, `c` with a number
    /// in ten each.
    fn corpus() -> Corpus {
        let line = |number: usize| {
            let words = format!(
                "a0 b{} a0 c{} über-{number} c{}",
                number % 4,
                number / 10,
                number / 10
            );
            format!("{{\"id\": \"{number}\", \"body\": \"{words}\"}}\n")
        };
        let lines: String = (0..400).map(line).collect();
        Corpus::read(lines.as_bytes(), "body").unwrap()
    }

    fn named<'a>(sets: &'a [Set], name: &str) -> &'a [Query] {
        &sets.iter().find(|set| set.name == name).unwrap().queries
    }

    #[test]
    fn levels_are_decades_around_powers_of_ten() {
        for (frequency, level) in [
            (1, 0),
            (3, 0),
            (4, 1),
            (31, 1),
            (32, 2),
            (3_162, 3),
            (3_163, 4),
            (31_623, 5),
            (u32::MAX, 5),
        ] {
            assert_eq!(level_of(frequency), level, "{frequency}");
        }
    }

    #[test]
    fn words_are_of_their_level_and_occur_together() {
        let corpus = corpus();
        let sets = sets(&corpus, 7, 30);
        assert_eq!(sets.len(), 25);
        let words = |name| named(&sets, name).iter().map(|q| q.words.as_str());
        assert_eq!(named(&sets, "term-10").len(), 30);
        assert!(words("term-10").all(|word| word.starts_with('c')));
        let mut frequent: Vec<&str> = words("term-100").collect();
        frequent.sort_unstable();
        assert_eq!(frequent, ["b0", "b1", "b2", "b3"]);
        assert_eq!(words("term-1000").collect::<Vec<_>>(), ["a0"]);
        assert!(words("phrase-10").all(|words| words.starts_with("a0 c")));
        assert_eq!(
            words("and-100").count(),
            0,
            "no document has two of these words"
        );
    }

    #[test]
    fn queries_differ_and_a_seed_decides_them() {
        let corpus = corpus();
        let (first, again) = (sets(&corpus, 7, 20), sets(&corpus, 7, 20));
        let other = sets(&corpus, 8, 20);
        let mix = named(&first, "mix");
        let distinct: HashSet<&Query> = mix.iter().collect();
        assert_eq!(distinct.len(), mix.len());
        assert_eq!(mix, named(&again, "mix"));
        assert_ne!(mix, named(&other, "mix"));
        assert_eq!(mix.len(), 20 * MIX_FACTOR);
    }

    #[test]
    fn an_empty_corpus_gives_empty_sets() {
        let corpus = Corpus::read("".as_bytes(), "body").unwrap();
        assert!(
            sets(&corpus, 1, 10)
                .iter()
                .all(|set| set.queries.is_empty())
        );
    }
}
