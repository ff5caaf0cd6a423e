//! The room against a plain oracle: a list is a vector of docs with their positions and norms.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{
    ChunkStreams, Fragment, Pair, PostingVisitor, Reach, TermCursor, TermEntry, TermList, Tokens,
    check,
};
use crate::analysis::FieldId;
use crate::base::{Budget, DocId, END, PhraseFilters, Result};
use crate::cache::{FramePool, Pages, finish};
use crate::device::MemoryDevice;
use crate::postings::codec::entry::{ChunkPlace, GROUPED_LIMIT, Layout};
use crate::postings::codec::head::{Head, HeadFound};
use crate::postings::codec::tokens::Neighbours;
use crate::postings::lists::merge::{MergeItem, merge_window};
use crate::postings::lists::merge_memory::MergeMemory;
use crate::postings::lists::relocate::relocate_window;
use crate::storage::{Store, ZoneTable};

/// A small generator of random numbers, so that a seed tells everything.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

type Posting = (DocId, Vec<u32>);

fn norm(doc: DocId) -> u8 {
    (doc.wrapping_mul(2_654_435_761) >> 24) as u8
}

/// The postings that a check shows of a list.
#[derive(Default)]
struct Shown(Vec<(DocId, Tokens)>);

impl PostingVisitor for Shown {
    fn norm(&mut self, doc: DocId) -> Result<u8> {
        Ok(norm(doc))
    }

    fn visit(&mut self, doc: DocId, tokens: &Tokens) {
        self.0.push((doc, tokens.clone()));
    }
}

/// The parameters of random postings.
#[derive(Clone, Copy, Debug)]
struct Shape {
    gap: u64,
    frequency: u64,
    position_gap: u64,
}

fn draw(random: &mut Random, start: DocId, count: usize, shape: Shape) -> Vec<Posting> {
    let mut doc = start as u64;
    let mut postings = Vec::with_capacity(count);
    for i in 0..count {
        if i > 0 {
            doc += 1 + random.below(shape.gap);
        }
        let mut frequency = 1 + random.below(shape.frequency);
        // Most postings are far below the highest frequency.
        if !random.below(20).is_multiple_of(20) {
            frequency = 1 + frequency / 20;
        }
        let mut position = 0;
        let positions = (0..frequency).map(|_| {
            position += random.below(shape.position_gap) as u32;
            position
        });
        postings.push((doc as DocId, positions.collect()));
    }
    postings
}

/// Fingerprints that the oracle makes up for a token: of common words, or none, so that either kind
/// of filter can keep them.
fn neighbours(doc: DocId, position: u32) -> Neighbours {
    let mixed = (doc ^ position).wrapping_mul(2_654_435_761);
    let of = |bits: u32| match bits % 256 {
        190.. => 0,
        some => some / 2,
    };
    Neighbours {
        before: of(mixed >> 24) as u16,
        after: of(mixed >> 16) as u16,
    }
}

fn fragment(postings: &[Posting], filters: PhraseFilters) -> Fragment {
    let mut fragment = Fragment::new(postings.first().map_or(0, |(doc, _)| *doc));
    fragment.filters = filters;
    for (doc, positions) in postings {
        let neighbours = positions.iter().map(|position| neighbours(*doc, *position));
        let neighbours: Vec<Neighbours> = neighbours.collect();
        fragment.append(*doc, positions, &neighbours);
    }
    fragment
}

/// A store in memory with streams of postings.
struct World {
    store: Arc<Store>,
    streams: ChunkStreams,
    filters: PhraseFilters,
}

impl World {
    fn new() -> World {
        let device = Arc::new(MemoryDevice::new());
        let store = Arc::new(Store::new(device, 7, ZoneTable::default()));
        World {
            streams: ChunkStreams::new(&store, MergeMemory::default()),
            filters: PhraseFilters::None,
            store,
        }
    }

    fn merge(&mut self, old: Option<&[u8]>, new: &[Posting]) -> Vec<u8> {
        let item = MergeItem {
            field: 0,
            key_bytes: 8,
            old,
            new: fragment(new, self.filters),
            joins: false,
        };
        let norms = |_: FieldId, doc: DocId| -> Result<u8> { Ok(norm(doc)) };
        let merged = merge_window(&self.store, &self.streams, &norms, &[item]).unwrap();
        self.flush();
        merged.into_iter().next().unwrap()
    }

