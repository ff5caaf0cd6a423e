//! Phrase filters: no token is denied that is there, and those that are not nearly always are.

use super::*;

const DENSE: Shape = Shape { gap: 2, ..PLAIN };

const LONG: Shape = Shape {
    gap: 40,
    frequency: 300,
    position_gap: 9,
};

fn filtered_world() -> World {
    World {
        filtered: true,
        ..World::new()
    }
}

/// What a filter that knows says: how many tokens have these neighbours, 0 for any.
fn stands(doc: DocId, positions: &[u32], wanted: Neighbours) -> u32 {
    let fits = |seen: u8, wanted: u8| wanted == 0 || seen == wanted;
    let between = |position: &&u32| {
        let seen = neighbours(doc, **position);
        fits(seen.before, wanted.before) && fits(seen.after, wanted.after)
    };
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
            cursor.block_between(wanted, pages, (&mut docs, &mut tokens))
        });
        target = last.unwrap() + 1;
        seen.extend(docs.iter().copied().zip(tokens.iter().copied()));
    }
    seen
}

fn verify_blocks(list: &List, wanted: Neighbours, pages: &mut Pages<'_>) {
    let seen = walk(&mut list.cursor(), wanted, pages);
    let expected = list.all.iter().filter_map(|(doc, positions)| {
        let tokens = stands(*doc, positions, wanted);
        (tokens > 0).then_some((*doc, tokens))
    });
    assert!(seen == expected.collect::<Vec<_>>());
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
        assert!(
            denied * 6 >= list.all.len() || list.all.len() < 100,
            "{denied}"
        );
        for (before, after) in [(7, 0), (0, 7), (3, 3)] {
            verify_blocks(&list, Neighbours { before, after }, &mut pages);
        }
    }
}

#[test]
fn dense_lists_keep_no_filter_and_deny_nothing() {
    let (mut world, mut random) = (filtered_world(), Random(32));
    let list = build(&mut world, &mut random, &[20_000, 0], DENSE);
    assert!(list.entry.chunks.iter().all(|chunk| !chunk.filtered));
    let pool = world.pool();
    assert_eq!(verify(&list, &mut random, &mut Pages::new(&pool)), 0);
}

#[test]
fn a_chunk_without_a_filter_gives_none_to_what_takes_it_in() {
    let (mut world, mut random) = (World::new(), Random(33));
    let old = build(&mut world, &mut random, &[300, 0], PLAIN);
    world.filtered = true;
    let next = old.all.last().map_or(0, |(doc, _)| doc + 1);
    let run = draw(&mut random, next, 280, PLAIN);
    let entry = world.merge(Some(&old.entry.encode().unwrap()), &run);
    let entry = TermEntry::decode(&entry).unwrap();
    assert!(entry.chunks.len() == 1 && !entry.chunks[0].filtered);
    assert_eq!(entry.document_frequency(), 580);
}

#[test]
fn a_walk_reads_the_filter_ahead_and_a_look_up_one_piece() {
    let (mut world, mut random) = (filtered_world(), Random(34));
    let list = build(&mut world, &mut random, &[60_000, 0], PLAIN);
    let wanted = Neighbours {
        before: 1,
        after: 0,
    };
    let pool = FramePool::new(world.store.clone(), &Budget::new(64 << 20), 8 << 20).unwrap();
    let mut pages = Pages::new(&pool);
    let (mut cursor, docs) = (list.cursor(), [list.doc(100), list.doc(59_000)]);
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
    assert!(io.rounds <= 2 && io.reads <= 4, "{io:?}");
    let mut pages = Pages::new(&pool);
    let mut cursor = list.cursor();
    finish(&mut pages, |pages| cursor.prefetch_filters(wanted, pages)).unwrap();
    finish(&mut pages, |pages| cursor.prefetch_whole(pages)).unwrap();
    walk(&mut cursor, wanted, &mut pages);
    let rounds = pages.counts().rounds;
    assert!(rounds <= 4, "{rounds}");
}
