//! Reads numbers of bytes as people write them.

/// Units by the letters that stand behind a number, longest first among those that end alike.
const UNITS: [(&str, u64); 13] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("b", 1),
];

/// Reads a number of bytes, written like `512MiB`, `64MB`, `1.5GiB` or `1048576`; nothing if the
/// text is none, or more than a `usize` holds.
pub fn parse_bytes(text: &str) -> Option<usize> {
    let lower = text.trim().to_ascii_lowercase();
    let mut units = UNITS.iter();
    let unit = units.find_map(|(name, factor)| Some((lower.strip_suffix(name)?, *factor)));
    let (number, factor) = unit.unwrap_or((&lower, 1));
    let number: f64 = number.trim().parse().ok()?;
    let bytes = number * factor as f64;
    // `usize::MAX` as a float is one too many, so it is excluded.
    let is_possible = number.is_finite() && (0.0..usize::MAX as f64).contains(&bytes);
    is_possible.then_some(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_units() {
        for (text, bytes) in [
            ("512MiB", 512 << 20),
            ("64MB", 64_000_000),
            ("1GiB", 1 << 30),
            ("1g", 1 << 30),
            ("1.5 KiB", 1_536),
            ("1048576", 1 << 20),
            ("0", 0),
        ] {
            assert_eq!(parse_bytes(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_not_read() {
        for text in [
            "",
            "MiB",
            "12 apples",
            "-1",
            "1e400",
            "99999999999TiB",
            "nan",
        ] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
    }
}
