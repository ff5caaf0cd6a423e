//! Checks the promises of the tree beyond right answers: rounds, fullness, clear refusals.

use std::collections::BTreeMap;

use super::{Bed, Map, frame_pool};
use crate::base::{Error, PAGE_PAYLOAD};
use crate::btree::{Change, ENTRY_MAX, KEY_MAX, Scan, entry_fits, value_max};
use crate::cache::{Pages, finish, gather};

fn numbered(range: std::ops::Range<u32>, step: usize) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
    let pair = |n: u32| (format!("{n:08}").into_bytes(), Some(vec![n as u8; 40]));
    range.step_by(step).map(pair).collect()
}

fn fill_factor(bed: &Bed) -> f64 {
    // Sixteen keys of 8 bytes: one whole, fifteen with about 6 bytes shared; 40 bytes of value
    // each.
    let bytes = bed.tree.view().entries() as f64 * 45.5;
    bytes / (bed.tree.view().leaves() as f64 * PAGE_PAYLOAD as f64)
}

#[test]
fn bulk_loads_leave_full_leaves() {
    let mut bed = Bed::new(256);
    bed.change(&numbered(0..40_000, 1)).unwrap();
    assert!(fill_factor(&bed) > 0.9, "{}", fill_factor(&bed));
    assert_eq!(bed.tree.view().height(), 3);
}

#[test]
fn small_appends_leave_full_leaves() {
    let mut bed = Bed::new(256);
    for start in (0..20_000).step_by(100) {
        bed.change(&numbered(start..start + 100, 1)).unwrap();
    }
    assert!(fill_factor(&bed) > 0.9, "{}", fill_factor(&bed));
}

#[test]
fn a_rewritten_leaf_does_not_touch_its_parent() {
    let mut bed = Bed::new(256);
    bed.change(&numbered(0..40_000, 1)).unwrap();
    let pages = |bed: &Bed| -> u32 { bed.store.zones().iter().map(|(_, zone)| zone.pages).sum() };
    let before = pages(&bed);
    bed.change(&BTreeMap::from([(b"00020000".to_vec(), Some(vec![1; 40]))]))
        .unwrap();
    assert_eq!(pages(&bed) - before, 1);
}

#[test]
fn the_first_keys_can_go_a_few_at_a_time_and_come_back() {
    let mut bed = Bed::new(256);
    let mut map = Map::new();
    let mut change = |bed: &mut Bed, changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>| {
        bed.change(&changes).unwrap();
        for (key, value) in changes {
            match value {
                Some(value) => drop(map.insert(key, value)),
                None => drop(map.remove(&key)),
            }
        }
        map.clone()
    };
    change(&mut bed, numbered(0..120_000, 1));
    assert!(bed.tree.view().height() >= 3);
    for start in (0..60_000).step_by(3_000) {
        // So few at a time that the last of a node's often go alone.
        for start in (start..start + 3_000).step_by(30) {
            let gone = (start..start + 30).map(|n| (format!("{n:08}").into_bytes(), None));
            bed.change(&gone.collect()).unwrap();
        }
        let gone = (start..start + 3_000).map(|n| (format!("{n:08}").into_bytes(), None));
        let left = change(&mut bed, gone.collect());
        bed.compare(bed.tree.view(), &left);
    }
    let left = change(&mut bed, numbered(0..5_000, 1));
    bed.compare(bed.tree.view(), &left);
}

#[test]
fn kept_keys_write_nothing() {
    let mut bed = Bed::new(256);
    bed.change(&numbered(0..1000, 1)).unwrap();
    let before = bed.store.zones().allocated_bytes();
    let key = b"00000007".as_slice();
    let mut seen = None;
    let seen_ref = &mut seen;
    bed.tree
        .apply(&bed.pool, &[key], &mut |window| {
            *seen_ref = window.old(0).map(<[u8]>::to_vec);
            Ok(())
        })
        .unwrap();
    bed.tree.flush().unwrap();
    assert_eq!(seen, Some(vec![7; 40]));
    assert_eq!(bed.store.zones().allocated_bytes(), before);
}

#[test]
fn many_keys_take_one_round_a_level() {
    let bed = cold_bed();
    let view = bed.tree.view();
    let keys: Vec<Vec<u8>> = numbered(0..40_000, 900).into_keys().collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut pages = Pages::new(&bed.pool);
    let values = finish(&mut pages, |pages| {
        gather(&keys, |key| view.get(key, pages))
    })
    .unwrap();
    assert!(values.iter().all(Option::is_some));
    assert_eq!(pages.counts().rounds as usize, view.height());
}

/// A tree of many leaves, none of them in memory.
fn cold_bed() -> Bed {
    let mut bed = Bed::new(256);
    bed.change(&numbered(0..40_000, 1)).unwrap();
    bed.pool = frame_pool(&bed.store, 256);
    bed
}

