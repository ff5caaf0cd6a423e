//! Power losses at every event of a history of changes, cleanings and roots: what comes back is the
//! tree of the last root that was acknowledged, or of one that was being written.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::{Dice, IDENTITY, Map, frame_pool};
use crate::base::{ByteReader, Result, put_bytes};
use crate::btree::{Change, Tree, check};
use crate::cache::{FramePool, Pages};
use crate::device::{Device, MemoryDevice, RecordingDevice};
use crate::storage::{
    Found, History, LogStart, PageKind, RootSlot, SlotKind, Store, StreamWriter, ZoneTable,
    create_superblock, find_root, write_slot,
};

/// Frames of the pool: fewer than the tree has nodes.
const FRAMES: usize = 64;

/// Pages of a zone, so few that the tree has several.
const ZONE_PAGES: u32 = 6;

/// Random images of each point, beside those that are enumerated.
const RANDOM_IMAGES: usize = 4;

/// The least number of states to look at.
const STATES: usize = 1_000;

/// A tree with a root, on a device that remembers all.
struct World {
    device: Arc<RecordingDevice>,
    store: Arc<Store>,
    pool: FramePool,
    tree: Tree,
    tables: StreamWriter,
    roots: StreamWriter,
    map: Map,
    /// Of each root, which begins with an empty tree, what it names, and the event at which it was
    /// acknowledged.
    generations: Vec<(Map, usize)>,
}

impl World {
    fn new() -> World {
        let device = Arc::new(RecordingDevice::new());
        let recorded: Arc<dyn Device> = device.clone();
        create_superblock(&recorded).unwrap();
        let mut zones = ZoneTable::default();
        zones.set_zone_pages(Some(ZONE_PAGES));
        let store = Arc::new(Store::new(recorded, IDENTITY, zones));
        let mut world = World {
            pool: frame_pool(&store, FRAMES),
            tree: Tree::new(store.clone()),
            tables: StreamWriter::new(store.clone(), PageKind::Table),
            roots: StreamWriter::new(store.clone(), PageKind::Root),
            device,
            store,
            map: Map::new(),
            generations: Vec::new(),
        };
        world.write_root();
        world
    }

    fn change(&mut self, dice: &mut Dice) {
        let mut changes: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
        for _ in 0..1 + dice.roll(60) {
            let key = format!("{:04}", dice.roll(3_000)).into_bytes();
            let length = 20 + dice.roll(300);
            let value = (dice.roll(4) > 0).then(|| dice.bytes(length));
            changes.insert(key, value);
        }
        let keys: Vec<&[u8]> = changes.keys().map(Vec::as_slice).collect();
        let values: Vec<&Option<Vec<u8>>> = changes.values().collect();
        let made = self.tree.apply(&self.pool, &keys, &mut |window| {
            let mut indexes = window.indexes();
            indexes.try_for_each(|at| {
                let change = values[at].clone().map_or(Change::Remove, Change::Put);
                window.set(at, change)
            })
        });
        made.unwrap();
        for (key, value) in changes {
            match value {
                Some(value) => self.map.insert(key, value),
                None => self.map.remove(&key),
            };
        }
    }

    fn clean(&mut self) {
        self.tree.flush().unwrap();
        let sparse = |zone: &crate::storage::Zone| !zone.open && zone.live_share() < 0.6;
        let zones = self.store.zones();
        let victims: HashSet<u32> = zones
            .iter()
            .filter(|(_, zone)| sparse(zone))
            .map(|(number, _)| number)
            .collect();
        drop(zones);
        let is_victim = |zone| victims.contains(&zone);
        self.tree.move_out_of(&self.pool, &is_victim).unwrap();
    }

