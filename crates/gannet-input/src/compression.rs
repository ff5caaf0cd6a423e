//! Compressed files: told by the ending of the name, or else by the first bytes.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::bytes::{BYTE_ORDER_MARK, Bytes, READ_BYTES};

/// The compressions of a file.
#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
    Xz,
}

/// The first bytes of compressed files. No text in UTF-8 begins so.
const MAGIC: [(&[u8], Compression); 3] = [
    (b"\x1f\x8b", Compression::Gzip),
    (b"\x28\xb5\x2f\xfd", Compression::Zstd),
    (b"\xfd7zXZ\0", Compression::Xz),
];

/// Bytes that tell how a text begins, if it begins with blanks.
const HEAD_BYTES: usize = 4;

/// Decodes by the ending of the name, or else by the first bytes. A gzip file may have several
/// members, as `cat a.gz b.gz` makes it.
pub fn decoded(
    ending: Option<&str>,
    file: impl Read + Send + 'static,
    pipe: Option<OwnedFd>,
) -> io::Result<Bytes> {
    let mut plain = BufReader::with_capacity(READ_BYTES, file);
    let (head, compression) = match ending {
        Some("gz") => (Vec::new(), Some(Compression::Gzip)),
        Some("zst") => (Vec::new(), Some(Compression::Zstd)),
        Some("xz") => (Vec::new(), Some(Compression::Xz)),
        _ => head(&mut plain)?,
    };
    let whole = io::Cursor::new(head).chain(plain);
    Ok(match compression {
        Some(Compression::Gzip) => buffered(flate2::bufread::MultiGzDecoder::new(whole)),
        Some(Compression::Zstd) => buffered(zstd::Decoder::with_buffer(whole)?),
        Some(Compression::Xz) => xz(whole)?,
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

/// Returns true if more bytes may reveal a compression, or the beginning of a text behind a mark
/// and blanks.
fn is_open(head: &[u8]) -> bool {
    let mut magic = MAGIC.iter().map(|(magic, _)| *magic);
    magic.any(|magic| magic.len() > head.len() && magic.starts_with(head))
        || BYTE_ORDER_MARK.starts_with(head)
        || head.len() < HEAD_BYTES && head.trim_ascii().is_empty()
}

/// A path without the ending that says that the file is compressed.
pub fn without_compression(path: &Path) -> PathBuf {
    match ending(path) {
        Some("gz" | "zst" | "xz") => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// The ending of a name, where it has one.
pub fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(|ending| ending.to_str())
}

/// Bytes that the decoder of an xz file may hold: those of `xz -9`, and no more.
#[cfg(feature = "xz")]
const XZ_KIBIBYTES: u32 = 66 << 10;

#[cfg(feature = "xz")]
fn xz(whole: impl Read + Send + 'static) -> io::Result<Bytes> {
    let decoder = lzma_rust2::XzReader::new_mem_limit(whole, true, XZ_KIBIBYTES);
    Ok(buffered(Xz(decoder)))
}

#[cfg(not(feature = "xz"))]
fn xz(_: impl Read + Send + 'static) -> io::Result<Bytes> {
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        "it is compressed by xz, which this build does not read (it lacks the feature `xz`): decompress it, as with xz -dc FILE",
    ))
}

/// Says what is wrong with an xz file.
#[cfg(feature = "xz")]
struct Xz<R: Read>(lzma_rust2::XzReader<R>);

#[cfg(feature = "xz")]
impl<R: Read> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let kind = error.kind();
            let sentence = match kind {
                io::ErrorKind::Interrupted => return error,
                io::ErrorKind::OutOfMemory => {
                    "its xz dictionary has more than 64 MiB: decompress it, as with xz -dc FILE"
                        .to_owned()
                }
                io::ErrorKind::UnexpectedEof => {
                    "the xz file ends before its end: it was cut off".to_owned()
                }
                _ => format!("the xz file cannot be decompressed: {error}"),
            };
            io::Error::new(kind, sentence)
        })
    }
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
        let first = if head.is_empty() {
            reader.fill_buf()?.to_vec()
        } else {
            head
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
}
