//! One cache folder for several readers of a store: a page that one of them has kept is asked of
//! the store by none.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use gannet::Index;
use gannet::diagnostics::CacheState;

use super::faulty::AskedPage;
use super::world::{TIMEOUT, World, found, objects};
use crate::RemoteOptions;

/// An index with a cache, and the number of pages that its openings read: the cache may have these
/// too.
fn cached(world: &World, folder: &Path) -> (Index, usize) {
    world.store.take_asked();
    let index = Index::options().memory(16 << 20).cache(folder, 64 << 20);
    let options = RemoteOptions {
        index: index.result_cache(0),
        timeout: TIMEOUT,
        refresh: Duration::from_secs(60),
        ..RemoteOptions::default()
    };
    let (index, device) = crate::open_on(objects(&world.store, TIMEOUT), options).unwrap();
    let packed = device.publication().map_or(0, |(_, bytes)| bytes);
    (index, packed as usize / gannet::device::PAGE_SIZE)
}

/// The pages that the cache has.
fn kept(index: &Index) -> usize {
    match index.cache() {
        Some(CacheState::Used(figures)) => figures.pages as usize,
        other => panic!("{other:?}"),
    }
}

/// Asks for some documents, and gives the pages that the store was asked for since the index was
/// opened.
fn ask(world: &World, index: &Index, step: usize) -> BTreeSet<AskedPage> {
    for id in (0..6_000).step_by(step) {
        assert_eq!(found(index, &format!("own{id}")).unwrap(), [id.to_string()]);
    }
    world.store.take_asked()
}

#[test]
fn a_page_that_one_reader_has_kept_is_asked_of_the_store_by_none() {
    let world = World::new(0);
    world.write_long(0..6_000);
    world.publish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (first, packed) = cached(&world, folder.path());
    let mut asked = ask(&world, &first, 7);
    assert!(asked.len() > 500, "{}", asked.len());
    // Beside the first one, which goes on writing.
    let of_first = kept(&first);
    let (second, _) = cached(&world, folder.path());
    let again = ask(&world, &second, 7);
    let twice = again.intersection(&asked).count();
    assert!(
        twice + of_first <= asked.len() + packed,
        "{twice} of {}, {of_first} kept",
        asked.len()
    );
    drop((first, second));
    for step in [7, 11, 7] {
        let (next, _) = cached(&world, folder.path());
        let of_all = kept(&next);
        assert!(of_all > 0);
        let again = ask(&world, &next, step);
        let twice = again.intersection(&asked).count();
        assert!(
            twice + of_all <= asked.len() + packed,
            "{twice} of {}, {of_all} kept",
            asked.len()
        );
        asked.extend(again);
    }
}
