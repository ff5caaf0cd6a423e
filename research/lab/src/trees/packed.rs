//! The engine's own tree with its own packing: pages of 4 KiB, keys that share prefixes, leaves as
//! full as they go, a mapping table that is kept, zones that are cleaned by what they give back.
//!
//! What a tree of the engine gets from the index around it is here in its smallest form: a root,
//! written whole to a file beside the zones, which names the tree and the zones as of the last
//! time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gannet::device::PAGE_SIZE;
use gannet::lab::LoneTree;
use gannet::{Error, Result};
use gannet_ssd::{Modelled, Work};

use super::device::drive;
use super::node::NODE_BYTES;
use super::rolling::Merging;
use super::waiting::Change;
use super::{Cleaning, OrderedIndex, Settings, Value, entry_fits};

/// Pages of a zone: 1 MiB. A tree of the lab is small.
const ZONE_PAGES: u32 = 256;

/// Cleaning begins when so much of the zones is dead, and takes the zones of which less than this
/// lives.
const DEAD_SHARE: f64 = 0.4;
const LIVE_SHARE: f64 = 0.4;

/// Pages in the place of a node of the others.
const PAGES_OF_NODE: usize = NODE_BYTES / PAGE_SIZE;

/// The tree.
pub struct Packed {
    device: Arc<Modelled>,
    tree: LoneTree,
    root: PathBuf,
    moved: u64,
    /// Whether there is a cache: the pool has frames without one, too.
    keeps: bool,
}

impl Packed {
    /// Opens or makes the tree in a folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Packed> {
        let device = Arc::new(Modelled::open(folder, drive()?, settings.trace)?);
        // Beside the folder: the engine's device makes nothing among files that are not its own.
        let root = folder.with_extension("root");
        let bytes = if root.exists() {
            Some(fs::read(&root).map_err(|error| at(&root, error))?)
        } else {
            None
        };
        let (written, frames) = (
            settings.write_buffer * PAGES_OF_NODE,
            settings.cache * NODE_BYTES,
        );
        Ok(Packed {
            tree: LoneTree::open(
                device.clone(),
                bytes.as_deref(),
                ZONE_PAGES,
                written,
                frames,
            )?,
            device,
            root,
            moved: 0,
            keeps: settings.cache > 0,
        })
    }

    /// Empties the frames between operations where there is no cache.
    fn forget(&self) {
        if !self.keeps {
            self.tree.forget();
        }
    }

    /// Cleans if enough is dead. What the root names stays until the next one is written.
    fn clean(&mut self) -> Result<()> {
        let (mut dead, mut all) = (0, 0);
        let mut victims = Vec::new();
        for (number, zone) in self.tree.store().zones().iter() {
            dead += zone.dead_bytes();
            all += zone.live + zone.dead_bytes();
            if !zone.open && zone.live_share() < LIVE_SHARE {
                victims.push(number);
            }
        }
        if (dead as f64) < all as f64 * DEAD_SHARE || victims.is_empty() {
            return Ok(());
        }
        self.moved += self.tree.move_out_of(&|zone| victims.contains(&zone))?;
        self.write_root()
    }

    /// Makes all durable and gives up zones that nothing is in.
    fn write_root(&mut self) -> Result<()> {
        let root = &self.root;
        self.tree.write_root(|bytes| {
            let new = root.with_extension("new");
            fs::write(&new, bytes).map_err(|error| at(&new, error))?;
            fs::File::open(&new)
                .and_then(|file| file.sync_all())
                .and_then(|()| fs::rename(&new, root))
                .map_err(|error| at(root, error))
        })
    }
}

fn at(path: &Path, error: std::io::Error) -> Error {
    Error::invalid(format!("{}: {error}", path.display()))
}

/// A value in as few bytes as it has.
fn encode(value: Value) -> Vec<u8> {
    let bytes = value.to_le_bytes();
    let zeros = value.leading_zeros() as usize / 8;
    bytes[..bytes.len() - zeros].to_vec()
}

fn decode(bytes: &[u8]) -> Value {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |value, byte| value << 8 | Value::from(*byte))
}

impl Merging for Packed {
    fn merge(&mut self, changes: &[(&[u8], Change)]) -> Result<()> {
        self.forget();
        let keys: Vec<&[u8]> = changes.iter().map(|(key, _)| *key).collect();
        self.tree.put(&keys, &|at| changes[at].1.map(encode))?;
        self.clean()
    }
}

impl OrderedIndex for Packed {
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()> {
        entry_fits(key, value)?;
        self.merge(&[(key, Some(value))])
    }

    fn search(&mut self, key: &[u8]) -> Result<Option<Value>> {
        self.forget();
        Ok(self.tree.get(key)?.map(|bytes| decode(&bytes)))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.merge(&[(key, None)])
    }

    fn range(&mut self, from: &[u8], most: usize) -> Result<Vec<(Vec<u8>, Value)>> {
        self.forget();
        let found = self.tree.range(from, most)?.into_iter();
        Ok(found.map(|(key, value)| (key, decode(&value))).collect())
    }

    fn settle(&mut self) -> Result<()> {
        self.write_root()
    }

    fn work(&self) -> Work {
        self.device.work()
    }

    fn file_bytes(&self) -> u64 {
        self.tree.store().zones().allocated_bytes()
    }

    fn memory(&self) -> usize {
        let frames = if self.keeps {
            self.tree.frame_bytes()
        } else {
            0
        };
        frames + self.tree.memory_bytes()
    }

    fn cleaning(&self) -> Cleaning {
        let page = PAGE_SIZE as u64;
        let zones = self.tree.store().zones();
        let subfiles = zones
            .iter()
            .map(|(number, zone)| [number, zone.pages, zone.live.div_ceil(page) as u32]);
        Cleaning {
            subfiles: subfiles.collect(),
            moved: self.moved,
        }
    }
}
