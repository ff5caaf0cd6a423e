//! Draws texts as people type and paste them, and as they go wrong: words, addresses, dates, CJK,
//! and all syntax of the language, joined at random places.

use gannet_testkit::random::Rng;

/// The pieces that documents and queries are made of.
pub const PIECES: [&str; 46] = [
    "draft",
    "final",
    "anna",
    "home",
    "mail",
    "client",
    "e-mail",
    "anna@example.org",
    "example.org",
    "example",
    "2024-03-15",
    "2024",
    "wi-fi",
    "wi",
    "fi",
    "ORD-000077",
    "ORD-000078",
    "C++",
    "c",
    "node.js",
    "10.0.0.1",
    "foo_bar",
    "black",
    "forest",
    "form",
    "Forest",
    "house",
    "houses",
    "hose",
    "https://example.com/tickets/1?ref=mail",
    "example.com/tickets/77",
    "tickets",
    "l'avion",
    "avion",
    "AT&T",
    "a/b/c",
    "東京",
    "東京都",
    "京都の東",
    "東京タワー",
    "大学図書館",
    "図書",
    "北京大学",
    "ab",
    "abc",
    "ba",
];

const FIELDS: [&str; 10] = [
    "title:",
    "body:",
    "tag:",
    "title:",
    "body:",
    "tag:",
    "title:",
    "titel:",
    "_exists_:",
    "id:",
];
const OPERATORS: [&str; 8] = ["AND", "OR", "NOT", "&&", "||", "TO", "and", "-"];
const SIGNS: [&str; 7] = ["+", "-", "!", "#", "+-", "--", "NOT "];
const SUFFIXES: [&str; 12] = [
    "*", "*", "*", "**", "~", "~1", "~2", "^2", "^0", "~-1", "?", "~and",
];
const JOINS: [&str; 9] = [" ", " ", " ", " ", "  ", "", " AND ", " OR ", " NOT "];
const NOISE: [&str; 16] = [
    "*", " * ", "*:*", "(", ")", "\"", "\\", "~", "^", ":", "+", " - ", "?", "“", "\"", " ~2",
];

/// A word or several of a document.
pub fn value(rng: &mut Rng, most: usize) -> String {
    let count = rng.between(1, most);
    let pieces: Vec<&str> = (0..count).map(|_| *rng.pick(&PIECES)).collect();
    pieces.join(" ")
}

/// A query, most often one that means something.
pub fn text(rng: &mut Rng) -> String {
    let mut text = side(rng, 2);
    for _ in 0..[0, 0, 0, 0, 1, 1, 2][rng.below(7)] {
        spoil(rng, &mut text);
    }
    text
}

fn side(rng: &mut Rng, depth: usize) -> String {
    let mut text = String::new();
    for at in 0..rng.between(1, 4) {
        if at > 0 {
            text += *rng.pick(&JOINS);
        }
        text.push_str(&clause(rng, depth));
    }
    text
}

fn clause(rng: &mut Rng, depth: usize) -> String {
    let sign = if rng.chance(25) {
        *rng.pick(&SIGNS)
    } else {
        ""
    };
    let field = if rng.chance(25) {
        *rng.pick(&FIELDS)
    } else {
        ""
    };
    let operand = match rng.below(12) {
        0 | 1 if depth > 0 => format!("({})", side(rng, depth - 1)),
        2 | 3 => phrase(rng),
        4 => pattern(rng),
        5 if rng.chance(40) => (*rng.pick(&OPERATORS)).to_owned(),
        6 if rng.chance(40) => "*".to_owned(),
        _ => (*rng.pick(&PIECES)).to_owned(),
    };
    let suffix = if rng.chance(12) {
        *rng.pick(&SUFFIXES)
    } else {
        ""
    };
    format!("{sign}{field}{operand}{suffix}")
}

fn phrase(rng: &mut Rng) -> String {
    let mut inner = value(rng, 3);
    if rng.chance(25) {
        inner.push('*');
    }
    let (open, close) = *rng.pick(&[("\"", "\""), ("\"", "\""), ("\"", "\""), ("“", "”")]);
    format!("{open}{inner}{close}")
}

/// A word of which the end, or a character inside, is left open.
fn pattern(rng: &mut Rng) -> String {
    let piece = *rng.pick(&PIECES);
    let letters: Vec<char> = piece.chars().collect();
    let at = rng.between(1, letters.len());
    let head: String = letters[..at].iter().collect();
    let tail: String = letters[(at + 1).min(letters.len())..].iter().collect();
    match rng.below(3) {
        0 => format!("{head}*{tail}"),
        1 => format!("{head}?{tail}"),
        _ => format!("{head}*"),
    }
}

/// Puts something anywhere, or takes a character away.
fn spoil(rng: &mut Rng, text: &mut String) {
    let mut letters: Vec<char> = text.chars().collect();
    let at = rng.below(letters.len() + 1);
    if rng.chance(30) && at < letters.len() {
        letters.remove(at);
    } else {
        let noise: Vec<char> = rng.pick(&NOISE).chars().collect();
        letters.splice(at..at, noise);
    }
    *text = letters.into_iter().collect();
}
