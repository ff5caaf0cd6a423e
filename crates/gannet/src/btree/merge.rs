//! Changes merged into the entries of a leaf.

use std::cmp::Ordering;

use super::cursor::Cursor;
use super::entries::Entries;
use super::node::Node;
use super::window::Change;
use crate::base::Result;

/// The result of merging changes into a leaf.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    pub(crate) entries: Entries,
    /// Set if anything changed.
    pub(crate) changed: bool,
    /// Keys that were added and removed.
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

/// With a key for each so many entries of a leaf, going through all of them costs less than looking
/// each up.
const ENTRIES_FOR_A_KEY: usize = 8;

/// The old values of `keys` in a leaf.
pub(crate) fn old_values<'a>(leaf: &Node<'a>, keys: &[&[u8]]) -> Result<Vec<Option<&'a [u8]>>> {
    if keys.len() * ENTRIES_FOR_A_KEY > leaf.count() {
        return old_values_in_turn(leaf, keys);
    }
    let find = |key: &&[u8]| {
        let floor = leaf.floor(key)?.filter(|floor| floor.exact);
        Ok(floor.map(|floor| leaf.value(floor.value)))
    };
    keys.iter().map(find).collect()
}

fn old_values_in_turn<'a>(leaf: &Node<'a>, keys: &[&[u8]]) -> Result<Vec<Option<&'a [u8]>>> {
    let mut found = Vec::with_capacity(keys.len());
    let mut cursor = Cursor::new();
    let mut more = cursor.advance(leaf)?;
    for key in keys {
        let mut order = Ordering::Greater;
        while more {
            order = cursor.key.as_slice().cmp(key);
            if order != Ordering::Less {
                break;
            }
            more = cursor.advance(leaf)?;
        }
        let exact = more && order == Ordering::Equal;
        found.push(exact.then(|| leaf.value(cursor.value.clone())));
    }
    Ok(found)
}

/// The entries of a leaf (if there is one) with `changes` to `keys`; none if nothing is asked for.
pub(crate) fn merge(leaf: Option<&Node<'_>>, keys: &[&[u8]], changes: &[Change]) -> Result<Merged> {
    let mut merged = Merged::default();
    if changes.iter().all(|change| *change == Change::Keep) {
        return Ok(merged);
    }
    let mut changes = keys.iter().copied().zip(changes).peekable();
    if let Some(leaf) = leaf {
        let mut cursor = Cursor::new();
        while cursor.advance(leaf)? {
            let key = cursor.key.as_slice();
            while let Some((new, change)) = changes.next_if(|(new, _)| *new < key) {
                merged.insert(new, change);
            }
            let old = leaf.value(cursor.value.clone());
            match changes.next_if(|(new, _)| *new == key) {
                Some((_, change)) => merged.replace(key, old, change),
                None => merged.entries.push(key, old),
            }
        }
    }
    for (new, change) in changes {
        merged.insert(new, change);
    }
    Ok(merged)
}

impl Merged {
    fn insert(&mut self, key: &[u8], change: &Change) {
        if let Change::Put(value) = change {
            self.entries.push(key, value);
            self.added += 1;
            self.changed = true;
        }
    }

    fn replace(&mut self, key: &[u8], old: &[u8], change: &Change) {
        match change {
            Change::Keep => self.entries.push(key, old),
            Change::Put(value) => {
                self.changed |= value.as_slice() != old;
                self.entries.push(key, value);
            }
            Change::Remove => {
                self.removed += 1;
                self.changed = true;
            }
        }
    }
}
