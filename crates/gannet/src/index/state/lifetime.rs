//! Lifetime write statistics: the bytes that an index has written in all its life. The root has
//! them, so they go on when the index is opened again. Writes behind the last root before a crash
//! are not in them.

use std::time::Duration;

use crate::base::{ByteReader, Result, put_varint};

/// Bytes written to flash since the index was opened. Together with the root slots they are all
/// that the device has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesWritten {
    /// The log: documents, once, and deletions.
    pub log: u64,
    /// Documents that cleaning has moved.
    pub moved_documents: u64,
    /// Nodes of the trees, with the short lists in them.
    pub nodes: u64,
    /// Chunks of long lists.
    pub postings: u64,
    /// Document table, norms, live set, node mappings.
    pub tables: u64,
    /// Root records.
    pub roots: u64,
}

impl BytesWritten {
    /// All of it.
    pub fn total(&self) -> u64 {
        let lists = self.nodes + self.postings;
        self.log + self.moved_documents + lists + self.tables + self.roots
    }

    /// Both together.
    pub(crate) fn and(&self, other: &BytesWritten) -> BytesWritten {
        BytesWritten {
            log: self.log + other.log,
            moved_documents: self.moved_documents + other.moved_documents,
            nodes: self.nodes + other.nodes,
            postings: self.postings + other.postings,
            tables: self.tables + other.tables,
            roots: self.roots + other.roots,
        }
    }
}

/// Figures of the whole life of an index, as of its last checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    /// Bytes written to flash, by cause.
    pub written: BytesWritten,
    /// Bytes of the sources of all documents that were written.
    pub source_bytes: u64,
    /// The longest that a write has waited for a flush.
    pub longest_stall: Duration,
}

impl Lifetime {
    /// Bytes written for each byte of source; nothing where no document was written.
    pub fn host_write_amplification(&self) -> Option<f64> {
        let written = self.written.total() as f64;
        (self.source_bytes > 0).then(|| written / self.source_bytes as f64)
    }

    /// This, and what was done since.
    pub(crate) fn and(&self, since: &Lifetime) -> Lifetime {
        Lifetime {
            written: self.written.and(&since.written),
            source_bytes: self.source_bytes + since.source_bytes,
            longest_stall: self.longest_stall.max(since.longest_stall),
        }
    }

    /// Appends what [`Lifetime::decode`] reads.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let BytesWritten {
            log,
            moved_documents,
            nodes,
            postings,
            tables,
            roots,
        } = self.written;
        let stall = self.longest_stall.as_micros() as u64;
        let numbers = [log, moved_documents, nodes, postings, tables, roots];
        let all = numbers.into_iter().chain([self.source_bytes, stall]);
        all.for_each(|number| put_varint(out, number));
    }

    /// Decodes the statistics that come next.
    pub(crate) fn decode(reader: &mut ByteReader<'_>) -> Result<Lifetime> {
        Ok(Lifetime {
            written: BytesWritten {
                log: reader.varint()?,
                moved_documents: reader.varint()?,
                nodes: reader.varint()?,
                postings: reader.varint()?,
                tables: reader.varint()?,
                roots: reader.varint()?,
            },
            source_bytes: reader.varint()?,
            longest_stall: Duration::from_micros(reader.varint()?),
        })
    }
}
