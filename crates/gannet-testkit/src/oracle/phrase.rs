//! Counts the occurrences of a phrase in a document.
//!
//! An occurrence of a word has an *origin*: its position less the word's place in the phrase. Exact
//! phrases are origins that all words have. With slop, a match is a smallest window of origins in
//! which each word can be given a token of its own: one that has no smaller such window inside.
//! This is Gannet's rule. It has Lucene's distance, but Lucene's count depends on the order of its
//! walk (`SloppyPhraseMatcher` says so itself), this one does not. Here all ways to give out the
//! tokens are tried.

/// A word of a phrase: its place in the phrase, and its tokens in the document, in their order.
pub struct Word {
    /// Its place in the phrase.
    pub place: u32,
    /// Its tokens in the document.
    pub tokens: Vec<Token>,
}

impl Word {
    fn origins(&self) -> Vec<i64> {
        let place = i64::from(self.place);
        self.tokens
            .iter()
            .map(|(_, at)| i64::from(*at) - place)
            .collect()
    }
}

/// The frequency of the phrase; 0 if it does not occur.
pub fn frequency(words: &[Word], slop: u32) -> f32 {
    if words.iter().any(|word| word.tokens.is_empty()) {
        return 0.0;
    }
    match slop {
        0 => exact(words),
        _ => sloppy(words, i64::from(slop)),
    }
}

fn exact(words: &[Word]) -> f32 {
    let all: Vec<Vec<i64>> = words.iter().map(Word::origins).collect();
    let everywhere = |origin: &&i64| all.iter().all(|origins| origins.contains(origin));
    all[0].iter().filter(everywhere).count() as f32
}

/// Windows of origins that hold all words and no smaller such window: each counts 1 / (1 + width).
/// Windows wider than the slop count nothing, and none of them is inside one that counts.
fn sloppy(words: &[Word], slop: i64) -> f32 {
    let mut origins: Vec<i64> = words.iter().flat_map(Word::origins).collect();
    origins.sort_unstable();
    origins.dedup();
    let windows = origins.iter().filter_map(|start| {
        let ends = origins
            .iter()
            .filter(|end| (*start..=start + slop).contains(end));
        let mut windows = ends.map(|end| (*start, *end));
        windows.find(|window| holds(words, *window))
    });
    let windows: Vec<(i64, i64)> = windows.collect();
    let is_inside = |a: &(i64, i64), b: &(i64, i64)| a != b && b.0 <= a.0 && a.1 <= b.1;
    let smallest = windows
        .iter()
        .filter(|outer| !windows.iter().any(|inner| is_inside(inner, outer)));
    // In single precision and from left to right as in the engine: BM25 of a small frequency
    // magnifies the last bit.
    let weights = smallest.map(|(start, end)| 1.0 / (1.0 + (end - start) as f32));
    weights.sum()
}

/// Returns true if each word can be given a token of its own whose origin is in the window.
fn holds(words: &[Word], window: (i64, i64)) -> bool {
    let inside = words.iter().map(|word| {
        let origins = word.origins().into_iter();
        let tokens = word.tokens.iter().zip(origins);
        let inside = tokens.filter(|(_, origin)| (window.0..=window.1).contains(origin));
        inside.map(|(token, _)| *token).collect::<Vec<Token>>()
    });
    let inside: Vec<Vec<Token>> = inside.collect();
    inside.iter().all(|tokens| !tokens.is_empty()) && give_out(&inside, &mut Vec::new())
}

/// A term and a position.
pub type Token = (usize, u32);

/// Returns true if the words from `taken.len()` on can be given tokens that are not taken.
fn give_out(choices: &[Vec<Token>], taken: &mut Vec<Token>) -> bool {
    let Some(tokens) = choices.get(taken.len()) else {
        return true;
    };
    tokens.iter().any(|token| {
        if taken.contains(token) {
            return false;
        }
        taken.push(*token);
        let given = give_out(choices, taken);
        taken.pop();
        given
    })
}

#[test]
fn phrases_count_by_their_smallest_windows() {
    let count = |phrase: &str, text: &str, slop| {
        let words: Vec<Word> = (0..)
            .zip(phrase.chars())
            .map(|(place, letter)| Word {
                place,
                tokens: (0..)
                    .zip(text.chars())
                    .filter(|(_, c)| *c == letter)
                    .map(|(at, _)| (letter as usize, at))
                    .collect(),
            })
            .collect();
        frequency(&words, slop)
    };
    assert_eq!(count("ab", "abxab", 0), 2.0);
    assert_eq!(count("ab", "xabxba", 2), 1.0 + 1.0 / 3.0);
    // Lucene would count the second `a` with the one `b` as well.
    assert_eq!(count("ab", "xabay", 2), 1.0);
    // The example of Lucene's documentation, where the direction matters.
    assert_eq!(count("abc", "abcba", 4), 1.0);
    assert_eq!(count("cba", "abcba", 4), 1.0);
    assert_eq!(count("aa", "axa", 1), 0.5);
    assert_eq!(count("aa", "a", 5), 0.0);
    // The first two, and the last two.
    assert_eq!(count("aa", "aaa", 3), 2.0);
    // In any order, each word with a token of its own.
    assert_eq!(count("aba", "baa", 4), 1.0 / 3.0);
    assert_eq!(count("abaa", "aaxaxxxxb", 8), 1.0 / 9.0);
}
