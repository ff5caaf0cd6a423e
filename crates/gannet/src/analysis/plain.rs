//! The tokenizers that go by single characters: runs of letters, and whatever is between white
//! space.

use super::{MAX_TOKEN_CHARACTERS, prefix_length};

/// Gives the place in bytes of every run of characters for which `belongs` holds, cut at 255
/// characters, until `sink` wants no more.
pub(super) fn runs(
    text: &str,
    belongs: fn(char) -> bool,
    mut sink: impl FnMut(usize, usize) -> bool,
) {
    let mut at = 0;
    while let Some(skipped) = text[at..].find(belongs) {
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
        let to = from + prefix_length(&run[from..], MAX_TOKEN_CHARACTERS);
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
        runs(text, belongs, |start, end| {
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
