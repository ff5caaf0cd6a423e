//! Changes merged into the entries of a leaf.

use std::cmp::Ordering;

use super::cursor::Cursor;
use super::entries::Entries;
use super::node::Node;
use super::window::Decision;
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

/// The entries of a leaf (if there is one) with what was decided of `keys`, whose new values stand
/// in `values`; none if nothing is asked for.
pub(crate) fn merge(
    leaf: Option<&Node<'_>>,
    keys: &[&[u8]],
    decisions: &[Decision],
    values: &[u8],
) -> Result<Merged> {
    let mut merged = Merged::default();
    if decisions.iter().all(|decision| *decision == Decision::Keep) {
        return Ok(merged);
    }
    let mut changes = keys.iter().copied().zip(decisions).peekable();
    if let Some(leaf) = leaf {
        let mut cursor = Cursor::new();
        while cursor.advance(leaf)? {
            let key = cursor.key.as_slice();
            while let Some((new, decision)) = changes.next_if(|(new, _)| *new < key) {
                merged.insert(new, decision, values);
            }
            let old = leaf.value(cursor.value.clone());
            match changes.next_if(|(new, _)| *new == key) {
                Some((_, decision)) => merged.replace(key, old, decision, values),
                None => merged.entries.push(key, old),
            }
        }
    }
    for (new, decision) in changes {
        merged.insert(new, decision, values);
    }
    Ok(merged)
}

impl Merged {
    fn insert(&mut self, key: &[u8], decision: &Decision, values: &[u8]) {
        if let Decision::Put(place) = decision {
            self.entries.push(key, &values[place.clone()]);
            self.added += 1;
            self.changed = true;
        }
    }

    fn replace(&mut self, key: &[u8], old: &[u8], decision: &Decision, values: &[u8]) {
        match decision {
            Decision::Keep => self.entries.push(key, old),
            Decision::Put(place) => {
                let value = &values[place.clone()];
                self.changed |= value != old;
                self.entries.push(key, value);
            }
            Decision::Remove => {
                self.removed += 1;
                self.changed = true;
            }
        }
    }
}
