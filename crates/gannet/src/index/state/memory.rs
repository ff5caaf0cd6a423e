//! Divides the memory budget of an index.
//!
//! Frames, write buffers and the memory of preparation are set aside when an index is opened. The
//! memory of a flush is set aside before a posting buffer takes anything that would have to be
//! flushed. Posting buffers and the maps of new IDs reserve as they grow. Queries reserve from what
//! is left: a sixteenth at least, less the samples, and all but the frames where nothing is
//! written.

use super::options::Options;
use crate::base::PAGE_SIZE;
use crate::documents::{DOCUMENT_BYTES_MAX, SAMPLES_BYTES_MAX};
use crate::postings::MergeMemory;

/// The most memory for posting buffers: addresses in a buffer have 32 bits.
const BUFFERS_MAX: usize = 4 << 30;

/// The part of the budget that the write buffers of all streams take at most.
const WRITE_BUFFERS_ONE_OF: usize = 16;

/// The least and the most pages that a stream gathers.
const WRITE_PAGES: (usize, usize) = (16, 256);

/// The part of the budget that filters of external IDs take at most: with 64 MiB those of 1.6
/// million IDs. What is merged has them twice meanwhile.
const ID_FILTERS_ONE_OF: usize = 32;

/// The part of the budget that samples take at most.
const SAMPLES_ONE_OF: usize = 64;

/// The part of the budget that posting buffers leave to queries, however large tables are; and what
/// they keep of their own share in any case.
const QUERIES_ONE_OF: usize = 16;
const BUFFERS_KEPT_ONE_OF: usize = 4;

/// The part of the budget that the longest document may have. It can be returned and highlighted in
/// what a reader has beside its frames, and analysed in what a writer has, if all its words are
/// different too.
const DOCUMENT_ONE_OF: usize = 100;

/// The frames' share of the budget of an index that is only read, in hundredths; the second is that
/// beside a writer, since each root that is read may bring as much log as a posting buffer holds.
const FRAMES_PERCENT: usize = 80;
const FRAMES_BESIDE_PERCENT: usize = 45;

/// The frames' share of the budget of an index that takes documents, or is opened to be checked,
/// which analyses them again.
const FRAMES_WRITING_PERCENT: usize = 30;

/// The same while an index is loaded that nobody searches yet, and the fewest bytes then. Flushes
/// read lists in order, for which few frames do.
const FRAMES_LOADING_PERCENT: usize = 10;
const FRAMES_LOADING_MIN: usize = 8 << 20;

/// The share of both posting buffers, in hundredths, with what frames leave of theirs.
const BUFFERS_PERCENT: usize = 38;

/// Bytes for each part of an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryPlan {
    /// For frames.
    pub(crate) frames: usize,
    /// For both posting buffers, with the new IDs and what sorting them takes, at most.
    buffers: usize,
    /// For posting buffers and tables together, with what is left to queries taken off.
    buffers_and_tables: usize,
    /// For a flush, beside what the buffers have set aside for it.
    pub(crate) flush: MergeMemory,
    /// For documents that are prepared and not written yet.
    pub(crate) preparation: usize,
    /// For samples of documents, on which compression is trained.
    pub(crate) samples: usize,
    /// Bytes of the longest document: it can be returned and highlighted, too.
    pub(crate) document_bytes_max: usize,
    /// For the filters of external IDs, at most. While runs are merged, theirs are there twice.
    pub(crate) id_filters: usize,
    /// Streams that an index writes to.
    streams: usize,
    /// Pages that a stream gathers before it writes them.
    pub(crate) write_pages: usize,
}

