//! Finds the documents of a text by its meaning, one by one. It shares only the tokens.

use gannet::{Analyzer, Scratch};

use super::read::{Leaf, Node, Piece, text_of};
use gannet_testkit::oracle::patterns::{edits, fits, glyphs};
use gannet_testkit::oracle::phrase::{Word, frequency};

/// Terms of a value and their positions.
type Tokens = Vec<(String, u32)>;

/// A token of a text.
struct Token {
    text: String,
    position: u32,
    start: usize,
    end: usize,
}

/// A field and what its documents have in it.
pub struct Field {
    pub name: &'static str,
    analyzer: Analyzer,
    documents: Vec<Tokens>,
}

/// Documents of several text fields, with IDs.
pub struct Corpus {
    pub ids: Vec<String>,
    pub fields: Vec<Field>,
}

/// The documents that match a part of the query. A part is not required if the analyzers of only
/// some fields leave a word of it.
struct Found {
    documents: Vec<bool>,
    is_partial: bool,
}

impl Field {
    pub fn new(name: &'static str, analyzer: &str) -> Field {
        let analyzer = Analyzer::named(analyzer).expect("an analyzer");
        Field {
            name,
            analyzer,
            documents: Vec::new(),
        }
    }

    pub fn push(&mut self, value: &str) {
        let tokens = self.tokens(value).into_iter();
        self.documents
            .push(tokens.map(|token| (token.text, token.position)).collect());
    }

    fn tokens(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut scratch = Scratch::default();
        self.analyzer.analyze(text, &mut scratch, |token| {
            tokens.push(Token {
                text: token.text.to_owned(),
                position: token.position,
                start: token.start,
                end: token.end,
            });
        });
        tokens
    }

    /// Documents in which the words stand as in `phrase`; each word is a choice of terms.
    fn phrase(&self, phrase: &[(Vec<String>, u32)], slop: u32) -> Vec<bool> {
        self.each(|document| {
            let words = phrase.iter().map(|(terms, place)| {
                let its = document.iter().filter(|(term, _)| terms.contains(term));
                Word {
                    place: *place,
                    tokens: its.map(|(term, at)| (number(term), *at)).collect(),
                }
            });
            frequency(&words.collect::<Vec<Word>>(), slop) > 0.0
        })
    }

    fn each(&self, fits: impl Fn(&Tokens) -> bool) -> Vec<bool> {
        self.documents.iter().map(fits).collect()
    }

    /// The terms of all documents that a pattern fits.
    fn terms(&self, fits: impl Fn(&str) -> bool) -> Vec<String> {
        let all = self
            .documents
            .iter()
            .flatten()
            .map(|(term, _)| term.clone());
        let mut terms: Vec<String> = all.filter(|term| fits(term)).collect();
        terms.sort();
        terms.dedup();
        terms
    }

    fn any_term(&self, fits: impl Fn(&str) -> bool) -> Vec<bool> {
        self.each(|tokens| tokens.iter().any(|(term, _)| fits(term)))
    }

    /// Documents with a year, or with a day of it.
    fn in_year(&self, year: &str) -> Vec<bool> {
        let goes_on = |rest: &str| rest.is_empty() || rest.starts_with('-');
        self.any_term(|term| term.strip_prefix(year).is_some_and(goes_on))
    }

    /// The documents of a leaf in this field; nothing if the analyzer leaves no word of it.
    fn leaf(&self, leaf: &Leaf) -> Option<Vec<bool>> {
        match leaf {
            Leaf::Word { text, .. } => self.in_a_row(text, 0),
            Leaf::Phrase { text, slop } => self.in_a_row(text, *slop),
            Leaf::Parts { text, all } => self.parts(text, *all),
            Leaf::Pattern { pieces, slop, .. } => self.pattern(pieces, *slop),
            Leaf::Fuzzy { text, distance } => Some(self.fuzzy(text, *distance)),
        }
    }

    fn in_a_row(&self, text: &str, slop: u32) -> Option<Vec<bool>> {
        let tokens = self.tokens(text);
        (!tokens.is_empty()).then(|| self.phrase(&exactly(&tokens), slop))
    }

