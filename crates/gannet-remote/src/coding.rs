//! Numbers, origins and checksums as bytes, for the superblock object and the heads of packs.

/// The publication that wrote an object: no two publishers draw the same token, so that no object
/// is ever written twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    pub(crate) number: u64,
    pub(crate) token: u64,
}

pub(crate) fn put(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_origin(out: &mut Vec<u8>, origin: Origin) {
    out.extend_from_slice(&origin.number.to_le_bytes());
    out.extend_from_slice(&origin.token.to_le_bytes());
}

pub(crate) fn seal(mut out: Vec<u8>) -> Vec<u8> {
    let sum = crc32c::crc32c(&out);
    put(&mut out, sum);
    out
}

/// Checks the checksum at the end and returns the bytes before it.
pub(crate) fn unseal(bytes: &[u8]) -> Result<&[u8], String> {
    let short = || {
        format!(
            "expected a checksum at the end, found {} bytes",
            bytes.len()
        )
    };
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(short)?;
    let (found, expected) = (u32::from_le_bytes(*sum), crc32c::crc32c(body));
    if found == expected {
        Ok(body)
    } else {
        Err(format!(
            "expected checksum {expected:08x}, found {found:08x}"
        ))
    }
}

/// Reads numbers one behind the other.
pub(crate) struct Reader<'b> {
    pub(crate) rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], String> {
        let short = || format!("expected {length} more bytes, found {}", self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, String> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    pub(crate) fn origin(&mut self) -> Result<Origin, String> {
        Ok(Origin {
            number: self.u64()?,
            token: self.u64()?,
        })
    }

    /// A number of things. No memory is taken for more of them than can follow.
    pub(crate) fn many<T>(
        &mut self,
        one: impl Fn(&mut Reader<'b>) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let count = self.u32()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }
}
