//! Comparisons of many numbers at once.

#[cfg(target_arch = "x86_64")]
use safe_arch::{
    cmp_eq_mask_i8_m128i, cmp_eq_mask_i32_m128i, m128i, max_u8_m128i, move_mask_i8_m128i,
    pack_i32_to_i16_m128i, set_splat_i8_m128i, set_splat_i32_m128i,
};

use crate::base::DocId;

/// Bytes of a group.
pub const GROUP: usize = 16;

/// Documents that are compared at once.
pub const WINDOW: usize = 8;

/// A bit for each byte of a group that is above `least`.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn above(group: &[u8; GROUP], least: u8) -> u32 {
    let (group, least) = (m128i::from(*group), set_splat_i8_m128i(least as i8));
    let not_above = cmp_eq_mask_i8_m128i(max_u8_m128i(group, least), least);
    !move_mask_i8_m128i(not_above) as u32 & 0xffff
}

/// A bit for each byte of a group that is above `least`.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn above(group: &[u8; GROUP], least: u8) -> u32 {
    let bits = group.iter().enumerate();
    bits.fold(0, |bits, (at, byte)| bits | u32::from(*byte > least) << at)
}

/// Two bits for each document of a window that is this one.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn equal(doc: DocId, window: &[DocId; WINDOW]) -> u32 {
    let [a, b, c, d, e, f, g, h] = *window;
    let doc = set_splat_i32_m128i(doc as i32);
    let low = cmp_eq_mask_i32_m128i(m128i::from([a, b, c, d]), doc);
    let high = cmp_eq_mask_i32_m128i(m128i::from([e, f, g, h]), doc);
    move_mask_i8_m128i(pack_i32_to_i16_m128i(low, high)) as u32
}

/// Two bits for each document of a window that is this one.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn equal(doc: DocId, window: &[DocId; WINDOW]) -> u32 {
    let bits = window.iter().enumerate();
    bits.fold(0, |bits, (at, one)| {
        bits | u32::from(*one == doc) * 3 << (2 * at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_tell_what_a_loop_tells() {
        let group: [u8; GROUP] = std::array::from_fn(|at| (at * 37 % 256) as u8);
        for least in 0..=255 {
            let each = (0..GROUP).filter(|at| group[*at] > least);
            assert_eq!(above(&group, least), each.map(|at| 1 << at).sum::<u32>());
        }
        let window = [
            1,
            5,
            6,
            70_000,
            70_001,
            u32::MAX - 2,
            u32::MAX - 1,
            u32::MAX,
        ];
        for doc in [0, 1, 2, 5, 6, 7, 70_000, 70_001, u32::MAX - 1, u32::MAX] {
            let place = window.iter().position(|one| *one == doc);
            assert_eq!(
                equal(doc, &window),
                place.map_or(0, |place| 3 << (2 * place))
            );
        }
    }
}
