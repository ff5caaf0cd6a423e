//! Recognizes roots that go on from the root under which a copy of pages was made.
//!
//! The identity of the index does not tell. A folder may be set back to an older copy and written
//! to again, or a power loss may take the last zones. Then zone numbers behind the older root are
//! given to other pages. A zone number below the next one of a root is never given again by what
//! goes on from that root, and no zone is appended to after a reopening. So a page of such a zone
//! has one content for all that goes on from the root.

use super::history::Opening;
use super::roots::RootSlot;
use super::seal::IndexIdentity;
use crate::base::{ByteReader, Result, put_u64, put_varint};

/// A root, as far as its descendants are known by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lineage {
    identity: IndexIdentity,
    generation: u64,
    /// The opening that wrote it; nothing if the index was not opened for writing since it was
    /// restored.
    opening: Option<Opening>,
}

impl Lineage {
    /// Of a root.
    pub fn of(slot: &RootSlot) -> Lineage {
        Lineage {
            identity: slot.identity,
            generation: slot.generation,
            opening: slot.history.last(),
        }
    }

    /// Returns true if a root goes on from this one, or is it.
    pub fn leads_to(&self, slot: &RootSlot) -> bool {
        let follows = match self.opening {
            Some(opening) => slot.history.includes_opening(opening, self.generation),
            None => slot.history.last().is_none(),
        };
        self.identity == slot.identity && self.generation <= slot.generation && follows
    }

    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.identity);
        put_u64(out, self.generation);
        put_varint(out, u64::from(self.opening.is_some()));
        if let Some(Opening { number, first }) = self.opening {
            put_u64(out, number);
            put_u64(out, first);
        }
    }

    /// Reads what [`Lineage::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Lineage> {
        let (identity, generation) = (reader.u64()?, reader.u64()?);
        let opening = match reader.varint()? {
            0 => None,
            _ => Some(Opening {
                number: reader.u64()?,
                first: reader.u64()?,
            }),
        };
        Ok(Lineage {
            identity,
            generation,
            opening,
        })
    }
}
