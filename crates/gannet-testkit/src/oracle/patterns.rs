//! Finds the terms that a wildcard or a fuzzy word stands for, by the textbook.

/// The most terms of a fuzzy word that are searched.
pub const FUZZY_MAX: usize = 50;

/// The most terms of a pattern at the end of a phrase.
pub const FREQUENT_MAX: usize = 1_024;

/// A character of a wildcard pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Glyph {
    /// `*`: any characters, or none.
    Any,
    /// `?`: one character.
    One,
    /// This character.
    Exactly(char),
}

/// `*` is anything, `?` one character, and a backslash takes the next one literally.
pub fn glyphs(pattern: &str) -> Vec<Glyph> {
    let mut glyphs = Vec::new();
    let mut rest = pattern.chars();
    while let Some(one) = rest.next() {
        glyphs.push(match one {
            '*' => Glyph::Any,
            '?' => Glyph::One,
            '\\' => Glyph::Exactly(rest.next().unwrap_or('\\')),
            other => Glyph::Exactly(other),
        });
    }
    glyphs
}

/// Returns true if a pattern fits all of `text`. It keeps the prefixes of the pattern that fit,
/// from character to character.
pub fn fits(pattern: &[Glyph], text: &str) -> bool {
    let mut fitting = vec![false; pattern.len() + 1];
    fitting[0] = true;
    pass_over_any(pattern, &mut fitting);
    for one in text.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for (at, glyph) in pattern.iter().enumerate() {
            match glyph {
                Glyph::Any => next[at] |= fitting[at],
                Glyph::One => next[at + 1] |= fitting[at],
                Glyph::Exactly(wanted) => next[at + 1] |= fitting[at] && *wanted == one,
            }
        }
        pass_over_any(pattern, &mut next);
        fitting = next;
    }
    fitting[pattern.len()]
}

fn pass_over_any(pattern: &[Glyph], fitting: &mut [bool]) {
    for (at, glyph) in pattern.iter().enumerate() {
        if *glyph == Glyph::Any && fitting[at] {
            fitting[at + 1] = true;
        }
    }
}

/// The terms that are there within `distance` edits of `word` with their similarity (1 - edits /
/// characters of the shorter of the two; where that is not above 0, a quarter for each edit): the
/// most similar ones, among equals the first by their bytes.
pub fn similar(
    word: &str,
    distance: usize,
    terms: &[String],
    is_there: impl Fn(usize) -> bool,
) -> Vec<(usize, f32)> {
    let word: Vec<char> = word.chars().collect();
    let mut found = Vec::new();
    for (number, term) in terms.iter().enumerate() {
        if !is_there(number) {
            continue;
        }
        let term: Vec<char> = term.chars().collect();
        if term.len().abs_diff(word.len()) > distance {
            continue;
        }
        let edits = edits(&word, &term);
        let shorter = word.len().min(term.len());
        if edits == 0 {
            found.push((number, 1.0));
        } else if edits <= distance && edits < shorter {
            found.push((number, 1.0 - edits as f32 / shorter as f32));
        } else if edits <= distance {
            found.push((number, 0.25 / edits as f32));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(terms[a.0].cmp(&terms[b.0])));
    found
}

/// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`, no character
/// edited twice ("optimal string alignment", the distance of Lucene's automata).
pub fn edits(a: &[char], b: &[char]) -> usize {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let one = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if swapped {
                        one.min(table[i - 2][j - 2] + 1)
                    } else {
                        one
                    }
                }
            };
        }
    }
    table[a.len()][b.len()]
}

#[test]
fn patterns_and_distances() {
    assert!(fits(&glyphs("a*c?"), "abbcö") && !fits(&glyphs("a*c?"), "abc"));
    assert!(fits(&glyphs("\\*"), "*") && !fits(&glyphs("\\*"), "a") && fits(&glyphs("**"), ""));
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    for (a, b, expected) in [
        ("ab", "ba", 1),
        ("ca", "abc", 3),
        ("", "xy", 2),
        ("flash", "flsh", 1),
    ] {
        assert_eq!(edits(&chars(a), &chars(b)), expected, "{a} {b}");
    }
}
