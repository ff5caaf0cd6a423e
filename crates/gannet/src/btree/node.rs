//! One node as it lies in its page: read and searched without being unpacked.
//!
//! Leaves and inner nodes have one shape: a sorted run of keys with values, where the value of an
//! inner node's key is a child and the key is the lower bound of the child's keys. Keys share
//! prefixes with the key before them, except each sixteenth, whose place is in the array of
//! restarts. Nothing that is read is trusted: every length is checked against the bytes that are
//! there.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use super::{KEY_MAX, NodeId};
use crate::base::{ByteReader, Error, PageAddress, Result};

/// Bytes before the first entry: level, zero, count, node ID, end of the entries.
pub(crate) const HEADER: usize = 10;

/// Each how many entries a key is stored whole.
pub(crate) const RESTART_EVERY: usize = 16;

/// Bytes of an inner node's value.
pub(crate) const CHILD_BYTES: usize = 4;

/// The ID and the address of a node, for errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeName {
    pub(crate) id: NodeId,
    pub(crate) address: PageAddress,
}

/// A node whose header was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    name: NodeName,
    level: usize,
    count: usize,
    /// The entries lie in `HEADER..end`, the restarts follow.
    end: usize,
    bytes: &'a [u8],
}

/// The last entry that is not above the key that was looked for.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    pub(crate) ordinal: usize,
    pub(crate) value: Range<usize>,
    pub(crate) exact: bool,
}

/// An entry whose bytes were found to be there.
pub(crate) struct Entry<'a> {
    pub(crate) shared: usize,
    pub(crate) suffix: &'a [u8],
    pub(crate) value: Range<usize>,
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PageAddress { zone, page } = self.address;
        write!(f, "node {} at page {page} of zone {zone}", self.id)
    }
}

impl NodeName {
    /// The error for something that cannot be in this node.
    pub(crate) fn damaged(self, reason: impl Into<String>) -> Error {
        Error::damaged(self.to_string(), reason)
    }
}

impl<'a> Node<'a> {
    /// Checks the header of a page that should hold the node `name` at `level` (0 is a leaf).
    pub(crate) fn parse(bytes: &'a [u8], name: NodeName, level: usize) -> Result<Node<'a>> {
        let mut reader = ByteReader::new(bytes, "a tree node");
        let got = (reader.u8()? as usize, reader.u8()?);
        let count = reader.u16()? as usize;
        let id = reader.u32()?;
        let end = reader.u16()? as usize;
        if got != (level, 0) || id != name.id {
            let (level_got, _) = got;
            return Err(name.damaged(format!(
                "expected a node of level {level}, got node {id} of level {level_got}"
            )));
        }
        let restarts = count.div_ceil(RESTART_EVERY) * 2;
        if count == 0 || end < HEADER || end + restarts > bytes.len() {
            return Err(name.damaged(format!("{count} entries cannot end at byte {end}")));
        }
        Ok(Node {
            name,
            level,
            count,
            end,
            bytes,
        })
    }

    pub(crate) fn name(&self) -> NodeName {
        self.name
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The byte after the last entry.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Bytes that it uses.
    pub(crate) fn length(&self) -> usize {
        self.end + self.restarts() * 2
    }

    /// The bytes of a value.
    pub(crate) fn value(&self, value: Range<usize>) -> &'a [u8] {
        &self.bytes[value]
    }

    /// The child that a value of an inner node names.
    pub(crate) fn child(&self, value: Range<usize>) -> Result<NodeId> {
        let bytes = <[u8; CHILD_BYTES]>::try_from(self.value(value));
        bytes
            .map(NodeId::from_le_bytes)
            .map_err(|_| self.name.damaged("a child is not a node ID"))
    }

    /// The last entry with a key that is not above `key`.
    pub(crate) fn floor(&self, key: &[u8]) -> Result<Option<Floor>> {
        let Some(restart) = self.restart_for(key)? else {
            return Ok(None);
        };
        let (mut at, first) = (self.restart(restart)?, restart * RESTART_EVERY);
        let (mut matched, mut found) = (0, None);
        for ordinal in first..self.count.min(first + RESTART_EVERY) {
            let entry = self.entry(at)?;
            at = entry.value.end;
            let Some(order) = entry.compare(key, &mut matched) else {
                note(&mut found, ordinal, entry.value);
                continue;
            };
            if order == Ordering::Greater {
                break;
            }
            note(&mut found, ordinal, entry.value);
            if let (Ordering::Equal, Some(floor)) = (order, &mut found) {
                floor.exact = true;
                break;
            }
        }
        Ok(found)
    }

    /// The child whose keys may include `key`, with its ordinal: the first child takes all that is
    /// below.
    pub(crate) fn child_for(&self, key: &[u8]) -> Result<(usize, NodeId)> {
        match self.floor(key)? {
            Some(floor) => Ok((floor.ordinal, self.child(floor.value)?)),
            None => Ok((0, self.child(self.entry(HEADER)?.value)?)),
        }
    }

    fn restarts(&self) -> usize {
        self.count.div_ceil(RESTART_EVERY)
    }

    /// Returns the position of the entry of a restart.
    pub(crate) fn restart(&self, restart: usize) -> Result<usize> {
        let at = self.end + restart * 2;
        let place = match self.bytes.get(at..at + 2) {
            Some(bytes) if restart < self.restarts() => u16::from_le_bytes([bytes[0], bytes[1]]),
            _ => return Err(self.name.damaged(format!("there is no restart {restart}"))),
        };
        Ok(place as usize)
    }

    /// The last restart whose key is not above `key`.
    pub(crate) fn restart_for(&self, key: &[u8]) -> Result<Option<usize>> {
        let (mut low, mut high) = (0, self.restarts());
        while low < high {
            let middle = (low + high) / 2;
            let entry = self.entry(self.restart(middle)?)?;
            if entry.suffix <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low.checked_sub(1))
    }

    // A search goes through a dozen entries a node: as a call, each cost as much again.
    #[inline(always)]
    pub(crate) fn entry(&self, at: usize) -> Result<Entry<'a>> {
        let bytes = match self.bytes.get(at..self.end) {
            Some(bytes) if at >= HEADER => bytes,
            _ => return Err(self.no_entry(at)),
        };
        let (shared, suffix, value, lengths) = match (self.level, bytes) {
            // Nearly always all lengths are below 128.
            (0, [a, b, c, ..]) if (a | b | c) < 0x80 => (*a as usize, *b as usize, *c as usize, 3),
            // Entries of long lists take more as often as not.
            (0, [a, b, c, d, ..]) if (a | b | d) < 0x80 => {
                let value = (*c & 0x7f) as usize | (*d as usize) << 7;
                (*a as usize, *b as usize, value, 4)
            }
            (1.., [a, b, ..]) if (a | b) < 0x80 => (*a as usize, *b as usize, CHILD_BYTES, 2),
            _ => self.long_lengths(bytes)?,
        };
        let start = at + lengths + suffix;
        match bytes.get(lengths..lengths + suffix) {
            Some(suffix) if start + value <= self.end => Ok(Entry {
                shared,
                suffix,
                value: start..start + value,
            }),
            _ => Err(self.no_entry(at)),
        }
    }

