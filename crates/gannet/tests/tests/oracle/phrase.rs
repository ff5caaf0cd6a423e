//! How often a phrase occurs in a document.
//!
//! An occurrence of a word has an *origin*: its position less the word's place in the phrase. Exact phrases
//! are origins that all words have. With slop, every smallest window of origins that has one of each word is a
//! match. That is Gannet's rule: Lucene's distance, but where Lucene's count depends on the order of its walk
//! (`SloppyPhraseMatcher` says so itself), this one does not. For phrases that repeat a word it is left open
//! what a match is worth; whether there is one is found by trying all ways to give each word its own token.

/// A word of a phrase: its place in the phrase, its term, and the term's positions in the document.
pub struct Word {
    pub place: u32,
    pub term: usize,
    pub positions: Vec<u32>,
}

impl Word {
    fn origins(&self) -> Vec<i64> {
        let place = i64::from(self.place);
        self.positions
            .iter()
            .map(|at| i64::from(*at) - place)
            .collect()
    }
}

/// The frequency of the phrase; 0 if it does not occur.
pub fn frequency(words: &[Word], slop: u32) -> f32 {
    if words.iter().any(|word| word.positions.is_empty()) {
        return 0.0;
    }
    match slop {
        0 => exact(words),
        _ if repeats(words) => f32::from(u8::from(place(words, slop, &mut Vec::new()))),
        _ => sloppy(words, i64::from(slop)),
    }
}

/// Whether a word is in the phrase twice.
pub fn repeats(words: &[Word]) -> bool {
    let twice = |at: usize| {
        words[..at]
            .iter()
            .any(|before| before.term == words[at].term)
    };
    (1..words.len()).any(twice)
}

fn exact(words: &[Word]) -> f32 {
    let all: Vec<Vec<i64>> = words.iter().map(Word::origins).collect();
    let everywhere = |origin: &&i64| all.iter().all(|origins| origins.contains(origin));
    all[0].iter().filter(everywhere).count() as f32
}

/// Windows of origins that hold one of each word and no smaller such window: each counts 1 / (1 + width).
fn sloppy(words: &[Word], slop: i64) -> f32 {
    let origins: Vec<Vec<i64>> = words.iter().map(Word::origins).collect();
    let mut starts: Vec<i64> = origins.concat();
    starts.sort_unstable();
    starts.dedup();
    let windows = starts.iter().filter_map(|start| {
        let firsts = origins
            .iter()
            .map(|all| all.iter().copied().find(|origin| origin >= start));
        let end = firsts.collect::<Option<Vec<i64>>>()?.into_iter().max()?;
        Some((*start, end))
    });
    let windows: Vec<(i64, i64)> = windows.collect();
    let is_inside = |a: &(i64, i64), b: &(i64, i64)| a != b && b.0 <= a.0 && a.1 <= b.1;
    let smallest = windows
        .iter()
        .filter(|outer| !windows.iter().any(|inner| is_inside(inner, outer)));
    let widths = smallest
        .map(|(start, end)| end - start)
        .filter(|width| *width <= slop);
    widths.map(|width| 1.0 / (1.0 + width as f32)).sum()
}

/// Whether words from `taken.len()` on can be given tokens of their own, all origins within the slop.
fn place(words: &[Word], slop: u32, taken: &mut Vec<usize>) -> bool {
    let at = taken.len();
    if at == words.len() {
        return true;
    }
    (0..words[at].positions.len()).any(|choice| {
        taken.push(choice);
        let good = is_possible(words, slop, taken) && place(words, slop, taken);
        taken.pop();
        good
    })
}

fn is_possible(words: &[Word], slop: u32, taken: &[usize]) -> bool {
    let chosen = || {
        words
            .iter()
            .zip(taken)
            .map(|(word, at)| (word, word.positions[*at]))
    };
    let origins = || chosen().map(|(word, at)| i64::from(at) - i64::from(word.place));
    let width = origins()
        .max()
        .zip(origins().min())
        .map_or(0, |(most, least)| most - least);
    let mut tokens: Vec<u32> = chosen().map(|(_, position)| position).collect();
    tokens.sort_unstable();
    tokens.dedup();
    width <= i64::from(slop) && tokens.len() == taken.len()
}

#[test]
fn phrases_count_by_their_smallest_windows() {
    let count = |phrase: &str, text: &str, slop| {
        let words: Vec<Word> = (0..)
            .zip(phrase.chars())
            .map(|(place, letter)| Word {
                place,
                term: letter as usize,
                positions: (0..)
                    .zip(text.chars())
                    .filter(|(_, c)| *c == letter)
                    .map(|(at, _)| at)
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
    assert_eq!(count("aa", "axa", 1), 1.0);
    assert_eq!(count("aa", "a", 5), 0.0);
}
