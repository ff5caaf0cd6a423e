//! Nodes whose bytes lie although their checksums are right: errors and findings, never a panic.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Bed, Dice, IDENTITY, frame_pool};
use crate::base::{Error, PAGE_PAYLOAD, PageAddress};
use crate::btree::{Tree, TreeView, check};
use crate::cache::{Pages, finish};
use crate::device::{Device, FileId, MemoryDevice, PagePool, Transfer};
use crate::storage::{PageKind, Store, StreamWriter, seal};

fn built() -> Bed {
    let mut bed = Bed::new(64);
    let pair = |n: u32| {
        (
            format!("{:08}", n * 3).into_bytes(),
            Some(vec![n as u8; 60]),
        )
    };
    let all: BTreeMap<_, _> = (0..20_000).map(pair).collect();
    bed.change(&all).unwrap();
    bed
}

/// Changes some bytes of a node's payload and makes its checksum right again.
fn tamper(device: &MemoryDevice, at: PageAddress, dice: &mut Dice) {
    let mut transfers = [Transfer {
        file: FileId::Zone(at.zone),
        page: at.page,
        buffers: vec![PagePool::new(1).take().unwrap()],
    }];
    device.read(&mut transfers).unwrap();
    let bytes = &mut transfers[0].buffers[0];
    for _ in 0..1 + dice.roll(4) {
        let near = [10, 64, PAGE_PAYLOAD][dice.roll(3)];
        bytes[dice.roll(near)] = dice.roll(256) as u8;
    }
    seal(bytes, IDENTITY, at.into(), PageKind::Node);
    device.write(&mut transfers).unwrap();
}

fn damaged<T>(outcome: Result<T, Error>) {
    if let Err(error) = outcome {
        let expected = matches!(error, Error::Damaged { .. } | Error::Stopped(_));
        assert!(expected, "{error}");
    }
}

/// Uses everything that reads.
fn read(bed: &Bed, view: &TreeView, dice: &mut Dice) {
    let key = format!("{:08}", dice.roll(60_000)).into_bytes();
    damaged(bed.get(view, &key));
    let mut pages = Pages::new(&bed.pool);
    damaged(check(view, &mut pages, &mut |_, _| {}));
    let (mut scan, mut steps) = (view.scan(&key), 0);
    loop {
        match finish(&mut pages, |pages| scan.advance(view, pages)) {
            Ok(true) if steps < 30_000 => steps += 1,
            other => break damaged(other),
        }
    }
}

/// Changes one key, then many.
fn write(bed: &mut Bed, dice: &mut Dice) {
    let key = format!("{:08}", dice.roll(60_000)).into_bytes();
    damaged(bed.change(&BTreeMap::from([(key, Some(vec![1]))])));
    let some = (0..20_000u32).step_by(40);
    damaged(
        bed.change(
            &some
                .map(|n| (format!("{n:08}").into_bytes(), None))
                .collect(),
        ),
    );
}

#[test]
fn hostile_nodes_are_errors() {
    let mut bed = built();
    let mut root = Vec::new();
    bed.tree.encode(&mut bed.tables, &mut root).unwrap();
    bed.tables.flush().unwrap();
    let (files, zones) = (bed.device.files(), bed.store.zones().clone());
    let places: Vec<_> = bed.tree.view().mapping.places().collect();
    let inner = |id| id == bed.tree.view().root;
    let top: Vec<_> = places.iter().filter(|(id, _)| inner(*id)).collect();
    for seed in 0..150 {
        let mut dice = Dice(seed);
        let device = Arc::new(MemoryDevice::from_files(files.clone()));
        let at = match dice.roll(3) {
            0 => top[0].1,
            _ => places[dice.roll(places.len())].1,
        };
        tamper(&device, at, &mut dice);
        let store = Arc::new(Store::new(device.clone(), IDENTITY, zones.clone()));
        let mut again = Bed {
            pool: frame_pool(&store, 64),
            tree: Tree::open(store.clone(), &root).unwrap(),
            tables: StreamWriter::new(store.clone(), PageKind::Table),
            device,
            store,
        };
        let view = again.tree.view().clone();
        read(&again, &view, &mut dice);
        write(&mut again, &mut dice);
    }
}

#[test]
fn hostile_roots_are_errors() {
    let mut bed = built();
    let mut root = Vec::new();
    bed.tree.encode(&mut bed.tables, &mut root).unwrap();
    bed.tables.flush().unwrap();
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut bytes = root.clone();
        let at = dice.roll(bytes.len());
        bytes[at] = dice.roll(256) as u8;
        bytes.truncate(bytes.len() - dice.roll(3) / 2);
        if let Ok(tree) = Tree::open(bed.store.clone(), &bytes) {
            let view = tree.view().clone();
            bed.tree = tree;
            read(&bed, &view, &mut dice);
        }
    }
}

#[test]
fn a_check_names_what_is_wrong() {
    let bed = built();
    let mut view = bed.tree.view().clone();
    let mut pages = Pages::new(&bed.pool);
    view.entries += 1;
    let (first, second) = (
        view.mapping.address(3).unwrap(),
        view.mapping.address(4).unwrap(),
    );
    view.mapping.set(3, second);
    view.mapping.set(4, first);
    let findings = check(&view, &mut pages, &mut |_, _| {}).unwrap();
    for expected in ["node 3 at page", "node 4 at page", "entries, its root says"] {
        let found = findings.iter().any(|finding| finding.contains(expected));
        assert!(found, "{expected}: {findings:?}");
    }
}
