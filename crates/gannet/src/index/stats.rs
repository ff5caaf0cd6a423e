//! What an index holds, and where its bytes are.

use super::Index;
use crate::base::ZoneNumber;
use crate::storage::PageKind;

/// Figures of one state of an index.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Documents that can be found.
    pub documents: u64,
    /// Documents that were deleted or replaced and still take space.
    pub deleted: u64,
    /// Distinct terms, of all fields, without those that are only in memory.
    pub terms: u64,
    /// How often the posting buffer was flushed since the index was opened.
    pub flushes: u64,
    /// The zones by number.
    pub zones: Vec<ZoneStats>,
    /// The memory.
    pub memory: MemoryStats,
}

/// One zone.
#[derive(Clone, Debug)]
pub struct ZoneStats {
    /// Its number.
    pub number: ZoneNumber,
    /// What its pages hold: `log`, `documents`, `postings`, `dictionary`, `tables` or `roots`.
    pub part: &'static str,
    /// Pages written so far.
    pub pages: u32,
    /// Bytes that are still needed.
    pub live_bytes: u64,
    /// The share of the written bytes that is still needed, `0.0..=1.0`.
    pub live_share: f64,
    /// Whether a writer still appends to it.
    pub open: bool,
}

/// Where the memory is, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemoryStats {
    /// The memory number.
    pub budget: usize,
    /// Reserved of it now.
    pub used: usize,
    /// The most that was ever reserved at once.
    pub peak: usize,
    /// Postings that are not flushed yet.
    pub buffer: usize,
    /// The mapping of the dictionary's nodes.
    pub dictionary: usize,
    /// The parts of the document tables that are in memory.
    pub tables: usize,
}

impl Index {
    /// Figures of the newest state.
    pub fn stats(&self) -> Stats {
        let state = self.shared().published.get();
        Stats {
            documents: state.documents,
            deleted: state.tables.deleted_count(),
            terms: state.terms.entries(),
            flushes: self.with_writer(|writer| Ok(writer.flushes)).unwrap_or(0),
            zones: self.zone_stats(),
            memory: self.memory_stats(),
        }
    }

    fn zone_stats(&self) -> Vec<ZoneStats> {
        let zones = self.shared().store.zones();
        let figures = zones.iter().map(|(number, zone)| ZoneStats {
            number,
            part: part(zone.kind),
            pages: zone.pages,
            live_bytes: zone.live,
            live_share: zone.live_share(),
            open: zone.open,
        });
        figures.collect()
    }

    fn memory_stats(&self) -> MemoryStats {
        let (shared, state) = (self.shared(), self.shared().published.get());
        MemoryStats {
            budget: shared.budget.total(),
            used: shared.budget.used(),
            peak: shared.budget.peak(),
            buffer: state.buffer.memory_bytes(),
            dictionary: state.terms.memory_bytes() + state.ids.memory_bytes(),
            tables: state.tables.memory_bytes(),
        }
    }
}

fn part(kind: PageKind) -> &'static str {
    match kind {
        PageKind::RootSlot | PageKind::Root => "roots",
        PageKind::Log => "log",
        PageKind::Documents => "documents",
        PageKind::Postings => "postings",
        PageKind::Node => "dictionary",
        PageKind::Table => "tables",
    }
}