impl MemoryPlan {
    /// The plan for an index of so many streams that is opened with these options. One that is only
    /// read takes no documents, unless its log must be replayed, or another process writes it.
    pub(crate) fn new(
        options: &Options,
        streams: usize,
        replays: bool,
        beside_writer: bool,
    ) -> MemoryPlan {
        let share = |percent: usize| options.memory / 100 * percent;
        let pages = options.memory / WRITE_BUFFERS_ONE_OF / streams / PAGE_SIZE;
        let (least, most) = WRITE_PAGES;
        let document_bytes_max = (options.memory / DOCUMENT_ONE_OF).min(DOCUMENT_BYTES_MAX);
        let frames = match options {
            options if options.to_check => FRAMES_WRITING_PERCENT,
            _ if beside_writer => FRAMES_BESIDE_PERCENT,
            _ => FRAMES_PERCENT,
        };
        if options.read_only && (!replays || beside_writer) {
            MemoryPlan {
                frames: share(frames).saturating_sub(options.cache_memory()),
                buffers: 0,
                buffers_and_tables: 0,
                flush: MergeMemory::of(0),
                preparation: 0,
                samples: 0,
                document_bytes_max,
                id_filters: options.memory / ID_FILTERS_ONE_OF,
                streams,
                write_pages: 1,
            }
        } else {
            let preparation = share(8);
            let frames_most = share(FRAMES_WRITING_PERCENT);
            let frames = if options.limits.loads {
                let least = share(FRAMES_LOADING_PERCENT).max(FRAMES_LOADING_MIN);
                (least + options.cache_memory()).min(frames_most)
            } else {
                frames_most
            };
            let flush = MergeMemory::of(options.memory / 8);
            let write_pages = pages.clamp(least, most);
            let taken = frames + preparation + flush.bytes() + write_buffers(streams, write_pages);
            let queries = options.memory / QUERIES_ONE_OF;
            MemoryPlan {
                frames: frames.saturating_sub(options.cache_memory()),
                buffers: options
                    .limits
                    .buffer_bytes
                    .unwrap_or(share(BUFFERS_PERCENT) + frames_most - frames)
                    .min(BUFFERS_MAX),
                buffers_and_tables: options.memory.saturating_sub(taken + queries),
                flush,
                preparation,
                samples: (options.memory / SAMPLES_ONE_OF).min(SAMPLES_BYTES_MAX),
                document_bytes_max,
                id_filters: options.memory / ID_FILTERS_ONE_OF,
                streams,
                write_pages,
            }
        }
    }

    /// Bytes of the write buffers of all streams.
    pub(crate) fn write_buffers(&self) -> usize {
        write_buffers(self.streams, self.write_pages)
    }

    /// Bytes of a budget of `memory` that are left for tables and for what a reader takes in of a
    /// log.
    pub(crate) fn left_to_log(&self, memory: usize) -> usize {
        memory.saturating_sub(self.frames + self.preparation + self.write_buffers())
    }

    /// Bytes that posting buffers may take beside tables of so many bytes: their share, or less, so
    /// that what queries need does not depend on how much was written since the last flush.
    pub(crate) fn buffers_beside(&self, tables: usize) -> usize {
        let left = self.buffers_and_tables.saturating_sub(tables);
        self.buffers
            .min(left)
            .max(self.buffers / BUFFERS_KEPT_ONE_OF)
    }
}

/// Bytes of the write buffers of so many streams, of so many pages each.
fn write_buffers(streams: usize, pages: usize) -> usize {
    streams * (pages + 1) * PAGE_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Limits;
    use crate::index::owners::stream_count;
    use crate::search::document_bytes;

    #[test]
    fn the_longest_document_can_be_read_beside_the_frames() {
        for mib in [16, 64, 256, 4096] {
            let options = Options {
                memory: mib << 20,
                read_only: true,
                ..Options::default()
            };
            let plan = MemoryPlan::new(&options, stream_count(), false, false);
            let tables = options.memory / 50;
            let taken = plan.frames + plan.write_buffers() + tables;
            let needed = document_bytes(plan.document_bytes_max);
            assert!(taken + needed <= options.memory, "{mib} MiB");
        }
    }

    #[test]
    fn buffers_leave_their_part_to_queries_beside_large_tables() {
        for mib in [16, 64, 256, 4096] {
            let [written, loaded] = [false, true].map(|loads| buffers_leave_their_part(mib, loads));
            let more = loaded.buffers - written.buffers;
            assert_eq!(more, written.frames - loaded.frames, "{mib} MiB");
            assert!(more > 0 || mib == 16, "{mib} MiB");
        }
    }

    fn buffers_leave_their_part(mib: usize, loads: bool) -> MemoryPlan {
        let options = Options {
            memory: mib << 20,
            limits: Limits {
                loads,
                ..Limits::default()
            },
            ..Options::default()
        };
        let plan = MemoryPlan::new(&options, stream_count(), false, false);
        let fixed = plan.frames + plan.preparation + plan.flush.bytes() + plan.write_buffers();
        for tables in [0, options.memory / 32, options.memory / 8] {
            let taken = fixed + tables + plan.buffers_beside(tables);
            let queries = options.memory / QUERIES_ONE_OF;
            assert!(taken + queries <= options.memory, "{mib} MiB, {tables}");
        }
        assert!(plan.buffers_beside(0) >= plan.buffers / 10 * 9, "{mib} MiB");
        assert_eq!(
            plan.buffers_beside(usize::MAX),
            plan.buffers / BUFFERS_KEPT_ONE_OF
        );
        plan
    }
}
