//! What a drive has done: counts of requests, flash operations and erases.

use std::collections::BTreeMap;

/// Counts since a drive was made, or since they were reset. A *unit* is what the translation layer
/// maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Units that the host wrote.
    pub host_written_units: u64,
    /// Units that the host read from flash or the write buffer.
    pub host_read_units: u64,
    /// Units that the host read and that have no content.
    pub unmapped_read_units: u64,
    /// Units that the host trimmed and that had content.
    pub trimmed_units: u64,
    /// Units that garbage collection moved.
    pub moved_units: u64,
    /// Units that stayed empty because a flush could not wait until their page was full.
    pub padded_units: u64,
    /// Pages that were programmed.
    pub programmed_pages: u64,
    /// Reads of a page, for the host and for garbage collection.
    pub read_pages: u64,
    /// Blocks that were erased.
    pub erased_blocks: u64,
}

impl Counts {
    /// Units that were written to flash for each that the host wrote; nothing before any write.
    pub fn device_write_amplification(&self) -> Option<f64> {
        let written = self.host_written_units + self.moved_units + self.padded_units;
        (self.host_written_units > 0).then(|| written as f64 / self.host_written_units as f64)
    }
}

/// How many blocks were erased how often.
pub fn wear_histogram(erases: impl Iterator<Item = u32>) -> BTreeMap<u32, u64> {
    let mut histogram = BTreeMap::new();
    erases.for_each(|count| *histogram.entry(count).or_default() += 1);
    histogram
}
