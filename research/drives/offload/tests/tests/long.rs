//! A list so long that its head has index pages, which no small index has.

use std::path::Path;

use gannet::PhraseFilters;
use gannet::device::{Access, BackendChoice, OpenOptions, open_directory};
use gannet::lab::write_chunks;
use gannet::offload::{ChunkRef, Fragment, ListOffload, OffloadList, OffloadRanking, OffloadTask};
use gannet_offload::{Choice, Planner};
use gannet_ssd::random::Random;
use gannet_ssd::smart::SmartProfile;

/// A posting: document and frequency.
type Posting = (u32, u32);

/// Documents with random gaps; a frequency above 3 is rare.
fn postings(count: usize, gap: usize, random: &mut Random) -> Vec<Posting> {
    let mut doc = 0;
    let mut next = |_| {
        doc += 1 + random.below(gap) as u32;
        let frequency = 1 + random.below(3) as u32;
        let rare = random.below(20_000) == 0;
        (
            doc,
            frequency + if rare { 1 + random.below(40) as u32 } else { 0 },
        )
    };
    (0..count).map(&mut next).collect()
}

fn fragment(postings: &[Posting]) -> Fragment {
    let mut fragment = Fragment {
        filters: PhraseFilters::None,
        ..Fragment::default()
    };
    for (doc, frequency) in postings {
        let once = u64::from(*frequency == 1);
        put_varint(
            &mut fragment.docs,
            u64::from(doc - fragment.last) * 2 + once,
        );
        if *frequency > 1 {
            put_varint(&mut fragment.docs, u64::from(*frequency));
        }
        fragment.positions.extend((0..*frequency).map(|_| 1));
        fragment.count += 1;
        fragment.total_frequency += u64::from(*frequency);
        fragment.max_frequency = fragment.max_frequency.max(*frequency);
        fragment.last = *doc;
    }
    fragment
}

/// Appends a number as fragments have it: seven bits a byte, the lowest first.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes lists of one norm as chunks into a folder.
fn write(folder: &Path, lists: &[&[Posting]]) -> Vec<Vec<ChunkRef>> {
    let options = OpenOptions {
        backend: BackendChoice::Pread,
        access: Access::Write,
        create: true,
    };
    let device = open_directory(folder, &options).unwrap();
    write_chunks(device, lists.iter().map(|list| fragment(list)).collect()).unwrap()
}

fn list(postings: &[Posting], chunks: &[ChunkRef]) -> OffloadList<'static> {
    OffloadList {
        document_frequency: postings.len() as u64,
        chunks: chunks.to_vec(),
        fragments: Vec::new(),
        docs_pages: chunks
            .iter()
            .map(|chunk| chunk.docs_length / 4088 + 1)
            .sum(),
        pages_in_memory: 0,
    }
}

#[test]
fn lists_with_index_pages_are_read_by_them() {
    let mut random = Random::new(1, "long lists");
    let long = postings(1_650_000, 2_500, &mut random);
    let last = long[long.len() - 1].0;
    // Half of the short list is in the long one.
    let mut short: Vec<Posting> = (0..400)
        .map(|at| match at % 2 {
            0 => long[random.below(long.len())],
            _ => (random.below(last as usize) as u32, 1),
        })
        .collect();
    short.sort_unstable();
    short.dedup_by_key(|posting| posting.0);
    let folder = tempfile::tempdir().unwrap();
    let chunks = write(folder.path(), &[&long, &short]);
    let pages = chunks[0].iter().map(|chunk| chunk.docs_length / 4088);
    let has_index_pages = |(chunk, pages): (&ChunkRef, u32)| pages > 300 && chunk.head_length < 500;
    assert!(
        chunks[0].iter().zip(pages).any(has_index_pages),
        "{:?}",
        chunks[0]
    );
    let profile = SmartProfile::named("smart-ssd-2016").unwrap();
    let planner = Planner::new(&profile, folder.path(), Choice::Drive).unwrap();
    let mut task = OffloadTask {
        identity: 1,
        lists: vec![list(&long, &chunks[0]), list(&short, &chunks[1])],
        all_required: true,
        most_found: short.len(),
        below: last + 1,
        ranking: None,
    };
    let (report, found) = planner.offload(&task);
    let found = found.unwrap_or_else(|| panic!("{report}"));
    let of_long = |doc: &u32| long.binary_search_by_key(doc, |posting| posting.0).ok();
    let common = short.iter().filter_map(|(doc, frequency)| {
        let at = of_long(doc)?;
        Some((*doc, long[at].1, *frequency))
    });
    let common: Vec<(u32, u32, u32)> = common.collect();
    assert!(common.len() > 150);
    assert_eq!(
        found.docs,
        common.iter().map(|row| row.0).collect::<Vec<_>>()
    );
    assert_eq!(
        found.frequencies[0],
        common.iter().map(|row| row.1).collect::<Vec<_>>()
    );
    assert_eq!(
        found.frequencies[1],
        common.iter().map(|row| row.2).collect::<Vec<_>>()
    );

    task.lists.truncate(1);
    task.most_found = 10;
    task.ranking = Some(OffloadRanking {
        top: 10,
        weights: vec![2.0],
        inverses: Box::new([0.5; 256]),
        norms: Vec::new(),
        deletions: Vec::new(),
    });
    let (report, found) = planner.offload(&task);
    let found = found.unwrap_or_else(|| panic!("{report}"));
    let mut best = long.clone();
    best.sort_by_key(|(doc, frequency)| (std::cmp::Reverse(*frequency), *doc));
    best.truncate(10);
    best.sort_unstable();
    assert_eq!(found.docs, best.iter().map(|row| row.0).collect::<Vec<_>>());
    let work = planner.take_last().unwrap().run.unwrap().work;
    let all: u32 = chunks[0].iter().map(|chunk| chunk.docs_length / 4088).sum();
    assert!(
        work.flash_pages < u64::from(all),
        "bounds spare pages: {work:?} of {all}"
    );

    flip_bits(folder.path());
    let (report, found) = planner.offload(&task);
    assert!(found.is_none(), "a damaged page was answered from");
    assert!(report.reason.contains("damaged"), "{report}");
}

/// Flips a bit of each page of the zones.
fn flip_bits(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let pages = bytes.chunks_exact_mut(4_096);
        pages.for_each(|page| page[1_000] ^= 1);
        std::fs::write(path, bytes).unwrap();
    }
}
