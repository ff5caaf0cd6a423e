//! The record of one document: what the log carries and the document store keeps, written once.
//!
//! The layout is in `docs/format.md`. A record has no length of its own: its span, or the log
//! record around it, tells where it ends.

use super::flatten::ID_BYTES_MAX;
use super::json::DOCUMENT_BYTES_MAX;
use crate::base::{ByteReader, DocId, END, Result, Sequence, put_bytes, put_varint};

/// The number of a compression dictionary: ascending from 1; 0 means none.
pub type DictionaryVersion = u32;

/// A document as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentRecord<'a> {
    /// The document's number.
    pub doc: DocId,
    /// The operation that brought it.
    pub sequence: Sequence,
    /// The number of times a document with this external ID was written.
    pub version: u64,
    /// The dictionary that `compressed` needs; 0 is none.
    pub dictionary: DictionaryVersion,
    /// Set if the source's member `id` is the external ID, and so no field.
    pub id_in_source: bool,
    /// The external ID.
    pub id: &'a str,
    /// Bytes of the source before compression.
    pub raw_length: u32,
    /// The source, compressed; as it came if that is no longer.
    pub compressed: &'a [u8],
}

impl<'a> DocumentRecord<'a> {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.doc as u64);
        put_varint(out, self.sequence);
        put_varint(out, self.version);
        put_varint(
            out,
            (self.dictionary as u64) << 1 | self.id_in_source as u64,
        );
        put_varint(out, self.raw_length as u64);
        put_bytes(out, self.id.as_bytes());
        out.extend_from_slice(self.compressed);
    }

    /// Bytes that [`DocumentRecord::encode`] appends.
    pub fn length(&self) -> usize {
        let mut head = Vec::new();
        let empty = DocumentRecord {
            compressed: &[],
            ..*self
        };
        empty.encode(&mut head);
        head.len() + self.compressed.len()
    }

    /// The number of the document whose record begins with `bytes`.
    pub fn doc_of(bytes: &[u8]) -> Result<DocId> {
        ByteReader::new(bytes, "a document record").varint_u32()
    }

    /// Reads a record that takes up all of `bytes`.
    pub fn decode(bytes: &'a [u8]) -> Result<DocumentRecord<'a>> {
        let mut reader = ByteReader::new(bytes, "a document record");
        let (doc, sequence, version) = (reader.varint_u32()?, reader.varint()?, reader.varint()?);
        let origin = reader.varint()?;
        let dictionary = DictionaryVersion::try_from(origin >> 1)
            .map_err(|_| reader.damaged("a dictionary's version", origin >> 1))?;
        let record = DocumentRecord {
            doc,
            sequence,
            version,
            dictionary,
            id_in_source: origin & 1 != 0,
            raw_length: reader.length(DOCUMENT_BYTES_MAX)? as u32,
            id: reader.text()?,
            compressed: reader.rest(),
        };
        if record.doc == END {
            return Err(reader.damaged("a doc ID", END));
        }
        if record.id.is_empty() || record.id.len() > ID_BYTES_MAX {
            let expected = format!("an external ID of 1 to {ID_BYTES_MAX} bytes");
            return Err(reader.damaged(&expected, record.id.len()));
        }
        if record.compressed.len() > record.raw_length as usize {
            let expected = format!("at most {} bytes of source", record.raw_length);
            return Err(reader.damaged(&expected, record.compressed.len()));
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_round_trip(
            doc in 0..END,
            (sequence, version) in any::<(u64, u64)>(),
            (dictionary, id_in_source) in any::<(u32, bool)>(),
            id in "\\PC{1,100}",
            compressed in prop::collection::vec(any::<u8>(), 0..300),
            saved in 0u32..1_000,
        ) {
            let record = DocumentRecord {
                doc,
                sequence,
                version,
                dictionary,
                id_in_source,
                id: &id,
                raw_length: compressed.len() as u32 + saved,
                compressed: &compressed,
            };
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            prop_assert_eq!(DocumentRecord::decode(&bytes).unwrap(), record);
        }

        #[test]
        fn hostile_bytes_are_an_error_or_a_record(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(record) = DocumentRecord::decode(&bytes) {
                prop_assert!(record.raw_length as usize <= DOCUMENT_BYTES_MAX);
            }
        }
    }

    #[test]
    fn a_record_cut_short_or_out_of_bounds_is_rejected() {
        let record = DocumentRecord {
            doc: 7,
            sequence: 8,
            version: 1,
            dictionary: 0,
            id_in_source: false,
            id: "a",
            raw_length: 2,
            compressed: b"{}",
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        for end in 0..bytes.len() - 2 {
            assert!(DocumentRecord::decode(&bytes[..end]).is_err(), "{end}");
        }
        for wrong in [
            DocumentRecord { doc: END, ..record },
            DocumentRecord { id: "", ..record },
            DocumentRecord {
                raw_length: 1,
                ..record
            },
            DocumentRecord {
                raw_length: DOCUMENT_BYTES_MAX as u32 + 1,
                ..record
            },
        ] {
            let mut bytes = Vec::new();
            wrong.encode(&mut bytes);
            assert!(DocumentRecord::decode(&bytes).is_err(), "{wrong:?}");
        }
    }
}
