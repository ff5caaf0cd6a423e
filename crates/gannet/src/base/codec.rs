//! Little-endian integers, varints and length-prefixed bytes, written to and read from byte slices.
//!
//! Reading never trusts its input: every length is checked before it is used, and what does not fit
//! is an [`Error::Damaged`] that names what was being read.

use super::{Error, Result};

/// Appends a `u16`.
pub fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a `u32`.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a `u64`.
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends `value` in seven-bit groups, low groups first; the high bit of a byte says that more
/// follow.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The number of bytes that [`put_varint`] writes for `value`.
pub fn varint_length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Appends the length of `bytes` as a varint, then the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what the `put_` functions wrote, checking every step.
#[derive(Clone, Debug)]
pub struct ByteReader<'a> {
    bytes: &'a [u8],
    at: usize,
    what: &'static str,
}

impl<'a> ByteReader<'a> {
    /// A reader over `bytes`; `what` names the thing being read in error messages.
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        ByteReader { bytes, at: 0, what }
    }

    /// Returns the number of bytes that have been read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the bytes that have not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Returns true if all has been read.
    pub fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    #[cold]
    fn too_short(&self, length: usize) -> Error {
        let rest = self.bytes.len() - self.at;
        self.damaged(&format!("{length} more bytes"), rest)
    }

    /// The error for something that cannot be: `expected` against what was `got`.
    pub fn damaged(&self, expected: &str, got: impl std::fmt::Display) -> Error {
        Error::damaged(
            self.what,
            format!("expected {expected} at byte {}, got {got}", self.at),
        )
    }

    /// The next `length` bytes.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        if length > self.bytes.len() - self.at {
            return Err(self.too_short(length));
        }
        let taken = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(taken)
    }

    /// The next byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// The next little-endian `u16`.
    pub fn u16(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// The next little-endian `u32`.
    pub fn u32(&mut self) -> Result<u32> {
        let mut value = [0; 4];
        value.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(value))
    }

    /// The next little-endian `u64`.
    pub fn u64(&mut self) -> Result<u64> {
        let mut value = [0; 8];
        value.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(value))
    }

    /// The next varint.
    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        match self.rest() {
            [byte @ ..0x80, ..] => {
                self.at += 1;
                Ok(*byte as u64)
            }
            [low, high @ ..0x80, ..] => {
                self.at += 2;
                Ok((*low & 0x7f) as u64 | (*high as u64) << 7)
            }
            _ => self.long_varint(),
        }
    }

    /// A varint of more than two bytes.
    #[cold]
    fn long_varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let Some(&byte) = self.bytes.get(self.at) else {
                return Err(self.damaged("a varint", "the end"));
            };
            self.at += 1;
            value |= ((byte & 0x7f) as u64) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.damaged("a varint of at most ten bytes", "a longer one"))
    }

    /// The next varint, which must fit a `u32`.
    #[inline]
    pub fn varint_u32(&mut self) -> Result<u32> {
        let value = self.varint()?;
        u32::try_from(value).map_err(|_| self.damaged("a 32-bit number", value))
    }

    /// The next varint, which must fit a `u16`.
    pub fn varint_u16(&mut self) -> Result<u16> {
        let value = self.varint()?;
        u16::try_from(value).map_err(|_| self.damaged("a 16-bit number", value))
    }

    /// The next varint as a length of something in memory, at most `limit`.
    #[inline]
    pub fn length(&mut self, limit: usize) -> Result<usize> {
        let value = self.varint()?;
        if value > limit as u64 {
            return Err(self.damaged(&format!("a length of at most {limit}"), value));
        }
        Ok(value as usize)
    }

    /// The next length-prefixed bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.length(self.bytes.len() - self.at)?;
        self.take(length)
    }

    /// The next length-prefixed text.
    pub fn text(&mut self) -> Result<&'a str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.damaged("UTF-8 text", "other bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_and_know_their_length() {
        for value in [
            0,
            1,
            127,
            128,
            300,
            16_383,
            16_384,
            u32::MAX as u64,
            u64::MAX,
        ] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), varint_length(value), "{value}");
            assert_eq!(ByteReader::new(&out, "test").varint().unwrap(), value);
        }
    }

    #[test]
    fn reading_past_the_end_is_an_error_that_names_the_thing() {
        let error = ByteReader::new(&[200], "a test page").varint().unwrap_err();
        assert!(error.to_string().contains("a test page"), "{error}");
        assert!(ByteReader::new(&[9, 1], "x").bytes().is_err());
    }
}
