//! Draws trees about what stands in documents, with some words, fields and IDs that do not exist.

use std::ops::Bound;

use super::tree::{Asked, Leaf, Sign, Tree};
use gannet_testkit::oracle::{PlainDocument, Value};
use gannet_testkit::random::{FIELDS, Rng};

const DEPTH: usize = 3;

/// A field of strings that are kept whole.
const WHOLE: &str = "tag";

/// Draws trees.
pub struct Draw<'a> {
    pub rng: &'a mut Rng,
    pub values: &'a Values,
}

/// The values of documents, by field.
pub struct Values {
    texts: Vec<(String, String)>,
    whole: Vec<String>,
    exact: Vec<(String, String)>,
    ids: usize,
}

impl Values {
    /// The values of `documents`, whose IDs are numbers up to `ids` behind a `d`.
    pub fn new(documents: &[PlainDocument], ids: usize) -> Values {
        let mut values = Values {
            texts: Vec::new(),
            whole: Vec::new(),
            exact: Vec::new(),
            ids,
        };
        for (name, value) in documents.iter().flat_map(|document| &document.fields) {
            match value {
                Value::Exact(term) => values.exact.push((name.clone(), term.clone())),
                Value::Text(text) if text.is_empty() => {}
                Value::Text(text) => {
                    values.texts.push((name.clone(), text.clone()));
                    if name == WHOLE {
                        values.whole.push(text.clone());
                    }
                }
            }
        }
        values
    }
}

impl Draw<'_> {
    /// A tree.
    pub fn tree(&mut self) -> Tree {
        self.nested(DEPTH)
    }

    fn nested(&mut self, depth: usize) -> Tree {
        if depth == 0 || self.rng.chance(20) {
            return Tree::Leaf(self.leaf());
        }
        match self.rng.below(12) {
            0..2 => Tree::And(self.several(depth, 2, 3)),
            2..5 => Tree::Or(self.several(depth, 2, 3)),
            5..7 => Tree::Not(Box::new(self.nested(depth - 1))),
            7..10 => Tree::Side(self.side(depth)),
            10 => match self.rng.below(3) {
                0 => Tree::Boost(
                    Box::new(self.nested(depth - 1)),
                    *self.rng.pick(&[0.5, 2.0, 3.0]),
                ),
                1 => Tree::In(self.field(), Box::new(self.nested(depth - 1))),
                _ => self.at_least(depth),
            },
            _ => Tree::Leaf(self.leaf()),
        }
    }

    fn several(&mut self, depth: usize, low: usize, high: usize) -> Vec<Tree> {
        let count = self.rng.between(low, high);
        (0..count).map(|_| self.nested(depth - 1)).collect()
    }

    fn side(&mut self, depth: usize) -> Vec<(Sign, Tree)> {
        let signs = [
            Sign::None,
            Sign::None,
            Sign::None,
            Sign::Must,
            Sign::MustNot,
            Sign::MustNot,
            Sign::Filter,
        ];
        let parts = self.several(depth, 1, 4);
        let mut items: Vec<(Sign, Tree)> = parts
            .into_iter()
            .map(|part| (*self.rng.pick(&signs), part))
            .collect();
        if let [(sign, _)] = &mut items[..] {
            *sign = Sign::MustNot;
        }
        items
    }

    fn at_least(&mut self, depth: usize) -> Tree {
        let parts = self.several(depth, 2, 4);
        Tree::AtLeast(self.rng.between(1, parts.len()), parts)
    }

    fn field(&mut self) -> String {
        if self.rng.chance(2) {
            "titel".to_owned()
        } else {
            self.rng.pick(&FIELDS).name.to_owned()
        }
    }

    fn leaf(&mut self) -> Leaf {
        match self.rng.below(100) {
            0..8 => self.id(),
            8..14 => self.range(),
            14..18 => {
                let field = self.field();
                let asked = Asked::Exists;
                Leaf {
                    field: Some(field),
                    asked,
                }
            }
            18..20 => Leaf {
                field: None,
                asked: Asked::Everything,
            },
            20..28 => {
                let (field, term) = self.rng.pick(&self.values.exact).clone();
                Leaf {
                    field: Some(field),
                    asked: Asked::Word(term),
                }
            }
            _ => self.words(),
        }
    }

    fn id(&mut self) -> Leaf {
        let id = format!("d{}", self.rng.between(1, self.values.ids + 3));
        let asked = match self.rng.below(40) {
            0 => Asked::Pattern("d*".to_owned()),
            1 => Asked::Fuzzy(id, Some(1)),
            2 => Asked::Phrase(id, 1),
            3 => Asked::Exists,
            4..10 => Asked::Phrase(id, 0),
            _ => Asked::Word(id),
        };
        Leaf {
            field: Some("id".to_owned()),
            asked,
        }
    }

    fn range(&mut self) -> Leaf {
        let [lower, upper] = [(); 2].map(|()| {
            let value = self.rng.pick(&self.values.whole).clone();
            match self.rng.below(4) {
                0 => Bound::Unbounded,
                1 => Bound::Excluded(value),
                _ => Bound::Included(value),
            }
        });
        let field = match self.rng.below(10) {
            0 => Some(self.field()),
            1 if self.rng.chance(30) => None,
            _ => Some(WHOLE.to_owned()),
        };
        Leaf {
            field,
            asked: Asked::Range(lower, upper),
        }
    }

    fn words(&mut self) -> Leaf {
        let (name, text) = self.rng.pick(&self.values.texts).clone();
        let words: Vec<&str> = text.split(' ').collect();
        let word = (*self.rng.pick(&words)).to_owned();
        let field = match self.rng.below(50) {
            0..15 => None,
            15 => Some(self.field()),
            _ => Some(name),
        };
        let asked = match self.rng.below(12) {
            0 => {
                let start = self.rng.below(words.len());
                let run = &words[start..words.len().min(start + self.rng.between(1, 3))];
                Asked::Phrase(run.join(" "), *self.rng.pick(&[0, 0, 0, 2]))
            }
            1..4 => Asked::Pattern(self.pattern(&word)),
            4 => Asked::Fuzzy(word, *self.rng.pick(&[None, Some(0), Some(1), Some(2)])),
            _ => Asked::Word(word),
        };
        Leaf { field, asked }
    }

    fn pattern(&mut self, word: &str) -> String {
        if self.rng.chance(20) {
            return (*self.rng.pick(&["?", "??", "a?", "?a", "???*"])).to_owned();
        }
        let mut pattern = String::new();
        let mut has_wildcard = false;
        for letter in word.chars() {
            match self.rng.below(8) {
                0 | 1 => pattern.push('?'),
                2 => pattern += "*",
                _ if letter.is_alphanumeric() => {
                    pattern.push(letter);
                    continue;
                }
                _ => {
                    pattern.extend(['\\', letter]);
                    continue;
                }
            }
            has_wildcard = true;
        }
        let only_stars = pattern.chars().all(|one| one == '*');
        if has_wildcard && !only_stars {
            pattern
        } else {
            pattern.replace('*', "") + "?"
        }
    }
}
