//! The names that are written most like one that nobody knows, for errors.

/// The most edits by which a name that is proposed differs.
const EDITS_MAX: usize = 3;

/// The longest name, in characters, for which others are looked for.
const CHARACTERS_MAX: usize = 64;

/// Returns the known name that is most like `name`, if one is.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    if wanted.len() > CHARACTERS_MAX {
        return None;
    }
    let most = (wanted.len() / 2).clamp(1, EDITS_MAX);
    let near = known.into_iter().filter_map(|other| {
        let letters: Vec<char> = other.to_lowercase().chars().collect();
        let distance = edits(&wanted, &letters);
        // A name of which nothing stays is not like it.
        (distance <= most && distance < wanted.len()).then_some((distance, other))
    });
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`.
fn edits(a: &[char], b: &[char]) -> usize {
    let apart = a.len().abs_diff(b.len());
    if apart > EDITS_MAX {
        return apart;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = above;
        above = row;
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_proposed_and_none_that_is_unlike() {
        let known = ["query", "from", "size", "highlight", "_source"];
        for (name, expected) in [
            ("qurey", Some("query")),
            ("Size", Some("size")),
            ("form", Some("from")),
            ("highlights", Some("highlight")),
            ("source", Some("_source")),
            ("zzz", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
        assert_eq!(nearest(&"q".repeat(100_000), known), None);
    }
}