    /// The lengths of an entry (shared, suffix, value), and how many bytes they take themselves.
    #[cold]
    fn long_lengths(&self, bytes: &[u8]) -> Result<(usize, usize, usize, usize)> {
        let read = |reader: &mut ByteReader<'_>| {
            let (shared, suffix) = (reader.length(KEY_MAX)?, reader.length(KEY_MAX)?);
            let value = match self.level {
                0 => reader.length(bytes.len())?,
                _ => CHILD_BYTES,
            };
            Ok((shared, suffix, value, reader.position()))
        };
        let lengths: Result<_> = read(&mut ByteReader::new(bytes, "an entry"));
        lengths.map_err(|error| self.name.damaged(error.to_string()))
    }

    #[cold]
    fn no_entry(&self, at: usize) -> Error {
        let end = self.end;
        self.name.damaged(format!(
            "the entry at byte {at} is not within {HEADER}..{end}"
        ))
    }
}

fn note(found: &mut Option<Floor>, ordinal: usize, value: Range<usize>) {
    *found = Some(Floor {
        ordinal,
        value,
        exact: false,
    });
}

impl Entry<'_> {
    /// Compares this entry's key with `key`, given how many bytes of `key` the entry before
    /// *matched* (that entry was below `key`). Nothing means: below, by what it shares with the
    /// entry before.
    fn compare(&self, key: &[u8], matched: &mut usize) -> Option<Ordering> {
        match self.shared.cmp(matched) {
            Ordering::Greater => return None,
            // It parts from the entry before where that still agreed with `key`, and upwards.
            Ordering::Less => return Some(Ordering::Greater),
            Ordering::Equal => {}
        }
        let rest = &key[*matched..];
        let common = common_prefix(self.suffix, rest);
        *matched += common;
        Some(self.suffix[common..].first().cmp(&rest[common..].first()))
    }
}

/// Returns the number of bytes that two keys have in common at their beginning.
pub(crate) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    const WORD: usize = size_of::<u64>();
    let (left_words, right_words) = (left.as_chunks::<WORD>().0, right.as_chunks::<WORD>().0);
    let mut common = 0;
    for (a, b) in left_words.iter().zip(right_words) {
        let differing = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differing != 0 {
            return common + differing.trailing_zeros() as usize / 8;
        }
        common += WORD;
    }
    let rest = left[common..].iter().zip(&right[common..]);
    common + rest.take_while(|(a, b)| a == b).count()
}
