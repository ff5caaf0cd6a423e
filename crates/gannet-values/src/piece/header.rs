//! The first byte of a piece, which says how its parts are coded.

use super::Damaged;

/// The first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// 0: all documents have values, 1: those of a bitmap, 2: those of a list.
    pub(super) presence: u8,
    pub(super) several: bool,
    /// 0: constant, 1: packed, 2: delta, 3: raw.
    pub(super) codec: u8,
}

impl Header {
    pub(super) fn of(byte: u8) -> Result<Header, Damaged> {
        if byte >> 5 != 0 {
            return Err(Damaged("its first byte is unknown"));
        }
        Ok(Header {
            presence: byte & 3,
            several: byte & 4 != 0,
            codec: byte >> 3,
        })
    }

    pub(super) fn byte(self) -> u8 {
        self.presence | u8::from(self.several) << 2 | self.codec << 3
    }
}
