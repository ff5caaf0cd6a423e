//! Records the results of vacuum in the root.

use crate::base::{ByteReader, Result, put_varint};
use crate::search::FieldStatistics;

/// The results of all sweeps, as the root has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vacuumed {
    /// Deleted documents of which nothing is left.
    pub(crate) documents: u64,
    /// The tokens and documents that were taken out, by field, and still count in the statistics.
    pub(crate) taken: Vec<FieldStatistics>,
}

impl Vacuumed {
    /// Appends what [`Vacuumed::decode`] reads.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.documents);
        FieldStatistics::encode_all(&self.taken, out);
    }

    /// Decodes the results that come next.
    pub(crate) fn decode(reader: &mut ByteReader<'_>) -> Result<Vacuumed> {
        Ok(Vacuumed {
            documents: reader.varint()?,
            taken: FieldStatistics::decode_all(reader)?,
        })
    }
}
