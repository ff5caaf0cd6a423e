//! Finds the separator of fields and the line ends of a file of rows, by its first lines.
//!
//! The separator is a sign that stands in the header; of several, the one that the rows have as
//! often as the header. A header without any of them means one column. A line `sep=;`, as
//! spreadsheets write it, names the sign itself.

use crate::bytes::BYTE_ORDER_MARK;
use crate::format::InputFormat;

/// The bytes of a file that are looked at.
pub const DIALECT_BYTES: usize = 64 << 10;

/// The number of rows that are compared with the header.
const ROWS_COMPARED: usize = 50;

/// The separators that are considered beside that of the format.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The prefix of a first line that names the delimiter.
const SEP: &[u8] = b"sep=";

/// The syntax of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The separator of fields.
    pub delimiter: u8,
    /// Set if fields may stand between quotation marks.
    pub quoting: bool,
    /// Set if some lines end with a carriage return alone.
    pub returns: bool,
    /// Bytes of a first line that says the delimiter, and of a mark before it.
    pub front: usize,
}

impl Dialect {
    /// Returns the dialect of a file that begins so. A delimiter that the caller gives is taken.
    pub fn of(head: &[u8], format: InputFormat, given: Option<u8>) -> Dialect {
        let is_csv = format == InputFormat::Csv;
        let usual = usual(format);
        let (front, said) = said(head);
        let rows = Rows::of(
            &head[front..],
            is_csv || given.is_some_and(|given| given != usual),
        );
        let delimiter = given.or(said).unwrap_or_else(|| rows.delimiter(usual));
        Dialect {
            delimiter,
            quoting: is_csv || delimiter != usual,
            returns: rows.returns,
            front,
        }
    }

    /// Describes the deviations from the format in words; `None` if there are none.
    pub fn unusual(&self, format: InputFormat, given: Option<u8>) -> Option<String> {
        let sign = (given.is_none() && self.delimiter != usual(format))
            .then(|| format!("{} separates the fields", named(self.delimiter)));
        let ends = self
            .returns
            .then(|| "lines end with carriage returns (CR)".to_owned());
        match (sign, ends) {
            (Some(sign), Some(ends)) => Some(format!("{sign}, and {ends}")),
            (sign, ends) => sign.or(ends),
        }
    }
}

/// Returns the separator that a format of rows has.
fn usual(format: InputFormat) -> u8 {
    match format {
        InputFormat::Tsv => b'\t',
        _ => b',',
    }
}

/// Returns true if so much of a pipe tells the dialect: a line, and what follows a carriage return.
pub fn is_enough(head: &[u8]) -> bool {
    let end = head.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    end.is_some_and(|end| head[end] == b'\n' || end + 1 < head.len())
}

/// A delimiter in words.
pub fn named(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "a tab".to_owned(),
        other => format!("'{}'", char::from(other)),
    }
}

/// The bytes of a first line `sep=;`, and the delimiter that it says.
fn said(head: &[u8]) -> (usize, Option<u8>) {
    let mark = usize::from(head.starts_with(BYTE_ORDER_MARK)) * BYTE_ORDER_MARK.len();
    let line = &head[mark..];
    let quote = usize::from(line.starts_with(b"\""));
    let Some(rest) = line.get(quote..).and_then(|line| {
        let (sep, rest) = line.split_at_checked(SEP.len())?;
        sep.eq_ignore_ascii_case(SEP).then_some(rest)
    }) else {
        return (0, None);
    };
    let [sign, rest @ ..] = rest else {
        return (0, None);
    };
    let rest = rest.strip_prefix(&b"\""[..quote]).unwrap_or(rest);
    let ends: [&[u8]; 3] = [b"\r\n", b"\n", b"\r"];
    let end = ends.iter().find(|end| rest.starts_with(end));
    let is_sign = sign.is_ascii() && !matches!(sign, b'\n' | b'\r' | b'"');
    match (end, is_sign) {
        (Some(end), true) => (head.len() - rest.len() + end.len(), Some(*sign)),
        (None, true) if rest.is_empty() => (head.len(), Some(*sign)),
        _ => (0, None),
    }
}

/// The first rows of a file: how often each delimiter stands in them outside of quotation marks.
struct Rows {
    counts: Vec<[usize; DELIMITERS.len()]>,
    returns: bool,
}

impl Rows {
    fn of(head: &[u8], quoting: bool) -> Rows {
        let mut rows = Rows {
            counts: Vec::new(),
            returns: false,
        };
        let mut counts = [0; DELIMITERS.len()];
        let (mut is_open, mut is_blank, mut before) = (false, true, b'\n');
        for (at, byte) in head.iter().copied().enumerate() {
            let next = head.get(at + 1).copied();
            let is_first = matches!(before, b'\n' | b'\r') || DELIMITERS.contains(&before);
            match byte {
                b'"' if quoting && is_open => is_open = !ends_field(next),
                b'"' if quoting && is_first => is_open = true,
                b'\n' | b'\r' if !is_open => {
                    rows.returns |= byte == b'\r' && next.is_some_and(|next| next != b'\n');
                    if !is_blank {
                        rows.counts.push(std::mem::take(&mut counts));
                    }
                    is_blank = true;
                }
                _ => {
                    is_blank &= byte.is_ascii_whitespace();
                    if !is_open && let Some(at) = place(byte) {
                        counts[at] += 1;
                        is_blank = false;
                    }
                }
            }
            is_blank &= byte != b'"';
            before = byte;
        }
        // Of the last line no more may be there.
        if rows.counts.is_empty() {
            rows.counts.push(counts);
        }
        rows.counts.truncate(ROWS_COMPARED + 1);
        rows
    }

