//! Changes wait in memory, in the order of their keys, and go round the tree below.
//!
//! When memory is full, those that come next behind the last that went are merged into the tree,
//! until there is room: a leaf is read and written once for all that wait for it. After a round
//! each leaf has waited for as long as any other, and by then as many changes wait for it as twice
//! the mean over all leaves: emptying all of memory at once would write twice as much. And since
//! leaves are written in the order of their keys, what is oldest in the file is what is written
//! anew next: zones die whole, and cleaning has next to nothing to move.
//!
//! Source of merging round and round: the rolling merge of O'Neil, Cheng, Gawlick, O'Neil, "The
//! Log-Structured Merge-Tree", 1996. There the lower tree is made anew as a whole; here only the
//! leaves that change are, wherever the always-sequential tree puts them.
//!
//! The engine does not do this: its tree of external IDs takes all that waits at each flush, which
//! is [`Rolling::whole`].

use std::iter::Peekable;

use gannet::Result;
use gannet_ssd::Work;

use super::node::{KEY_MAX, NODE_BYTES};
use super::waiting::{Change, Waiting, change_fits, change_of, code_of};
use super::{Cleaning, OrderedIndex, Settings, Value};

/// Which part of what waits is merged at a time.
pub(super) const PARTS: usize = 32;

/// What a change takes besides, while it is merged: its place in the list of changes, and in the
/// list of keys that the engine's tree is given.
const MERGED: usize = size_of::<(&[u8], Change)>() + size_of::<&[u8]>();

/// A tree that takes sorted changes together.
pub trait Merging: OrderedIndex {
    /// Makes changes of ascending, distinct keys.
    fn merge(&mut self, changes: &[(&[u8], Change)]) -> Result<()>;
}

/// A tree with changes that wait.
pub struct Rolling<T> {
    tree: T,
    waiting: Waiting,
    bytes_most: usize,
    parts: usize,
    /// Where the next part begins.
    from: Vec<u8>,
}

impl<T: Merging> Rolling<T> {
    /// Lets changes wait above a tree, to be merged part by part.
    pub fn new(tree: T, settings: &Settings) -> Rolling<T> {
        Rolling {
            tree,
            waiting: Waiting::default(),
            bytes_most: settings.buffers.max(1) * NODE_BYTES,
            parts: PARTS,
            from: Vec::new(),
        }
    }

    /// The same with all that waits merged at once, as a flush of the engine does.
    pub fn whole(tree: T, settings: &Settings) -> Rolling<T> {
        Rolling {
            parts: 1,
            ..Rolling::new(tree, settings)
        }
    }

    fn change(&mut self, key: &[u8], change: Change) -> Result<()> {
        self.waiting.put(key, code_of(change));
        while self.waiting.len() > 0 && self.waiting_bytes() > self.bytes_most {
            let part = self.take_part();
            self.tree.merge(&part.changes())?;
        }
        Ok(())
    }

    /// Bytes of what waits, with what merging a part takes.
    fn waiting_bytes(&self) -> usize {
        let all = self.waiting.bytes();
        let copied = if self.parts > 1 { all } else { 0 };
        all + (copied + self.waiting.len() * MERGED) / self.parts
    }

    /// Takes the next changes that wait, up to the last key.
    fn take_part(&mut self) -> Waiting {
        if self.parts == 1 {
            return std::mem::take(&mut self.waiting);
        }
        let part = self.waiting.entry_bytes() / self.parts;
        let part = self.waiting.take(&self.from, part);
        let last = part.changes().last().map(|(key, _)| behind(key));
        self.from = last.unwrap_or_default();
        part
    }
}

/// The least key above another one.
fn behind(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

impl<T: Merging> OrderedIndex for Rolling<T> {
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()> {
        change_fits(key, Some(value))?;
        self.change(key, Some(value))
    }

    fn search(&mut self, key: &[u8]) -> Result<Option<Value>> {
        match self.waiting.get(key) {
            Some(code) => Ok(change_of(code)),
            None => self.tree.search(key),
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        if key.len() > KEY_MAX {
            Ok(())
        } else {
            self.change(key, None)
        }
    }

    fn range(&mut self, from: &[u8], most: usize) -> Result<Vec<(Vec<u8>, Value)>> {
        let mut found = Vec::new();
        let mut from = from.to_vec();
        while found.len() < most {
            let below = self.tree.range(&from, most - found.len())?;
            let is_last = below.len() < most - found.len();
            let end = below.last().map(|(key, _)| behind(key));
            let start = from.clone();
            let next = self.waiting.from(&start);
            let mut waiting = next.map(|(key, code)| (key, change_of(code))).peekable();
            for (key, value) in below {
                take_below(&mut waiting, &key, &mut found);
                match waiting.next_if(|(next, _)| *next == key) {
                    Some((_, change)) => found.extend(change.map(|value| (key, value))),
                    None => found.push((key, value)),
                }
            }
            match end {
                Some(end) if !is_last => from = end,
                _ => {
                    let room = most - found.len().min(most);
                    let rest = waiting.filter_map(|(key, value)| Some((key.to_vec(), value?)));
                    found.extend(rest.take(room));
                    break;
                }
            }
        }
        found.truncate(most);
        Ok(found)
    }

    fn settle(&mut self) -> Result<()> {
        let all = std::mem::take(&mut self.waiting);
        self.tree.merge(&all.changes())?;
        self.tree.settle()
    }

    fn work(&self) -> Work {
        self.tree.work()
    }

    fn file_bytes(&self) -> u64 {
        self.tree.file_bytes()
    }

    fn memory(&self) -> usize {
        self.waiting_bytes() + self.tree.memory()
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn cleaning(&self) -> Cleaning {
        self.tree.cleaning()
    }
}

/// Appends what waits below a key.
fn take_below<'a>(
    waiting: &mut Peekable<impl Iterator<Item = (&'a [u8], Change)>>,
    key: &[u8],
    found: &mut Vec<(Vec<u8>, Value)>,
) {
    while let Some((next, change)) = waiting.next_if(|(next, _)| *next < key) {
        found.extend(change.map(|value| (next.to_vec(), value)));
    }
}
