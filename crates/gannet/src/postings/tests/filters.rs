//! Phrase filters: no token is denied that is there, and those that are not nearly always are.

use super::*;
use crate::postings::codec::entry::ChunkRef;

const DENSE: Shape = Shape { gap: 2, ..PLAIN };

const LONG: Shape = Shape {
    gap: 40,
    frequency: 300,
    position_gap: 9,
};

fn filtered_world() -> World {
    World {
        filters: PhraseFilters::Common,
        ..World::new()
    }
}

/// Returns the answer of a filter that knows: the number of tokens with these neighbours, 0 for
/// any.
fn stands(doc: DocId, positions: &[u32], wanted: Neighbours) -> u32 {
    let between = |position: &&u32| neighbours(doc, **position).may_be(wanted);
    positions.iter().filter(between).count() as u32
}

/// Asks for neighbours that some token has, and for others; gives how often the filter said no.
fn verify(list: &List, random: &mut Random, pages: &mut Pages<'_>) -> usize {
    let (mut cursor, mut denied) = (list.cursor(), 0);
    for (doc, positions) in &list.all {
        finish(pages, |pages| cursor.advance(*doc, pages)).unwrap();
        let at = random.below(positions.len() as u64) as usize;
        let mut wanted = neighbours(*doc, positions[at]);
        match random.below(4) {
            0 => wanted.before = 0,
            1 => wanted.after = 0,
            2 => wanted.after ^= 0x55,
            _ => {}
        }
        if wanted == Neighbours::default() {
            continue;
        }
        let said = finish(pages, |pages| cursor.tokens_between(wanted, pages)).unwrap();
        let expected = stands(*doc, positions, wanted);
        assert!(
            said == expected || said == positions.len() as u32,
            "doc {doc}"
        );
        denied += (said == 0) as usize;
    }
    denied
}

/// Walks a list a block at a time; gives the documents that passed, with their tokens.
fn walk(cursor: &mut TermCursor, wanted: Neighbours, pages: &mut Pages<'_>) -> Vec<(DocId, u32)> {
    let (mut target, mut docs, mut tokens, mut seen) = (0, Vec::new(), Vec::new(), Vec::new());
    while finish(pages, |pages| cursor.advance(target, pages)).unwrap() != END {
        let last = finish(pages, |pages| {
            cursor.block_between(wanted, pages, &mut docs, &mut tokens)
        });
        target = last.unwrap() + 1;
        seen.extend(docs.iter().copied().zip(tokens.iter().copied()));
    }
    seen
}

/// Asks a list block by block and document by document: the filter knows what is there.
fn verify_blocks(list: &List, wanted: Neighbours, pages: &mut Pages<'_>) {
    let seen = walk(&mut list.cursor(), wanted, pages);
    let mut cursor = list.cursor();
    let mut alone = Vec::new();
    for (doc, positions) in &list.all {
        finish(pages, |pages| cursor.advance(*doc, pages)).unwrap();
        let said = finish(pages, |pages| cursor.tokens_between(wanted, pages)).unwrap();
        let there = stands(*doc, positions, wanted);
        assert_eq!(said, there, "doc {doc}");
        alone.extend((said > 0).then_some((*doc, said)));
    }
    assert!(seen == alone);
}

#[test]
fn filters_of_all_layouts_deny_only_what_is_not_there() {
    let (mut world, mut random) = (filtered_world(), Random(31));
    let runs: [(&[usize], Shape); 5] = [
        (&[3, 0], PLAIN),
        (&[300, 2, 40], PLAIN),
        (&[900, 300, 0], PLAIN),
        (&[30_000, 4000, 500, 60], PLAIN),
        (&[3000, 900, 2, 3], LONG),
    ];
    for (runs, shape) in runs {
        let list = build(&mut world, &mut random, runs, shape);
        list.verify_all(&mut random, &world);
        let pool = world.pool();
        let mut pages = Pages::new(&pool);
        let denied = verify(&list, &mut random, &mut pages);
        let enough = denied >= list.all.len() / 6;
        assert!(enough || list.all.len() < 100, "{denied}");
        for (before, after) in [(7, 0), (0, 7), (3, 3)] {
            verify_blocks(&list, Neighbours { before, after }, &mut pages);
        }
    }
}

#[test]
fn dense_lists_keep_no_common_neighbours_and_deny_nothing() {
    let (mut world, mut random) = (filtered_world(), Random(32));
    let list = build(&mut world, &mut random, &[20_000, 0], DENSE);
    let kept = |chunk: &ChunkRef| chunk.filters != PhraseFilters::None;
    assert!(!list.entry.chunks.iter().any(kept));
    let pool = world.pool();
    assert_eq!(verify(&list, &mut random, &mut Pages::new(&pool)), 0);
}

