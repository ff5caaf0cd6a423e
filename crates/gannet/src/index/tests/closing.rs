//! An index that is closed writes a root, if the newest one does not have everything.

use std::sync::Arc;

use super::world::open;
use crate::base::PAGE_SIZE;
use crate::device::{Device, FileId, MemoryDevice};
use crate::documents::Document;

/// All pages of all files.
fn content(device: &MemoryDevice) -> Vec<(FileId, u32, [u8; PAGE_SIZE])> {
    let files = device.list().unwrap();
    let pages = files.into_iter().flat_map(|(file, pages)| {
        let bytes = move |page| *device.page(file, page).unwrap().bytes();
        (0..pages).map(move |page| (file, page, bytes(page)))
    });
    pages.collect()
}

fn written_bytes(device: &MemoryDevice) -> u64 {
    device.counters().snapshot().written_bytes
}

/// Opens and closes an index; gives the bytes that this wrote.
fn open_and_close(device: &Arc<MemoryDevice>) -> u64 {
    let before = written_bytes(device);
    open(Arc::clone(device) as Arc<dyn Device>)
        .unwrap()
        .close()
        .unwrap();
    written_bytes(device) - before
}

fn document(id: u32) -> Document {
    let id = id.to_string();
    Document::new(&id, [("body", "call me ishmael")]).unwrap()
}

#[test]
fn closing_without_a_change_writes_nothing() {
    let device = Arc::new(MemoryDevice::new());
    let index = open(Arc::clone(&device) as Arc<dyn Device>).unwrap();
    index.write((0..100).map(document).collect()).unwrap();
    index.close().unwrap();
    let before = content(&device);
    assert_eq!(open_and_close(&device), 0);
    assert!(content(&device) == before, "pages changed");
    // A checkpoint has everything, and an ID that is missing changes nothing.
    let index = open(Arc::clone(&device) as Arc<dyn Device>).unwrap();
    index.checkpoint().unwrap();
    assert_eq!(index.delete(&["nobody"]).unwrap().deleted, 0);
    let written = written_bytes(&device);
    index.close().unwrap();
    assert_eq!(written_bytes(&device), written);
}

#[test]
fn closing_after_any_change_writes_a_root() {
    let device = Arc::new(MemoryDevice::new());
    let changes: [fn(&crate::Index); 3] = [
        |index| {
            index.add(document(7)).unwrap();
        },
        |index| {
            index.delete(&["7"]).unwrap();
        },
        |index| {
            index.checkpoint().unwrap();
            index.add(document(8)).unwrap();
        },
    ];
    for change in changes {
        let index = open(Arc::clone(&device) as Arc<dyn Device>).unwrap();
        change(&index);
        let written = written_bytes(&device);
        index.close().unwrap();
        assert!(written_bytes(&device) > written);
        assert_eq!(open_and_close(&device), 0);
    }
}

/// The log behind the newest root is in a root after the index was opened and closed.
#[test]
fn closing_after_a_replay_writes_a_root() {
    let device = Arc::new(MemoryDevice::new());
    let index = open(Arc::clone(&device) as Arc<dyn Device>).unwrap();
    index.add(document(1)).unwrap();
    index.sync().unwrap();
    drop(index);
    assert!(open_and_close(&device) > 0);
    assert_eq!(open_and_close(&device), 0);
    let index = open(device).unwrap();
    assert!(index.contains("1").unwrap());
}
