//! Lines from files, compressed files and standard input.
//!
//! A line is never held beyond a limit: what is longer is passed over to its end and reported, so
//! that a file without line ends cannot take the memory.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use gannet::{Error, Result};

use crate::bytes::{BYTE_ORDER_MARK, Bytes};
use crate::compression::{decoded, ending};

/// A file of lines, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// Returns the source at a path of the command line; fails at once, before any work, if it
    /// cannot be read.
    pub fn at(path: &Path) -> Result<Source> {
        if path == Path::new("-") {
            return Ok(Source::Stdin);
        }
        let unreadable = |error| Error::invalid(format!("{}: {error}", path.display()));
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(Error::invalid(format!(
                "{} is a folder, not a file",
                path.display()
            )));
        }
        // Who writes to a pipe would be cut off when it is closed again.
        if metadata.is_file() {
            File::open(path).map_err(unreadable)?;
        }
        Ok(Source::File(path.to_owned()))
    }

    /// Bytes of the file, compressed as it is; nothing for what has no end to be seen.
    pub fn bytes(&self) -> Option<u64> {
        let Source::File(path) = self else {
            return None;
        };
        let metadata = std::fs::metadata(path).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Opens it for its lines. The bytes taken from the file are added to `taken`; lines have at
    /// most `limit` bytes.
    pub fn lines(&self, taken: &Arc<AtomicU64>, limit: usize) -> io::Result<Lines> {
        Ok(Lines::of(self.reader(taken)?, limit))
    }

    /// Opens it for its decompressed bytes. Those taken from the file are added to `taken`.
    pub fn reader(&self, taken: &Arc<AtomicU64>) -> io::Result<Bytes> {
        match self {
            Source::Stdin => {
                let pipe = io::stdin().as_fd().try_clone_to_owned()?;
                decoded(None, counted(io::stdin(), taken), Some(pipe))
            }
            Source::File(path) => {
                let file = File::open(path)?;
                let pipe = if file.metadata()?.is_file() {
                    None
                } else {
                    Some(file.as_fd().try_clone_to_owned()?)
                };
                decoded(ending(path), counted(file, taken), pipe)
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::File(path) => path.display().fmt(f),
        }
    }
}

/// Lines one after the other.
pub struct Lines {
    reader: Bytes,
    number: u64,
    /// Bytes of the longest line.
    limit: usize,
}

/// The outcome of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// It was appended to the buffer.
    Whole,
    /// It was longer than allowed; the buffer is as it was.
    TooLong,
    /// There are no more lines.
    End,
}

impl Lines {
    /// The lines of a reader, of at most `limit` bytes.
    pub fn of(reader: Bytes, limit: usize) -> Lines {
        Lines {
            reader,
            number: 0,
            limit,
        }
    }

    /// Returns true if the next line may be long in coming: see [`Bytes::pauses`].
    pub fn pauses(&mut self, until: Instant) -> bool {
        self.reader.pauses(until, b'\n')
    }

    /// The number of the line read last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Appends the next line to `buffer`, without its end.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Line> {
        let start = buffer.len();
        let limit = self.limit as u64 + 1;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', buffer)?;
        if read == 0 {
            return Ok(Line::End);
        }
        self.number += 1;
        if buffer.last() == Some(&b'\n') {
            buffer.pop();
        } else if read > self.limit {
            buffer.truncate(start);
            self.reader.skip_until(b'\n')?;
            return Ok(Line::TooLong);
        }
        if buffer[start..].ends_with(b"\r") {
            buffer.pop();
        }
        if self.number == 1 && buffer[start..].starts_with(BYTE_ORDER_MARK) {
            buffer.drain(start..start + BYTE_ORDER_MARK.len());
        }
        Ok(Line::Whole)
    }
}

/// Counts what is taken from a file, for the progress.
struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

fn counted<R: Read>(inner: R, taken: &Arc<AtomicU64>) -> Counted<R> {
    let taken = Arc::clone(taken);
    Counted { inner, taken }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    fn lines(text: &[u8]) -> Lines {
        let reader = Box::new(io::Cursor::new(text.to_vec()));
        Lines::of(Bytes::of(reader, None), LIMIT)
    }

    #[test]
    fn lines_end_with_line_feed_carriage_return_or_the_file() {
        let mut lines = lines(b"a\r\n\nb\rc\nd");
        let mut buffer = Vec::new();
        while lines.next(&mut buffer).unwrap() == Line::Whole {
            buffer.push(b'|');
        }
        assert_eq!(buffer, b"a||b\rc|d|");
        assert_eq!(lines.number(), 4);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_at_the_front_only() {
        let mut lines = lines(b"\xef\xbb\xbfa\n\xef\xbb\xbfb");
        let mut buffer = Vec::new();
        while lines.next(&mut buffer).unwrap() == Line::Whole {}
        assert_eq!(buffer, b"a\xef\xbb\xbfb");
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let mut text = vec![b'x'; LIMIT];
        text.extend(b"\ny");
        text.resize(text.len() + LIMIT, b'y');
        text.extend(b"\nz");
        let mut lines = lines(&text);
        let mut buffer = Vec::new();
        let mut next = || {
            buffer.clear();
            let line = lines.next(&mut buffer).unwrap();
            (line, buffer.len(), lines.number())
        };
        assert_eq!(next(), (Line::Whole, LIMIT, 1));
        assert_eq!(next(), (Line::TooLong, 0, 2));
        assert_eq!(next(), (Line::Whole, 1, 3));
        assert_eq!(next().0, Line::End);
    }
}
