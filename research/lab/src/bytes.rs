//! Numbers and strings in the files of the lab: varints of seven bits a byte, the lowest first, and
//! bytes behind their length.

use gannet::{Error, Result};

/// Appends a number.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bytes behind their length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads one value behind the other.
#[derive(Clone, Debug)]
pub struct ByteReader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> ByteReader<'a> {
    /// Reads from the start of `bytes`; `what` they are stands in errors.
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        ByteReader { rest: bytes, what }
    }

    /// Tells whether all is read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes that were not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes so many bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let ends = || {
            let found = self.rest.len();
            Error::damaged(self.what, format!("expected {length} bytes, found {found}"))
        };
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(ends)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes a number.
    pub fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::damaged(
            self.what,
            "expected a number of at most ten bytes, found a longer one",
        ))
    }

    /// Takes a number of at most 32 bits.
    pub fn varint_u32(&mut self) -> Result<u32> {
        let value = self.varint()?;
        value.try_into().map_err(|_| {
            Error::damaged(
                self.what,
                format!("expected a number of at most 32 bits, found {value}"),
            )
        })
    }

    /// Takes bytes behind their length.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }
}
