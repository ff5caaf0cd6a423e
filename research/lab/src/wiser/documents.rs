//! Documents in files. Each is compressed alone (LZ4, as in the paper), and aligned to a page where
//! that saves one, or not. Or 16 KiB of documents are compressed together, as in Elasticsearch.

use std::path::Path;

use gannet::device::PAGE_SIZE;
use gannet::{Error, Result};

use super::code::Part;
use super::pages::{FileNumber, Pages, Stream, Writer};

/// Bytes of documents that are compressed together.
const GROUP: usize = 16 << 10;

/// The file of the first way.
const FIRST_FILE: FileNumber = 64;

/// How documents are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Each alone, aligned where that saves a page.
    Aligned,
    /// Each alone, one behind the other.
    Alone,
    /// Groups of 16 KiB.
    Groups,
}

impl Stored {
    /// All of them.
    pub const ALL: [Stored; 3] = [Stored::Aligned, Stored::Alone, Stored::Groups];

    fn file(self) -> FileNumber {
        FIRST_FILE + self as FileNumber
    }
}

/// Writes documents in one of the ways.
pub struct TextWriter {
    stored: Stored,
    file: Writer,
    group: Vec<u8>,
    texts: Texts,
}

/// Documents of one of the ways: where each is.
pub struct Texts {
    stored: Stored,
    /// Where compressed texts start, and their bytes.
    groups: Vec<(u64, u32)>,
    /// Of each document the group, and its first byte and length in it.
    places: Vec<(u32, u32, u32)>,
    /// Bytes of the file.
    pub file_bytes: u64,
}

impl TextWriter {
    /// A new file of a folder.
    pub fn create(folder: &Path, stored: Stored) -> std::io::Result<TextWriter> {
        Ok(TextWriter {
            stored,
            file: Writer::create(folder, stored.file())?,
            group: Vec::new(),
            texts: Texts {
                stored,
                groups: Vec::new(),
                places: Vec::new(),
                file_bytes: 0,
            },
        })
    }

    /// Appends a document.
    pub fn put(&mut self, text: &str) -> std::io::Result<()> {
        let place = (self.texts.groups.len(), self.group.len(), text.len());
        self.texts
            .places
            .push((place.0 as u32, place.1 as u32, place.2 as u32));
        self.group.extend_from_slice(text.as_bytes());
        if self.stored == Stored::Groups && self.group.len() < GROUP {
            Ok(())
        } else {
            self.end_group()
        }
    }

    fn end_group(&mut self) -> std::io::Result<()> {
        let bytes = lz4_flex::compress_prepend_size(&self.group);
        self.group.clear();
        if self.stored == Stored::Aligned {
            let inside = self.file.bytes as usize % PAGE_SIZE;
            let pages = (inside + bytes.len()).div_ceil(PAGE_SIZE);
            if pages > bytes.len().div_ceil(PAGE_SIZE) {
                self.file.put(&vec![0; PAGE_SIZE - inside])?;
            }
        }
        let start = self.file.put(&bytes)?;
        self.texts.groups.push((start, bytes.len() as u32));
        Ok(())
    }

    /// Ends the file.
    pub fn end(mut self) -> std::io::Result<Texts> {
        if !self.group.is_empty() {
            self.end_group()?;
        }
        self.texts.file_bytes = self.file.end()?;
        Ok(self.texts)
    }
}

impl Texts {
    /// The text of a document.
    pub fn read(&self, doc: u32, pages: &mut Pages) -> Result<String> {
        let (group, first, length) = self.places[doc as usize];
        let (start, bytes) = self.groups[group as usize];
        let mut stream = Stream::new(self.stored.file(), start, Part::Texts);
        let packed = stream.take(u64::from(bytes), pages)?;
        let damaged = || Error::invalid(format!("document {doc} of the lab cannot be unpacked"));
        let texts = lz4_flex::decompress_size_prepended(&packed).map_err(|_| damaged())?;
        let text = texts
            .get(first as usize..(first + length) as usize)
            .ok_or_else(damaged)?;
        // The share of the document, if it is not alone.
        let needed = u64::from(bytes) * u64::from(length) / texts.len().max(1) as u64;
        pages.counts[Part::Texts as usize].needed += needed;
        String::from_utf8(text.to_vec()).map_err(|_| damaged())
    }
}