    fn flush(&mut self) {
        self.streams.flush().unwrap();
    }

    fn live_bytes(&self) -> u64 {
        self.store.zones().iter().map(|(_, zone)| zone.live).sum()
    }

    fn pool(&self) -> FramePool {
        FramePool::new(self.store.clone(), &Budget::new(64 << 20), 64 * 4192).unwrap()
    }
}

/// A list made by several merges, with the postings that it must hold.
struct List {
    entry: TermEntry,
    memory: Vec<Posting>,
    all: Vec<Posting>,
    filters: PhraseFilters,
}

/// Merges runs of these lengths, the last of which stays in memory.
fn build(world: &mut World, random: &mut Random, runs: &[usize], shape: Shape) -> List {
    let (mut entry, mut all, mut next): (Option<Vec<u8>>, Vec<Posting>, DocId) = (None, vec![], 0);
    let mut memory = Vec::new();
    for (i, count) in runs.iter().enumerate() {
        let run = draw(random, next, *count, shape);
        next = run.last().map_or(next, |(doc, _)| doc + 1);
        all.extend_from_slice(&run);
        if i + 1 == runs.len() {
            memory = run;
        } else if !run.is_empty() {
            entry = Some(world.merge(entry.as_deref(), &run));
        }
    }
    let entry = entry.map_or(TermEntry::default(), |bytes| {
        TermEntry::decode(&bytes).unwrap()
    });
    List {
        entry,
        memory,
        all,
        filters: world.filters,
    }
}

impl List {
    fn cursor(&self) -> TermCursor {
        let memory = fragment(&self.memory, self.filters);
        let mut cursor = TermList::new(self.entry.clone().into(), vec![memory]).cursor();
        cursor.will_need(Reach::Positions);
        cursor
    }

    fn place(&self, target: DocId) -> usize {
        self.all.partition_point(|(doc, _)| *doc < target)
    }

    fn doc(&self, place: usize) -> DocId {
        self.all.get(place).map_or(END, |(doc, _)| *doc)
    }

    /// Walks the whole list by `next`, all positions included.
    fn verify_scan(&self, pages: &mut Pages<'_>) {
        let (mut cursor, mut positions) = (self.cursor(), Vec::new());
        assert_eq!(cursor.document_frequency(), self.all.len() as u64);
        for (doc, expected) in &self.all {
            assert_eq!(finish(pages, |pages| cursor.next(pages)).unwrap(), *doc);
            finish(pages, |pages| cursor.positions(pages, &mut positions)).unwrap();
            assert_eq!(&positions, expected, "doc {doc}");
            assert_eq!(cursor.frequency() as usize, expected.len());
        }
        assert_eq!(finish(pages, |pages| cursor.next(pages)).unwrap(), END);
        assert_eq!(
            finish(pages, |pages| cursor.advance(0, pages)).unwrap(),
            END
        );
        assert_eq!(cursor.block(), (&[][..], &[][..]));
    }

    /// Walks the list a block at a time.
    fn verify_blocks(&self, pages: &mut Pages<'_>) {
        let (mut cursor, mut seen, mut target) = (self.cursor(), 0, 0);
        while finish(pages, |pages| cursor.advance(target, pages)).unwrap() != END {
            let (docs, frequencies) = cursor.block();
            for (doc, frequency) in docs.iter().zip(frequencies) {
                let (expected, positions) = &self.all[seen];
                assert_eq!((doc, *frequency as usize), (expected, positions.len()));
                seen += 1;
            }
            target = docs[docs.len() - 1] + 1;
        }
        assert_eq!(seen, self.all.len());
    }

