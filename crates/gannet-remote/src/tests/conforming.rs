//! The suite of devices: a publisher passes the sealed part, on a store in memory and in a folder.

use std::sync::Arc;
use std::time::Duration;

use gannet::device::Device;
use gannet_testkit::conformance::sealed_conformance;

use super::faulty::FaultyStore;
use super::world::{TIMEOUT, objects};
use crate::device::RemoteDevice;
use crate::objects::Objects;
use crate::place::Place;
use crate::publisher::Publisher;

fn publisher(objects: Objects) -> Arc<dyn Device> {
    let device = RemoteDevice::open(objects, Duration::MAX, 4_096, 16 << 20, 2 << 20).unwrap();
    Arc::new(Publisher::new(device).unwrap())
}

#[test]
fn a_publisher_in_memory_conforms() {
    sealed_conformance(|| publisher(objects(&FaultyStore::new(), TIMEOUT)));
}

#[test]
fn a_publisher_to_a_folder_conforms() {
    let root = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    sealed_conformance(|| {
        count.set(count.get() + 1);
        let url = format!("file://{}/{}", root.path().display(), count.get());
        publisher(Objects::new(Place::of(&url, TIMEOUT, true).unwrap(), TIMEOUT).unwrap())
    });
}

#[test]
fn what_is_written_once_is_not_written_in_place() {
    let device = publisher(objects(&FaultyStore::new(), TIMEOUT));
    let file = gannet::device::FileId::Zone(1);
    device.create(file).unwrap();
    let pool = gannet::device::PagePool::new(4);
    let write = |page| {
        let transfer = gannet::device::Transfer {
            file,
            page,
            buffers: vec![pool.take().unwrap()],
        };
        device.write(&mut [transfer])
    };
    write(0).unwrap();
    let error = write(0).unwrap_err().to_string();
    assert!(error.contains("expected page 1 or a later one"), "{error}");
    write(1).unwrap();
    // Pages of a zone of root records may be missing.
    write(3).unwrap();
    assert!(write(2).is_err());
}
