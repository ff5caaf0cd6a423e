//! Norms: the length of a field in one byte, exactly as Lucene codes it.
//!
//! Lengths below 40 are exact; above, four significant bits are kept and the rest is cut off.
//! Source: Lucene's `SmallFloat.intToByte4` and `byte4ToInt`. A document without the field has norm
//! 0.

/// The length that each norm stands for.
pub const NORM_LENGTHS: [u32; 256] = lengths();

/// Lengths below this are exact: what is left of a byte above the largest coded 31-bit number.
const EXACT: u32 = 255 - coded(i32::MAX as u32);

/// The norm of a field of `length` tokens. Lengths above `i32::MAX` count as that.
pub const fn length_to_norm(length: u32) -> u8 {
    let length = if length > i32::MAX as u32 {
        i32::MAX as u32
    } else {
        length
    };
    if length < EXACT {
        length as u8
    } else {
        (EXACT + coded(length - EXACT)) as u8
    }
}

/// The length that a norm stands for: the smallest of those that share it.
pub const fn norm_to_length(norm: u8) -> u32 {
    NORM_LENGTHS[norm as usize]
}

/// A number as a float of three mantissa bits after a leading one that is not stored.
const fn coded(number: u32) -> u32 {
    let bits = 32 - number.leading_zeros();
    if bits < 4 {
        return number;
    }
    let shift = bits - 4;
    ((number >> shift) & 0x07) | ((shift + 1) << 3)
}

const fn decoded(code: u32) -> u32 {
    let mantissa = code & 0x07;
    match (code >> 3).checked_sub(1) {
        None => mantissa,
        Some(shift) => (mantissa | 0x08) << shift,
    }
}

const fn lengths() -> [u32; 256] {
    let mut lengths = [0; 256];
    let mut norm = 0;
    while norm < 256 {
        lengths[norm] = if (norm as u32) < EXACT {
            norm as u32
        } else {
            EXACT + decoded(norm as u32 - EXACT)
        };
        norm += 1;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_lucenes() {
        // Values of Lucene's SmallFloat, among them its largest.
        for (length, norm) in [
            (0, 0),
            (1, 1),
            (23, 23),
            (24, 24),
            (39, 39),
            (40, 40),
            (41, 40),
            (42, 41),
            (1_000, 87),
            (i32::MAX as u32, 255),
            (u32::MAX, 255),
        ] {
            assert_eq!(length_to_norm(length), norm, "length {length}");
        }
        assert_eq!(norm_to_length(40), 40);
        assert_eq!(norm_to_length(255), 2_013_265_944);
    }

    #[test]
    fn each_length_decodes_to_the_smallest_that_shares_its_norm() {
        for norm in 0..=255u8 {
            let length = norm_to_length(norm);
            assert_eq!(length_to_norm(length), norm);
            assert!(length == 0 || length_to_norm(length - 1) == norm - 1);
        }
    }
}
