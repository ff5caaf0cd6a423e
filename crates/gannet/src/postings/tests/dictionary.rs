//! The term dictionary against a plain ordered map: lists grow, become long, and are found in one
//! tree only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::base::{Budget, PAGE_SIZE, PhraseFilters};
use crate::btree::KEY_MAX;
use crate::cache::{FramePool, Pages, finish};
use crate::device::MemoryDevice;
use crate::postings::codec::entry::{ChunkPlace, ChunkRef, Layout, TermEntry};
use crate::postings::codec::fragment::Fragment;
use crate::postings::terms::change::TERMS_AT_ONCE;
use crate::postings::terms::{Addition, DELTA_LEVELS, TermDictionary, TermTree};
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
    fn change(&mut self, keys: &[Vec<u8>], new: impl FnMut(&[u8], bool) -> Option<Vec<u8>> + Send) {
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let changed = Mutex::new((&mut self.map, new));
        let decide = |old: &[(usize, Option<&[u8]>)]| {
            let (map, new) = &mut *changed.lock().unwrap();
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
        self.terms.update(&self.pool, &keys, &decide).unwrap();
        self.terms.flush().unwrap();
    }

    /// Encodes and opens the dictionary; gives what was encoded.
    fn reopen(&mut self) -> Vec<u8> {
        let mut tables = StreamWriter::new(Arc::clone(&self.store), PageKind::Table);
        let mut root = Vec::new();
        self.terms.flush().unwrap();
        self.terms.encode(&mut tables, &mut root).unwrap();
        tables.flush().unwrap();
        self.terms = TermDictionary::open(&self.store, &self.pool, &root).unwrap();
        root
    }

    /// Every entry is found, and stands where it should.
    fn compare(&self) {
        let view = self.terms.view();
        assert!(
            self.terms
                .lists
                .long
                .keys
                .has_room_for(view.tree(TermTree::Long).entries())
        );
        let mut found = 0;
        let mut pages = Pages::new(&self.pool);
        for which in TermTree::LISTS {
            let tree = view.tree(which);
            let mut scan = tree.scan(&[]);
            while finish(&mut pages, |pages| scan.advance(tree, pages)).unwrap() {
                let (key, value) = (scan.key(), scan.value());
                assert_eq!(self.map.get(key).map(Vec::as_slice), Some(value));
                let fault = finish(&mut pages, |pages| view.misplaced(key, value, which, pages));
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

fn entries(bed: &Bed, tree: TermTree) -> u64 {
    bed.terms.view().tree(tree).entries()
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
    if is_long {
        entry.chunks.push(chunk)
    } else {
        entry.tail.append(count, &[1], &[]);
    }
    entry.encode().unwrap()
}

#[test]
fn lists_move_to_the_long_ones_once_and_stay() {
    let mut bed = Bed::new();
    for step in 0..6 {
        // More terms than are changed at once, others each time; every so many becomes long.
        let keys: Vec<Vec<u8>> = (step..2 * TERMS_AT_ONCE)
            .step_by(1 + step)
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
    assert!(entries(&bed, TermTree::Long) > 1000);
}

#[test]
fn a_long_list_is_found_without_a_leaf_of_short_ones() {
    let mut bed = Bed::new();
    let keys: Vec<Vec<u8>> = (0..20_000).map(key).collect();
    let is_long = |key: &[u8]| key.ends_with(b"000");
    bed.change(&keys, |key, _| Some(entry(is_long(key), 3)));
    let view = bed.terms.view();
    let heights = [TermTree::Long, TermTree::Short].map(|tree| view.tree(tree).height());
    assert_eq!(heights, [1, 2]);
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
        assert_eq!(found.entry.as_deref(), Some(&bed.map[&key(number)][..]));
        assert!(found.recent.is_empty());
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
    let mut root = bed.reopen();
    bed.compare();
    root.push(0);
    assert!(TermDictionary::open(&bed.store, &bed.pool, &root).is_err());
}

#[test]
fn a_check_finds_entries_that_stand_wrong() {
    let mut bed = Bed::new();
    bed.change(&[key(1), key(2)], |key, _| {
        Some(entry(key.ends_with(b"2"), 1))
    });
    let fault = |bed: &Bed, number: usize, has_chunks: bool, is_long: bool| {
        let tree = if is_long {
            TermTree::Long
        } else {
            TermTree::Short
        };
        let (key, entry) = (key(number), entry(has_chunks, 1));
        let (view, mut pages) = (bed.terms.view(), Pages::new(&bed.pool));
        finish(&mut pages, |pages| {
            view.misplaced(&key, &entry, tree, pages)
        })
        .unwrap()
        .unwrap_or("none")
    };
    assert_eq!(fault(&bed, 1, false, false), "none");
    assert_eq!(fault(&bed, 2, true, true), "none");
    assert!(fault(&bed, 1, false, true).ends_with("the wrong tree"));
    assert!(fault(&bed, 2, true, false).ends_with("the wrong tree"));
    assert!(fault(&bed, 1, true, true).ends_with("lacks it"));
    bed.terms.lists.long.keys.insert(&key(1));
    assert!(fault(&bed, 1, true, true).ends_with("another tree"));
    let tree = TermTree::Frequent;
    let (view, mut pages) = (bed.terms.view(), Pages::new(&bed.pool));
    let wrong = finish(&mut pages, |pages| {
        view.misplaced(&key(2), &entry(true, 1), tree, pages)
    });
    assert!(wrong.unwrap().unwrap().ends_with("lacks it"));
    bed.terms.lists.frequent.keys.insert(&key(2));
    let view = bed.terms.view();
    let wrong = finish(&mut pages, |pages| {
        view.misplaced(&key(2), &entry(true, 1), tree, pages)
    });
    assert!(wrong.unwrap().unwrap().ends_with("another tree"));
}

/// Joins postings as a flush does, but a list that becomes too long gets a chunk that only counts
/// them.
fn join(additions: Vec<Addition<'_>>) -> crate::base::Result<Vec<Vec<u8>>> {
    let join_one = |addition: Addition<'_>| {
        let old = addition.old.map(TermEntry::decode).transpose()?;
        let mut joined = old.unwrap_or_default();
        joined.tail = std::mem::take(&mut joined.tail).concat(&addition.new)?;
        if joined.tail.bytes() > 100 {
            let old = joined.chunks.pop();
            let counted = joined.tail.count + old.map_or(0, |chunk| chunk.count);
            let first = joined.tail.first()?.unwrap_or_default();
            joined.chunks.push(ChunkRef {
                first: old.map_or(first, |chunk| chunk.first),
                last: joined.tail.last,
                count: counted,
                total_frequency: counted,
                ..TermEntry::decode(&entry(true, 1))?.chunks[0]
            });
            joined.tail = Fragment::default();
        }
        joined.encode()
    };
    additions.into_iter().map(join_one).collect()
}

#[test]
fn recent_postings_are_found_behind_their_lists_until_they_join_them() {
    let mut bed = Bed::new();
    let mut counts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let (mut levels, mut joined, mut written) = ([0; DELTA_LEVELS], 0, 0);
    for doc in 1..160u32 {
        // The first terms in every document, with many words each, the next with many only at
        // times, when they have delta postings on all levels, the others ever more rarely.
        let step = 1 + (doc as usize * 7) % 40;
        let asked = (0..12).chain((12..4000).step_by(step));
        let terms: Vec<usize> = asked.collect();
        let keys: Vec<Vec<u8>> = terms.iter().copied().map(key).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let new = |indexes: Vec<usize>| {
            let fragment = |at: usize| {
                let words: Vec<u32> = match terms[at] {
                    0..8 => (0..300).collect(),
                    8..12 if doc % 37 == 36 => (0..1100).collect(),
                    _ => vec![0],
                };
                let mut fragment = Fragment::new(doc);
                fragment.append(doc, &words, &[]);
                fragment
            };
            indexes.into_iter().map(fragment).collect()
        };
        bed.terms.add(&bed.pool, &keys, &new, &join).unwrap();
        bed.terms.flush().unwrap();
        // Nothing new leaves what is there, also where it is due to be compacted.
        let appended = |bed: &Bed| TermTree::ALL.map(|tree| bed.terms.view().tree(tree).appended());
        let before = appended(&bed);
        bed.terms.add(&bed.pool, &[], &new, &join).unwrap();
        assert_eq!(appended(&bed), before);
        for term in terms {
            counts.entry(term).or_default().push(doc);
        }
        for (level, count) in levels.iter_mut().enumerate() {
            *count += u32::from(entries(&bed, TermTree::Delta(level)) > 0);
        }
        let short = bed.terms.view().tree(TermTree::Short).appended();
        joined += u32::from(short > written);
        written = short;
        if doc % 40 == 0 {
            bed.reopen();
            written = 0;
        }
        bed.compare_postings(&counts);
    }
    println!(
        "delta postings on levels after {levels:?} changes, {joined} of them wrote short lists"
    );
    assert!(levels.iter().all(|count| *count > 20) && joined > 3);
    // The first terms got much at once.
    assert_eq!(entries(&bed, TermTree::Frequent), 12);
    let mut steps = 1;
    while bed.terms.settle(&bed.pool, 2, &join).unwrap() {
        bed.terms.flush().unwrap();
        bed.compare_postings(&counts);
        steps += 1;
    }
    assert!(steps > 2, "{steps} steps");
    bed.terms.flush().unwrap();
    bed.compare_postings(&counts);
    let view = bed.terms.view();
    assert_eq!(
        (view.has_recent(), view.terms()),
        (false, counts.len() as u64)
    );
}

#[test]
fn recent_postings_of_the_longest_words_fit_beside_them() {
    let mut bed = Bed::new();
    let (key, words): (_, Vec<u32>) = (vec![b'k'; KEY_MAX], (0..25).collect());
    for doc in 1..100u32 {
        let new = |_: Vec<usize>| {
            let mut fragment = Fragment::new(doc);
            fragment.append(doc, &words, &[]);
            vec![fragment]
        };
        let added = bed.terms.add(&bed.pool, &[&key], &new, &join);
        added.unwrap();
        bed.terms.flush().unwrap();
    }
    let (view, mut pages) = (bed.terms.view(), Pages::new(&bed.pool));
    let found = finish(&mut pages, |pages| view.get(&key, pages)).unwrap();
    let postings = found.decode().unwrap().unwrap();
    assert_eq!(postings.document_frequency(), 99);
}

impl Bed {
    /// Every term is found with all its documents, and stands where it should.
    fn compare_postings(&self, counts: &BTreeMap<usize, Vec<u32>>) {
        let (view, mut pages) = (self.terms.view(), Pages::new(&self.pool));
        for (term, docs) in counts {
            let found = finish(&mut pages, |pages| view.get(&key(*term), pages)).unwrap();
            let postings = found.decode().unwrap().unwrap();
            assert_eq!(postings.document_frequency(), docs.len() as u64, "{term}");
            let listed = postings.entry.document_frequency() as usize;
            let (listed, mut recent) = docs.split_at(listed);
            assert_eq!(postings.entry.last(), listed.last().copied());
            for level in postings.recent.iter().rev() {
                let of_level;
                (of_level, recent) = recent.split_at(level.count as usize);
                assert_eq!(level.first().unwrap(), of_level.first().copied());
            }
        }
        for which in TermTree::ALL {
            let mut scan = view.tree(which).scan(&[]);
            while finish(&mut pages, |pages| scan.advance(view.tree(which), pages)).unwrap() {
                let (key, value) = (scan.key(), scan.value());
                let fault = finish(&mut pages, |pages| view.misplaced(key, value, which, pages));
                assert_eq!(fault.unwrap(), None);
            }
        }
    }
}
