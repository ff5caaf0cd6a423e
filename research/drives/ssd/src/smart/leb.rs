//! LEB128, the numbers of WebAssembly: seven bits a byte, the lowest first.

/// Appends an unsigned number.
pub fn put_u32(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number.
pub fn put_i64(out: &mut Vec<u8>, mut value: i64) {
    while !(-64..64).contains(&value) {
        out.push(value as u8 & 0x7F | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7F);
}

/// Bytes of the unsigned number at the beginning of `bytes`.
pub fn skip_u32(bytes: &[u8]) -> usize {
    let more = bytes.iter().take_while(|byte| **byte & 0x80 != 0).count();
    more + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_a_byte() {
        let mut out = Vec::new();
        put_u32(&mut out, 624_485);
        assert_eq!(out, [0xE5, 0x8E, 0x26]);
        assert_eq!(skip_u32(&out), 3);
        out.clear();
        put_i64(&mut out, -123_456);
        assert_eq!(out, [0xC0, 0xBB, 0x78]);
        out.clear();
        put_i64(&mut out, 64);
        assert_eq!(out, [0xC0, 0x00]);
    }
}
