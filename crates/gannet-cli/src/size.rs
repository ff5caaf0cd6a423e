//! Numbers of bytes as people write and read them.

use std::fmt;
use std::str::FromStr;

/// A number of bytes, written like `512MiB`, `64MB`, `1.5GiB` or `1048576`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(usize);

impl Size {
    /// So many bytes.
    pub fn of(bytes: usize) -> Size {
        Size(bytes)
    }

    /// The number.
    pub fn bytes(self) -> usize {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let bytes = gannet::parse_bytes(text);
        bytes.map(Size).ok_or_else(|| explain(text))
    }
}

fn explain(text: &str) -> String {
    format!("{text:?} is no number of bytes; write it like 512MiB, 64MB, 1GiB or 1048576")
}

impl fmt::Display for Size {
    /// In binary units where that is exact, so that it reads back as the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if self.0 > 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

/// `bytes` in the binary units of `--memory`, for reading only.
pub fn human(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1_023.5 {
            let decimals = usize::from(unit != "B" && value < 99.95);
            return format!("{value:.decimals$} {unit}");
        }
        value /= 1_024.0;
    }
    format!("{value:.1} TiB")
}

/// `number` with commas between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many things, by the name of one: `1 document`, `1,234 documents`.
pub fn counted(count: u64, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {one}s", grouped(count)),
    }
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
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_answered_with_examples() {
        for text in [
            "",
            "MiB",
            "12 apples",
            "-1",
            "1e400",
            "99999999999TiB",
            "nan",
        ] {
            let error = text.parse::<Size>().unwrap_err();
            assert!(error.contains("512MiB"), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_are_shown_as_they_are_read() {
        for text in ["512MiB", "1GiB", "4KiB", "64000001", "0"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(human(999), "999 B");
        assert_eq!(human(1_023), "1023 B");
        assert_eq!(human(36_864), "36.0 KiB");
        assert_eq!(human(1_048_500), "1.0 MiB");
        assert_eq!(human(9_854_755), "9.4 MiB");
        assert_eq!(human(412 << 20), "412 MiB");
        assert_eq!(human(3 << 39), "1.5 TiB");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(100), "100");
        assert_eq!(counted(0, "line"), "0 lines");
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(1_234, "line"), "1,234 lines");
    }
}
