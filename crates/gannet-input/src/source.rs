//! Lines from files, compressed files and standard input.
//!
//! A line is never held beyond a limit: what is longer is passed over to its end and reported, so
//! that a file without line ends cannot take the memory.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gannet::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What some programs begin a file with that is in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that are read at once.
const READ_BYTES: usize = 256 << 10;

/// A file of lines, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// What a path on the command line means; an unreadable one is told at once, before any work.
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

    /// Opens it. The bytes taken from the file are added to `taken`; lines have at most `limit`
    /// bytes.
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
                let pipe = match file.metadata()?.is_file() {
                    true => None,
                    false => Some(file.as_fd().try_clone_to_owned()?),
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

/// The decompressed bytes of a source.
pub struct Bytes {
    reader: Box<dyn BufRead + Send>,
    /// How many of them can be had without reading.
    at_hand: usize,
    /// What may give more only later. Of compressed bytes nobody knows what more tells.
    pipe: Option<OwnedFd>,
}

impl Bytes {
    fn of(reader: Box<dyn BufRead + Send>, pipe: Option<OwnedFd>) -> Bytes {
        Bytes {
            reader,
            at_hand: 0,
            pipe,
        }
    }

    /// Whether no whole line is at hand and nothing more comes before `until`: who waits for the
    /// next line may wait for long.
    pub fn pauses(&mut self, until: Instant) -> bool {
        let Some(pipe) = &self.pipe else {
            return false;
        };
        let at_hand = match self.at_hand {
            0 => Ok(&[][..]),
            _ => self.reader.fill_buf(),
        };
        if at_hand.is_ok_and(|bytes| bytes.contains(&b'\n')) {
            return false;
        }
        let left = until.saturating_duration_since(Instant::now());
        !comes_within(pipe, left)
    }
}

/// Whether a read of `pipe` would give something, or its end, without waiting for longer.
fn comes_within(pipe: &OwnedFd, time: Duration) -> bool {
    let time = Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: time.subsec_nanos().into(),
    };
    let mut pipes = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut pipes, Some(&time)).is_ok_and(|ready| ready > 0)
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Bytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.reader.fill_buf()?;
        self.at_hand = bytes.len();
        Ok(bytes)
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
        self.at_hand -= count;
    }
}

/// Lines one after the other.
pub struct Lines {
    reader: Bytes,
    number: u64,
    /// Bytes of the longest line.
    limit: usize,
}

/// What became of a line.
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

    /// Whether the next line may be long in coming: see [`Bytes::pauses`].
    pub fn pauses(&mut self, until: Instant) -> bool {
        self.reader.pauses(until)
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

/// How a file is compressed.
#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

/// What compressed files begin with. No text in UTF-8 does.
const MAGIC: [(&[u8], Compression); 2] = [
    (b"\x1f\x8b", Compression::Gzip),
    (b"\x28\xb5\x2f\xfd", Compression::Zstd),
];

/// Bytes that tell how a text begins, if it begins with blanks.
const HEAD_BYTES: usize = 4;

/// Decodes by the ending of the name, or else by the first bytes. A gzip file may have several
/// members, as `cat a.gz b.gz` makes it.
fn decoded(
    ending: Option<&str>,
    file: impl Read + Send + 'static,
    pipe: Option<OwnedFd>,
) -> io::Result<Bytes> {
    let mut plain = BufReader::with_capacity(READ_BYTES, file);
    let (head, compression) = match ending {
        Some("gz") => (Vec::new(), Some(Compression::Gzip)),
        Some("zst") => (Vec::new(), Some(Compression::Zstd)),
        _ => head(&mut plain)?,
    };
    let whole = io::Cursor::new(head).chain(plain);
    Ok(match compression {
        Some(Compression::Gzip) => buffered(flate2::bufread::MultiGzDecoder::new(whole)),
        Some(Compression::Zstd) => buffered(zstd::Decoder::with_buffer(whole)?),
        None => Bytes::of(Box::new(whole), pipe),
    })
}

/// Tells the compression. A pipe may give a few bytes at a time: as many as tell it are taken, and
/// given. No more is waited for, as a program may wait for the answer to a short first line.
fn head(reader: &mut impl BufRead) -> io::Result<(Vec<u8>, Option<Compression>)> {
    let compression = |head: &[u8]| {
        let mut found = MAGIC.iter().filter(|(magic, _)| head.starts_with(magic));
        found.next().map(|(_, compression)| *compression)
    };
    let at_hand = reader.fill_buf()?;
    if !is_open(at_hand) {
        return Ok((Vec::new(), compression(at_hand)));
    }
    let mut head = Vec::new();
    while is_open(&head) && reader.by_ref().take(1).read_to_end(&mut head)? > 0 {}
    let found = compression(&head);
    Ok((head, found))
}

/// Whether more bytes may tell a compression, or how a text begins behind a mark and blanks.
fn is_open(head: &[u8]) -> bool {
    let mut magic = MAGIC.iter().map(|(magic, _)| *magic);
    magic.any(|magic| magic.len() > head.len() && magic.starts_with(head))
        || BYTE_ORDER_MARK.starts_with(head)
        || head.len() < HEAD_BYTES && head.trim_ascii().is_empty()
}

/// A path without the ending that says that the file is compressed.
pub fn without_compression(path: &Path) -> PathBuf {
    match ending(path) {
        Some("gz" | "zst") => path.with_extension(""),
        _ => path.to_owned(),
    }
}

fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(|ending| ending.to_str())
}

fn buffered(decoder: impl Read + Send + 'static) -> Bytes {
    Bytes::of(
        Box::new(BufReader::with_capacity(READ_BYTES, decoder)),
        None,
    )
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

    /// The end of what a pipe has by now.
    struct Waits;

    impl Read for Waits {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("nobody writes before there is an answer"))
        }
    }

    /// The first bytes that can be had, and the compression, where a pipe gives `each` at once.
    fn begins(text: &'static [u8], each: usize) -> io::Result<(Vec<u8>, Option<Compression>)> {
        let mut reader = BufReader::with_capacity(each, text.chain(Waits));
        let (head, compression) = head(&mut reader)?;
        let first = match head.is_empty() {
            true => reader.fill_buf()?.to_vec(),
            false => head,
        };
        assert!(text.starts_with(&first));
        Ok((first, compression))
    }

    #[test]
    fn no_more_is_read_than_tells_a_compression_and_the_beginning() {
        for each in 1..6 {
            for text in [&b"w\n"[..], b"\nw\n", b" w\n", b"(a\n", b"\x28\xb5\n"] {
                let (first, compression) = begins(text, each).unwrap();
                assert!(!first.trim_ascii().is_empty() && compression.is_none());
            }
            let (first, _) = begins(b"\xef\xbb\xbf{}", each).unwrap();
            assert!(first.starts_with(b"\xef\xbb\xbf{"));
            assert!(begins(b"\x1f\x8b", each).unwrap().1.is_some());
            assert!(begins(b"\x28\xb5\x2f\xfd", each).unwrap().1.is_some());
            assert!(begins(b"\x28\xb5", each).is_err());
        }
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