#[test]
fn scans_read_ahead() {
    let bed = cold_bed();
    let view = bed.tree.view();
    let mut pages = Pages::new(&bed.pool);
    let mut scan = view.scan(b"");
    while finish(&mut pages, |pages| scan.advance(view, pages)).unwrap() {}
    let rounds = pages.counts().rounds as u64;
    assert!(
        rounds < view.leaves() / 10,
        "{rounds} rounds for {}",
        view.leaves()
    );
}

#[test]
fn scans_read_only_what_matters() {
    let bed = cold_bed();
    let view = bed.tree.view();
    let mut pages = Pages::new(&bed.pool);
    let mut scan = view.scan(b"");
    let wanted = [b"00000007".as_slice(), b"00000500", b"00039000"];
    let matters = |from: &[u8], to: Option<&[u8]>| {
        let inside = |key: &&[u8]| from <= *key && to.is_none_or(|to| *key < to);
        wanted.iter().any(inside)
    };
    for key in wanted {
        scan.skip_to(key);
        let there = finish(&mut pages, |pages| {
            scan.advance_where(&matters, view, pages)
        });
        assert!(there.unwrap() && scan.key() == key);
    }
    let height = view.height() as u32;
    let io = pages.counts();
    assert!(
        io.rounds <= height && io.bytes <= 4096 * (2 * height as u64 + 1),
        "{io:?}"
    );
}

#[test]
fn a_scan_to_a_key_reads_no_leaf_behind_it() {
    let bed = cold_bed();
    let view = bed.tree.view();
    let mut pages = Pages::new(&bed.pool);
    // A node above may name a leaf by a prefix of its first key. Such a prefix is below a key that
    // ends with 0.
    for end in (1..500).filter(|end| end % 10 != 0) {
        let last = format!("{:08}", end - 1);
        let there = finish(&mut pages, |pages| view.get(last.as_bytes(), pages)).unwrap();
        assert!(there.is_some());
        let before = pages.counts().reads;
        let (end_key, mut seen) = (format!("{end:08}"), 0);
        let mut scan = Scan::to_the_end(b"");
        let mut step = || {
            finish(&mut pages, |pages| {
                scan.advance_below(end_key.as_bytes(), view, pages)
            })
        };
        while step().unwrap() {
            seen += 1;
        }
        assert_eq!((seen, pages.counts().reads), (end, before));
    }
    assert!(pages.counts().reads > 3);
}

#[test]
fn removing_everything_leaves_an_empty_tree() {
    let mut bed = Bed::new(64);
    let all = numbered(0..40_000, 1);
    bed.change(&all).unwrap();
    bed.change(&all.into_keys().map(|key| (key, None)).collect())
        .unwrap();
    let view = bed.tree.view().clone();
    assert_eq!((view.height(), view.nodes(), view.entries()), (0, 0, 0));
    bed.reopen();
    bed.change(&numbered(0..10, 1)).unwrap();
    let map: Map = numbered(0..10, 1)
        .into_iter()
        .filter_map(|(k, v)| Some((k, v?)))
        .collect();
    bed.compare(&bed.tree.view().clone(), &map);
    let live: u64 = bed.store.zones().iter().map(|(_, zone)| zone.live).sum();
    let mapping = bed.tree.view().mapping.table().addresses().count();
    assert_eq!(live, (1 + mapping as u64) * PAGE_PAYLOAD as u64);
}

#[test]
fn sparse_leaves_join_their_neighbours() {
    let mut bed = Bed::new(256);
    bed.change(&numbered(0..40_000, 1)).unwrap();
    for start in 0..20 {
        let some = numbered(start..40_000, 20).into_keys();
        if start != 7 {
            bed.change(&some.map(|key| (key, None)).collect()).unwrap();
        }
    }
    assert_eq!(bed.tree.view().entries(), 2000);
    assert!(
        bed.tree.view().leaves() < 60,
        "{}",
        bed.tree.view().leaves()
    );
    assert_eq!(bed.tree.view().height(), 2);
}

#[test]
fn what_does_not_fit_is_rejected() {
    assert!(entry_fits(&[1; KEY_MAX], &vec![0; value_max(KEY_MAX)]).is_ok());
    assert!(entry_fits(&[1; KEY_MAX + 1], &[]).is_err());
    assert!(entry_fits(&[1; 100], &[0; ENTRY_MAX]).is_err());
    let mut bed = Bed::new(64);
    let unsorted = [b"b".as_slice(), b"a"];
    assert!(matches!(
        bed.tree.apply(&bed.pool, &unsorted, &mut |_| Ok(())),
        Err(Error::Internal(_))
    ));
    bed.change(&numbered(0..10, 1)).unwrap();
    let failed = bed.tree.apply(&bed.pool, &[b"key"], &mut |window| {
        window.set(0, Change::Put(vec![0; ENTRY_MAX]))
    });
    assert!(matches!(failed, Err(Error::Internal(_))));
    assert!(matches!(bed.tree.flush(), Err(Error::Stopped(_))));
}
