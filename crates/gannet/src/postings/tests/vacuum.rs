//! Vacuum against the plain oracle: what is left of a list is what the oracle has left.

use super::*;
use crate::postings::codec::dead::DeadDocs;
use crate::postings::lists::vacuum::{SweepItem, Swept, SweptEntry, sweep_bytes, vacuum_window};

const KINDS: [PhraseFilters; 2] = [PhraseFilters::None, PhraseFilters::Common];

const SHAPE: Shape = Shape {
    gap: 6,
    frequency: 9,
    position_gap: 40,
};

/// The documents for which a rule holds.
fn dead(rule: impl Fn(DocId) -> bool) -> DeadDocs {
    let mut bytes = vec![0u8; 100_000];
    for doc in (0..bytes.len() as DocId * 8).filter(|doc| rule(*doc)) {
        bytes[doc as usize / 8] |= 1 << (doc % 8);
    }
    DeadDocs::new(&bytes)
}

fn sweep(world: &mut World, entry: &TermEntry, dead: &DeadDocs) -> Swept {
    let coded = entry.encode().unwrap();
    let item = SweepItem {
        key_bytes: 8,
        field: 0,
        filters: world.filters,
        entry: &coded,
    };
    let norms = |_: FieldId, doc: DocId| -> Result<u8> {
        assert!(
            !dead.has(doc),
            "the tables may have forgotten document {doc}"
        );
        Ok(norm(doc))
    };
    let swept = vacuum_window(&world.store, &world.streams, &norms, dead, &[item]).unwrap();
    world.flush();
    swept.into_iter().next().unwrap()
}

/// A list of chunks and a tail, nothing of it in memory.
fn chunks_and_tail(world: &mut World, random: &mut Random, runs: &[usize]) -> List {
    let mut list = build(world, random, &[runs, &[0]].concat(), SHAPE);
    list.memory.clear();
    list
}

/// Compares the result of a sweep with that of the oracle. Chunks that a sweep gives up are
/// released.
fn compare(world: &mut World, list: List, dead: &DeadDocs) -> TermEntry {
    let swept = sweep(world, &list.entry, dead);
    let is_dead = |(doc, _): &&Posting| dead.has(*doc);
    let gone = list.all.iter().filter(is_dead);
    let tokens: usize = gone.map(|(_, positions)| positions.len()).sum();
    assert_eq!(swept.tokens, tokens as u64);
    let entry = match swept.entry {
        SweptEntry::Same => list.entry,
        SweptEntry::New(coded) => TermEntry::decode(&coded).unwrap(),
        SweptEntry::Gone => TermEntry::default(),
    };
    let live: u64 = entry.chunks.iter().map(|chunk| chunk.length() as u64).sum();
    assert_eq!(world.live_bytes(), live);
    let left = List {
        entry,
        memory: Vec::new(),
        all: list
            .all
            .into_iter()
            .filter(|(doc, _)| !dead.has(*doc))
            .collect(),
        filters: list.filters,
    };
    let pool = world.pool();
    let mut pages = Pages::new(&pool);
    left.verify_scan(&mut pages);
    left.verify_check(&mut pages);
    left.entry
}

#[test]
fn what_is_left_of_a_list_is_what_the_oracle_leaves() {
    for filters in KINDS {
        for seed in 0..60 {
            let mut random = Random(seed);
            let mut world = World::new();
            world.filters = filters;
            let runs: Vec<usize> = (0..1 + random.below(9))
                .map(|_| random.below([4, 60, 900, 5_000][seed as usize % 4]) as usize)
                .collect();
            let list = chunks_and_tail(&mut world, &mut random, &runs);
            let last = list.all.last().map_or(0, |(doc, _)| *doc as u64) as DocId;
            let (from, to) = (random.below(last as u64), random.below(last as u64));
            let (from, to) = (from as DocId, to as DocId);
            let one_of = 1 + random.below(20) as u32;
            let dead = match random.below(4) {
                0 => dead(|doc| (norm(doc) as u32).is_multiple_of(one_of)),
                1 => dead(|doc| doc <= from),
                2 => dead(|doc| (from..to).contains(&doc)),
                _ => dead(|doc| !norm(doc).is_multiple_of(64)),
            };
            compare(&mut world, list, &dead);
        }
    }
}

#[test]
fn chunks_without_a_dead_document_stay_where_they_are() {
    let mut world = World::new();
    let list = chunks_and_tail(&mut world, &mut Random(3), &[9_000, 9_000, 9_000, 9_000]);
    let chunks = list.entry.chunks.clone();
    assert_eq!(chunks.len(), 4);
    let (first, last) = (chunks[1].first + 40, chunks[2].first + 10);
    let left = compare(&mut world, list, &dead(|doc| (first..last).contains(&doc)));
    assert_eq!(left.chunks[0], chunks[0]);
    assert_eq!(left.chunks.last(), chunks.last());
    // Those in between were written anew, as one.
    assert_eq!(left.chunks.len(), 3);
}

#[test]
fn chunks_that_are_dead_as_a_whole_are_not_read() {
    let mut world = World::new();
    let list = chunks_and_tail(&mut world, &mut Random(4), &[9_000, 9_000, 9_000]);
    let chunks = list.entry.chunks.clone();
    let old = dead(|doc| doc <= chunks[1].last);
    let coded = list.entry.encode().unwrap();
    assert_eq!(sweep_bytes(&coded, &old).unwrap(), coded.len() as u64);
    let some = dead(|doc| doc < chunks[1].last);
    let read = coded.len() as u64 + chunks[1].length() as u64;
    assert_eq!(sweep_bytes(&coded, &some).unwrap(), read);
    let left = compare(&mut world, list, &old);
    assert_eq!(left.chunks, chunks[2..]);
}

#[test]
fn a_list_that_became_short_has_no_chunks() {
    for filters in KINDS {
        let mut world = World::new();
        world.filters = filters;
        let list = chunks_and_tail(&mut world, &mut Random(5), &[900, 900]);
        let kept: Vec<DocId> = [3, 950].map(|place| list.doc(place)).to_vec();
        let of_kept = |(doc, _): &&Posting| kept.contains(doc);
        let expected: Vec<Posting> = list.all.iter().filter(of_kept).cloned().collect();
        let left = compare(&mut world, list, &dead(|doc| !kept.contains(&doc)));
        assert_eq!(left.chunks.len(), 0, "{filters:?}");
        let expected = fragment(&expected, filters);
        assert_eq!(left.tail.positions, expected.positions, "{filters:?}");
    }
}

#[test]
fn a_list_without_living_documents_is_gone() {
    let mut world = World::new();
    for runs in [&[3][..], &[900, 20]] {
        let list = chunks_and_tail(&mut world, &mut Random(6), runs);
        let swept = sweep(&mut world, &list.entry, &dead(|_| true));
        assert_eq!(swept.entry, SweptEntry::Gone);
        assert_eq!(world.live_bytes(), 0);
    }
}

#[test]
fn a_list_without_dead_documents_is_the_same() {
    let mut world = World::new();
    let list = chunks_and_tail(&mut world, &mut Random(7), &[900, 900, 20]);
    let here: BTreeSet<DocId> = list.all.iter().map(|(doc, _)| *doc).collect();
    let swept = sweep(&mut world, &list.entry, &dead(|doc| !here.contains(&doc)));
    assert_eq!(swept.entry, SweptEntry::Same);
    assert_eq!(swept.tokens, 0);
}
