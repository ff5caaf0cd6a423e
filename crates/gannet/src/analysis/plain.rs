//! The tokenizers that go by single characters: runs of letters, and whatever is between white space.

use super::{MAX_TOKEN_CHARACTERS, prefix_length};

/// Gives the place in bytes of every run of characters for which `belongs` holds, cut at 255 characters.
pub(super) fn runs(text: &str, belongs: fn(char) -> bool, mut sink: impl FnMut(usize, usize)) {
    let mut at = 0;
    while let Some(skipped) = text[at..].find(belongs) {
        let start = at + skipped;
        let length = text[start..].find(|c| !belongs(c));
        let end = length.map_or(text.len(), |length| start + length);
        pieces(&text[start..end], |from, to| sink(start + from, start + to));
        at = end;
    }
}

fn pieces(run: &str, mut sink: impl FnMut(usize, usize)) {
    let mut from = 0;
    while from < run.len() {
        let to = from + prefix_length(&run[from..], MAX_TOKEN_CHARACTERS);
        sink(from, to);
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, belongs: fn(char) -> bool, expected: &[&str]) {
        let mut found = Vec::new();
        runs(text, belongs, |start, end| found.push(&text[start..end]));
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