    fn parts(&self, text: &str, all: bool) -> Option<Vec<bool>> {
        let tokens = self.tokens(text);
        let has = |document: &Tokens, term: &String| document.iter().any(|(its, _)| its == term);
        let matches = |document: &Tokens| {
            let mut each = tokens.iter().map(|token| has(document, &token.text));
            if all {
                each.all(|one| one)
            } else {
                each.any(|one| one)
            }
        };
        (!tokens.is_empty()).then(|| self.each(matches))
    }

    /// A pattern of several words is a phrase whose last word is the pattern. It finds nothing
    /// where a wildcard stands before that.
    fn pattern(&self, pieces: &[Piece], slop: u32) -> Option<Vec<bool>> {
        let Some((before, last)) = self.cut(pieces) else {
            return Some(self.none());
        };
        let words = self.words_before(&before);
        let is_open = last.iter().all(|piece| piece.is('*'));
        if is_open && !before.is_empty() {
            return (!words.is_empty()).then(|| self.phrase(&exactly(&words), slop));
        }
        let pattern = glyphs(&normalized(&written(&last), &self.analyzer));
        if words.is_empty() {
            return Some(self.any_term(|term| fits(&pattern, term)));
        }
        let place = self.end_of(&before);
        let mut phrase = exactly(&words);
        phrase.push((self.terms(|term| fits(&pattern, term)), place));
        Some(self.phrase(&phrase, slop))
    }

    /// The text before the last word of a pattern, and that word; nothing where a wildcard stands
    /// before it. Wildcards stand for what makes the fewest words.
    fn cut(&self, pieces: &[Piece]) -> Option<(String, Vec<Piece>)> {
        let whole = Some((String::new(), pieces.to_vec()));
        let samples = fillings(pieces).into_iter().map(|filling| {
            let filled = pieces.iter().map(|piece| {
                if piece.is_wildcard() {
                    filling
                } else {
                    piece.character
                }
            });
            let text: String = filled.collect();
            let tokens = self.tokens(&text);
            (text, tokens)
        });
        let (text, tokens) = samples.min_by_key(|(_, tokens)| (tokens.is_empty(), tokens.len()))?;
        let Some(last) = tokens.last() else {
            return whole;
        };
        let (start, end) = (
            text[..last.start].chars().count(),
            text[..last.end].chars().count(),
        );
        let outside = pieces[..start].iter().chain(&pieces[end..]);
        if outside.clone().any(|piece| piece.is_wildcard()) {
            return None;
        }
        Some((text_of(&pieces[..start]), pieces[start..end].to_vec()))
    }

    /// The words before the last one; `keyword` would have an empty one.
    fn words_before(&self, before: &str) -> Vec<Token> {
        if before.is_empty() {
            Vec::new()
        } else {
            self.tokens(before)
        }
    }

    /// The number of positions that a text takes; none for an empty one.
    fn end_of(&self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        self.analyzer.analyze(text, &mut Scratch::default(), |_| {})
    }

    /// A fuzzy word of several is a phrase whose last word is fuzzy.
    fn fuzzy(&self, text: &str, distance: Option<u8>) -> Vec<bool> {
        let literal = |character| Piece {
            character,
            escaped: true,
        };
        let pieces: Vec<Piece> = text.chars().map(literal).collect();
        let Some((before, last)) = self.cut(&pieces) else {
            return self.none();
        };
        let word: Vec<char> = normalized(&text_of(&last), &self.analyzer)
            .chars()
            .collect();
        let automatic = match word.len() {
            0..=2 => 0,
            3..=5 => 1,
            _ => 2,
        };
        let most = distance.map_or(automatic, usize::from);
        let is_like = |term: &str| edits(&word, &term.chars().collect::<Vec<char>>()) <= most;
        let words = self.words_before(&before);
        if words.is_empty() {
            return self.any_term(is_like);
        }
        let mut phrase = exactly(&words);
        phrase.push((self.terms(is_like), self.end_of(&before)));
        self.phrase(&phrase, 0)
    }

    fn none(&self) -> Vec<bool> {
        vec![false; self.documents.len()]
    }

    /// Returns true if a pattern can be asked here at all.
    pub fn can_ask(&self, pieces: &[Piece]) -> bool {
        self.cut(pieces).is_some()
    }
}

