//! Random queries of every kind over the words of the test collection.

use std::ops::Bound;

use super::world::{FIELDS, Random, WHOLE, WORDS};
use crate::search::query::{Operator, Query};

fn word(random: &mut Random) -> String {
    match random.below(15) {
        0 => "absent".to_owned(),
        _ => WORDS[random.skewed(WORDS.len())].to_owned(),
    }
}

fn field(random: &mut Random) -> Option<String> {
    let at = random.below(FIELDS.len() + 1);
    FIELDS.get(at).map(|(name, _)| (*name).to_owned())
}

fn text(random: &mut Random, most: usize) -> String {
    let count = 1 + random.below(most);
    let words: Vec<String> = (0..count).map(|_| word(random)).collect();
    words.join(" ")
}

/// Two or three words, distinct as the oracle for slop wants them.
fn phrase(random: &mut Random) -> String {
    let first = random.below(3);
    let words = [WORDS[first], WORDS[(first + 1) % 3], WORDS[3]];
    words[..2 + random.below(2)].join(" ")
}

/// Two or three distinct words side by side, as often rare ones as frequent ones.
pub fn exact_phrase(random: &mut Random) -> Query {
    let first = random.below(WORDS.len());
    let words = [0, 1, 2].map(|step| WORDS[(first + step * (1 + random.below(5))) % WORDS.len()]);
    let mut words = words[..2 + random.below(2)].to_vec();
    words.dedup();
    Query::Phrase {
        field: Some(FIELDS[random.below(2)].0.to_owned()),
        text: words.join(" "),
        slop: 0,
    }
}

/// Two to five words one behind another, half of them common ones.
pub fn phrase_of_common_words(random: &mut Random) -> Query {
    let count = 2 + random.below(4);
    let words = (0..count).map(|_| match random.below(2) {
        0 => ["a", "of"][random.below(2)],
        _ => WORDS[random.skewed(WORDS.len())],
    });
    let words: Vec<&str> = words.collect();
    Query::Phrase {
        field: Some(FIELDS[random.below(2)].0.to_owned()),
        text: words.join(" "),
        slop: 0,
    }
}

/// One or two words and a last one that may be any of several, which are none of the others.
fn ending(random: &mut Random, field: Option<String>) -> Query {
    let words = ["gannet", "of", "quick gannet", "of quick", "zone", "absent"];
    Query::PhrasePattern {
        field,
        text: format!("{} ", words[random.below(words.len())]),
        pattern: ["a*", "fl*", "f?sh", "s*", "a", "fl?s*", "x*"][random.below(7)].to_owned(),
        slop: [0, 0, 0, 1, 3][random.below(5)],
        first: [None, None, Some(1), Some(2), Some(50)][random.below(5)],
    }
}

fn bound(random: &mut Random) -> Bound<String> {
    match random.below(3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(word(random)),
        _ => Bound::Excluded(word(random)),
    }
}

fn list(random: &mut Random, depth: usize, most: usize) -> Vec<Query> {
    let count = random.below(most + 1);
    (0..count).map(|_| any(random, depth)).collect()
}

/// A query at most `depth` deep.
pub fn any(random: &mut Random, depth: usize) -> Query {
    let kinds = if depth == 0 { 10 } else { 17 };
    let field = field(random);
    match random.below(kinds) {
        0 => Query::MatchAll,
        1..4 => Query::Text {
            field,
            text: text(random, 3),
            operator: [Operator::Or, Operator::And][random.below(2)],
        },
        4..6 => Query::Phrase {
            field: Some(FIELDS[random.below(2)].0.to_owned()),
            text: phrase(random),
            slop: [0, 0, 1, 2, 4][random.below(5)],
        },
        6 if random.below(2) == 0 => ending(random, field),
        6 => Query::Prefix {
            field,
            prefix: ["a", "fl", "se", "x", ""][random.below(5)].to_owned(),
        },
        7 => Query::Wildcard {
            field,
            pattern: ["f*sh", "?a*", "pa?es", "*z*", "fl?s?"][random.below(5)].to_owned(),
        },
        8 => Query::Fuzzy {
            field,
            text: word(random),
            distance: [None, Some(1), Some(2)][random.below(3)],
        },
        9 => match random.below(3) {
            0 => Query::Exists {
                field: FIELDS[random.below(FIELDS.len())].0.to_owned(),
            },
            1 => Query::Text {
                field: Some("id".to_owned()),
                text: format!("id-{}", random.skewed(400)),
                operator: Operator::Or,
            },
            _ => Query::Range {
                field: Some(WHOLE.to_owned()),
                lower: bound(random),
                upper: bound(random),
            },
        },
        10 => Query::Boost {
            query: Box::new(any(random, depth - 1)),
            factor: [0.5, 2.0, 3.25][random.below(3)],
        },
        11..13 => Query::Best {
            queries: list(random, depth - 1, 3),
            tie_breaker: [0.0, 0.0, 0.3, 1.0][random.below(4)],
        },
        _ => Query::Bool {
            must: list(random, depth - 1, 2),
            should: list(random, depth - 1, 3),
            must_not: list(random, depth - 1, 1),
            filter: list(random, depth - 1, 1),
            minimum_should_match: [0, 0, 0, 1, 2][random.below(5)],
        },
    }
}
