//! Changes wait in memory, in the order of their keys, and go round the tree below: Gannet's way of
//! changing a tree.
//!
//! When memory is full, those that come next behind the last that went are merged into the tree,
//! until there is room: a leaf is read and written once for all that wait for it. After a round
//! each leaf has waited for as long as any other, and by then as many changes wait for it as twice
//! the mean over all leaves: emptying all of memory at once would write twice as much. And since
//! leaves are written in the order of their keys, what is oldest in the file is what is written
//! anew next: zones die whole, and cleaning has next to nothing to move.
//!
//! Source of merging round and round: the rolling merge of O'Neil, Cheng, Gawlick, O'Neil, "The
//! Log-Structured Merge-Tree",
//! 1996. There the lower tree is made anew as a whole; here only the leaves that change are,
//!       wherever the always-sequential tree puts them.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::iter::Peekable;
use std::ops::Bound::{Included, Unbounded};

use gannet::Result;
use gannet_ssd::Work;

use super::node::{KEY_MAX, NODE_BYTES};
use super::{Cleaning, OrderedIndex, Settings, Value, entry_fits};

/// What an entry takes in memory besides its key, as the LA-tree counts it.
const AROUND: usize = 12;

/// Which part of what waits is merged at a time.
pub(super) const PARTS: usize = 32;

/// What becomes of a key: its value, or that it is gone.
pub type Change = Option<Value>;

/// A tree that takes sorted changes together.
pub trait Merging: OrderedIndex {
    /// Makes changes of ascending, distinct keys.
    fn merge(&mut self, changes: &[(Vec<u8>, Change)]) -> Result<()>;
}

/// A tree with changes that wait.
pub struct Rolling<T> {
    tree: T,
    waiting: BTreeMap<Vec<u8>, Change>,
    bytes: usize,
    bytes_most: usize,
    /// Where the next part begins.
    from: Vec<u8>,
}

impl<T: Merging> Rolling<T> {
    /// Lets changes wait above a tree.
    pub fn new(tree: T, settings: &Settings) -> Rolling<T> {
        Rolling {
            tree,
            waiting: BTreeMap::new(),
            bytes: 0,
            bytes_most: settings.buffers.max(1) * NODE_BYTES,
            from: Vec::new(),
        }
    }

    fn change(&mut self, key: &[u8], change: Change) -> Result<()> {
        if self.waiting.insert(key.to_vec(), change).is_none() {
            self.bytes += key.len() + AROUND;
        }
        if self.bytes <= self.bytes_most {
            return Ok(());
        }
        let part = self.take(self.bytes_most / PARTS);
        self.tree.merge(&part)
    }

    /// Takes the next changes that wait, of about so many bytes, up to the last key.
    fn take(&mut self, bytes: usize) -> Vec<(Vec<u8>, Change)> {
        let (mut part, mut taken) = (Vec::new(), 0);
        let bounds = (Included(&self.from[..]), Unbounded);
        let next = self.waiting.range::<[u8], _>(bounds);
        for (key, change) in next.take_while(|(key, _)| {
            taken += key.len() + AROUND;
            taken <= bytes.max(key.len() + AROUND)
        }) {
            part.push((key.clone(), *change));
        }
        for (key, _) in &part {
            self.waiting.remove(key);
            self.bytes -= key.len() + AROUND;
        }
        let last = part.last().map(|(key, _)| key);
        self.from = last.map_or_else(Vec::new, |key| behind(key));
        part
    }
}

/// The least key above another one.
fn behind(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

impl<T: Merging> OrderedIndex for Rolling<T> {
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()> {
        entry_fits(key, value)?;
        self.change(key, Some(value))
    }

    fn search(&mut self, key: &[u8]) -> Result<Option<Value>> {
        match self.waiting.get(key) {
            Some(change) => Ok(*change),
            None => self.tree.search(key),
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        match key.len() > KEY_MAX {
            true => Ok(()),
            false => self.change(key, None),
        }
    }

    fn range(&mut self, from: &[u8], most: usize) -> Result<Vec<(Vec<u8>, Value)>> {
        let mut found = Vec::new();
        let mut from = from.to_vec();
        while found.len() < most {
            let below = self.tree.range(&from, most - found.len())?;
            let is_last = below.len() < most - found.len();
            let end = below.last().map(|(key, _)| behind(key));
            let bounds = (Included(&from[..]), Unbounded);
            let mut waiting = self.waiting.range::<[u8], _>(bounds).peekable();
            for (key, value) in below {
                take_below(&mut waiting, &key, &mut found);
                match waiting.next_if(|(next, _)| **next == key) {
                    Some((_, change)) => found.extend(change.map(|value| (key, value))),
                    None => found.push((key, value)),
                }
            }
            match end {
                Some(end) if !is_last => from = end,
                _ => {
                    found.extend(waiting.filter_map(|(key, value)| Some((key.clone(), (*value)?))));
                    break;
                }
            }
        }
        found.truncate(most);
        Ok(found)
    }

    fn settle(&mut self) -> Result<()> {
        let all: Vec<_> = std::mem::take(&mut self.waiting).into_iter().collect();
        self.bytes = 0;
        self.tree.merge(&all)?;
        self.tree.settle()
    }

    fn work(&self) -> Work {
        self.tree.work()
    }

    fn file_bytes(&self) -> u64 {
        self.tree.file_bytes()
    }

    fn cleaning(&self) -> Cleaning {
        self.tree.cleaning()
    }
}

/// Appends what waits below a key.
fn take_below(
    waiting: &mut Peekable<Range<'_, Vec<u8>, Change>>,
    key: &[u8],
    found: &mut Vec<(Vec<u8>, Value)>,
) {
    while let Some((next, change)) = waiting.next_if(|(next, _)| next.as_slice() < key) {
        found.extend(change.map(|value| (next.clone(), value)));
    }
}
