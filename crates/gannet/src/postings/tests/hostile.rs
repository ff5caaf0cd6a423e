//! Damaged bytes give errors or faults; never a panic, never memory that the bytes alone ask for.

use super::*;
use crate::base::{Error, PAGE_PAYLOAD};
use crate::cache::Bytes;
use crate::postings::codec::block::{BLOCK, NO_DOC};
use crate::postings::codec::docs_page::DocsPage;
use crate::postings::codec::entry::ChunkRef;
use crate::postings::lists::chunk_reader::ChunkReader;
use crate::postings::lists::docs_draft::{DocsDraft, Gathered};
use crate::postings::lists::spans::SpanReader;

/// Reads everything there is, whatever it says.
fn read_all(entry: &[u8], world: &World) {
    let Ok(entry) = TermEntry::decode(entry) else {
        return;
    };
    let pool = world.pool();
    let mut pages = Pages::new(&pool);
    let _ = check(&entry, &mut pages, &mut Shown::default());
    let mut cursor = TermList::new(entry.into(), Vec::new()).cursor();
    let wanted = Neighbours {
        before: 7,
        after: 9,
    };
    let (mut target, mut docs, mut tokens) = (0, Vec::new(), Vec::new());
    while let Ok(doc) = finish(&mut pages, |pages| cursor.advance(target, pages))
        && doc != END
    {
        let said = finish(&mut pages, |pages| cursor.tokens_between(wanted, pages));
        let last = finish(&mut pages, |pages| {
            cursor.block_between(wanted, pages, &mut docs, &mut tokens)
        });
        let (Ok(_), Ok(last)) = (said, last) else {
            return;
        };
        target = last.saturating_add(1);
    }
}

const KINDS: [PhraseFilters; 2] = [PhraseFilters::None, PhraseFilters::Common];

fn flip(random: &mut Random, bytes: &mut [u8]) {
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = match random.below(3) {
            0 => bytes[at] ^ (1 << random.below(8)),
            1 => 0xff,
            _ => random.next() as u8,
        };
    }
}

#[test]
fn damaged_entries_never_panic() {
    for filters in KINDS {
        let (mut world, mut random) = (World::new(), Random(20));
        world.filters = filters;
        let list = build(&mut world, &mut random, &[5, 400, 3000, 4, 0], PLAIN);
        let good = list.entry.encode().unwrap();
        for _ in 0..3000 {
            let mut bytes = good.clone();
            flip(&mut random, &mut bytes);
            read_all(&bytes, &world);
        }
        for length in 0..good.len() {
            let cut = TermEntry::decode(&good[..length]);
            assert!(cut.and_then(|entry| entry.tail.check()).is_err());
        }
    }
}

#[test]
fn damaged_chunks_never_panic() {
    let sizes = [(21, 200), (22, 3000), (23, 40_000)];
    let worlds = sizes
        .into_iter()
        .flat_map(|size| KINDS.map(|filters| (size, filters)));
    for ((seed, count), filters) in worlds {
        let (mut world, mut random) = (World::new(), Random(seed));
        world.filters = filters;
        let list = build(&mut world, &mut random, &[count, 0], PLAIN);
        let chunk = list.entry.chunks[0];
        let good = chunk_bytes(&world, &chunk);
        for _ in 0..400 {
            let mut bytes = good.clone();
            let near = if random.below(2) == 0 {
                200.min(bytes.len())
            } else {
                bytes.len()
            };
            flip(&mut random, &mut bytes[..near]);
            let mut entry = list.entry.clone();
            entry.chunks[0] = world.streams.place(&bytes, chunk).unwrap();
            world.flush();
            read_all(&entry.encode().unwrap(), &world);
            if let Ok(mut reader) = ChunkReader::new(&chunk, bytes) {
                let mut tokens = Tokens::default();
                while let Ok(Some(_)) = reader.next(&mut tokens) {}
            }
        }
    }
}

fn chunk_bytes(world: &World, chunk: &ChunkRef) -> Vec<u8> {
    let bytes = SpanReader::new(&world.store, 16).chunks(&[*chunk]).unwrap();
    assert!(bytes[0].len() <= PAGE_PAYLOAD * 300);
    bytes[0].clone()
}

#[test]
fn a_block_of_docs_out_of_order_is_damaged() {
    let mut gathered = Gathered::default();
    for doc in [5, 4_000_000_000]
        .into_iter()
        .chain(7..7 + BLOCK as u32 - 2)
    {
        gathered.push(doc, 1, 0);
    }
    let mut draft = DocsDraft::new(NO_DOC, 0, None);
    assert!(draft.push(&gathered, [0; 2], 1));
    let bytes = draft.finish(&[0], BLOCK as u32, false);
    let length = bytes.len();
    let page = DocsPage::parse(Bytes::Owned(bytes), 0..length, PhraseFilters::None).unwrap();
    let (mut docs, mut frequencies) = ([0; BLOCK], [0; BLOCK]);
    let read = page.docs(0, &mut docs, &mut frequencies);
    assert!(matches!(read, Err(Error::Damaged { .. })), "{read:?}");
}
