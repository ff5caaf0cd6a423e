//! Small measurements for whoever changes an inner loop: blocks of postings, the ordered index, and
//! queries that are all in memory.
//!
//! `cargo bench --package gannet-lab` in `research/`, or with a name behind `--` one of them. Times
//! are of this machine and what else it does; what is published is measured by scripts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use divan::{Bencher, black_box};
use gannet::lab::BlockCodec;
use gannet::{Document, Index, Operator, Snapshot};
use tempfile::TempDir;

const BLOCK: usize = BlockCodec::LENGTH;

fn main() {
    divan::main();
}

/// Numbers below a power of two, the same at every run.
fn numbers(bits: u32) -> [u32; BLOCK] {
    let mut state = 7u64;
    [(); BLOCK].map(|()| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u32 & ((1 << bits) - 1)
    })
}

/// Documents with distances below a power of two.
fn docs(bits: u32) -> [u32; BLOCK] {
    let mut doc = 0;
    numbers(bits).map(|distance| {
        doc += distance + 1;
        doc
    })
}

#[divan::bench(args = [1, 4, 8, 13])]
fn pack_block(bencher: Bencher, bits: u32) {
    let values = numbers(bits);
    bencher.bench(|| {
        let mut out = Vec::with_capacity(512);
        BlockCodec::put_values(black_box(&values), &mut out);
        out
    });
}

#[divan::bench(args = [1, 4, 8, 13])]
fn unpack_block_of_docs(bencher: Bencher, bits: u32) {
    let (mut bytes, mut out) = (Vec::new(), [0; BLOCK]);
    BlockCodec::put_docs(0, &docs(bits), &mut bytes);
    bencher.bench_local(|| BlockCodec::read_docs(0, black_box(&bytes), &mut out));
}

#[divan::bench(args = [1, 4, 8, 13])]
fn unpack_block_of_frequencies(bencher: Bencher, bits: u32) {
    let (mut bytes, mut out) = (Vec::new(), [0; BLOCK]);
    BlockCodec::put_values(&numbers(bits), &mut bytes);
    bencher.bench_local(|| BlockCodec::read_values(black_box(&bytes), &mut out));
}

/// An index of 50,000 documents that are made: `pN` is in one of N of them.
struct Made {
    snapshot: Snapshot,
    _index: Index,
    _folder: TempDir,
}

const DOCUMENTS: u64 = 50_000;

static MADE: LazyLock<Made> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let index = Index::options().memory(256 << 20);
    let index = index
        .open(folder.path().join("bench.gnt"))
        .expect("an index");
    for from in (0..DOCUMENTS).step_by(1_000) {
        let batch = (from..from + 1_000).map(document).collect();
        index.write(batch).expect("written");
    }
    index.checkpoint().expect("a checkpoint");
    while index.maintain().expect("maintained") {}
    Made {
        snapshot: index.snapshot(),
        _index: index,
        _folder: folder,
    }
});

/// Words in shares of the documents, by a number that is scattered.
fn document(number: u64) -> Document {
    let scattered = |salt: u64| {
        let value = (number + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (value ^ value >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
    };
    let mut body = String::from("all");
    for (salt, share) in [2, 3, 10, 30, 100, 1_000].into_iter().enumerate() {
        for _ in 0..u64::from(scattered(salt as u64) % share == 0) * (1 + number % 4) {
            body.push_str(&format!(" p{share}"));
        }
    }
    let members = BTreeMap::from([("id", number.to_string()), ("body", body)]);
    let line = serde_json::to_vec(&members).expect("JSON");
    Document::parse(&line).expect("a document")
}

#[divan::bench(args = ["p2", "p100", "p2 AND p3", "p10 AND p30", "p2 OR p3", "p10 OR p30 OR p100",
                       "\"p2 p3\"", "p1000 OR p100"])]
fn query(bencher: Bencher, text: &str) {
    let snapshot = &MADE.snapshot;
    let query = snapshot.parse(text, Operator::Or).expect("a query");
    bencher.bench(|| {
        snapshot
            .search(&query)
            .top(10)
            .fetch(false)
            .run()
            .expect("found")
    });
}

/// A walk down the tree of external IDs.
#[divan::bench]
fn look_up_of_an_id(bencher: Bencher) {
    let (snapshot, mut number) = (&MADE.snapshot, 0);
    bencher.bench_local(|| {
        number = (number + 7_919) % DOCUMENTS;
        let text = format!("id:{number}");
        let query = snapshot.parse(&text, Operator::Or).expect("a query");
        snapshot.search(&query).fetch(false).run().expect("found")
    });
}
