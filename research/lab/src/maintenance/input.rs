//! What of a stream is maintained, and by whom: strategies are opened here, each with what it is to
//! know of the stream.

use std::sync::Arc;

use super::arguments::{Name, RunArguments, Setting};
use super::coding::Coding;
use super::{
    Blocks, Contiguous, Files, Flush, Gannet, LongInPlace, LongMerged, Rule, Strategy, Stream,
    SubIndexes, TermNumber,
};
use crate::Outcome;

/// Over how many postings, as a share of documents, a list is long for the hybrids: half, of all
/// and of a flush, as in the paper.
const HYBRID_SHARE: u64 = 2;

/// What of a stream is maintained.
pub(super) struct Input {
    pub(super) stream: Stream,
    pub(super) setting: Setting,
    pub(super) flushes: usize,
    /// See [`RunArguments`].
    pub(super) kept_share: u32,
}

impl Input {
    /// Whether a term's list is maintained.
    pub(super) fn has(&self, term: TermNumber) -> bool {
        let frequency = self.stream.frequencies[term as usize];
        self.setting == Setting::Full
            || frequency > self.stream.documents() / self.kept_share.max(1)
    }

    /// A flush as strategies get it.
    pub(super) fn flush(&self, number: usize) -> Outcome<Flush> {
        let mut flush = self.stream.flush(number)?;
        flush.retain(|term| self.has(term));
        if self.setting == Setting::Paper {
            flush.forget_positions();
        }
        Ok(flush)
    }

    fn largest_flush(&self) -> Outcome<u64> {
        let mut largest = 0;
        for number in 0..self.flushes {
            largest = largest.max(self.flush(number)?.postings());
        }
        Ok(largest)
    }
}

impl Name {
    /// Opens it in a folder.
    pub(super) fn open(
        self,
        input: &Input,
        arguments: &RunArguments,
    ) -> Outcome<Box<dyn Strategy>> {
        let keys = Arc::new(input.stream.keys.clone());
        let folder = &arguments.folder;
        if self == Name::Gannet {
            let norms = Arc::new(input.stream.norms.clone());
            let memory = arguments.memory << 20;
            let gannet = Gannet::new(folder, keys, norms, memory, arguments.trace)?;
            return Ok(Box::new(gannet));
        }
        let coding = match input.setting {
            Setting::Paper => Coding::Plain,
            Setting::Long | Setting::Full => Coding::Packed,
        };
        let documents = u64::from(input.stream.documents());
        let files = Arc::new(Files::open(folder, arguments.trace)?);
        let terms = keys.len();
        let merged = |files, keys, rule| SubIndexes::new(files, keys, coding, rule, [0, 1]);
        Ok(match self {
            Name::NoMerge => Box::new(merged(files, keys, Rule::Never)),
            Name::ImmediateMerge => Box::new(merged(files, keys, Rule::AtOnce)),
            Name::Logarithmic => Box::new(merged(files, keys, Rule::Logarithmic)),
            Name::Geometric => {
                let rule = Rule::Geometric {
                    ratio: arguments.ratio,
                    buffer: input.largest_flush()?,
                };
                Box::new(merged(files, keys, rule))
            }
            Name::InPlaceC => Box::new(Contiguous::new(files, terms, coding)?),
            Name::InPlaceNc => Box::new(Blocks::new(files, 0, terms, coding, 1)?),
            Name::Mfis => Box::new(Blocks::new(
                files,
                0,
                terms,
                coding,
                arguments.threshold.max(2),
            )?),
            Name::HlmNc => {
                let threshold = documents / HYBRID_SHARE;
                Box::new(LongInPlace::new(files, keys, coding, threshold)?)
            }
            Name::SsdHybrid | Name::Gannet => {
                let flush = documents.div_ceil(input.stream.flushes as u64);
                Box::new(LongMerged::new(files, keys, coding, flush / HYBRID_SHARE))
            }
        })
    }
}
