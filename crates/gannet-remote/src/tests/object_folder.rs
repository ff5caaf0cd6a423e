//! Objects that programs name themselves, beside published indexes.

use std::sync::Arc;
use std::time::Duration;

use gannet::Error;

use super::faulty::{FaultyStore, Misfortune};
use super::world::{TIMEOUT, URL, World, found, objects, open};
use crate::object_folder::ObjectFolder;

fn folder(store: &Arc<FaultyStore>) -> ObjectFolder {
    ObjectFolder::of(objects(store, TIMEOUT))
}

#[test]
fn an_object_is_replaced_by_the_one_who_knows_its_version() {
    let folder = folder(&FaultyStore::new());
    assert_eq!(folder.read("manifest").unwrap(), None);
    assert!(folder.replace("manifest", None, b"first".into()).unwrap());
    assert!(!folder.replace("manifest", None, b"other".into()).unwrap());
    let first = folder.read("manifest").unwrap().unwrap();
    assert_eq!(first.bytes, b"first");
    let replace = |bytes: &[u8]| folder.replace("manifest", first.version.clone(), bytes.into());
    assert!(replace(b"second").unwrap());
    assert!(!replace(b"third").unwrap());
    // The answer was lost, and the request was made again.
    assert!(replace(b"second").unwrap());
    assert_eq!(folder.read("manifest").unwrap().unwrap().bytes, b"second");
    assert_eq!(folder.names().unwrap(), ["manifest"]);
}

#[test]
fn in_a_local_folder_too() {
    let place = tempfile::tempdir().unwrap();
    let url = format!("file://{}", place.path().join("new").display());
    let folder = ObjectFolder::at(&url, TIMEOUT).unwrap();
    assert!(folder.replace("a/manifest", None, b"first".into()).unwrap());
    let first = folder.read("a/manifest").unwrap().unwrap();
    let replace = |bytes: &[u8]| folder.replace("a/manifest", first.version.clone(), bytes.into());
    assert!(replace(b"the second").unwrap() && !replace(b"third").unwrap());
    assert_eq!(
        folder.read("a/manifest").unwrap().unwrap().bytes,
        b"the second"
    );
}

#[test]
fn a_store_that_fails_is_no_missing_object() {
    let store = FaultyStore::new();
    store.harm(0, u64::MAX, Misfortune::Denied);
    let folder = folder(&store);
    for error in [
        folder.read("manifest").unwrap_err(),
        folder.replace("manifest", None, b"x".into()).unwrap_err(),
        folder.has_index().unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(text.contains(URL) && text.contains("403"), "{text}");
    }
}

#[test]
fn readers_of_what_is_removed_are_told() {
    let world = World::new(1_000);
    world.publish().unwrap();
    let folder = folder(&world.store);
    assert!(folder.has_index().unwrap());
    let (remote, _) = open(&world.store, Duration::from_secs(60)).unwrap();
    let (refreshing, _) = open(&world.store, Duration::ZERO).unwrap();
    let objects = world.names().len() as u64;
    assert_eq!(folder.remove_all().unwrap(), objects);
    assert!(world.names().is_empty() && !folder.has_index().unwrap());
    for error in [
        found(&remote, "own17 OR own333").unwrap_err(),
        refreshing.refresh().unwrap_err(),
    ] {
        assert!(matches!(error, Error::Expired { .. }), "{error}");
        assert!(error.to_string().contains(URL), "{error}");
    }
    assert_eq!(folder.remove_all().unwrap(), 0);
}
