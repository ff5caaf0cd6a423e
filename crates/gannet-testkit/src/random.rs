//! Random documents and queries, the same for the same seed.
//!
//! Words follow Zipf's law: a few stand in most documents, most in one or two. Among them are
//! English words with endings and stop words, words of other scripts, very long ones, and ones that
//! differ from others by an edit. Most queries are made of what stands in the documents, so that
//! they find something.

use std::ops::Bound;

use gannet::{Operator, Query};

use super::oracle::{PlainDocument, PlainField, Value};

/// The fields of all documents.
pub const FIELDS: [PlainField; 8] = [
    text_field("title", "standard"),
    text_field("body", "english"),
    text_field("notes", "whitespace"),
    text_field("tag", "keyword"),
    text_field("meta.source", "simple"),
    exact_field("year"),
    exact_field("rating"),
    exact_field("open"),
];

const fn text_field(name: &'static str, analyzer: &'static str) -> PlainField {
    PlainField {
        name,
        analyzer: Some(analyzer),
    }
}

const fn exact_field(name: &'static str) -> PlainField {
    PlainField {
        name,
        analyzer: None,
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub struct Rng(u64);

impl Rng {
    /// The numbers that belong to `seed`.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "numbers never end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Words with their Zipf weights.
pub struct Vocabulary {
    words: Vec<String>,
    weights: Vec<f64>,
}

const COMMON: [&str; 24] = [
    "flash", "the", "birds", "of", "running", "and", "a", "storage", "in", "sea", "engines", "is",
    "Gannet", "flies", "to", "search", "dogs", "waves", "it's", "diving", "state", "colony", "for",
    "pages",
];
const FOREIGN: [&str; 12] = [
    "Привет",
    "мир",
    "東京",
    "タワー",
    "Straße",
    "ΟΔΟΣ",
    "naïve",
    "한국어",
    "هذا",
    "École",
    "Ωμέγα",
    "İzmir",
];
const SYLLABLES: [&str; 20] = [
    "ka", "ro", "mi", "ten", "lu", "sha", "or", "ve", "in", "do", "pra", "el", "qui", "zo", "ba",
    "nest", "ul", "gy", "fe", "ith",
];
const ENDINGS: [&str; 6] = ["", "s", "ing", "ed", "ly", "ness"];

impl Vocabulary {
    /// `count` different words.
    pub fn new(rng: &mut Rng, count: usize) -> Vocabulary {
        let mut words: Vec<String> = COMMON.iter().map(|word| (*word).to_owned()).collect();
        while words.len() < count {
            let word = match rng.below(40) {
                0 => format!("{}{}", rng.pick(&FOREIGN), rng.pick(&["", "а", "s"])),
                1 => rng.pick(&SYLLABLES).repeat(rng.between(12, 90)),
                2..8 => {
                    let other = rng.pick(&words).clone();
                    edited(rng, &other)
                }
                _ => invented(rng),
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let mut sum = 0.0;
        let weigh = |rank: usize| {
            sum += 1.0 / (rank as f64 + 1.5);
            sum
        };
        let weights = (0..words.len()).map(weigh).collect();
        Vocabulary { words, weights }
    }

    /// A word, the first ones most often.
    pub fn word(&self, rng: &mut Rng) -> &str {
        let all = self.weights.last().copied().unwrap_or(0.0);
        let wanted = (rng.next() >> 11) as f64 / (1u64 << 53) as f64 * all;
        let at = self.weights.partition_point(|sum| *sum <= wanted);
        &self.words[at.min(self.words.len() - 1)]
    }

    fn words(&self, rng: &mut Rng, count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            if !text.is_empty() {
                text.push_str(if rng.chance(8) { ", " } else { " " });
            }
            text.push_str(self.word(rng));
        }
        text
    }
}

fn invented(rng: &mut Rng) -> String {
    let count = rng.between(1, 4);
    let mut word: String = (0..count).map(|_| *rng.pick(&SYLLABLES)).collect();
    if rng.chance(15) {
        word = rng.between(0, 3_000).to_string();
    } else if rng.chance(40) {
        word.push_str(ENDINGS[rng.below(ENDINGS.len())]);
    }
    word
}

/// `word` with one character inserted, removed, replaced or swapped.
fn edited(rng: &mut Rng, word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = rng.below(letters.len().max(1));
    match rng.below(4) {
        0 => letters.insert(at, 'e'),
        1 if letters.len() > 1 => drop(letters.remove(at)),
        2 if at + 1 < letters.len() => letters.swap(at, at + 1),
        _ => letters[at] = 'o',
    }
    letters.into_iter().collect()
}

/// Makes documents.
pub struct Documents {
    vocabulary: Vocabulary,
}

impl Documents {
    /// A source of documents with so many different words of their own.
    pub fn new(rng: &mut Rng, words: usize) -> Documents {
        Documents {
            vocabulary: Vocabulary::new(rng, words),
        }
    }

    /// A document with this ID.
    pub fn document(&self, rng: &mut Rng, id: impl Into<String>) -> PlainDocument {
        let mut fields = Vec::new();
        let words = &self.vocabulary;
        let mut text = |name: &str, text: String| fields.push((name.to_owned(), Value::Text(text)));
        if rng.chance(80) {
            let count = rng.between(0, 8);
            text("title", words.words(rng, count));
        }
        for _ in 0..*rng.pick(&[0, 1, 1, 1, 1, 2, 3]) {
            let count = *rng.pick(&[0, 1, 5, 10, 20, 60, 240]);
            text("body", words.words(rng, count));
        }
        if rng.chance(40) {
            let count = rng.between(1, 12);
            text("notes", words.words(rng, count));
        }
        for _ in 0..*rng.pick(&[0, 0, 1, 2]) {
            let count = rng.between(0, 2);
            text("tag", words.words(rng, count));
        }
        if rng.chance(25) {
            text("meta.source", words.words(rng, 1));
        }
        numbers(rng, &mut fields);
        PlainDocument {
            id: id.into(),
            fields,
        }
    }
}

fn numbers(rng: &mut Rng, fields: &mut Vec<(String, Value)>) {
    let mut exact = |name: &str, value: String| fields.push((name.to_owned(), Value::Exact(value)));
    for _ in 0..*rng.pick(&[0, 1, 1, 1, 2]) {
        exact("year", rng.between(1990, 2026).to_string());
    }
    if rng.chance(50) {
        exact("rating", format!("{}.5", rng.between(0, 9)));
    }
    if rng.chance(50) {
        exact("open", rng.chance(50).to_string());
    }
}

/// The JSON object of a document: a field with several values is an array, dots make objects.
pub fn to_json(document: &PlainDocument) -> String {
    use serde_json::{Map, Value as Json};
    let mut object = Map::new();
    object.insert("id".to_owned(), Json::from(document.id.as_str()));
    for (name, value) in &document.fields {
        let value = match value {
            Value::Text(text) => Json::from(text.as_str()),
            Value::Exact(term) => serde_json::from_str(term).expect("a number or a boolean"),
        };
        let (inside, name) = match name.split_once('.') {
            None => (&mut object, name.as_str()),
            Some((outer, name)) => {
                let inner = object
                    .entry(outer)
                    .or_insert_with(|| Json::Object(Map::new()));
                (inner.as_object_mut().expect("an object"), name)
            }
        };
        match inside.get_mut(name) {
            None => drop(inside.insert(name.to_owned(), value)),
            Some(Json::Array(values)) => values.push(value),
            Some(one) => *one = Json::Array(vec![one.take(), value]),
        }
    }
    Json::Object(object).to_string()
}

/// The kinds of queries; each gets the same share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word.
    Term,
    /// A number.
    Number,
    /// Some words, of which one must be there.
    Or,
    /// Some words that must all be there.
    And,
    /// Words that follow each other.
    Phrase,
    /// Words near each other.
    Sloppy,
    /// Sloppy phrases that have a word twice.
    Repeating,
    /// Phrases whose last word is a pattern.
    Ending,
    /// Words that begin so.
    Prefix,
    /// Words of a pattern.
    Wildcard,
    /// Words like another.
    Fuzzy,
    /// Strings between two.
    Range,
    /// Documents with a field.
    Exists,
    /// All documents.
    All,
    /// Clauses that must, should and must not match.
    Bool,
    /// Clauses of which some must match.
    Minimum,
    /// A query with a weight.
    Boost,
    /// Words of any field.
    Unfielded,
}

/// All kinds.
pub const KINDS: [Kind; 18] = [
    Kind::Term,
    Kind::Number,
    Kind::Or,
    Kind::And,
    Kind::Phrase,
    Kind::Sloppy,
    Kind::Repeating,
    Kind::Ending,
    Kind::Prefix,
    Kind::Wildcard,
    Kind::Fuzzy,
    Kind::Range,
    Kind::Exists,
    Kind::All,
    Kind::Bool,
    Kind::Minimum,
    Kind::Boost,
    Kind::Unfielded,
];

/// The depth to which clauses are nested.
const DEPTH: usize = 3;

/// Makes queries from the values of documents.
pub struct Queries {
    texts: Vec<(String, Vec<String>)>,
    exact: Vec<(String, String)>,
}

impl Queries {
    /// Queries about `documents`.
    pub fn new(documents: &[PlainDocument]) -> Queries {
        let mut queries = Queries {
            texts: Vec::new(),
            exact: Vec::new(),
        };
        for (name, value) in documents.iter().flat_map(|document| &document.fields) {
            match value {
                Value::Exact(term) => queries.exact.push((name.clone(), term.clone())),
                Value::Text(text) => {
                    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
                    if !text.is_empty() {
                        queries.texts.push((name.clone(), words));
                    }
                }
            }
        }
        queries
    }

    /// A query of a kind.
    pub fn query(&self, rng: &mut Rng, kind: Kind) -> Query {
        self.nested(rng, kind, DEPTH)
    }

    fn nested(&self, rng: &mut Rng, kind: Kind, depth: usize) -> Query {
        match kind {
            Kind::Bool => self.bool(rng, depth),
            Kind::Minimum => self.minimum(rng, depth),
            Kind::Boost => {
                let factor = *rng.pick(&[0.0, 0.3, 1.0, 2.0, 7.5]);
                let query = Box::new(self.any(rng, depth - 1));
                Query::Boost { query, factor }
            }
            Kind::Exists => {
                let name = rng.pick(&FIELDS).name;
                let field = if rng.chance(5) { "absent" } else { name }.to_owned();
                Query::Exists { field }
            }
            Kind::All if rng.chance(10) => Query::MatchNone,
            Kind::All => Query::MatchAll,
            Kind::Number => self.number(rng),
            Kind::Unfielded => {
                let kinds = [Kind::Term, Kind::Or, Kind::And, Kind::Phrase, Kind::Sloppy];
                let patterns = [Kind::Prefix, Kind::Wildcard, Kind::Fuzzy, Kind::Ending];
                let kind = if rng.chance(70) {
                    *rng.pick(&kinds)
                } else {
                    *rng.pick(&patterns)
                };
                self.words(rng, kind, true)
            }
            other => self.words(rng, other, false),
        }
    }

    /// A query of any kind, of leaves only at depth 0.
    fn any(&self, rng: &mut Rng, depth: usize) -> Query {
        let kind = match *rng.pick(&KINDS) {
            Kind::Bool | Kind::Minimum | Kind::Boost if depth == 0 => Kind::Term,
            // Terms are what clauses mostly are.
            Kind::Exists | Kind::All if rng.chance(60) => Kind::Term,
            kind => kind,
        };
        self.nested(rng, kind, depth)
    }

    fn clauses(&self, rng: &mut Rng, counts: &[usize], depth: usize) -> Vec<Query> {
        let count = *rng.pick(counts);
        (0..count).map(|_| self.any(rng, depth - 1)).collect()
    }

    fn bool(&self, rng: &mut Rng, depth: usize) -> Query {
        Query::Bool {
            must: self.clauses(rng, &[0, 0, 1, 1, 2], depth),
            should: self.clauses(rng, &[0, 0, 1, 2, 3], depth),
            must_not: self.clauses(rng, &[0, 0, 0, 1, 2], depth),
            filter: self.clauses(rng, &[0, 0, 0, 1, 2], depth),
            minimum_should_match: *rng.pick(&[0, 0, 0, 0, 1]),
        }
    }

    fn minimum(&self, rng: &mut Rng, depth: usize) -> Query {
        let should = self.clauses(rng, &[2, 3, 4, 5], depth);
        let too_many = usize::from(rng.chance(5));
        let minimum = rng.between(1, should.len() + too_many);
        Query::Bool {
            must: self.clauses(rng, &[0, 0, 1], depth),
            should,
            must_not: self.clauses(rng, &[0, 0, 1], depth),
            filter: self.clauses(rng, &[0, 0, 1], depth),
            minimum_should_match: minimum as u32,
        }
    }

    fn number(&self, rng: &mut Rng) -> Query {
        let (name, text) = rng.pick(&self.exact).clone();
        let field = Some(name);
        match rng.below(40) {
            // The values of numbers and booleans have an order.
            0 => Query::Range {
                field,
                lower: bound(rng, text),
                upper: Bound::Unbounded,
            },
            1..11 => Query::Prefix {
                field,
                prefix: text.chars().take(3).collect(),
            },
            _ => Query::Text {
                field,
                text,
                operator: Operator::Or,
            },
        }
    }

    fn words(&self, rng: &mut Rng, kind: Kind, unfielded: bool) -> Query {
        let (name, words) = if kind == Kind::Range && rng.chance(95) {
            self.whole(rng)
        } else {
            self.value(rng, kind)
        };
        let field = if unfielded { None } else { Some(name.clone()) };
        let word = rng.pick(words).clone();
        match kind {
            Kind::Or | Kind::And => {
                let operator = if kind == Kind::Or {
                    Operator::Or
                } else {
                    Operator::And
                };
                let text = self.several(rng, words);
                Query::Text {
                    field,
                    text,
                    operator,
                }
            }
            Kind::Phrase => Query::Phrase {
                field,
                text: run(rng, words, 0),
                slop: 0,
            },
            Kind::Sloppy | Kind::Repeating => {
                let slop = *rng.pick(&[1, 1, 2, 3, 5, 20, 150]);
                let text = match kind {
                    Kind::Sloppy => run(rng, words, 30),
                    _ => repeating(rng, words),
                };
                Query::Phrase { field, text, slop }
            }
            Kind::Ending => {
                let run = run(rng, words, 10);
                let (text, pattern) = ending(rng, &run);
                Query::PhrasePattern {
                    field,
                    text,
                    pattern,
                    slop: *rng.pick(&[0, 0, 0, 1, 3, 20]),
                    first: *rng.pick(&[None, None, Some(1), Some(3), Some(50)]),
                }
            }
            Kind::Prefix => {
                let least = usize::from(rng.chance(95));
                let prefix = word.chars().take(rng.between(least, 5)).collect();
                Query::Prefix { field, prefix }
            }
            Kind::Wildcard => Query::Wildcard {
                field,
                pattern: wildcard(rng, &word),
            },
            Kind::Fuzzy => {
                // A longer fuzzy term is rejected.
                let word: String = word.chars().take(250).collect();
                let text = (0..rng.below(3)).fold(word, |word, _| edited(rng, &word));
                let distance = *rng.pick(&[None, None, Some(0), Some(1), Some(2)]);
                Query::Fuzzy {
                    field,
                    text,
                    distance,
                }
            }
            Kind::Range => {
                let upper = if rng.chance(70) {
                    word.clone() + "m"
                } else {
                    rng.pick(&self.texts).1[0].clone()
                };
                let (lower, upper) = (bound(rng, word), bound(rng, upper));
                Query::Range {
                    field,
                    lower,
                    upper,
                }
            }
            _ => {
                let text = if rng.chance(5) {
                    "unheardof".to_owned()
                } else {
                    word
                };
                Query::Text {
                    field,
                    text,
                    operator: Operator::Or,
                }
            }
        }
    }

    /// A value of a field; phrases need some words.
    fn value(&self, rng: &mut Rng, kind: Kind) -> &(String, Vec<String>) {
        let phrases = [Kind::Phrase, Kind::Sloppy, Kind::Repeating, Kind::Ending];
        let least = if phrases.contains(&kind) { 2 } else { 1 };
        loop {
            let value = rng.pick(&self.texts);
            if value.1.len() >= least {
                return value;
            }
        }
    }

    /// A value of a field of strings that are kept whole, if there is one.
    fn whole(&self, rng: &mut Rng) -> &(String, Vec<String>) {
        let tries = (0..1_000).map(|_| rng.pick(&self.texts));
        let found = tries.into_iter().find(|(name, _)| name == "tag");
        found.unwrap_or(&self.texts[0])
    }

    /// Words of one value, or of several.
    fn several(&self, rng: &mut Rng, words: &[String]) -> String {
        let mut chosen = Vec::new();
        for _ in 0..rng.between(2, 5) {
            let from = if rng.chance(80) {
                words
            } else {
                &rng.pick(&self.texts).1
            };
            chosen.push(rng.pick(from).clone());
        }
        chosen.join(" ")
    }
}

fn bound(rng: &mut Rng, text: String) -> Bound<String> {
    match rng.below(12) {
        0 => Bound::Unbounded,
        1..4 => Bound::Excluded(text),
        _ => Bound::Included(text),
    }
}

/// 2 to 4 words that follow each other; each is left out, or swapped with the next, in some cases.
fn run(rng: &mut Rng, words: &[String], disturbed: usize) -> String {
    let length = rng.between(2, 4).min(words.len());
    let reach = if disturbed > 0 {
        (length + 2).min(words.len())
    } else {
        length
    };
    let start = rng.below(words.len() - reach + 1);
    let mut chosen = words[start..start + reach].to_vec();
    while chosen.len() > length {
        chosen.remove(rng.below(chosen.len()));
    }
    if rng.chance(disturbed) {
        let at = rng.below(chosen.len() - 1);
        chosen.swap(at, at + 1);
    }
    chosen.join(" ")
}

/// A word that stands twice in a text, if one does, with some of the words between; one of them is
/// repeated in some cases.
fn repeating(rng: &mut Rng, words: &[String]) -> String {
    let start = rng.below(words.len());
    let first = words[start].trim_end_matches(',');
    let again = words[start + 1..]
        .iter()
        .position(|word| word.trim_end_matches(',') == first);
    let between = &words[start + 1..][..again.unwrap_or(0)];
    let mut chosen = vec![first.to_owned()];
    for _ in 0..rng.below(3).min(between.len()) {
        chosen.push(rng.pick(between).clone());
    }
    chosen.push(first.to_owned());
    if rng.chance(20) {
        let twice = rng.pick(&chosen).clone();
        chosen.insert(rng.below(chosen.len()), twice);
    }
    chosen.join(" ")
}

/// A run of words in two: the text before the last word, and a pattern that fits that.
fn ending(rng: &mut Rng, run: &str) -> (String, String) {
    let (before, word) = run.rsplit_once(' ').unwrap_or(("", run));
    let pattern = if rng.chance(70) {
        let length = rng.between(1, 4);
        let start = word
            .chars()
            .take(length)
            .filter(|one| !"*?\\".contains(*one));
        start.chain(['*']).collect()
    } else {
        wildcard(rng, word) + "*"
    };
    (format!("{before} "), pattern)
}

/// A pattern made of a word, mostly one that fits it.
fn wildcard(rng: &mut Rng, word: &str) -> String {
    let mut pattern = String::new();
    for letter in word.chars() {
        match rng.below(12) {
            0 => pattern.push('?'),
            1 => pattern.push('*'),
            2 => {
                pattern.push(letter);
                pattern.push('*');
            }
            3 if !letter.is_alphanumeric() => pattern.extend(['\\', letter]),
            _ => pattern.push(letter),
        }
    }
    pattern
}
