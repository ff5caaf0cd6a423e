//! Tiers that several open: one writes, the others read, and one of them takes over.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;

use super::*;

/// Longer than a guest waits between two looks.
const LOOKED: Duration = Duration::from_millis(1_100);

/// A guest of a tier, which is free once `is_free` is set.
fn share(world: &World, is_free: &Arc<AtomicBool>) -> FramePool {
    let (device, is_free) = (Arc::clone(&world.tier), Arc::clone(is_free));
    let open: OpenTier = Box::new(move || {
        if is_free.load(Ordering::SeqCst) {
            Ok(Arc::clone(&device))
        } else {
            Err(Error::Locked {
                path: PathBuf::from("tier"),
                holder: "process 7".to_owned(),
            })
        }
    });
    let budget = Budget::new(8 << 20);
    let root = world.root(5, &[(1, 1)]);
    let (device, bytes) = (Arc::clone(&world.tier), TIER_BYTES_MIN);
    let owner = (open, "process 7");
    let tier = FlashTier::share(device, owner, bytes, &world.store, &root, &budget).unwrap();
    let pool = FramePool::new(Arc::clone(&world.store), &budget, 0).unwrap();
    pool.with_tier(tier)
}

#[test]
fn a_guest_reads_what_was_written_before_it_came_and_since() {
    let world = World::new(memory());
    let owner = world.open();
    world.read(&owner, 0..400);
    let guest = share(&world, &Arc::default());
    let found = guest.tier().unwrap().figures();
    assert!(found.pages > 200 && found.stopped.is_some(), "{found:?}");
    let before = world.pages_read();
    world.read(&guest, 0..127);
    assert_eq!(world.pages_read(), before);
    world.read(&owner, 400..PAGES);
    drop(owner);
    sleep(LOOKED);
    let (reads, figures) = world.reads(&guest);
    assert!(reads <= 64, "{reads} of {PAGES}");
    assert_eq!((figures.written_pages, figures.unproven_pages), (0, 0));
}

#[test]
fn a_guest_forgets_what_is_overwritten_and_reads_no_wrong_page() {
    let room = (region_count(TIER_BYTES_MIN) * header::ENTRIES) as u32;
    let world = World::of(memory(), IDENTITY, 0, 3 * room);
    let owner = world.open();
    world.read(&owner, 0..room);
    let guest = share(&world, &Arc::default());
    // Pages that come twice overwrite all that was there.
    for _ in 0..4 {
        world.read(&owner, room..2 * room);
    }
    world.read(&guest, 0..room);
    sleep(LOOKED);
    world.read(&guest, room..2 * room);
    let (of_guest, of_owner) = (
        guest.tier().unwrap().figures(),
        owner.tier().unwrap().figures(),
    );
    assert!(
        of_guest.pages.abs_diff(of_owner.pages) < 300,
        "{of_guest:?} {of_owner:?}"
    );
    assert!(of_guest.read_pages > u64::from(room) / 2, "{of_guest:?}");
}

#[test]
fn a_guest_takes_over_when_the_writer_is_gone() {
    let world = World::new(memory());
    let owner = world.open();
    let is_free = Arc::new(AtomicBool::new(false));
    let guest = share(&world, &is_free);
    world.read(&owner, 0..300);
    drop(owner);
    world.read(&guest, 300..400);
    assert_eq!(guest.tier().unwrap().figures().written_pages, 0);
    is_free.store(true, Ordering::SeqCst);
    sleep(LOOKED);
    world.read(&guest, 300..PAGES);
    let figures = guest.tier().unwrap().figures();
    assert_eq!(figures.stopped, None);
    assert!(figures.pages >= 300, "{figures:?}");
    drop(guest);
    let (reads, figures) = world.reads(&world.open());
    // An end does not wait long, so what was in memory last may be missing.
    assert!(reads <= 100, "{reads}, {figures:?}");
}

/// A tier that was emptied has another mark.
#[test]
fn a_guest_follows_a_tier_that_is_made_anew() {
    let world = World::new(memory());
    world.read_all();
    let guest = share(&world, &Arc::default());
    assert!(guest.tier().unwrap().figures().pages > 600);
    // The folder is given to another history, then back to this one.
    drop(World::of(Arc::clone(&world.tier), 99, 1, PAGES).open());
    world.read_all();
    sleep(LOOKED);
    world.read(&guest, 0..PAGES);
    assert_eq!(guest.tier().unwrap().figures().unproven_pages, 0);
}
