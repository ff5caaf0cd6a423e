//! Windows of lists: their chunks are read in one batch, coded on all cores and placed in the
//! lists' order.
//!
//! A list whose chunks take more than a window goes alone, chunk by chunk, and full chunks of it
//! are placed while it is coded; so memory is bounded whatever the lists.

use super::norms::{NormReader, Norms};
use super::spans::SpanReader;
use super::streams::ChunkStreams;
use crate::base::{Error, Result, back_off, on_all_cores};
use crate::postings::codec::entry::ChunkRef;
use crate::storage::Store;

/// Fewer lists than this are not worth a thread.
const LISTS_AT_LEAST: usize = 8;

/// The work on one list.
pub(crate) trait Rewriting: Send {
    type Coded: Placing + Send;

    /// The chunks that it reads, in this order.
    fn chunks(&self) -> Vec<ChunkRef>;

    /// Does all that needs no stream: decodes and codes. `streams` takes full chunks at once;
    /// without it they are kept, in memory that the window's bounds limit.
    fn code(
        self,
        ahead: &mut ChunksAhead<'_>,
        norms: &mut NormReader<'_>,
        streams: Option<&ChunkStreams>,
    ) -> Result<Self::Coded>;

    /// Bytes of chunks that it reads.
    fn bytes(&self) -> usize {
        let lengths = self.chunks().into_iter().map(|chunk| chunk.length());
        lengths.map(|length| length as usize).sum()
    }
}

/// A list whose changes are coded and not all placed.
pub(crate) trait Placing {
    type Placed;

    /// Appends the chunks to their streams and releases those they replace.
    fn place(self, reader: &SpanReader<'_>, streams: &ChunkStreams) -> Result<Self::Placed>;
}

/// The chunks that a list reads, in the order in which it said them.
pub(crate) struct ChunksAhead<'a> {
    reader: &'a SpanReader<'a>,
    /// The chunks that were read ahead.
    read: Option<std::vec::IntoIter<Vec<u8>>>,
}

impl ChunksAhead<'_> {
    /// The bytes of the next chunk: those read ahead, if there are any.
    pub(crate) fn next(&mut self, chunk: &ChunkRef) -> Result<Vec<u8>> {
        if let Some(bytes) = self.read.as_mut().and_then(Iterator::next) {
            return Ok(bytes);
        }
        let bytes = self.reader.chunks(std::slice::from_ref(chunk))?.pop();
        bytes.ok_or_else(|| Error::internal("a chunk was not read"))
    }
}

/// Rewrites the list of each item as `plan` tells; gives what placing them gave, in the items'
/// order.
///
/// All chunks that are read must have been written out.
pub(crate) fn rewrite_all<'i, I, P: Rewriting>(
    store: &Store,
    streams: &ChunkStreams,
    norms: &dyn Norms,
    items: &'i [I],
    plan: impl Fn(&'i I, &ChunkStreams) -> Result<P>,
) -> Result<Vec<<P::Coded as Placing>::Placed>> {
    let memory = streams.memory();
    let reader = SpanReader::new(store, memory.batch_pages());
    let (mut placed, mut plans, mut bytes) = (Vec::with_capacity(items.len()), Vec::new(), 0);
    for item in items {
        let plan = plan(item, streams)?;
        let more = plan.bytes();
        if bytes + more > memory.window_bytes() && !plans.is_empty() {
            let window = std::mem::take(&mut plans);
            placed.append(&mut rewrite(window, &reader, streams, norms)?);
            bytes = 0;
        }
        bytes += more;
        plans.push(plan);
    }
    placed.append(&mut rewrite(plans, &reader, streams, norms)?);
    Ok(placed)
}

/// Carries out the plans of a window.
fn rewrite<P: Rewriting>(
    plans: Vec<P>,
    reader: &SpanReader<'_>,
    streams: &ChunkStreams,
    norms: &dyn Norms,
) -> Result<Vec<<P::Coded as Placing>::Placed>> {
    if plans.iter().map(P::bytes).sum::<usize>() > streams.memory().window_bytes() {
        let mut norms = norms.reader();
        let one_by_one = plans.into_iter().map(|plan| {
            let mut ahead = ChunksAhead { reader, read: None };
            let coded = plan.code(&mut ahead, &mut norms, Some(streams))?;
            coded.place(reader, streams)
        });
        return one_by_one.collect();
    }
    let chunks: Vec<Vec<ChunkRef>> = plans.iter().map(P::chunks).collect();
    let mut bytes = reader.chunks(&chunks.concat())?.into_iter();
    let work = plans.into_iter().zip(&chunks).map(|(plan, chunks)| {
        let own: Vec<Vec<u8>> = bytes.by_ref().take(chunks.len()).collect();
        let read = Some(own.into_iter());
        (plan, ChunksAhead { reader, read })
    });
    let coded = on_all_cores(work.collect(), LISTS_AT_LEAST, |share| {
        let mut norms = norms.reader();
        let coded = share
            .into_iter()
            .map(|(plan, mut ahead): (P, ChunksAhead<'_>)| {
                back_off();
                plan.code(&mut ahead, &mut norms, None)
            });
        coded.collect()
    });
    let placed = coded.into_iter().map(|coded| coded?.place(reader, streams));
    placed.collect()
}