    /// Moves at random and compares everything with the oracle.
    fn verify_random(&self, random: &mut Random, steps: usize, pages: &mut Pages<'_>) {
        let (mut cursor, mut place, mut positions) = (self.cursor(), None::<usize>, Vec::new());
        let last = self.all.last().map_or(0, |(doc, _)| *doc) as u64;
        for _ in 0..steps {
            let here = place.map_or(0, |place| self.doc(place));
            if random.below(3) == 0 {
                place = Some(place.map_or(0, |place| (place + 1).min(self.all.len())));
                finish(pages, |pages| cursor.next(pages)).unwrap();
            } else {
                let span = if random.below(2) == 0 { last / 20 } else { 300 };
                let target = (here as u64 + random.below(span + 2)).min(END as u64) as DocId;
                place = Some(self.place(target).max(place.unwrap_or(0)));
                // Ahead it brings the page that is needed now; back, where the cursor was, it
                // changes nothing.
                let back = random.below(here as u64 + 1) as DocId;
                let look = if random.below(2) == 0 { target } else { back };
                finish(pages, |pages| cursor.look_at(look, pages)).unwrap();
                finish(pages, |pages| cursor.advance(target, pages)).unwrap();
            }
            let at = place.unwrap_or(0);
            assert_eq!(cursor.doc(), self.doc(at));
            if at < self.all.len() && random.below(4) == 0 {
                assert_eq!(cursor.frequency() as usize, self.all[at].1.len());
            }
            if at < self.all.len() && random.below(4) == 0 {
                finish(pages, |pages| cursor.positions(pages, &mut positions)).unwrap();
                assert_eq!(positions, self.all[at].1);
            }
            if random.below(3) == 0 {
                self.verify_bound(&mut cursor, random, pages);
            }
        }
    }

    /// No posting a bound speaks for may be above it, and its last doc is the list's.
    fn verify_bound(&self, cursor: &mut TermCursor, random: &mut Random, pages: &mut Pages<'_>) {
        let target = cursor.doc().saturating_add(random.below(5000) as DocId);
        let bound = finish(pages, |pages| cursor.bound(target, pages)).unwrap();
        let first = self.place(target);
        if first == self.all.len() {
            assert_eq!((bound.last, bound.pairs().len()), (END, 0));
            return;
        }
        let mut bounds = vec![(bound.last, bound.pairs().to_vec())];
        if let Some(blocks) = cursor.blocks_ahead(target) {
            let mut pairs = Vec::new();
            let last = blocks.lasts().next().unwrap();
            blocks
                .each_pair(blocks.first(), |pair| pairs.push(pair))
                .unwrap();
            bounds.push((last, pairs));
        }
        for (last, pairs) in bounds {
            assert_eq!(self.doc(self.place(last)), last);
            assert!(last >= self.doc(first));
            for (doc, positions) in &self.all[first..=self.place(last)] {
                let norm = if self.memory.first().is_some_and(|m| m.0 <= *doc) {
                    0
                } else {
                    norm(*doc)
                };
                let pair = Pair {
                    frequency: positions.len() as u32,
                    norm,
                };
                assert!(pairs.iter().any(|held| held.dominates(pair)));
            }
        }
    }

    /// A check finds nothing, and shows every posting of the entry with what its filter has.
    fn verify_check(&self, pages: &mut Pages<'_>) {
        let mut shown = Shown::default();
        let faults = check(&self.entry, pages, &mut shown).unwrap();
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(shown.0.len() as u64, self.entry.document_frequency());
        for ((doc, tokens), (expected, positions)) in shown.0.iter().zip(&self.all) {
            assert_eq!((doc, &tokens.positions), (expected, positions));
            if tokens.has_filter() {
                let kept = fragment(&[(*doc, positions.clone())], self.filters);
                let mut expected = Tokens::default();
                kept.reader().next(&mut expected).unwrap();
                assert_eq!(*tokens, expected, "doc {doc}");
            }
        }
    }

    fn verify_all(&self, random: &mut Random, world: &World) {
        let pool = world.pool();
        let mut pages = Pages::new(&pool);
        self.verify_scan(&mut pages);
        self.verify_blocks(&mut pages);
        self.verify_random(random, 2000, &mut pages);
        let all = finish(&mut pages, |pages| self.cursor().list_bound(pages)).unwrap();
        for (doc, positions) in &self.all {
            let pair = Pair {
                frequency: positions.len() as u32,
                norm: norm(*doc),
            };
            assert!(all.pairs().iter().any(|held| held.dominates(pair)));
        }
        self.verify_check(&mut pages);
        let encoded = self.entry.encode().unwrap();
        assert_eq!(TermEntry::decode(&encoded).unwrap(), self.entry);
    }
}

