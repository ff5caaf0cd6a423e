//! Runs against a plain ordered map: keys come, come again and go, in small pools, reopened and
//! cleaned, with and without filters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::view::Due;
use super::{Runs, RunsView, check};
use crate::base::{Budget, PAGE_SIZE};
use crate::cache::{FramePool, Pages, finish};
use crate::device::MemoryDevice;
use crate::storage::{PageKind, Store, StreamWriter, ZoneTable};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

struct Bed {
    store: Arc<Store>,
    pool: FramePool,
    runs: Runs,
    filters_max: usize,
    tables: StreamWriter,
    map: Map,
}

impl Bed {
    fn new(filters_max: usize) -> Bed {
        let device = Arc::new(MemoryDevice::new());
        let store = Arc::new(Store::new(device, 7, ZoneTable::default()));
        Bed {
            pool: frames(&store),
            runs: Runs::new(store.clone(), filters_max),
            filters_max,
            tables: StreamWriter::new(store.clone(), PageKind::Table),
            store,
            map: Map::new(),
        }
    }

    /// Gives keys new values, or removes those that have none.
    fn add(&mut self, changes: &BTreeMap<Vec<u8>, Option<Vec<u8>>>) {
        let keys: Vec<&[u8]> = changes.keys().map(Vec::as_slice).collect();
        let value = |key: &[u8]| changes[key].clone().unwrap_or_default();
        self.runs.add(&self.pool, &keys, &value).unwrap();
        self.runs.flush().unwrap();
        for (key, value) in changes {
            match value {
                Some(value) => drop(self.map.insert(key.clone(), value.clone())),
                None => drop(self.map.remove(key)),
            }
        }
    }

    /// Opens the runs anew from what they encode.
    fn reopen(&mut self) {
        let mut root = Vec::new();
        self.runs.encode(&mut self.tables, &mut root).unwrap();
        self.tables.flush().unwrap();
        self.pool = frames(&self.store);
        self.runs = Runs::open(self.store.clone(), self.filters_max, &root).unwrap();
    }

    /// Compares a view with a map, by a check and by look-ups of all keys and of as many others.
    fn compare(&self, view: &RunsView, map: &Map) {
        let (mut pages, mut newer) = (Pages::new(&self.pool), Pages::new(&self.pool));
        let mut found = Map::new();
        let findings = check(view, &mut pages, &mut newer, &mut |key, value| {
            assert!(found.insert(key.to_vec(), value.to_vec()).is_none());
        });
        assert_eq!(findings.unwrap(), Vec::<String>::new());
        assert_eq!(found, *map);
        let others = map.keys().map(|key| [key.as_slice(), b"+"].concat());
        let keys: Vec<Vec<u8>> = map.keys().cloned().chain(others).collect();
        for keys in keys.chunks(5) {
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let mut pages = Pages::new(&self.pool);
            let values = finish(&mut pages, |pages| view.lookup_all(&keys, pages)).unwrap();
            for (key, value) in keys.iter().zip(values) {
                assert_eq!(value.as_deref(), map.get(*key).map(Vec::as_slice));
            }
        }
    }

    /// Pages that are in use, by the runs and by the zones.
    fn compare_space(&self) {
        let view = self.runs.view();
        let mut pages: Vec<_> = view.trees().flat_map(|tree| tree.node_pages()).collect();
        pages.extend(view.trees().flat_map(|tree| tree.mapping_pages()));
        pages.extend(view.filter_pages());
        let zones = self.store.zones();
        let live: u64 = zones.iter().map(|(_, zone)| zone.live).sum();
        let payload = crate::base::PAGE_PAYLOAD as u64;
        assert_eq!(live, pages.len() as u64 * payload);
    }
}

fn frames(store: &Arc<Store>) -> FramePool {
    FramePool::new(store.clone(), &Budget::new(8 << 20), 512 * PAGE_SIZE).unwrap()
}

/// The changes of one flush: a part of some keys, of which each fifth goes.
fn changes(round: u64, count: u64) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
    let mut changes = BTreeMap::new();
    for number in 0..count {
        let mixed = (round * count + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let key = format!("document {}", mixed % (count * 20)).into_bytes();
        let value = format!("{round} of {mixed}").into_bytes();
        changes.insert(key, (!mixed.is_multiple_of(5)).then_some(value));
    }
    changes
}

