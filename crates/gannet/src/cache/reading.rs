//! How the pages of a query are read, and how much was.

use crate::storage::PageKind;

/// How a query's pages are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Whether pages that will be gone through are read before they are reached.
    pub ahead: bool,
    /// Whether all noted pages are read together; else each waits for the one before.
    pub in_batches: bool,
    /// Whether the pages whose bytes were asked for are listed.
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
    /// What it holds.
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
    /// What was added since `before`.
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