const PLAIN: Shape = Shape {
    gap: 30,
    frequency: 4,
    position_gap: 100,
};

#[test]
fn lists_of_all_lengths_read_back() {
    for (seed, count) in [1, 2, 30, 127, 128, 129, 256, 700, 5_000]
        .into_iter()
        .enumerate()
    {
        for shape in [
            PLAIN,
            Shape {
                gap: 1,
                frequency: 1,
                position_gap: 1,
            },
            Shape {
                gap: 800_000,
                frequency: 60,
                position_gap: 1 << 20,
            },
        ] {
            println!("seed {seed}, {count} postings, {shape:?}");
            let (mut world, mut random) = (World::new(), Random(seed as u64));
            let list = build(&mut world, &mut random, &[count, 0], shape);
            list.verify_all(&mut random, &world);
        }
    }
}

#[test]
fn a_long_list_reads_back() {
    for (seed, gap) in [(1, 3), (2, 10_000)] {
        let (mut world, mut random) = (World::new(), Random(seed));
        let shape = Shape { gap, ..PLAIN };
        let list = build(&mut world, &mut random, &[300_000, 0], shape);
        list.verify_all(&mut random, &world);
    }
}

#[test]
fn a_list_longer_than_its_heads_index_reads_back() {
    let (mut world, mut random) = (World::new(), Random(3));
    let shape = Shape {
        gap: 1500,
        frequency: 60,
        position_gap: 3,
    };
    let list = build(&mut world, &mut random, &[1_000_000, 500, 0], shape);
    let pool = world.pool();
    let chunk = list.entry.chunks[0];
    let front = chunk.place.part(0, chunk.head_length);
    let bytes = finish(&mut Pages::new(&pool), |pages| pages.span(front)).unwrap();
    let head = Head::parse(&chunk, &bytes).unwrap();
    assert!(matches!(head.find(chunk.last), HeadFound::IndexPage(page) if page > 0));
    list.verify_all(&mut random, &world);
}

#[test]
fn chunks_tail_and_memory_are_one_list() {
    for seed in 0..12 {
        let (mut world, mut random) = (World::new(), Random(seed));
        let mut runs: Vec<usize> = (0..1 + random.below(30))
            .map(|_| 1 + random.below(900) as usize)
            .collect();
        runs.extend([3, 1 + random.below(1500) as usize]);
        println!("seed {seed}, runs {runs:?}");
        let list = build(&mut world, &mut random, &runs, PLAIN);
        list.verify_all(&mut random, &world);
        let chunk_bytes: u64 = list.entry.spans().map(|span| span.length as u64).sum();
        assert_eq!(
            world.live_bytes(),
            chunk_bytes,
            "what was replaced is released"
        );
    }
}

#[test]
fn huge_frequencies_and_positions_read_back() {
    let (mut world, mut random) = (World::new(), Random(5));
    let mut postings = draw(&mut random, 7, 300, PLAIN);
    for (at, frequency) in [
        (0, 100_000u32),
        (127, 30_000),
        (128, 70_000),
        (299, 100_000),
    ] {
        postings[at].1 = (0..frequency).map(|i| i * 7).collect();
    }
    postings[10].1 = vec![0, 0, u32::MAX];
    let entry = TermEntry::decode(&world.merge(None, &postings)).unwrap();
    let list = List {
        entry,
        memory: vec![],
        all: postings,
        filters: PhraseFilters::None,
    };
    list.verify_all(&mut random, &world);
}

#[test]
fn a_posting_longer_than_the_position_table_reads_back() {
    let (mut world, mut random) = (World::new(), Random(6));
    let mut postings = draw(&mut random, 0, 200, PLAIN);
    for at in [3, 150] {
        postings[at].1 = (0..600_000u32).map(|i| i * 600).collect();
    }
    let entry = TermEntry::decode(&world.merge(None, &postings)).unwrap();
    let list = List {
        entry,
        memory: vec![],
        all: postings,
        filters: PhraseFilters::None,
    };
    let pool = world.pool();
    list.verify_scan(&mut Pages::new(&pool));
}

