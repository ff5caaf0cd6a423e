//! Relocation: chunks move out of zones to be cleaned, byte by byte.

use super::spans::SpanReader;
use super::streams::ChunkStreams;
use crate::base::{Result, ZoneNumber};
use crate::postings::codec::entry::TermEntry;
use crate::storage::Store;

/// A chunk to be moved: its entry, and its place among the entry's chunks.
type Move = (usize, usize);

/// Moves the chunks of these coded entries that lie in victim zones; gives each entry's new form,
/// or nothing where none moved.
///
/// The chunks must have been written out, as for [`crate::postings::merge_window`], and it takes as
/// much memory.
pub fn relocate_window(
    entries: &[&[u8]],
    is_victim: &dyn Fn(ZoneNumber) -> bool,
    store: &Store,
    streams: &ChunkStreams,
) -> Result<Vec<Option<Vec<u8>>>> {
    let decoded = entries.iter().map(|entry| TermEntry::decode(entry));
    let mut decoded: Vec<TermEntry> = decoded.collect::<Result<_>>()?;
    let mut moves: Vec<Move> = Vec::new();
    for (at, entry) in decoded.iter().enumerate() {
        let victims = entry.chunks.iter().enumerate();
        let victims =
            victims.filter(|(_, chunk)| chunk.place.spans().any(|run| is_victim(run.zone)));
        moves.extend(victims.map(|(chunk, _)| (at, chunk)));
    }
    let memory = streams.memory();
    let reader = SpanReader::new(store, memory.batch_pages());
    let mut rest = &moves[..];
    while !rest.is_empty() {
        let batch;
        (batch, rest) = rest.split_at(batch_length(rest, &decoded, memory.window_bytes()));
        let chunks: Vec<_> = batch
            .iter()
            .map(|(at, c)| decoded[*at].chunks[*c])
            .collect();
        for ((at, c), bytes) in batch.iter().zip(reader.chunks(&chunks)?) {
            let chunk = &mut decoded[*at].chunks[*c];
            *chunk = streams.relocate(&bytes, *chunk, is_victim, &reader)?;
        }
    }
    let mut new = vec![None; entries.len()];
    for moved in moves.chunk_by(|a, b| a.0 == b.0) {
        let at = moved[0].0;
        new[at] = Some(decoded[at].encode()?);
    }
    Ok(new)
}

/// Returns the number of these chunks that fit a window of so many bytes; at least one.
fn batch_length(moves: &[Move], entries: &[TermEntry], window: usize) -> usize {
    let mut bytes = 0;
    let fits = moves.iter().take_while(|(at, chunk)| {
        bytes += entries[*at].chunks[*chunk].length() as usize;
        bytes <= window
    });
    fits.count().max(1)
}
