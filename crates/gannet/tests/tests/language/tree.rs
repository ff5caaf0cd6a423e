//! The meaning of a text of the query language, as a tree, and ways to write it.
//!
//! The tree is drawn first and the text made of it, so nothing here depends on how the engine
//! reads.

use std::ops::Bound;

use gannet_testkit::random::Rng;

/// A query.
#[derive(Clone, Debug)]
pub enum Tree {
    Leaf(Leaf),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    /// Side by side.
    Side(Vec<(Sign, Tree)>),
    /// In parentheses, for all words without a field.
    In(String, Box<Tree>),
    Boost(Box<Tree>, f32),
    /// At least so many.
    AtLeast(usize, Vec<Tree>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    None,
    Must,
    MustNot,
    Filter,
}

/// A tree that is no more taken apart.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub field: Option<String>,
    pub asked: Asked,
}

#[derive(Clone, Debug)]
pub enum Asked {
    Word(String),
    Phrase(String, u32),
    /// With a backslash before what is meant literally.
    Pattern(String),
    Fuzzy(String, Option<u8>),
    Range(Bound<String>, Bound<String>),
    Exists,
    Everything,
}

/// The tightness with which a tree binds: one that binds less than its place needs gets
/// parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Side,
    Or,
    And,
    Not,
    Primary,
}

/// Writes trees.
pub struct Writer<'r> {
    pub rng: &'r mut Rng,
    /// Set once anything was written that can be read in two ways.
    pub is_unclear: bool,
}

impl Writer<'_> {
    /// The text of a whole query.
    pub fn text(&mut self, tree: &Tree) -> String {
        self.at(tree, Level::Side)
    }

    fn at(&mut self, tree: &Tree, least: Level) -> String {
        let needed = level(tree) < least;
        if needed || self.rng.chance(3) {
            format!("({})", self.bare(tree))
        } else {
            self.bare(tree)
        }
    }

    fn bare(&mut self, tree: &Tree) -> String {
        match tree {
            Tree::Leaf(leaf) => self.leaf(leaf),
            Tree::Not(inner) => self.not(inner),
            Tree::And(parts) => {
                let sign = *self.rng.pick(&[" AND ", " AND ", " && "]);
                self.joined(parts, sign, Level::Not)
            }
            Tree::Or(parts) => {
                let sign = *self.rng.pick(&[" OR ", " OR ", " || "]);
                self.joined(parts, sign, Level::And)
            }
            Tree::Side(items) => {
                let alone = items.len() == 1;
                let each = items
                    .iter()
                    .map(|(sign, item)| self.item(*sign, item, alone));
                each.collect::<Vec<_>>().join(" ")
            }
            Tree::In(field, inner) => format!("{}:({})", escaped(field), self.bare(inner)),
            Tree::Boost(inner, factor) => match **inner {
                Tree::Leaf(_) => format!("{}^{factor}", self.bare(inner)),
                _ => format!("({})^{factor}", self.bare(inner)),
            },
            Tree::AtLeast(count, parts) => {
                format!("({})~{count}", self.joined(parts, " ", Level::Primary))
            }
        }
    }

    fn joined(&mut self, parts: &[Tree], sign: &str, least: Level) -> String {
        let each = parts.iter().map(|part| self.at(part, least));
        each.collect::<Vec<_>>().join(sign)
    }

    fn not(&mut self, inner: &Tree) -> String {
        match inner {
            // A sign cannot follow a sign that is one character. In parentheses the inner one would
            // score nothing.
            Tree::Not(_) => format!("NOT {}", self.bare(inner)),
            _ => {
                let sign = *self.rng.pick(&["NOT ", "NOT ", "!", "-"]);
                format!("{sign}{}", self.at(inner, Level::Primary))
            }
        }
    }

    /// One of several that stand side by side.
    fn item(&mut self, sign: Sign, item: &Tree, alone: bool) -> String {
        let sign = match sign {
            Sign::None => return self.unsigned(item, alone),
            Sign::Must => "+",
            Sign::MustNot => *self.rng.pick(&["-", "NOT ", "!"]),
            Sign::Filter => return format!("#({})", self.bare(item)),
        };
        format!("{sign}{}", self.at(item, Level::Primary))
    }

    fn unsigned(&mut self, item: &Tree, alone: bool) -> String {
        if !begins_with_not(item) {
            return self.at(item, Level::Or);
        }
        let is_joined = matches!(item, Tree::And(_) | Tree::Or(_));
        if is_joined && !alone && self.rng.chance(10) {
            let text = self.bare(item);
            // Its first part may have got parentheses.
            self.is_unclear |= !text.starts_with('(');
            text
        } else {
            format!("({})", self.bare(item))
        }
    }

    fn leaf(&mut self, leaf: &Leaf) -> String {
        let field = leaf.field.as_ref();
        let field = field.map_or(String::new(), |field| format!("{}:", escaped(field)));
        let asked = match &leaf.asked {
            Asked::Word(text) => word(text),
            Asked::Phrase(text, slop) => quoted(text) + &after_tilde(*slop),
            Asked::Pattern(pattern) => written_pattern(pattern),
            Asked::Fuzzy(text, None) => format!("{}~", word(text)),
            Asked::Fuzzy(text, Some(distance)) => format!("{}~{distance}", word(text)),
            Asked::Range(lower, upper) => self.range(lower, upper, leaf.field.is_some()),
            Asked::Exists => "*".to_owned(),
            Asked::Everything => return "*:*".to_owned(),
        };
        // A `?` at the end of a query is a mark, but not between parentheses of its own.
        if asked.ends_with('?') && !asked.ends_with("\\?") {
            format!("({field}{asked})")
        } else {
            field + &asked
        }
    }

    fn range(&mut self, lower: &Bound<String>, upper: &Bound<String>, fielded: bool) -> String {
        let compared = match (lower, upper) {
            (Bound::Included(value), Bound::Unbounded) => Some((">=", value)),
            (Bound::Excluded(value), Bound::Unbounded) => Some((">", value)),
            (Bound::Unbounded, Bound::Included(value)) => Some(("<=", value)),
            (Bound::Unbounded, Bound::Excluded(value)) => Some(("<", value)),
            _ => None,
        };
        if let Some((sign, value)) = compared
            && fielded
            && self.rng.chance(50)
        {
            return format!("{sign}{}", quoted(value));
        }
        let (open, close) = (
            if matches!(lower, Bound::Excluded(_)) {
                '{'
            } else {
                '['
            },
            if matches!(upper, Bound::Excluded(_)) {
                '}'
            } else {
                ']'
            },
        );
        format!("{open}{} TO {}{close}", limit(lower), limit(upper))
    }
}