#[test]
fn documents_0_and_the_last_possible_read_back() {
    let (mut world, mut random) = (World::new(), Random(7));
    let mut postings = draw(&mut random, 0, 400, PLAIN);
    postings.push((END - 1, vec![1]));
    let entry = TermEntry::decode(&world.merge(None, &postings)).unwrap();
    let list = List {
        entry,
        memory: vec![],
        all: postings,
        filters: PhraseFilters::None,
    };
    list.verify_all(&mut random, &world);
}

#[test]
fn one_round_opens_a_list_and_one_more_looks_many_docs_up() {
    let (mut world, mut random) = (World::new(), Random(8));
    let list = build(&mut world, &mut random, &[20_000, 20_000, 20_000, 0], PLAIN);
    assert!(list.entry.chunks.len() == 3);
    let pool = FramePool::new(world.store.clone(), &Budget::new(64 << 20), 8 << 20).unwrap();
    let mut pages = Pages::new(&pool);
    let docs: Vec<DocId> = list.all.iter().step_by(1500).map(|(doc, _)| *doc).collect();
    let mut cursor = list.cursor();
    finish(&mut pages, |pages| cursor.prefetch(&docs, pages)).unwrap();
    assert_eq!(pages.counts().rounds, 1);
    finish(&mut pages, |pages| cursor.prefetch_positions(&docs, pages)).unwrap();
    assert_eq!(pages.counts().rounds, 2);
    let mut positions = Vec::new();
    for doc in docs {
        assert_eq!(
            finish(&mut pages, |pages| cursor.advance(doc, pages)).unwrap(),
            doc
        );
        finish(&mut pages, |pages| cursor.positions(pages, &mut positions)).unwrap();
        assert_eq!(positions, list.all[list.place(doc)].1);
    }
    assert_eq!(pages.counts().rounds, 3);
}

#[test]
fn a_scan_asks_ahead() {
    let (mut world, mut random) = (World::new(), Random(9));
    let list = build(&mut world, &mut random, &[100_000, 0], PLAIN);
    let pool = FramePool::new(world.store.clone(), &Budget::new(64 << 20), 8 << 20).unwrap();
    let mut pages = Pages::new(&pool);
    let mut cursor = list.cursor();
    finish(&mut pages, |pages| cursor.prefetch_from(0, 10_000, pages)).unwrap();
    while finish(&mut pages, |pages| cursor.next(pages)).unwrap() != END {}
    assert_eq!(pages.counts().rounds, 2);
}

#[test]
fn moved_chunks_read_the_same() {
    let (mut world, mut random) = (World::new(), Random(10));
    let mut list = build(&mut world, &mut random, &[400, 5000, 300, 3, 0], PLAIN);
    for stream in world.streams.all() {
        stream.close_zone().unwrap();
    }
    let before = world.live_bytes();
    let victims = world.store.zones().next_number();
    let entry = list.entry.encode().unwrap();
    let moved = relocate_window(
        &[&entry],
        &|zone| zone < victims,
        &world.store,
        &world.streams,
    );
    world.flush();
    list.entry = TermEntry::decode(moved.unwrap()[0].as_ref().unwrap()).unwrap();
    assert!(list.entry.spans().all(|span| span.zone >= victims));
    assert_eq!(world.live_bytes(), before);
    list.verify_all(&mut random, &world);
}

#[test]
fn of_a_chunk_in_two_runs_only_that_in_a_victim_moves() {
    let (mut world, mut random) = (World::new(), Random(14));
    let mut list = build(&mut world, &mut random, &[400, 0], PLAIN);
    for stream in world.streams.all() {
        stream.close_zone().unwrap();
    }
    let before = world.live_bytes();
    for of_back in [true, false] {
        let ChunkPlace { front, back } = list.entry.chunks[0].place;
        let back = back.expect("a chunk in two runs");
        let victim = if of_back { back.zone } else { front.zone };
        let (store, streams) = (&world.store, &mut world.streams);
        let entry = list.entry.encode().unwrap();
        let moved = relocate_window(&[&entry], &|zone| zone == victim, store, streams);
        world.flush();
        list.entry = TermEntry::decode(moved.unwrap()[0].as_ref().unwrap()).unwrap();
        let place = list.entry.chunks[0].place;
        assert_eq!(
            (place.front == front, place.back == Some(back)),
            (of_back, !of_back)
        );
        assert_eq!(world.live_bytes(), before);
        list.verify_all(&mut random, &world);
    }
}