    fn delimiter(&self, usual: u8) -> u8 {
        let likely = DELIMITERS
            .into_iter()
            .filter(|sign| self.is_possible(*sign, usual));
        let best =
            likely.max_by_key(|sign| (self.agreeing(*sign), *sign == usual, self.in_header(*sign)));
        best.unwrap_or(usual)
    }

    /// Returns true if a delimiter is in the header, and in a row if it is not the usual one.
    fn is_possible(&self, sign: u8, usual: u8) -> bool {
        let mut rows = self.counts.iter().skip(1);
        let is_in_rows = self.counts.len() == 1 || rows.any(|row| count(row, sign) > 0);
        self.in_header(sign) > 0 && (sign == usual || is_in_rows)
    }

    /// Rows with as many fields as the header.
    fn agreeing(&self, sign: u8) -> usize {
        let rows = self.counts.iter().skip(1);
        rows.filter(|row| count(row, sign) == self.in_header(sign))
            .count()
    }

    fn in_header(&self, sign: u8) -> usize {
        self.counts.first().map_or(0, |header| count(header, sign))
    }
}

fn ends_field(next: Option<u8>) -> bool {
    next.is_none_or(|next| matches!(next, b'\n' | b'\r') || DELIMITERS.contains(&next))
}

fn place(byte: u8) -> Option<usize> {
    DELIMITERS.iter().position(|sign| *sign == byte)
}

fn count(row: &[usize; DELIMITERS.len()], sign: u8) -> usize {
    place(sign).map_or(0, |at| row[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &str, format: InputFormat) -> (char, bool) {
        let dialect = Dialect::of(head.as_bytes(), format, None);
        (char::from(dialect.delimiter), dialect.returns)
    }

    #[test]
    fn the_delimiter_is_that_of_header_and_rows() {
        for (head, delimiter) in [
            ("id,title\n1,a;b\n", ','),
            ("id;title\n1;a\n", ';'),
            ("id;price\n1;5,30\n2;6,10\n", ';'),
            ("id;price, EUR;title\n1;5;x\n", ';'),
            ("id\ttitle\n1\tx\n", '\t'),
            ("a|b|c\n1|2|3\n", '|'),
            ("\"id\";\"title; long\"\n\"1\";\"a, b\"\n", ';'),
            ("\"a;b\",\"c;d\"\n1,2\n", ','),
            ("title\nhello; world\n", ','),
            ("name; full\nx\ny\n", ','),
            ("id;title", ';'),
            ("id,title;x", ','),
            ("\"two\nlines\";b\n1;2\n", ';'),
            ("\"say \"\"a,b\"\"\";c\n1;2\n", ';'),
            ("id;a\n\n\n1;2\n", ';'),
            ("", ','),
        ] {
            assert_eq!(of(head, InputFormat::Csv).0, delimiter, "{head}");
        }
        assert_eq!(of("a\tb;c\n1\t2\n", InputFormat::Tsv).0, '\t');
        assert_eq!(of("a;b\n1;2\n", InputFormat::Tsv).0, ';');
        assert_eq!(of("a,b\n1,2\n", InputFormat::Tsv).0, ',');
    }

    #[test]
    fn carriage_returns_alone_are_told_outside_of_quotation_marks() {
        for (head, returns) in [
            ("id,title\r1,a\r", true),
            ("id,title\r\n1,a\r\n", false),
            ("id,title\r\n1,a\r2,b\r\n", true),
            ("id,title\n1,\"a\rb\"\n", false),
            ("id,title\r", false),
        ] {
            assert_eq!(of(head, InputFormat::Csv).1, returns, "{head:?}");
        }
    }

    #[test]
    fn a_first_line_may_say_the_delimiter() {
        for (head, delimiter, front) in [
            ("sep=;\nid;a\n", b';', 6),
            ("\u{feff}SEP=\t\r\nid\ta\r\n", b'\t', 10),
            ("\"sep=|\"\nid|a\n", b'|', 8),
            ("sep=^\rid^a\r", b'^', 6),
            ("sep=;", b';', 5),
            ("separate,b\n1,2\n", b',', 0),
            ("sep=ab,c\n1,2\n", b',', 0),
        ] {
            let dialect = Dialect::of(head.as_bytes(), InputFormat::Csv, None);
            assert_eq!(
                (dialect.delimiter, dialect.front),
                (delimiter, front),
                "{head:?}"
            );
        }
        let known = Dialect::of(b"sep=;\nid,a\n", InputFormat::Csv, Some(b','));
        assert_eq!((known.delimiter, known.front), (b',', 6));
    }

    #[test]
    fn a_pipe_is_read_until_the_end_of_a_line_is_sure() {
        assert!(is_enough(b"a,b\n") && is_enough(b"a\rb") && is_enough(b"a\r\n"));
        assert!(!is_enough(b"a,b") && !is_enough(b"a,b\r"));
    }
}
