//! How often a phrase occurs in a document.
//!
//! An occurrence of a word has an *origin*: its position less the word's place in the phrase. Exact phrases
//! are origins that all words have. With slop, it is Lucene's `SloppyPhraseMatcher`, whose frequency depends
//! on the order in which it goes through the document. For phrases that repeat a word it is left open what a
//! match is worth; whether there is one is found by trying all ways to give each word a token of its own.

/// A word of a phrase: its place in the phrase, its term, and the term's positions in the document.
pub struct Word {
    pub place: u32,
    pub term: usize,
    pub positions: Vec<u32>,
}

impl Word {
    fn origins(&self) -> Vec<i64> {
        let place = i64::from(self.place);
        self.positions.iter().map(|at| i64::from(*at) - place).collect()
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
    let twice = |at: usize| words[..at].iter().any(|before| before.term == words[at].term);
    (1..words.len()).any(twice)
}

fn exact(words: &[Word]) -> f32 {
    let all: Vec<Vec<i64>> = words.iter().map(Word::origins).collect();
    let everywhere = |origin: &&i64| all.iter().all(|origins| origins.contains(origin));
    all[0].iter().filter(everywhere).count() as f32
}

/// Lucene's walk: the word with the least origin moves until it passes the next one; then the narrowest width
/// on the way is a match if it is within the slop.
fn sloppy(words: &[Word], slop: i64) -> f32 {
    let origins: Vec<Vec<i64>> = words.iter().map(Word::origins).collect();
    let mut at = vec![0; words.len()];
    let mut total = 0.0;
    loop {
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by_key(|word| (origins[*word][at[*word]], words[*word].place));
        let (moving, next) = (order[0], origins[order[1]][at[order[1]]]);
        let end = *order.last().expect("a phrase has words");
        let end = origins[end][at[end]];
        let mut width = end - origins[moving][at[moving]];
        let passed = loop {
            at[moving] += 1;
            match origins[moving].get(at[moving]) {
                None => break false,
                Some(origin) if *origin > next => break true,
                Some(origin) => width = width.min(end - origin),
            }
        };
        if width <= slop {
            total += 1.0 / (1.0 + width as f32);
        }
        if !passed {
            return total;
        }
    }
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
    let chosen = || words.iter().zip(taken).map(|(word, at)| (word, word.positions[*at]));
    let origins = || chosen().map(|(word, at)| i64::from(at) - i64::from(word.place));
    let width = origins().max().zip(origins().min()).map_or(0, |(most, least)| most - least);
    let mut tokens: Vec<u32> = chosen().map(|(_, position)| position).collect();
    tokens.sort_unstable();
    tokens.dedup();
    width <= i64::from(slop) && tokens.len() == taken.len()
}

#[test]
fn phrases_count_as_in_lucene() {
    let count = |phrase: &str, text: &str, slop| {
        let words: Vec<Word> = (0..)
            .zip(phrase.chars())
            .map(|(place, letter)| Word {
                place,
                term: letter as usize,
                positions: (0..).zip(text.chars()).filter(|(_, c)| *c == letter).map(|(at, _)| at).collect(),
            })
            .collect();
        frequency(&words, slop)
    };
    assert_eq!(count("ab", "abxab", 0), 2.0);
    assert_eq!(count("ab", "xabay", 2), 1.0 + 1.0 / 3.0);
    // The two orders of Lucene's own documentation.
    assert_ne!(count("abc", "abcba", 4), count("cba", "abcba", 4));
    assert_eq!(count("aa", "axa", 1), 1.0);
    assert_eq!(count("aa", "a", 5), 0.0);
}