    /// Makes all durable behind a new root, then removes what only the old one needs.
    fn write_root(&mut self) {
        let (mut named, mut bytes) = (Vec::new(), Vec::new());
        self.tree.flush().unwrap();
        self.tree.encode(&mut self.tables, &mut named).unwrap();
        self.tables.flush().unwrap();
        let empty = self.store.zones().take_empty(0, LogStart::BEGINNING);
        put_bytes(&mut bytes, &named);
        self.store.zones().encode(&mut bytes);
        let root = self.roots.append_aligned(&bytes).unwrap();
        self.roots.flush().unwrap();
        let mut unsynced = self.tree.stream().take_unsynced();
        unsynced.join(self.tables.take_unsynced());
        unsynced.join(self.roots.take_unsynced());
        self.store.sync(&unsynced).unwrap();
        let slot = RootSlot {
            identity: IDENTITY,
            generation: self.generations.len() as u64,
            root,
            kind: SlotKind::Index,
            history: History::default(),
        };
        self.generations.push((self.map.clone(), usize::MAX));
        write_slot(self.store.device(), &slot).unwrap();
        self.generations[slot.generation as usize].1 = self.device.events();
        self.store.remove_zones(&empty).unwrap();
    }

    /// Checks the state that a crash at an event has left.
    fn judge(&self, device: Arc<dyn Device>, point: usize) -> std::result::Result<(), String> {
        let acknowledged = self.generations.iter().rposition(|(_, at)| *at <= point);
        let slot = match find_root(&device, Path::new("the image")) {
            Ok(Found::Root(slot)) => slot,
            // Nothing was promised before the first root.
            _ if acknowledged.is_none() => return Ok(()),
            other => return Err(format!("has no root: {other:?}")),
        };
        let generation = slot.generation as usize;
        if acknowledged.is_some_and(|acknowledged| generation < acknowledged) {
            return Err(format!("{generation} is older than {acknowledged:?}"));
        }
        let (map, _) = &self.generations[generation];
        let read = read_all(device, &slot).map_err(|error| format!("{generation}: {error}"))?;
        if read == *map {
            Ok(())
        } else {
            Err(format!("{generation} has other entries than were written"))
        }
    }
}

/// Opens the tree of a root, checks it, and reads it.
fn read_all(device: Arc<dyn Device>, slot: &RootSlot) -> Result<Map> {
    let finder = Store::new(device.clone(), IDENTITY, ZoneTable::default());
    let bytes = finder.read_span(slot.root, PageKind::Root)?;
    let mut reader = ByteReader::new(&bytes, "the root");
    let named = reader.bytes()?;
    let zones = ZoneTable::decode(&mut reader)?;
    let store = Arc::new(Store::new(device, IDENTITY, zones));
    let tree = Tree::open(store.clone(), named)?;
    let pool = frame_pool(&store, FRAMES);
    let mut map = Map::new();
    let findings = check(tree.view(), &mut Pages::new(&pool), &mut |key, value| {
        map.insert(key.to_vec(), value.to_vec());
    })?;
    assert_eq!(findings, Vec::<String>::new());
    Ok(map)
}

#[test]
fn a_tree_survives_every_crash() {
    let mut states = HashSet::new();
    let mut violations = Vec::new();
    for seed in 1..=2 {
        let (mut world, mut dice) = (World::new(), Dice(seed));
        for step in 0..24 {
            world.change(&mut dice);
            if step % 5 == 4 {
                world.clean();
            }
            if step % 3 == 2 {
                world.write_root();
            }
        }
        let nodes = world.tree.view().nodes();
        assert!(nodes > 4 * ZONE_PAGES as u64, "{nodes} nodes are few");
        for point in 0..=world.device.events() {
            let images = world.device.crash_images(point, RANDOM_IMAGES, seed);
            let every = 1 + images.changes();
            for image in images.step_by(every) {
                if !states.insert(image.hash()) {
                    continue;
                }
                let device = Arc::new(MemoryDevice::from_files(image.device.files()));
                if let Err(problem) = world.judge(device, point) {
                    violations.push(format!("{seed}, after {point}, {}: {problem}", image.what));
                }
            }
        }
    }
    println!("{} states, {} violations", states.len(), violations.len());
    let first: Vec<&String> = violations.iter().take(5).collect();
    assert!(first.is_empty(), "{first:#?}");
    assert!(states.len() >= STATES, "only {} states", states.len());
}
