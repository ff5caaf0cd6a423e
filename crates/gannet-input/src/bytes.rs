//! The decompressed bytes of a source, of which the first can be looked at before they are taken.
//!
//! Of a pipe no more is waited for than somebody needs: a program may wait for the answer to its
//! first line.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The mark that some programs write at the beginning of a file in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that are read at once.
pub const READ_BYTES: usize = 256 << 10;

/// The decompressed bytes of a source.
pub struct Bytes {
    reader: Box<dyn BufRead + Send>,
    /// The number of bytes that can be had without reading.
    at_hand: usize,
    /// The pipe that may give more only later. None for compressed bytes, of which it would tell
    /// nothing.
    pipe: Option<OwnedFd>,
}

impl Bytes {
    /// Wraps a reader. `pipe` is the file that may give more only later.
    pub fn of(reader: Box<dyn BufRead + Send>, pipe: Option<OwnedFd>) -> Bytes {
        Bytes {
            reader,
            at_hand: 0,
            pipe,
        }
    }

    /// Shows the first bytes without taking them: `most` of them, or all that there are. Of a pipe
    /// only so many are waited for as are enough.
    pub fn peek(&mut self, most: usize, enough: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let failed = loop {
            match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Some(error),
                Ok([]) => break None,
                Ok(at_hand) => {
                    let taken = at_hand.len().min(most - head.len());
                    head.extend_from_slice(&at_hand[..taken]);
                    self.reader.consume(taken);
                }
            }
            if head.len() == most || self.pipe.is_some() && enough(&head) {
                break None;
            }
        };
        self.put_back(head.clone(), failed);
        Ok(head)
    }

    /// Gives `head` once more, then the failure, then what follows.
    fn put_back(&mut self, head: Vec<u8>, failed: Option<io::Error>) {
        self.at_hand = head.len();
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let head = io::Cursor::new(head);
        self.reader = match failed {
            None => Box::new(head.chain(rest)),
            Some(error) => Box::new(head.chain(Fails(Some(error))).chain(rest)),
        };
    }

    /// The same bytes with lines that all end with a line feed: carriage returns become some, and
    /// with a line feed behind them vanish.
    pub fn with_line_feeds(mut self) -> Bytes {
        let pipe = self.pipe.take();
        let feeds = LineFeeds {
            inner: self,
            after_return: false,
        };
        Bytes::of(Box::new(BufReader::with_capacity(READ_BYTES, feeds)), pipe)
    }

    /// Returns true if no whole document that `end` ends is at hand and nothing more comes before
    /// `until`. The next document may then be long in coming.
    pub fn pauses(&mut self, until: Instant, end: u8) -> bool {
        let Some(pipe) = &self.pipe else {
            return false;
        };
        let at_hand = match self.at_hand {
            0 => Ok(&[][..]),
            _ => self.reader.fill_buf(),
        };
        if at_hand.is_ok_and(|bytes| bytes.contains(&end)) {
            return false;
        }
        let left = until.saturating_duration_since(Instant::now());
        !comes_within(pipe, left)
    }
}

/// Waits at most `time` and returns true if a read of `pipe` would give bytes or the end.
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

/// Fails once.
struct Fails(Option<io::Error>);

impl Read for Fails {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl BufRead for Fails {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }

    fn consume(&mut self, _: usize) {}
}

/// Makes line feeds of carriage returns.
struct LineFeeds {
    inner: Bytes,
    after_return: bool,
}

impl Read for LineFeeds {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let at_hand = self.inner.fill_buf()?;
            let taken = at_hand.len().min(buffer.len());
            let mut given = 0;
            for byte in &at_hand[..taken] {
                let is_given = *byte != b'\n' || !self.after_return;
                self.after_return = *byte == b'\r';
                if is_given {
                    buffer[given] = if self.after_return { b'\n' } else { *byte };
                    given += 1;
                }
            }
            self.inner.consume(taken);
            if given > 0 || taken == 0 {
                return Ok(given);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(reader: impl Read + Send + 'static, each: usize) -> Bytes {
        Bytes::of(Box::new(BufReader::with_capacity(each, reader)), None)
    }

    #[test]
    fn what_was_looked_at_comes_once_more_and_so_does_a_failure_behind_it() {
        for each in 1..8 {
            let text = &b"abcdef"[..];
            let mut whole = bytes(text.chain(Fails(Some(io::Error::other("cut")))), each);
            assert_eq!(whole.peek(4, |_| false).unwrap(), b"abcd");
            assert_eq!(whole.peek(100, |_| false).unwrap(), b"abcdef");
            let mut read = Vec::new();
            assert!(whole.read_to_end(&mut read).is_err());
            assert_eq!(read, b"abcdef");
        }
    }

    #[test]
    fn every_end_of_a_line_becomes_a_line_feed() {
        for each in 1..6 {
            let text = &b"a\r\rb\r\nc\n\r\n\nd\r"[..];
            let mut read = Vec::new();
            let mut feeds = bytes(text, each).with_line_feeds();
            feeds.read_to_end(&mut read).unwrap();
            assert_eq!(read, b"a\n\nb\nc\n\n\nd\n");
        }
    }
}