#[test]
fn runs_have_what_a_map_has() {
    for filters_max in [0, 1500, 1 << 20] {
        let mut bed = Bed::new(filters_max);
        let mut kept = Vec::new();
        for round in 0..70 {
            bed.add(&changes(round, 40));
            if round % 16 == 3 {
                bed.reopen();
                bed.compare_space();
            }
            if round % 10 == 7 {
                kept.push((bed.runs.view(), bed.map.clone()));
            }
            if round % 20 == 11 {
                let zones: BTreeSet<u32> = bed.store.zones().iter().map(|zone| zone.0).collect();
                bed.runs.leave_sparse_zone(1.0).unwrap();
                bed.runs
                    .move_out_of(&bed.pool, &|zone| zones.contains(&zone))
                    .unwrap();
                bed.runs.flush().unwrap();
            }
            bed.compare(&bed.runs.view(), &bed.map);
        }
        assert!(bed.runs.view().len() > 2);
        for (view, map) in &kept {
            bed.compare(view, map);
        }
        bed.runs.merge_all(&bed.pool).unwrap();
        let view = bed.runs.view();
        bed.compare(&view, &bed.map);
        assert_eq!(
            [view.len() as u64, view.entries()],
            [1, bed.map.len() as u64]
        );
        bed.reopen();
        bed.compare(&bed.runs.view(), &bed.map);
        bed.compare_space();
    }
}

#[test]
fn nothing_is_left_where_all_keys_are_removed() {
    let mut bed = Bed::new(1 << 20);
    bed.add(&changes(0, 300));
    let gone = bed.map.keys().map(|key| (key.clone(), None)).collect();
    bed.add(&gone);
    assert!(!bed.runs.view().is_empty());
    bed.runs.merge_all(&bed.pool).unwrap();
    assert!(bed.runs.view().is_empty());
    bed.reopen();
    bed.compare_space();
    bed.compare(&bed.runs.view(), &Map::new());
}

#[test]
fn each_entry_is_written_once_for_each_level() {
    let mut bed = Bed::new(1 << 20);
    let flushes = 8 * 8 * 2;
    for round in 0..flushes {
        let mut changes = BTreeMap::new();
        for number in 0..1_500u64 {
            let key = (round * 1_500 + number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            changes.insert(key.to_be_bytes().to_vec(), Some(vec![1; 12]));
        }
        bed.add(&changes);
    }
    let view = bed.runs.view();
    assert_eq!((view.len(), view.entries()), (2, flushes * 1_500));
    let written = view.appended() as f64 / view.nodes() as f64;
    assert!((2.5..3.2).contains(&written), "{written} times");
}

#[test]
fn a_key_in_no_run_reads_nothing_where_there_are_filters() {
    for (filters_max, least, most) in [(1 << 20, 0, 20), (0, 190, 1000)] {
        let mut bed = Bed::new(filters_max);
        for round in 0..5 {
            bed.add(&changes(round, 2_000));
        }
        bed.reopen();
        let view = bed.runs.view();
        let mut read = 0;
        for number in 0..200 {
            bed.pool = frames(&bed.store);
            let key = format!("no document {number}");
            let mut pages = Pages::new(&bed.pool);
            let found = finish(&mut pages, |pages| view.get(key.as_bytes(), pages));
            assert!(found.unwrap().is_none());
            read += usize::from(pages.counts().reads > 0);
        }
        assert!((least..=most).contains(&read), "{read} of 200 keys read");
    }
}

#[test]
fn filters_that_no_longer_fit_the_memory_are_given_up() {
    let mut bed = Bed::new(1 << 20);
    for round in 0..4 {
        bed.add(&changes(round, 500));
    }
    assert_eq!(bed.runs.view().unfiltered(), 0);
    bed.filters_max = 100;
    bed.reopen();
    assert_eq!(bed.runs.view().unfiltered(), 4);
    bed.compare(&bed.runs.view(), &bed.map);
    bed.runs.move_out_of(&bed.pool, &|_| true).unwrap();
    bed.runs.flush().unwrap();
    assert_eq!(bed.runs.view().filter_pages().count(), 0);
    bed.reopen();
    bed.compare(&bed.runs.view(), &bed.map);
    bed.compare_space();
}

#[test]
fn what_is_due_counts_like_digits() {
    let due = |levels: &[u64]| Due::of(levels.iter().copied());
    let of = |runs, level| Due { runs, level };
    assert_eq!(due(&[]), of(0, 0));
    assert_eq!(due(&[0; 6]), of(0, 0));
    assert_eq!(due(&[0; 7]), of(7, 1));
    assert_eq!(due(&[1; 7]), of(0, 0));
    // The change behind one that merges has nothing to merge.
    assert_eq!(due(&[2, 3]), of(0, 0));
    let two = [[0; 7], [1; 7]].concat();
    assert_eq!(due(&two), of(14, 2));
    assert_eq!(due(&[two, vec![3]].concat()), of(14, 2));
}

#[test]
fn damaged_roots_are_told() {
    let mut bed = Bed::new(1 << 20);
    for round in 0..9 {
        bed.add(&changes(round, 100));
    }
    let mut root = Vec::new();
    bed.runs.encode(&mut bed.tables, &mut root).unwrap();
    bed.tables.flush().unwrap();
    for length in 0..root.len() {
        let opened = Runs::open(bed.store.clone(), 1 << 20, &root[..length]);
        assert!(opened.is_err(), "{length} bytes are taken for a root");
    }
}
