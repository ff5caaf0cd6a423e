//! What an index has written in all its life: the root tells of it, so that it goes on when the index is opened again. What was
//! written behind the last root before a crash is not in it.

use std::time::Duration;

use super::stats::BytesWritten;
use crate::base::{ByteReader, Result, put_varint};

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
    pub(super) fn and(&self, since: &Lifetime) -> Lifetime {
        Lifetime {
            written: self.written.and(&since.written),
            source_bytes: self.source_bytes + since.source_bytes,
            longest_stall: self.longest_stall.max(since.longest_stall),
        }
    }

    /// Appends what [`Lifetime::decode`] reads.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
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

    /// What was encoded next.
    pub(super) fn decode(reader: &mut ByteReader<'_>) -> Result<Lifetime> {
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
