//! The term dictionary against a plain ordered map: lists grow, become long, and are found in one tree only.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::{Budget, PAGE_SIZE, PhraseFilters};
use crate::cache::{FramePool, Pages, finish};
use crate::device::MemoryDevice;
use crate::postings::dictionary::{TERMS_AT_ONCE, TermDictionary};
use crate::postings::entry::{ChunkPlace, ChunkRef, Layout, TermEntry};
use crate::storage::{PageKind, Store, StreamWriter, ZoneTable};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

struct Bed {
    store: Arc<Store>,
    pool: FramePool,
    terms: TermDictionary,
    map: Map,
}

impl Bed {
    fn new() -> Bed {
        let store = Arc::new(Store::new(
            Arc::new(MemoryDevice::new()),
            5,
            ZoneTable::default(),
        ));
        Bed {
            pool: frames(&store),
            terms: TermDictionary::new(&store),
            store,
            map: Map::new(),
        }
    }

    /// Gives each of `keys` a new entry, or keeps the one it has.
    fn change(&mut self, keys: &[Vec<u8>], mut new: impl FnMut(&[u8], bool) -> Option<Vec<u8>>) {
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let map = &mut self.map;
        let mut decide = |old: &[(usize, Option<&[u8]>)]| {
            let entries = old.iter().map(|(term, old)| {
                let key = keys[*term];
                assert_eq!(map.get(key).map(Vec::as_slice), *old);
                let entry = new(key, old.is_some_and(TermEntry::has_chunks));
                if let Some(entry) = &entry {
                    map.insert(key.to_vec(), entry.clone());
                }
                entry
            });
            Ok(entries.collect())
        };
        self.terms.update(&self.pool, &keys, &mut decide).unwrap();
        self.terms.flush().unwrap();
    }

    /// Every entry is found, and stands where it should.
    fn compare(&self) {
        let view = self.terms.view();
        assert!(self.terms.long_keys.has_room_for(view.long.entries()));
        let mut found = 0;
        let mut pages = Pages::new(&self.pool);
        for (tree, is_long) in [(&view.long, true), (&view.short, false)] {
            let mut scan = tree.scan(&[]);
            while finish(&mut pages, |pages| scan.advance(tree, pages)).unwrap() {
                let entry = (scan.key(), scan.value());
                assert_eq!(self.map.get(entry.0).map(Vec::as_slice), Some(entry.1));
                let fault = finish(&mut pages, |pages| view.misplaced(entry, is_long, pages));
                assert_eq!(fault.unwrap(), None);
                found += 1;
            }
        }
        assert_eq!((found, view.terms()), (self.map.len(), found as u64));
    }
}

fn frames(store: &Arc<Store>) -> FramePool {
    FramePool::new(Arc::clone(store), &Budget::new(64 << 20), 128 * PAGE_SIZE).unwrap()
}

fn key(number: usize) -> Vec<u8> {
    format!("k{number:06}").into_bytes()
}

/// An entry; `count` tells it from others of its kind.
fn entry(is_long: bool, count: u32) -> Vec<u8> {
    let mut entry = TermEntry::default();
    let chunk = ChunkRef {
        place: ChunkPlace::nowhere(100),
        layout: Layout::Grouped,
        first: 0,
        last: count,
        count: 1,
        total_frequency: 1,
        head_length: 10,
        docs_length: 20,
        filters: PhraseFilters::None,
        filter_lengths: [0; 2],
    };
    match is_long {
        true => entry.chunks.push(chunk),
        false => {
            entry.tail.append(count, &[1], &[]);
        }
    }
    entry.encode().unwrap()
}

#[test]
fn lists_move_to_the_long_ones_once_and_stay() {
    let mut bed = Bed::new();
    for turn in 0..6 {
        // More terms than are changed at once, others each time; every so many becomes long.
        let keys: Vec<Vec<u8>> = (turn..2 * TERMS_AT_ONCE)
            .step_by(1 + turn)
            .map(key)
            .collect();
        let mut asked = 0;
        bed.change(&keys, |_, was_long| {
            asked += 1;
            (asked % 5 != 0).then(|| entry(was_long || asked % 7 == 0, asked))
        });
        assert_eq!(asked as usize, keys.len());
        bed.compare();
    }
    assert!(bed.terms.view().long.entries() > 1000);
}

#[test]
fn a_long_list_is_found_without_a_leaf_of_short_ones() {
    let mut bed = Bed::new();
    let keys: Vec<Vec<u8>> = (0..20_000).map(key).collect();
    let is_long = |key: &[u8]| key.ends_with(b"000");
    bed.change(&keys, |key, _| Some(entry(is_long(key), 3)));
    let view = bed.terms.view();
    assert_eq!((view.long.height(), view.short.height()), (1, 2));
    let pool = frames(&bed.store);
    // A short list does not touch the tree of long ones, whose root is its leaf.
    for (number, rounds, reads) in [
        (1500, 2, 2),
        (1000, 1, 1),
        (9000, 0, 0),
        (9001, 1, 1),
        (1501, 0, 0),
    ] {
        let mut pages = Pages::new(&pool);
        let found = finish(&mut pages, |pages| view.get(&key(number), pages)).unwrap();
        assert_eq!(found.as_deref(), Some(&bed.map[&key(number)][..]));
        let pages_read = pages.counts().bytes / PAGE_SIZE as u64;
        assert_eq!(
            (pages.counts().rounds, pages_read),
            (rounds, reads),
            "{number}"
        );
    }
}

#[test]
fn it_opens_again_as_it_was() {
    let mut bed = Bed::new();
    let keys: Vec<Vec<u8>> = (0..3000).map(key).collect();
    bed.change(&keys, |key, _| Some(entry(key.ends_with(b"7"), 9)));
    let mut tables = StreamWriter::new(Arc::clone(&bed.store), PageKind::Table);
    let mut root = Vec::new();
    bed.terms.encode(&mut tables, &mut root).unwrap();
    tables.flush().unwrap();
    bed.terms = TermDictionary::open(&bed.store, &root).unwrap();
    bed.compare();
    root.push(0);
    assert!(TermDictionary::open(&bed.store, &root).is_err());
}

#[test]
fn a_check_finds_entries_that_stand_wrong() {
    let mut bed = Bed::new();
    bed.change(&[key(1), key(2)], |key, _| {
        Some(entry(key.ends_with(b"2"), 1))
    });
    let fault = |bed: &Bed, number: usize, has_chunks: bool, is_long: bool| {
        let (key, entry) = (key(number), entry(has_chunks, 1));
        let (view, mut pages) = (bed.terms.view(), Pages::new(&bed.pool));
        finish(&mut pages, |pages| {
            view.misplaced((&key, &entry), is_long, pages)
        })
        .unwrap()
        .unwrap_or("none")
    };
    assert_eq!(fault(&bed, 1, false, false), "none");
    assert_eq!(fault(&bed, 2, true, true), "none");
    assert!(fault(&bed, 1, false, true).ends_with("the wrong tree"));
    assert!(fault(&bed, 2, true, false).ends_with("the wrong tree"));
    assert!(fault(&bed, 1, true, true).ends_with("lacks it"));
    bed.terms.long_keys.insert(&key(1));
    assert!(fault(&bed, 1, true, true).ends_with("both trees"));
}
