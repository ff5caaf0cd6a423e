//! The options of the index of a history, and the events that may befall it.

use std::time::Duration;

use super::tally::note_phase;
use gannet::Analyzer;
use gannet::PhraseFilters;
use gannet::{Durability, Limits, MEMORY_MIN, Options};
use gannet_testkit::random::FIELDS;

/// Little, but enough for the broadest query beside a flush.
const MEMORY: usize = 4 * MEMORY_MIN;

/// One history's terms.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) seed: u64,
    pub(super) operations: u64,
    /// Documents that live, between these.
    pub(super) documents: (usize, usize),
    /// Different words.
    pub(super) words: usize,
    /// Operations between two crashes, on average.
    pub(super) between_crashes: usize,
    pub(super) durability: Durability,
    filters: PhraseFilters,
    buffer_bytes: usize,
    log_source_bytes: u64,
    zone_pages: u32,
    vacuum_bytes: Option<u64>,
    /// Set if flushes run beside writing, so that each run is another.
    beside: bool,
    /// Set if snapshots may be given up for what they hold on flash.
    pub(super) snapshots_expire: bool,
}

impl Setup {
    /// One of several kinds.
    pub(super) fn numbered(number: u64, seed: u64, operations: u64) -> Setup {
        let pick = |values: &[usize]| values[number as usize % values.len()];
        // So few operations are made on few documents, for else nothing would be swept.
        let most = (operations / 2).clamp(150, [1_500, 3_000, 800][number as usize % 3]) as usize;
        Setup {
            seed: seed.wrapping_mul(1_000_003).wrapping_add(number),
            operations,
            documents: (most / 8, most),
            words: most.max(400),
            between_crashes: pick(&[80, 150, 300, 200, 1_000]),
            durability: [Durability::Async, Durability::Async, Durability::Sync]
                [pick(&[0, 1, 0, 2])],
            filters: [PhraseFilters::Common, PhraseFilters::None][pick(&[0, 1, 0, 0, 0])],
            buffer_bytes: pick(&[96, 256, 1_024]) << 10,
            log_source_bytes: (pick(&[24, 64, 512, 128]) << 10) as u64,
            zone_pages: pick(&[8, 16, 64]) as u32,
            vacuum_bytes: [Some(4 << 10), Some(32 << 10), None][pick(&[0, 1, 0, 2])],
            beside: number % 4 == 3,
            snapshots_expire: number % 5 == 4,
        }
    }

    /// One with flushes beside writing.
    pub(super) fn beside(seed: u64) -> Setup {
        Setup::numbered(3, seed, 1_000)
    }

    /// The options of an opening.
    pub(super) fn options(&self) -> Options {
        let retention = if self.snapshots_expire {
            (Some(256 << 10), Duration::ZERO)
        } else {
            (None, Duration::from_secs(3_600))
        };
        let mut options = Options::default()
            .memory(MEMORY)
            .durability(self.durability)
            .phrase_filters(self.filters)
            .limits(Limits {
                buffer_bytes: Some(self.buffer_bytes),
                loads: self.snapshots_expire,
                log_source_bytes: self.log_source_bytes,
                // Of words that come again it lets the bytes decide most of the time.
                log_time: Duration::from_millis(20),
                vacuum_bytes: self.vacuum_bytes,
                snapshot_bytes: retention.0,
                snapshot_age: retention.1,
                zone_pages: Some(self.zone_pages),
                beside: self.beside,
                maintain_after: Some(Duration::from_millis(1)),
                visible_after: None,
                on_phase: Some(note_phase),
            });
        for field in &FIELDS {
            let name = field.analyzer.unwrap_or("keyword");
            let analyzer = Analyzer::named(name).expect("an analyzer");
            options = options.field_analyzer(field.name, analyzer);
        }
        options
    }
}
