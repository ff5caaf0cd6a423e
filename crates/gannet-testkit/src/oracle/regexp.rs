//! Regular expressions of a few signs, by trying all ways: characters, `.`, `[ab]`, `[a-c]`,
//! `(a|b)`, and `?`, `*` and `+` behind one of them.

/// Returns true if a whole text fits an expression.
pub fn fits_regexp(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (ends, read) = any_of(&pattern, &text, 0);
    assert_eq!(
        read,
        pattern.len(),
        "an expression that the oracle does not know"
    );
    ends.contains(&text.len())
}

/// The places of the text at which alternatives can end that begin at `from`, and how much of the
/// pattern they are.
fn any_of(pattern: &[char], text: &[char], from: usize) -> (Vec<usize>, usize) {
    let (mut ends, mut at) = (Vec::new(), 0);
    loop {
        let (found, read) = in_row(&pattern[at..], text, from);
        ends.extend(found);
        at += read;
        if pattern.get(at) != Some(&'|') {
            return (ends, at);
        }
        at += 1;
    }
}

fn in_row(pattern: &[char], text: &[char], from: usize) -> (Vec<usize>, usize) {
    let (mut ends, mut at) = (vec![from], 0);
    while at < pattern.len() && pattern[at] != '|' && pattern[at] != ')' {
        let length = length_of_one(&pattern[at..]);
        let sign = pattern.get(at + length).copied();
        let sign = sign.filter(|sign| "?*+".contains(*sign));
        let once = |starts: &[usize]| {
            let each = starts
                .iter()
                .map(|start| one(&pattern[at..at + length], text, *start));
            let mut found: Vec<usize> = each.flatten().collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let first = once(&ends);
        let mut all = if matches!(sign, Some('?' | '*')) {
            ends.clone()
        } else {
            Vec::new()
        };
        all.extend(&first);
        let mut newest = first;
        for _ in 0..text.len() {
            if !matches!(sign, Some('*' | '+')) {
                break;
            }
            newest = once(&newest);
            all.extend(&newest);
        }
        all.sort_unstable();
        all.dedup();
        ends = all;
        at += length + usize::from(sign.is_some());
    }
    (ends, at)
}

/// The length of the part at the beginning of a pattern, without the sign behind it.
fn length_of_one(pattern: &[char]) -> usize {
    let close = |wanted: char| pattern.iter().position(|one| *one == wanted);
    match pattern[0] {
        '[' => close(']').map_or(1, |end| end + 1),
        '(' => {
            let mut open = 0;
            let end = pattern.iter().position(|one| {
                open += i32::from(*one == '(') - i32::from(*one == ')');
                open == 0
            });
            end.map_or(1, |end| end + 1)
        }
        _ => 1,
    }
}

/// The places at which one part can end.
fn one(part: &[char], text: &[char], from: usize) -> Vec<usize> {
    if let ['(', inner @ .., ')'] = part {
        return any_of(inner, text, from).0;
    }
    let Some(next) = text.get(from) else {
        return Vec::new();
    };
    let fits = match part {
        ['.'] => true,
        ['[', first, '-', last, ']'] => (first..=last).contains(&next),
        ['[', inner @ .., ']'] => inner.contains(next),
        _ => part == [*next],
    };
    if fits { vec![from + 1] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_fit_whole_texts() {
        for (pattern, yes, no) in [
            ("a.c", "abc", "abcd"),
            ("[ab]+c?", "abab", "abcc"),
            ("s(ea|hip)*", "seahip", "seaship"),
            ("(a|b*)+c", "abbac", "ab"),
            ("[a-c]", "b", "-"),
        ] {
            assert!(fits_regexp(pattern, yes), "{pattern} {yes}");
            assert!(!fits_regexp(pattern, no), "{pattern} {no}");
        }
    }
}