fn level(tree: &Tree) -> Level {
    match tree {
        Tree::Side(_) => Level::Side,
        Tree::Or(_) => Level::Or,
        Tree::And(_) => Level::And,
        Tree::Not(_) => Level::Not,
        _ => Level::Primary,
    }
}

/// Returns true if the first word written is a NOT that counts.
fn begins_with_not(tree: &Tree) -> bool {
    match tree {
        Tree::And(parts) | Tree::Or(parts) => {
            level(&parts[0]) > level(tree) && begins_with_not(&parts[0])
        }
        Tree::Not(inner) => match **inner {
            Tree::Not(_) => !begins_with_not(inner),
            _ => true,
        },
        _ => false,
    }
}

fn limit(bound: &Bound<String>) -> String {
    match bound {
        Bound::Unbounded => "*".to_owned(),
        Bound::Included(value) | Bound::Excluded(value) => quoted(value),
    }
}

fn word(text: &str) -> String {
    match text {
        "AND" | "OR" | "NOT" => format!("\\{text}"),
        _ => escaped(text),
    }
}

fn escaped(text: &str) -> String {
    let each = text.chars().flat_map(|one| {
        let backslash = (!one.is_alphanumeric()).then_some('\\');
        backslash.into_iter().chain([one])
    });
    each.collect()
}

/// A pattern whose characters that could be operators have a backslash.
fn written_pattern(pattern: &str) -> String {
    let mut written = String::new();
    let mut rest = pattern.chars();
    while let Some(one) = rest.next() {
        match one {
            '*' | '?' => written.push(one),
            '\\' => written.extend(rest.next().into_iter().flat_map(|next| ['\\', next])),
            other => written += &escaped(&other.to_string()),
        }
    }
    written
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn after_tilde(number: u32) -> String {
    match number {
        0 => String::new(),
        number => format!("~{number}"),
    }
}
