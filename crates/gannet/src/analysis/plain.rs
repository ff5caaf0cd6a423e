//! The tokenizers that go by single characters: runs of letters, and whatever is between white
//! space.

use super::MAX_TOKEN_CHARACTERS;
use super::forms::composed_prefix;

/// Gives the place in bytes of every run that begins with a character for which `begins` holds and
/// goes on with those for which `belongs` does, cut at 255 characters, until `sink` wants no more.
pub(super) fn runs(
    text: &str,
    begins: fn(char) -> bool,
    belongs: fn(char) -> bool,
    mut sink: impl FnMut(usize, usize) -> bool,
) {
    let mut at = 0;
    while let Some(skipped) = text[at..].find(begins) {
        let start = at + skipped;
        let length = text[start..].find(|c| !belongs(c));
        let end = length.map_or(text.len(), |length| start + length);
        if !pieces(&text[start..end], |from, to| sink(start + from, start + to)) {
            break;
        }
        at = end;
    }
}

/// Tells whether `sink` wants more.
fn pieces(run: &str, mut sink: impl FnMut(usize, usize) -> bool) -> bool {
    let mut from = 0;
    while from < run.len() {
        let to = from + composed_prefix(&run[from..], MAX_TOKEN_CHARACTERS);
        if !sink(from, to) {
            return false;
        }
        from = to;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, belongs: fn(char) -> bool, expected: &[&str]) {
        let mut found = Vec::new();
        runs(text, belongs, belongs, |start, end| {
            found.push(&text[start..end]);
            true
        });
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn runs_begin_and_end_where_the_characters_change() {
        check("", char::is_alphabetic, &[]);
        check(
            "don't stop4me, Öl",
            char::is_alphabetic,
            &["don", "t", "stop", "me", "Öl"],
        );
        let not_white: fn(char) -> bool = |c| !c.is_whitespace();
        check(" a-b\u{2003}c++\n", not_white, &["a-b", "c++"]);
        let long = "é".repeat(256);
        check(&long, not_white, &[&long[..510], "é"]);
    }
}