/// The characters that wildcards may stand for: the letters beside the first, any letter, any
/// digit.
fn fillings(pieces: &[Piece]) -> Vec<char> {
    let Some(first) = pieces.iter().position(|piece| piece.is_wildcard()) else {
        return vec!['x'];
    };
    let before = pieces[..first].last();
    let behind = pieces[first..].iter().find(|piece| !piece.is_wildcard());
    let beside = before
        .into_iter()
        .chain(behind)
        .map(|piece| piece.character);
    beside
        .filter(|c| c.is_alphanumeric())
        .chain(['x', '0'])
        .collect()
}

/// The parts of a word that has more than three ideographs or kana in a row: the pairs of each such
/// row, and what stands between the rows.
fn unspaced(text: &str) -> Option<Vec<&str>> {
    let mut tokens = Vec::new();
    Analyzer::default().analyze(text, &mut Scratch::default(), |token| {
        tokens.push((token.start, token.end))
    });
    let is_cjk =
        |&(start, end): &(usize, usize)| text[start..end].chars().all(is_ideograph_or_kana);
    let mut parts = Vec::new();
    let mut plain = None::<(usize, usize)>;
    let mut has_row = false;
    let mut at = 0;
    while at < tokens.len() {
        let row = tokens[at..]
            .windows(2)
            .take_while(|two| is_cjk(&two[0]) && is_cjk(&two[1]) && two[0].1 == two[1].0);
        let length = row.count() + 1;
        let row = &tokens[at..at + length];
        at += length;
        if length > 3 {
            has_row = true;
            parts.extend(plain.take());
            parts.extend(row.windows(2).map(|two| (two[0].0, two[1].1)));
        } else {
            plain = Some((
                plain.map_or(row[0].0, |(start, _)| start),
                row[length - 1].1,
            ));
        }
    }
    parts.extend(plain);
    has_row.then(|| {
        parts
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect()
    })
}

fn is_ideograph_or_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// A pattern with backslashes before what would be a wildcard.
fn written(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        if piece.escaped && matches!(piece.character, '*' | '?' | '\\') {
            text.push('\\');
        }
        text.push(piece.character);
    }
    text
}

fn exactly(tokens: &[Token]) -> Vec<(Vec<String>, u32)> {
    tokens
        .iter()
        .map(|token| (vec![token.text.clone()], token.position))
        .collect()
}

/// A part of a word as it stands in terms.
fn normalized(text: &str, analyzer: &Analyzer) -> String {
    match analyzer.name() {
        "keyword" => text.to_owned(),
        _ => text
            .chars()
            .filter_map(|one| one.to_lowercase().next())
            .collect(),
    }
}

/// A number that stands for a term.
fn number(term: &str) -> usize {
    term.bytes().fold(7, |sum: usize, byte| {
        sum.wrapping_mul(1_000_003) ^ usize::from(byte)
    })
}

