//! Options for reading the pages of a query, and counts of the reads.

use crate::storage::PageKind;

/// The options for reading a query's pages.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Set if pages that will be gone through are read before they are reached.
    pub ahead: bool,
    /// Set if all noted pages are read together; else each waits for the one before.
    pub in_batches: bool,
    /// Set if the pages whose bytes were asked for are listed.
    pub listed: bool,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            ahead: true,
            in_batches: true,
            listed: false,
        }
    }
}

/// A page that was asked for bytes, wherever it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedPage {
    /// Its zone.
    pub zone: u32,
    /// Its number in the zone.
    pub page: u32,
    /// The kind of the page.
    pub kind: PageKind,
}

/// Reads of one query, exactly counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Batches of reads, each depending on the one before.
    pub rounds: u32,
    /// Read operations of the device.
    pub reads: u32,
    /// Bytes read from the device.
    pub bytes: u64,
    /// Pages that were found in memory.
    pub frames_hit: u32,
    /// Pages that were read from the flash tier, if there is one; not among the reads and bytes.
    pub tier_hits: u32,
}

impl IoCounts {
    /// Returns the counts since `before`.
    pub fn since(&self, before: IoCounts) -> IoCounts {
        IoCounts {
            rounds: self.rounds - before.rounds,
            reads: self.reads - before.reads,
            bytes: self.bytes - before.bytes,
            frames_hit: self.frames_hit - before.frames_hit,
            tier_hits: self.tier_hits - before.tier_hits,
        }
    }
}
