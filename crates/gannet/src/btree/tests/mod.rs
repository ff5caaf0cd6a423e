//! The tree against a plain ordered map, in small pools, reopened, cleaned and damaged.

mod crashes;
mod hostile;
mod model;
mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Change, NearNodes, Tree, TreeView, check};
use crate::base::{Budget, Result};
use crate::cache::{FramePool, Pages, finish};
use crate::device::MemoryDevice;
use crate::storage::{PageKind, Store, StreamWriter, ZoneTable};

/// The entries that the tree should hold.
pub(crate) type Map = BTreeMap<Vec<u8>, Vec<u8>>;

pub(crate) const IDENTITY: u64 = 77;

/// A tree on a memory device, with a small pool.
pub(crate) struct Bed {
    pub(crate) device: Arc<MemoryDevice>,
    pub(crate) store: Arc<Store>,
    pub(crate) pool: FramePool,
    pub(crate) tree: Tree,
    pub(crate) tables: StreamWriter,
}

impl Bed {
    pub(crate) fn new(frames: usize) -> Bed {
        let device = Arc::new(MemoryDevice::new());
        let store = Arc::new(Store::new(device.clone(), IDENTITY, ZoneTable::default()));
        Bed {
            pool: frame_pool(&store, frames),
            tree: Tree::new(store.clone()),
            tables: StreamWriter::new(store.clone(), PageKind::Table),
            device,
            store,
        }
    }

    /// Gives keys new values, or removes those that have none, and flushes.
    pub(crate) fn change(&mut self, changes: &BTreeMap<Vec<u8>, Option<Vec<u8>>>) -> Result<()> {
        let keys: Vec<&[u8]> = changes.keys().map(Vec::as_slice).collect();
        let values: Vec<&Option<Vec<u8>>> = changes.values().collect();
        self.tree.apply(&self.pool, &keys, &mut |window| {
            for index in window.indexes() {
                window.set(
                    index,
                    match values[index] {
                        Some(value) => Change::Put(value.clone()),
                        None => Change::Remove,
                    },
                )?;
            }
            Ok(())
        })?;
        self.tree.flush()
    }

    /// Opens the tree anew from what it encodes.
    pub(crate) fn reopen(&mut self) {
        let mut root = Vec::new();
        self.tree.encode(&mut self.tables, &mut root).unwrap();
        self.tables.flush().unwrap();
        self.pool = frame_pool(&self.store, self.pool.capacity());
        self.tree = Tree::open(self.store.clone(), &root).unwrap();
    }

    /// Compares a view with the map, by a check, a scan and gets, and with its own rules.
    pub(crate) fn compare(&self, view: &TreeView, map: &Map) {
        let mut pages = Pages::new(&self.pool);
        let mut entries = map.iter();
        let findings = check(view, &mut pages, &mut |key, value| {
            let expected = entries.next().map(|(k, v)| (k.as_slice(), v.as_slice()));
            assert_eq!(expected, Some((key, value)));
        });
        assert_eq!(findings.unwrap(), Vec::<String>::new());
        assert_eq!(entries.next(), None);
        assert_eq!(view.entries(), map.len() as u64);
    }

    /// Compares a scan from `from` with the map.
    pub(crate) fn compare_scan(&self, view: &TreeView, map: &Map, from: &[u8], most: usize) {
        let mut pages = Pages::new(&self.pool);
        let mut scan = view.scan(from);
        for (key, value) in map.range(from.to_vec()..).take(most) {
            assert!(finish(&mut pages, |pages| scan.advance(view, pages)).unwrap());
            assert_eq!((scan.key(), scan.value()), (&key[..], &value[..]));
        }
        if map.range(from.to_vec()..).count() <= most {
            assert!(!finish(&mut pages, |pages| scan.advance(view, pages)).unwrap());
        }
    }

    /// Looks some keys up with the nodes of the look-up before: mostly forward, and back at times.
    pub(crate) fn compare_near(
        &self,
        view: &TreeView,
        map: &Map,
        keys: &[Vec<u8>],
        dice: &mut Dice,
    ) {
        let (mut pages, mut near) = (Pages::new(&self.pool), NearNodes::default());
        let mut at = 0;
        for _ in 0..200 {
            at = match dice.roll(10) {
                0 => dice.roll(keys.len()),
                step => (at + step * step) % keys.len(),
            };
            let key = &keys[at];
            let value = finish(&mut pages, |pages| view.get_near(key, &mut near, pages));
            let value = value.unwrap().map(|value| value.to_vec());
            assert_eq!(value.as_ref(), map.get(key));
        }
    }

    /// The greatest key below another.
    pub(crate) fn last_below(&self, view: &TreeView, bound: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut pages = Pages::new(&self.pool);
        finish(&mut pages, |pages| view.last_below(bound, pages))
    }

    /// The value of one key.
    pub(crate) fn get(&self, view: &TreeView, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut pages = Pages::new(&self.pool);
        let value = finish(&mut pages, |pages| view.get(key, pages))?;
        Ok(value.map(|value| value.to_vec()))
    }
}

pub(crate) fn frame_pool(store: &Arc<Store>, frames: usize) -> FramePool {
    let budget = Budget::new(1 << 32);
    FramePool::new(store.clone(), &budget, frames * 4192).unwrap()
}

/// Numbers that look random and are the same each time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.roll(256) as u8).collect()
    }
}
