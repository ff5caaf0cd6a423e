//! What vacuum has done so far, of which the root tells.

use crate::base::{ByteReader, Result, put_varint};
use crate::search::FieldStatistics;

/// What sweeps have done so far, of which the root tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vacuumed {
    /// Deleted documents of which nothing is left.
    pub(crate) documents: u64,
    /// What was taken out, by field, and still counts in the statistics.
    pub(crate) taken: Vec<FieldStatistics>,
}

impl Vacuumed {
    /// Appends what [`Vacuumed::decode`] reads.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.documents);
        FieldStatistics::encode_all(&self.taken, out);
    }

    /// What was encoded next.
    pub(crate) fn decode(reader: &mut ByteReader<'_>) -> Result<Vacuumed> {
        Ok(Vacuumed {
            documents: reader.varint()?,
            taken: FieldStatistics::decode_all(reader)?,
        })
    }
}