/// Returns true if a text is a date that other dates go on from.
fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Corpus {
    /// The documents that a text of this meaning finds.
    pub fn find(&self, node: &Node) -> Vec<bool> {
        let found = self.found(node);
        found.map_or_else(|| self.none(), |found| found.documents)
    }

    fn none(&self) -> Vec<bool> {
        vec![false; self.ids.len()]
    }

    fn whole(&self, documents: Vec<bool>) -> Option<Found> {
        Some(Found {
            documents,
            is_partial: false,
        })
    }

    /// Nothing, where the analyzers leave no word.
    fn found(&self, node: &Node) -> Option<Found> {
        match node {
            Node::Everything => self.whole(vec![true; self.ids.len()]),
            Node::Nothing => self.whole(self.none()),
            Node::Exists(name) if name == "id" => self.whole(vec![true; self.ids.len()]),
            Node::Exists(name) => {
                let field = self.fields.iter().find(|field| field.name == name);
                self.whole(
                    field.map_or(self.none(), |field| field.each(|tokens| !tokens.is_empty())),
                )
            }
            Node::Leaf {
                field: Some(name),
                leaf,
            } if name == "id" => {
                let (Leaf::Word { text, .. }
                | Leaf::Parts { text, .. }
                | Leaf::Phrase { text, .. }) = leaf
                else {
                    return self.whole(self.none());
                };
                self.whole(self.ids.iter().map(|id| id == text).collect())
            }
            Node::Leaf { field, leaf } => self.leaf(field.as_deref(), leaf),
            Node::Bool {
                must,
                should,
                must_not,
                minimum,
            } => self.bool(must, should, must_not, *minimum),
        }
    }

    fn searched<'c>(&'c self, name: Option<&'c str>) -> impl Iterator<Item = &'c Field> {
        self.fields
            .iter()
            .filter(move |field| name.is_none_or(|name| name == field.name))
    }

    fn leaf(&self, name: Option<&str>, leaf: &Leaf) -> Option<Found> {
        if let Leaf::Word { text, all } = leaf
            && let Some(parts) = unspaced(text)
            && name != Some("tag")
        {
            return self.row(name, text, &parts, *all);
        }
        if let (Some("tag"), Leaf::Word { text, .. } | Leaf::Phrase { text, slop: 0 }) =
            (name, leaf)
            && is_year(text)
        {
            return self.whole(self.searched(name).next()?.in_year(text));
        }
        let each: Vec<Option<Vec<bool>>> =
            self.searched(name).map(|field| field.leaf(leaf)).collect();
        let is_partial = each.iter().any(Option::is_none);
        let found = each
            .into_iter()
            .flatten()
            .reduce(|a, b| zip(&a, &b, |a, b| a || b))?;
        Some(Found {
            documents: found,
            is_partial,
        })
    }

    /// A long row of CJK: any of its pairs, or all of them, or the whole.
    fn row(&self, name: Option<&str>, text: &str, parts: &[&str], all: bool) -> Option<Found> {
        let in_a_row = |text: &str| {
            let leaf = Leaf::Phrase {
                text: text.to_owned(),
                slop: 0,
            };
            self.leaf(name, &leaf)
                .map_or_else(|| self.none(), |found| found.documents)
        };
        let parts: Vec<Vec<bool>> = parts.iter().map(|part| in_a_row(part)).collect();
        let joined = parts
            .into_iter()
            .reduce(|a, b| zip(&a, &b, |a, b| if all { a && b } else { a || b }))?;
        self.whole(zip(&joined, &in_a_row(text), |a, b| a || b))
    }

    /// Returns true if a pattern of the query can be asked nowhere.
    pub fn has_impossible(&self, node: &Node) -> bool {
        match node {
            Node::Leaf {
                field,
                leaf: Leaf::Pattern { pieces, .. },
            } => !self
                .searched(field.as_deref())
                .any(|field| field.can_ask(pieces)),
            Node::Bool {
                must,
                should,
                must_not,
                ..
            } => {
                let mut each = must.iter().chain(should).chain(must_not);
                each.any(|node| self.has_impossible(node))
            }
            _ => false,
        }
    }

    fn bool(
        &self,
        must: &[Node],
        should: &[Node],
        must_not: &[Node],
        minimum: usize,
    ) -> Option<Found> {
        let founds = |nodes: &[Node]| -> Vec<Found> {
            nodes.iter().filter_map(|node| self.found(node)).collect()
        };
        let (excluded, optional) = (founds(must_not), founds(should));
        let (adding, needed): (Vec<Found>, Vec<Found>) =
            founds(must).into_iter().partition(|found| found.is_partial);
        if excluded.is_empty() && optional.is_empty() && adding.is_empty() && needed.is_empty() {
            return None;
        }
        let is_partial = excluded.is_empty()
            && needed.is_empty()
            && optional.iter().all(|found| found.is_partial);
        let dropped = optional.len() < should.len();
        let optional: Vec<Found> = if is_partial {
            optional.into_iter().chain(adding).collect()
        } else {
            optional
        };
        let least = usize::from(needed.is_empty() && !optional.is_empty());
        let possible = if dropped {
            founds(should).len()
        } else {
            minimum
        };
        let minimum = minimum.min(possible).max(least);
        let documents = (0..self.ids.len()).map(|doc| {
            needed.iter().all(|found| found.documents[doc])
                && !excluded.iter().any(|found| found.documents[doc])
                && optional.iter().filter(|found| found.documents[doc]).count() >= minimum
        });
        Some(Found {
            documents: documents.collect(),
            is_partial,
        })
    }
}

fn zip(a: &[bool], b: &[bool], join: impl Fn(bool, bool) -> bool) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| join(*a, *b)).collect()
}
