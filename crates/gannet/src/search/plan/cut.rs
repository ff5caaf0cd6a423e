//! Cuts a pattern as the analyzer of a field cuts words: `wi-f*` is the word `wi` and a word that
//! begins with `f`, as in the documents.
//!
//! A sign is part of a word or not depending on its neighbours: `node.*` may be one word, `wi-*`
//! cannot. So wildcards are replaced by characters that they may stand for, and of several such
//! samples the one counts that has the fewest words.

use crate::analysis::{Analyzer, MAX_TOKEN_CHARACTERS, Scratch};
use crate::search::query::PatternPart;

/// A pattern as a field has its words.
#[derive(Debug, PartialEq)]
pub struct CutPattern {
    /// The text before the last word.
    pub before: String,
    /// The last word, which has all wildcards.
    pub last: Vec<PatternPart>,
}

/// Cuts a pattern into the text before its last word and that word; nothing if a wildcard stands
/// before the last word. `analyzer` leaves words as they are.
pub fn cut(
    parts: &[PatternPart],
    analyzer: &Analyzer,
    scratch: &mut Scratch,
) -> Option<CutPattern> {
    let samples = fillings(parts).into_iter().map(|filling| {
        let sample = PatternSample::new(parts, filling);
        let words = words(&sample.text, analyzer, scratch);
        (sample, words)
    });
    let fewest = samples.min_by_key(|(_, words)| {
        if words.is_empty() {
            usize::MAX
        } else {
            words.len()
        }
    });
    let (sample, words) = fewest?;
    let Some((start, end)) = words.last() else {
        return Some(whole(parts));
    };
    if words.len() == 1 && (*start, *end) == (0, sample.text.len()) {
        return Some(whole(parts));
    }
    let from = sample.starts.partition_point(|at| at < start);
    let to = sample.starts.partition_point(|at| at < end);
    let (before, last, behind) = (&parts[..from], &parts[from..to], &parts[to..]);
    let are_text = before
        .iter()
        .chain(behind)
        .all(|part| literal(part).is_some());
    are_text.then(|| CutPattern {
        before: before.iter().filter_map(literal).collect(),
        last: last.to_vec(),
    })
}

fn whole(parts: &[PatternPart]) -> CutPattern {
    CutPattern {
        before: String::new(),
        last: parts.to_vec(),
    }
}

/// The character that a part is, unless it is a wildcard.
pub fn literal(part: &PatternPart) -> Option<char> {
    match part {
        PatternPart::Literal(character) => Some(*character),
        _ => None,
    }
}

/// Characters that stand for the wildcards, one in each sample: the neighbours of the first, a
/// letter, a digit.
fn fillings(parts: &[PatternPart]) -> Vec<char> {
    let Some(first) = parts.iter().position(|part| literal(part).is_none()) else {
        return vec!['x'];
    };
    let before = parts[..first].last().and_then(literal);
    let behind = parts[first..].iter().find_map(literal);
    let beside = before.into_iter().chain(behind);
    let mut fillings: Vec<char> = beside.filter(|one| one.is_alphanumeric()).collect();
    fillings.extend(['x', '0']);
    fillings
}

/// A text that a pattern fits.
struct PatternSample {
    text: String,
    /// The start of each part of the pattern in it.
    starts: Vec<usize>,
}

impl PatternSample {
    fn new(parts: &[PatternPart], filling: char) -> PatternSample {
        let (mut text, mut starts) = (String::new(), Vec::with_capacity(parts.len()));
        for part in parts {
            starts.push(text.len());
            text.push(literal(part).unwrap_or(filling));
        }
        PatternSample { text, starts }
    }
}

/// The places of the words of a text. One that the analyzer cuts only because it is too long counts
/// as one.
fn words(text: &str, analyzer: &Analyzer, scratch: &mut Scratch) -> Vec<(usize, usize)> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    analyzer.analyze(text, scratch, |token| match words.last_mut() {
        Some((start, end)) if *end == token.start && is_full(&text[*start..*end]) => {
            *end = token.end;
        }
        _ => words.push((token.start, token.end)),
    });
    words
}

fn is_full(word: &str) -> bool {
    word.chars().count() >= MAX_TOKEN_CHARACTERS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::pattern_parts;

    /// The text before the last word and that word, joined by `|`.
    fn cut_by(analyzer: &str, pattern: &str) -> Option<String> {
        let parts: Vec<PatternPart> = pattern_parts(pattern).collect();
        let analyzer = Analyzer::named(analyzer).unwrap();
        let CutPattern { before, last } = cut(&parts, &analyzer, &mut Scratch::default())?;
        let last = last.iter().map(|part| match part {
            PatternPart::Many => '*',
            PatternPart::One => '?',
            PatternPart::Literal(character) => *character,
        });
        Some(format!("{before}|{}", last.collect::<String>()))
    }

    #[test]
    fn a_pattern_is_cut_where_its_words_are() {
        for (pattern, expected) in [
            ("house*", "|house*"),
            ("wi-f*", "wi-|f*"),
            ("wi-f?", "wi-|f?"),
            ("2020-12*", "2020-|12*"),
            ("2020-1?", "2020-|1?"),
            ("wi-*", "wi-|*"),
            ("#tag*", "#|tag*"),
            ("whale*!", "|whale*"),
            ("Wi-Fi", "Wi-|Fi"),
            ("東京*", "東京|*"),
            ("タワ*", "|タワ*"),
            ("C++*", "C++|*"),
        ] {
            assert_eq!(cut_by("standard", pattern).unwrap(), expected, "{pattern}");
        }
    }

    #[test]
    fn signs_that_may_be_inside_a_word_do_not_cut_it() {
        for pattern in [
            "node.*",
            "*.js",
            "3.*",
            "192.168.*.1",
            "don'*",
            "a_*",
            "?.1",
        ] {
            let expected = format!("|{pattern}");
            assert_eq!(cut_by("standard", pattern).unwrap(), expected, "{pattern}");
        }
        assert_eq!(cut_by("whitespace", "C++*").unwrap(), "|C++*");
        assert_eq!(cut_by("whitespace", "a b*").unwrap(), "a |b*");
        assert_eq!(cut_by("keyword", "a-b c*").unwrap(), "|a-b c*");
        assert_eq!(cut_by("simple", "r2d*").unwrap(), "r2|d*");
    }

    #[test]
    fn a_wildcard_before_the_last_word_cannot_be_asked() {
        for pattern in ["*-fi", "wi*-fi", "2020-*-31", "w?-f*"] {
            assert_eq!(cut_by("standard", pattern), None, "{pattern}");
        }
    }
}
