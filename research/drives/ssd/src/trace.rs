//! A trace: what was done with a device, a line an operation.
//!
//! A line has five fields with tabs between: the number of the batch that the operation was handed
//! over with, what it is (a letter), the name of the file, the first page, and pages of 4 KiB.

use std::fmt;
use std::io::BufRead;

use gannet::device::FileId;
use gannet::{Error, Result};

/// The name of a trace in the folder of what it traces.
pub const TRACE_FILE: &str = "trace.tsv";

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The file was there, with so many pages, when the trace began.
    Present,
    /// Pages were read.
    Read,
    /// Pages were written.
    Write,
    /// The file was synced.
    Sync,
    /// The file was removed.
    Remove,
}

/// All actions with their letters.
const LETTERS: [(Action, &str); 5] = [
    (Action::Present, "p"),
    (Action::Read, "r"),
    (Action::Write, "w"),
    (Action::Sync, "s"),
    (Action::Remove, "x"),
];

/// A line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Operations of a batch were handed over at once.
    pub batch: u64,
    /// What was done.
    pub action: Action,
    /// The file.
    pub file: FileId,
    /// The first page.
    pub page: u32,
    /// How many pages.
    pub pages: u32,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = LETTERS.iter().find(|(action, _)| action == self);
        f.write_str(letter.map_or("", |(_, letter)| letter))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry {
            batch,
            action,
            file,
            page,
            pages,
        } = self;
        write!(f, "{batch}\t{action}\t{file}\t{page}\t{pages}")
    }
}

/// The entries of a trace. A line that is none gives an error with its number.
pub fn entries(trace: impl BufRead) -> impl Iterator<Item = Result<Entry>> {
    trace.lines().enumerate().map(|(at, line)| {
        let line = line.map_err(|error| wrong(at, &format!("it cannot be read: {error}")))?;
        parse(&line).map_err(|problem| wrong(at, &problem))
    })
}

fn wrong(at: usize, problem: &str) -> Error {
    Error::invalid(format!("line {} of the trace: {problem}", at + 1))
}

fn parse(line: &str) -> std::result::Result<Entry, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [batch, action, file, page, pages] = fields[..] else {
        return Err(format!(
            "expected 5 fields with tabs between, found {}",
            fields.len()
        ));
    };
    let letter = LETTERS.iter().find(|(_, letter)| *letter == action);
    let (action, _) = letter.ok_or_else(|| format!("expected p, r, w, s or x, found {action}"))?;
    let file = FileId::from_name(file).ok_or_else(|| format!("{file} names no file"))?;
    let (page, pages) = (number(page)?, number(pages)?);
    let (Ok(page), Ok(pages)) = (u32::try_from(page), u32::try_from(pages)) else {
        return Err("expected pages below 2^32".to_owned());
    };
    Ok(Entry {
        batch: number(batch)?,
        action: *action,
        file,
        page,
        pages,
    })
}

fn number(text: &str) -> std::result::Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a number, found {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_comes_back_from_its_line() {
        for (at, (action, _)) in LETTERS.into_iter().enumerate() {
            let file = if at == 0 {
                FileId::Superblock
            } else {
                FileId::Zone(at as u32)
            };
            let entry = Entry {
                batch: 3,
                action,
                file,
                page: 7,
                pages: 2,
            };
            assert_eq!(parse(&entry.to_string()), Ok(entry));
        }
    }

    #[test]
    fn a_line_that_is_no_entry_is_named() {
        let text = "1\tr\tzone-00000001\t0\t1\n1\tq\tzone-00000001\t0\t1\n";
        let mut entries = entries(text.as_bytes());
        assert!(entries.next().unwrap().is_ok());
        let error = entries.next().unwrap().unwrap_err().to_string();
        assert!(
            error.contains("line 2 of the trace") && error.contains('q'),
            "{error}"
        );
        for line in [
            "",
            "1\tr\tzone-1\t0\t1",
            "a\tr\tsuperblock\t0\t1",
            "1\tr\tsuperblock\t-1\t1",
            "1\tr\tsuperblock\t0\t4294967296",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