#[test]
fn a_list_that_becomes_dense_loses_what_it_kept_before() {
    let (mut world, mut random) = (filtered_world(), Random(37));
    // Both in one chunk, whose first pages were coded with a filter.
    let mut all = draw(&mut random, 0, 6_000, PLAIN);
    let next = all.last().map_or(0, |(doc, _)| doc + 1);
    all.extend(draw(&mut random, next, 90_000, Shape { gap: 1, ..PLAIN }));
    let entry = TermEntry::decode(&world.merge(None, &all)).unwrap();
    assert_eq!(entry.chunks.len(), 1);
    assert_eq!(entry.chunks[0].filters, PhraseFilters::None);
    let list = List {
        entry,
        memory: vec![],
        all,
        filters: PhraseFilters::Common,
    };
    list.verify_all(&mut random, &world);
    let pool = world.pool();
    assert_eq!(verify(&list, &mut random, &mut Pages::new(&pool)), 0);
}

#[test]
fn a_chunk_without_a_filter_gives_none_to_what_takes_it_in() {
    let (mut world, mut random) = (World::new(), Random(33));
    let old = build(&mut world, &mut random, &[300, 0], PLAIN);
    world.filters = PhraseFilters::Common;
    let next = old.all.last().map_or(0, |(doc, _)| doc + 1);
    let run = draw(&mut random, next, 280, PLAIN);
    let entry = world.merge(Some(&old.entry.encode().unwrap()), &run);
    let entry = TermEntry::decode(&entry).unwrap();
    assert_eq!((entry.chunks.len(), entry.document_frequency()), (1, 580));
    assert_eq!(entry.chunks[0].filters, PhraseFilters::None);
    let list = List {
        entry,
        memory: vec![],
        all: old.all.iter().chain(&run).cloned().collect(),
        filters: PhraseFilters::Common,
    };
    let pool = world.pool();
    assert_eq!(verify(&list, &mut random, &mut Pages::new(&pool)), 0);
}

#[test]
fn filters_survive_a_move() {
    let (mut world, mut random) = (filtered_world(), Random(36));
    let mut list = build(&mut world, &mut random, &[5000, 300, 0], PLAIN);
    let entry = list.entry.encode().unwrap();
    let moved = relocate_window(&[&entry], &|_| true, &world.store, &world.streams);
    world.flush();
    let moved = moved.unwrap().pop().flatten().unwrap();
    list.entry = TermEntry::decode(&moved).unwrap();
    let pool = world.pool();
    let denied = verify(&list, &mut random, &mut Pages::new(&pool));
    assert!(denied * 6 >= list.all.len(), "{denied}");
}

#[test]
fn a_walk_reads_the_filter_ahead_and_a_look_up_one_piece() {
    let (mut world, mut random) = (filtered_world(), Random(34));
    let (count, pieces) = (60_000, 1);
    let list = build(&mut world, &mut random, &[count, 0], PLAIN);
    let wanted = Neighbours {
        before: 1,
        after: 0,
    };
    let pool = FramePool::new(world.store.clone(), &Budget::new(64 << 20), 8 << 20).unwrap();
    let mut pages = Pages::new(&pool);
    let (mut cursor, docs) = (list.cursor(), [list.doc(100), list.doc(count - 1000)]);
    finish(&mut pages, |pages| cursor.prefetch(&docs, pages)).unwrap();
    finish(&mut pages, |pages| cursor.advance(docs[0], pages)).unwrap();
    let before = pages.counts();
    finish(&mut pages, |pages| {
        cursor.prefetch_filters_of(&docs, wanted, pages)
    })
    .unwrap();
    for doc in docs {
        finish(&mut pages, |pages| cursor.advance(doc, pages)).unwrap();
        finish(&mut pages, |pages| cursor.tokens_between(wanted, pages)).unwrap();
    }
    let io = pages.counts().since(before);
    assert!(io.rounds <= 2 && io.reads <= 2 + 2 * pieces, "{io:?}");
    let mut pages = Pages::new(&pool);
    let mut cursor = list.cursor();
    finish(&mut pages, |pages| cursor.prefetch_filters(wanted, pages)).unwrap();
    finish(&mut pages, |pages| cursor.prefetch_whole(pages)).unwrap();
    walk(&mut cursor, wanted, &mut pages);
    let rounds = pages.counts().rounds;
    assert!(rounds <= 4, "{rounds}");
}