#[test]
fn chunks_about_the_longest_grouped_one_read_back() {
    let (mut world, mut random) = (World::new(), Random(13));
    let mut seen = BTreeSet::new();
    for count in (1000..13_000).step_by(250) {
        let list = build(&mut world, &mut random, &[count, 0], PLAIN);
        let chunk = list.entry.chunks[0];
        let pool = world.pool();
        let mut pages = Pages::new(&pool);
        list.verify_scan(&mut pages);
        if chunk.layout == Layout::Grouped {
            assert!(chunk.length() as usize <= GROUPED_LIMIT);
            let runs = chunk.place.spans().count() as u32;
            assert_eq!((pages.counts().rounds, pages.counts().reads), (1, runs));
        }
        seen.insert((chunk.layout as u8, chunk.place.front.page_count()));
    }
    for grouped in [(1, 1), (1, 3), (1, 4)] {
        assert!(seen.contains(&grouped), "{seen:?}");
    }
    assert!(
        seen.iter()
            .any(|(layout, _)| *layout == Layout::Split as u8)
    );
}

#[test]
fn a_merge_moves_chunks_out_of_sparse_zones() {
    let (mut world, mut random) = (World::new(), Random(12));
    let mut list = build(&mut world, &mut random, &[20_000, 6000, 0], PLAIN);
    // A large list in the same zones dies.
    let other = build(&mut world, &mut random, &[60_000, 0], PLAIN);
    for stream in world.streams.all() {
        stream.close_zone().unwrap();
    }
    let before = world.store.zones().next_number();
    other
        .entry
        .spans()
        .for_each(|span| world.store.release_span(span));
    world.streams.leave_sparse_zones(&world.store);
    let after = list.all[list.all.len() - 1].0 + 1;
    let more = draw(&mut random, after, 2, PLAIN);
    let entry = world.merge(Some(&list.entry.encode().unwrap()), &more);
    list.entry = TermEntry::decode(&entry).unwrap();
    list.all.extend(more);
    assert!(!list.entry.chunks.is_empty() && !list.entry.tail.is_empty());
    assert!(list.entry.spans().all(|span| span.zone >= before));
    let bytes: u64 = list.entry.spans().map(|span| span.length as u64).sum();
    assert_eq!(world.live_bytes(), bytes);
    list.verify_all(&mut random, &world);
}

#[test]
fn a_window_of_many_terms_keeps_their_order() {
    let (mut world, mut random) = (World::new(), Random(11));
    let runs: Vec<Vec<Posting>> = (0..200)
        .map(|_| {
            let count = 1 + random.below(400) as usize;
            draw(&mut random, 0, count, PLAIN)
        })
        .collect();
    let norms = |_: FieldId, doc: DocId| -> Result<u8> { Ok(norm(doc)) };
    let mut entries: Vec<Option<Vec<u8>>> = vec![None; runs.len()];
    for part in 0..4 {
        let quarter = |run: &'_ [Posting]| {
            let length = run.len();
            fragment(
                &run[length * part / 4..length * (part + 1) / 4],
                PhraseFilters::None,
            )
        };
        let items: Vec<MergeItem<'_>> = runs
            .iter()
            .zip(&entries)
            .map(|(run, old)| MergeItem {
                field: 0,
                key_bytes: 8,
                old: old.as_deref(),
                new: quarter(run),
                joins: false,
            })
            .collect();
        let merged = merge_window(&world.store, &world.streams, &norms, &items).unwrap();
        world.flush();
        entries = merged.into_iter().map(Some).collect();
    }
    let pool = world.pool();
    for (run, entry) in runs.into_iter().zip(entries) {
        let entry = TermEntry::decode(&entry.unwrap()).unwrap();
        let list = List {
            entry,
            memory: vec![],
            all: run,
            filters: PhraseFilters::None,
        };
        list.verify_scan(&mut Pages::new(&pool));
    }
}

mod dictionary;
mod filters;
mod hostile;
mod vacuum;
