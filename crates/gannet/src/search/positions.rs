//! How often a phrase occurs, given the positions of its terms in one document.
//!
//! Every term has its *place* in the phrase (words that analysis left out count), and every occurrence of a
//! term an *origin*: its position less its place. Where all origins are equal stands the exact phrase.
//!
//! With slop, a match is a smallest window of origins that has one of each term and in which no token serves
//! two terms: a window that has no smaller one inside. Its width, the greatest origin less the least, says
//! how far the words must be moved; it counts if that is at most the slop, with the weight 1 / (1 + width).
//! This is Lucene's distance; for phrases that repeat a word Lucene may pair the repetitions otherwise.

/// One term of a phrase with its occurrences in a document.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    /// The term's place in the phrase.
    pub place: u32,
    /// Which of the phrase's distinct terms it is.
    pub word: usize,
    /// Positions in the document, ascending.
    pub positions: Vec<u32>,
}

impl Occurrences {
    fn origin(&self, at: usize) -> Option<i64> {
        let position = self.positions.get(at)?;
        Some(*position as i64 - self.place as i64)
    }

    fn has_origin(&self, origin: i64) -> bool {
        let position = u32::try_from(origin + self.place as i64);
        position.is_ok_and(|position| self.positions.binary_search(&position).is_ok())
    }
}

/// The frequency of a phrase with `slop`, weighted as said above.
pub fn phrase_frequency(terms: &[Occurrences], slop: u32) -> f32 {
    match slop {
        0 => exact(terms) as f32,
        _ => sloppy(terms, slop),
    }
}

/// Origins that all terms have: those of the rarest term, looked for among the others'.
fn exact(terms: &[Occurrences]) -> u32 {
    let Some(rarest) = terms.iter().min_by_key(|term| term.positions.len()) else {
        return 0;
    };
    let positions = rarest.positions.iter();
    let starts = positions.filter(|position| {
        // Below 0 where the phrase would begin before the text.
        let origin = **position as i64 - rarest.place as i64;
        terms.iter().all(|term| term.has_origin(origin))
    });
    starts.count() as u32
}

/// Walks the windows by their least origins. Each term stands on its first origin from the least on, so
/// that the greatest is as small as can be; a window is smallest if leaving its least origins makes it longer
/// at the other end.
fn sloppy(terms: &[Occurrences], slop: u32) -> f32 {
    let mut at = vec![0; terms.len()];
    let mut frequency = 0f32;
    let mut here = next_window(terms, &mut at);
    while let Some((least, greatest)) = here {
        for (term, at) in terms.iter().zip(&mut at) {
            *at += usize::from(term.origin(*at) == Some(least));
        }
        here = next_window(terms, &mut at);
        let width = greatest - least;
        let smallest = here.is_none_or(|(_, next)| next > greatest);
        if smallest && width <= slop as i64 {
            frequency += 1.0 / (1.0 + width as f32);
        }
    }
    frequency
}

/// The window where the terms stand, once each has a token of its own; nothing if one has none left.
fn next_window(terms: &[Occurrences], at: &mut [usize]) -> Option<(i64, i64)> {
    match part_tokens(terms, at) {
        true => window(terms, at),
        false => None,
    }
}

/// Where two terms stand on one token, moves the later in the phrase on. Tells whether all still stand.
fn part_tokens(terms: &[Occurrences], at: &mut [usize]) -> bool {
    let token = |term: usize, at: &[usize]| terms[term].positions.get(at[term]).copied();
    let mut moved = true;
    while moved {
        moved = false;
        for later in 1..terms.len() {
            let shared = (0..later).any(|earlier| {
                terms[earlier].word == terms[later].word
                    && token(earlier, at).is_some()
                    && token(earlier, at) == token(later, at)
            });
            if shared {
                at[later] += 1;
                moved = true;
            }
        }
    }
    (0..terms.len()).all(|term| token(term, at).is_some())
}

/// The least and the greatest origin, if every term stands on one.
fn window(terms: &[Occurrences], at: &[usize]) -> Option<(i64, i64)> {
    let origins = terms.iter().zip(at).map(|(term, at)| term.origin(*at));
    let mut window = None;
    for origin in origins {
        let origin = origin?;
        let (least, greatest) = window.unwrap_or((origin, origin));
        window = Some((origin.min(least), origin.max(greatest)));
    }
    window
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `phrase` and `text` are words of one letter.
    fn frequency(phrase: &str, text: &str, slop: u32) -> f32 {
        let positions_of = |wanted: char| {
            let all = text.chars().enumerate();
            let found = all.filter(|(_, letter)| *letter == wanted);
            found.map(|(at, _)| at as u32).collect()
        };
        let places = phrase
            .chars()
            .enumerate()
            .filter(|(_, letter)| *letter != '_');
        let terms: Vec<_> = places
            .map(|(place, letter)| Occurrences {
                place: place as u32,
                word: letter as usize,
                positions: positions_of(letter),
            })
            .collect();
        phrase_frequency(&terms, slop)
    }

    #[test]
    fn exact_phrases_are_counted_and_holes_are_kept() {
        assert_eq!(frequency("ab", "abxab", 0), 2.0);
        assert_eq!(frequency("ab", "axb", 0), 0.0);
        assert_eq!(frequency("a_b", "axbab", 0), 1.0);
        assert_eq!(frequency("aa", "aaa", 0), 2.0);
    }

    #[test]
    fn slop_weighs_by_distance() {
        assert_eq!(frequency("ab", "axb", 1), 0.5);
        assert_eq!(frequency("ab", "axxb", 1), 0.0);
        assert_eq!(frequency("ab", "ba", 2), 1.0 / 3.0);
        assert_eq!(frequency("ab", "ab", 3), 1.0);
        assert_eq!(frequency("abc", "acb", 2), 1.0 / 3.0);
        assert_eq!(frequency("ab", "abxxxa", 4), 1.0);
    }

    #[test]
    fn no_token_serves_twice() {
        assert_eq!(frequency("aa", "a", 5), 0.0);
        assert_eq!(frequency("aa", "axa", 1), 0.5);
        // Without its first two tokens, the third `a` of the phrase has none left.
        assert_eq!(frequency("abaa", "aaxaxxxxb", 8), 1.0 / 9.0);
    }
}
