//! Entries into pages: where to cut a run of entries, and how a node is written.

use std::ops::Range;
use std::sync::Arc;

use super::NodeId;
use super::entries::Entries;
use super::node::{HEADER, RESTART_EVERY, common_prefix};
use crate::base::{PAGE_PAYLOAD, put_u16, put_u32, put_varint};

/// The fill of the nodes of a run that needs several: room for a few more entries stays.
pub(crate) const FILL: usize = PAGE_PAYLOAD * 19 / 20;

/// A node that is less full than this looks for a neighbour to join.
pub(crate) const SPARSE: usize = PAGE_PAYLOAD / 4;

/// Bytes that `entries[range]` take as one node.
pub(crate) fn node_bytes(entries: &Entries, range: Range<usize>, level: usize) -> usize {
    let start = range.start;
    let costs = range.map(|ordinal| entries.cost(ordinal, ordinal - start, level));
    HEADER + costs.sum::<usize>()
}

/// Cuts entries into nodes. With `open_end` (more will follow behind the last entry) the last node
/// takes what is left; otherwise the last two nodes are made about equal.
pub(crate) fn cut(entries: &Entries, level: usize, open_end: bool) -> Vec<Range<usize>> {
    let all = 0..entries.len();
    if all.is_empty() {
        return Vec::new();
    }
    if node_bytes(entries, all.clone(), level) <= PAGE_PAYLOAD {
        return vec![all];
    }
    let mut nodes = Vec::new();
    let mut start = 0;
    while start < entries.len() {
        let end = fill(entries, start, level, FILL);
        nodes.push(start..end);
        start = end;
    }
    if !open_end {
        even_out(entries, level, &mut nodes);
    }
    nodes
}

/// Returns the end of a node that begins at `start` and may take `limit` bytes. It takes one entry
/// at least.
fn fill(entries: &Entries, start: usize, level: usize, limit: usize) -> usize {
    let mut bytes = HEADER;
    for ordinal in start..entries.len() {
        bytes += entries.cost(ordinal, ordinal - start, level);
        if bytes > limit && ordinal > start {
            return ordinal;
        }
    }
    entries.len()
}

fn even_out(entries: &Entries, level: usize, nodes: &mut [Range<usize>]) {
    let [.., left, right] = nodes else {
        return;
    };
    let bytes = |range: Range<usize>| node_bytes(entries, range, level);
    let half = (bytes(left.clone()) + bytes(right.clone())).div_ceil(2);
    let middle = fill(entries, left.start, level, half);
    // With long entries the halves may be so uneven that the right one does not fit: then all
    // stays.
    if middle < right.end && bytes(middle..right.end) <= PAGE_PAYLOAD {
        left.end = middle;
        right.start = middle;
    }
}

/// Writes `entries[range]` as the node `id`.
pub(crate) fn encode(
    entries: &Entries,
    range: Range<usize>,
    level: usize,
    id: NodeId,
) -> Arc<[u8]> {
    let mut out = Vec::with_capacity(PAGE_PAYLOAD);
    let mut restarts = Vec::new();
    out.push(level as u8);
    out.push(0);
    put_u16(&mut out, range.len() as u16);
    put_u32(&mut out, id);
    put_u16(&mut out, 0);
    for ordinal in range.clone() {
        let whole = (ordinal - range.start).is_multiple_of(RESTART_EVERY);
        if whole {
            restarts.push(out.len() as u16);
        }
        put_entry(&mut out, entries, ordinal, level, whole);
    }
    let end = out.len() as u16;
    out[HEADER - 2..HEADER].copy_from_slice(&end.to_le_bytes());
    for restart in restarts {
        put_u16(&mut out, restart);
    }
    debug_assert!(out.len() <= PAGE_PAYLOAD, "a node of {} bytes", out.len());
    out.into()
}

fn put_entry(out: &mut Vec<u8>, entries: &Entries, ordinal: usize, level: usize, whole: bool) {
    let shared = if whole { 0 } else { entries.shared(ordinal) };
    let (key, value) = (entries.key(ordinal), entries.value(ordinal));
    put_varint(out, shared as u64);
    put_varint(out, (key.len() - shared) as u64);
    if level == 0 {
        put_varint(out, value.len() as u64);
    }
    out.extend_from_slice(&key[shared..]);
    out.extend_from_slice(value);
}

/// The shortest key that is above `left` and not above `right`.
pub(crate) fn separator<'a>(left: &[u8], right: &'a [u8]) -> &'a [u8] {
    &right[..right.len().min(common_prefix(left, right) + 1)]
}
