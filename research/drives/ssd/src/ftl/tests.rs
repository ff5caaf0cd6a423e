//! The translation layer against a plain map, by random operations.

use std::collections::BTreeMap;

use super::*;
use crate::collect::Collection;
use crate::counts::wear_histogram;
use crate::profile::{HYBRID_CACHE_TABLE, PM9A3, Profile, X25_E};
use crate::random::Random;

/// Small drives of every kind: one unit a page and several, moves apart and not, both collections.
fn drives() -> Vec<Profile> {
    let mut fifo = X25_E.with_capacity(24 << 20).unwrap();
    fifo.cleaning.collection = Collection::Fifo;
    let mut several = PM9A3;
    (several.geometry.packages, several.geometry.pages) = (1, 8);
    let mut together = several;
    together.cleaning.separate_moves = false;
    let mut one = HYBRID_CACHE_TABLE;
    one.cleaning.free_blocks = 10;
    [fifo, several, together, one]
        .map(|drive| drive.with_capacity(24 << 20).unwrap())
        .to_vec()
}

/// All that must hold of a layer at any time.
fn check(ftl: &Ftl, model: &BTreeMap<u32, u32>) {
    for unit in 0..ftl.units() {
        let slot = ftl.find(unit);
        assert_eq!(
            slot.is_some(),
            model.contains_key(&unit),
            "unit {unit} is mapped"
        );
        if let Some(slot) = slot {
            assert_eq!(
                ftl.flash().owner(slot),
                Some(unit),
                "the slot of unit {unit}"
            );
        }
    }
    let blocks = ftl.planes.len() as u32 * ftl.profile.geometry.blocks;
    let valid: u64 = (0..blocks)
        .map(|block| u64::from(ftl.flash().valid(block)))
        .sum();
    assert_eq!(valid, model.len() as u64, "valid units");
    let erases: u64 = ftl.flash().erases().map(u64::from).sum();
    assert_eq!(erases, ftl.counts().erased_blocks);
}

#[test]
fn a_unit_is_found_exactly_while_it_has_content() {
    for profile in drives() {
        let (mut ftl, mut model) = (Ftl::new(&profile), BTreeMap::new());
        let (mut random, mut operations) = (Random::new(7, profile.name), Vec::new());
        let units = ftl.units() as usize;
        for step in 0..6 * units {
            let unit = random.below(units) as u32;
            match random.below(10) {
                0 => {
                    ftl.trim(unit);
                    model.remove(&unit);
                }
                1 => ftl.pad(&mut operations),
                _ => {
                    ftl.write(unit, &mut operations).unwrap();
                    model.insert(unit, step as u32);
                }
            }
            operations.clear();
            if step % units == 0 {
                check(&ftl, &model);
            }
        }
        check(&ftl, &model);
        assert!(
            ftl.counts().moved_units > 0,
            "{} has collected",
            profile.name
        );
    }
}

/// Trims all but what one plane has, again and again: its share must not outgrow it.
#[test]
fn one_plane_that_keeps_its_content_does_not_overflow() {
    let profile = X25_E.with_capacity(24 << 20).unwrap();
    let (mut ftl, mut operations) = (Ftl::new(&profile), Vec::new());
    for _ in 0..30 {
        for unit in 0..ftl.units() {
            if ftl.find(unit).is_none() {
                ftl.write(unit, &mut operations).unwrap();
            }
        }
        for unit in 0..ftl.units() {
            let block = ftl.find(unit).map(|slot| ftl.flash().block_of(slot));
            if block.is_some_and(|block| block / profile.geometry.blocks != 3) {
                ftl.trim(unit);
            }
        }
    }
    assert_eq!(u64::from(ftl.planes[3].valid), profile.valid_limit());
}

#[test]
fn each_operation_is_on_a_block_that_allows_it() {
    for profile in drives() {
        let (mut ftl, mut random) = (Ftl::new(&profile), Random::new(8, profile.name));
        let mut programmed: BTreeMap<u32, u32> = BTreeMap::new();
        let (units, mut operations) = (ftl.units() as usize, Vec::new());
        for _ in 0..4 * units {
            ftl.write(random.below(units) as u32, &mut operations)
                .unwrap();
            for operation in operations.drain(..) {
                let pages = programmed.entry(operation.block).or_default();
                match operation.kind {
                    FlashKind::Read => assert!(*pages > 0),
                    FlashKind::Program => *pages += 1,
                    FlashKind::Erase => assert_eq!(std::mem::take(pages), profile.geometry.pages),
                }
                assert!(*pages <= profile.geometry.pages);
            }
        }
    }
}

#[test]
fn wear_is_told_by_the_number_of_erases() {
    let histogram = wear_histogram([0, 2, 2, 5].into_iter());
    assert_eq!(histogram, BTreeMap::from([(0, 1), (2, 2), (5, 1)]));
}
