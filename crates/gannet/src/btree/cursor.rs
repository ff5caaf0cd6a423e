//! Going through a node's entries in order, with their whole keys.

use std::ops::Range;

use super::KEY_MAX;
use super::node::{HEADER, Node, RESTART_EVERY};
use crate::base::{Error, Result};

/// A place between two entries, with the key of the entry before it.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    at: usize,
    ordinal: usize,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Range<usize>,
}

impl Cursor {
    /// Before the first entry.
    pub(crate) fn new() -> Cursor {
        Cursor::before(HEADER, 0)
    }

    /// Before the restart that begins at byte `at` with entry `ordinal`.
    pub(crate) fn before(at: usize, ordinal: usize) -> Cursor {
        Cursor {
            at,
            ordinal,
            key: Vec::new(),
            value: 0..0,
        }
    }

    /// The ordinal of the entry that the next call of [`Cursor::advance`] goes to.
    pub(crate) fn next_ordinal(&self) -> usize {
        self.ordinal
    }

    /// Goes to the next entry; tells whether there is one.
    pub(crate) fn advance(&mut self, node: &Node<'_>) -> Result<bool> {
        if self.ordinal == node.count() {
            return self.at_end(node);
        }
        let entry = node.entry(self.at)?;
        let whole = self.ordinal.is_multiple_of(RESTART_EVERY);
        if whole && (entry.shared != 0 || node.restart(self.ordinal / RESTART_EVERY)? != self.at) {
            return Err(self.damaged(node, "is not where its restart says"));
        }
        if entry.shared > self.key.len() || entry.shared + entry.suffix.len() > KEY_MAX {
            return Err(self.damaged(node, "has a key of an impossible length"));
        }
        self.key.truncate(entry.shared);
        self.key.extend_from_slice(entry.suffix);
        self.at = entry.value.end;
        self.value = entry.value;
        self.ordinal += 1;
        Ok(true)
    }

    fn at_end(&self, node: &Node<'_>) -> Result<bool> {
        if self.at == node.end() {
            Ok(false)
        } else {
            Err(self.damaged(node, "is followed by bytes of no entry"))
        }
    }

    fn damaged(&self, node: &Node<'_>, what: &str) -> Error {
        node.name()
            .damaged(format!("entry {} {what}", self.ordinal))
    }
}

impl Node<'_> {
    /// A cursor on the entry with this ordinal.
    pub(crate) fn cursor_at(&self, ordinal: usize) -> Result<Cursor> {
        let restart = ordinal / RESTART_EVERY;
        let mut cursor = self.cursor_before(restart)?;
        for _ in restart * RESTART_EVERY..=ordinal {
            cursor.advance(self)?;
        }
        Ok(cursor)
    }

    /// A cursor on the first entry that is not below `key`, if there is one.
    pub(crate) fn seek(&self, key: &[u8]) -> Result<Option<Cursor>> {
        let mut cursor = self.cursor_before(self.restart_for(key)?.unwrap_or(0))?;
        while cursor.advance(self)? {
            if cursor.key.as_slice() >= key {
                return Ok(Some(cursor));
            }
        }
        Ok(None)
    }

    fn cursor_before(&self, restart: usize) -> Result<Cursor> {
        let at = self.restart(restart)?;
        Ok(Cursor::before(at, restart * RESTART_EVERY))
    }
}
