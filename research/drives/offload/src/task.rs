//! What the program of the drive is told: lists, tables and fragments as words of 32 bits. The
//! program's side of it is `programs/task.h`.
//!
//! Lists go to the drive with the fewest documents first; `Task::order` leads back.

use gannet::device::{FileId, PageSpan};
use gannet::offload::{
    Fragment, Layout, OffloadList, OffloadRanking, OffloadTask, PageAddress, docs_span,
};

/// Lists that the program takes.
pub const MOST_LISTS: usize = 12;

/// Words of the program's heap, of which an entry takes two, and one for each list.
const HEAP_WORDS: usize = 1536;

/// Bytes of parameters that the drive takes.
pub const PARAMETER_BYTES: usize = 256 << 10;

/// Flags.
const ALL_REQUIRED: u32 = 1;
const PRUNES: u32 = 2;

/// A task as the drive gets it.
pub struct Task {
    /// The parameters.
    pub parameters: Vec<u8>,
    /// The spans that the program reads.
    pub spans: Vec<PageSpan>,
    /// The number in [`OffloadTask::lists`] of each list of the program.
    pub order: Vec<usize>,
    /// Whether only the best are wanted.
    pub is_ranked: bool,
}

impl Task {
    /// The task in its coded form, ranked as far as that is asked for; `prunes` says whether bounds
    /// are used. Fails with the reason if the program cannot do it.
    pub fn new(
        task: &OffloadTask<'_>,
        ranking: Option<&OffloadRanking>,
        prunes: bool,
    ) -> Result<Task, String> {
        let count = task.lists.len();
        if count > MOST_LISTS {
            return Err(format!(
                "{count} lists are more than the {MOST_LISTS} that it takes"
            ));
        }
        let fragments = task.lists.iter().flat_map(|list| &list.fragments);
        let bytes: usize = fragments.map(|fragment| fragment.docs.len()).sum();
        if bytes > PARAMETER_BYTES {
            return Err(format!(
                "{bytes} bytes of postings in memory are more than OPEN takes"
            ));
        }
        let top = ranking.map_or(0, |ranking| ranking.top);
        if top > HEAP_WORDS / (2 + count) {
            return Err(format!("the best {top} do not fit the memory of its heap"));
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|at| task.lists[*at].document_frequency);
        let mut writer = Writer::default();
        for at in &order {
            let weight = ranking.map_or(0.0, |ranking| ranking.weights[*at]);
            writer.list(&task.lists[*at], *at, weight);
        }
        let empty = Vec::new();
        let tables = ranking.map_or([&empty; 2], |ranking| [&ranking.norms, &ranking.deletions]);
        let [norms, deletions] = tables.map(|pages| (writer.table(pages), pages.len()));
        if let Some(ranking) = ranking {
            let inverses = ranking.inverses.iter().map(|inverse| inverse.to_bits());
            writer.words.extend(inverses);
        }
        let flags = if task.all_required { ALL_REQUIRED } else { 0 };
        let header = [
            count as u32,
            flags | if prunes { PRUNES } else { 0 },
            top as u32,
            norms.0,
            norms.1 as u32,
            deletions.0,
            deletions.1 as u32,
            writer.fragments.len() as u32,
        ];
        let words = header.into_iter().chain(writer.words);
        let mut parameters: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        parameters.extend_from_slice(&writer.fragments);
        Ok(Task {
            parameters,
            spans: writer.spans,
            order,
            is_ranked: ranking.is_some(),
        })
    }
}

#[derive(Default)]
struct Writer {
    words: Vec<u32>,
    spans: Vec<PageSpan>,
    fragments: Vec<u8>,
}

impl Writer {
    fn list(&mut self, list: &OffloadList<'_>, place: usize, weight: f32) {
        let counts = [list.chunks.len(), list.fragments.len()];
        self.words.extend([weight.to_bits(), place as u32]);
        self.words.extend(counts.map(|count| count as u32));
        for chunk in &list.chunks {
            let docs = docs_span(chunk);
            let layout = match chunk.layout {
                Layout::Grouped => 1,
                Layout::Split => 2,
            };
            let is_filtered = chunk.filters != gannet::PhraseFilters::None;
            self.words.extend([
                self.spans.len() as u32,
                u32::from(docs.offset),
                layout | u32::from(is_filtered) << 8,
                chunk.head_length,
                chunk.docs_length,
                chunk.first,
                chunk.last,
            ]);
            self.spans.push(PageSpan {
                file: FileId::Zone(docs.zone),
                page: docs.page,
                pages: docs.page_count(),
            });
        }
        list.fragments.iter().for_each(|one| self.fragment(one));
    }

    fn fragment(&mut self, fragment: &Fragment) {
        let start = self.fragments.len() as u32;
        self.fragments.extend_from_slice(&fragment.docs);
        let Fragment {
            base,
            count,
            max_frequency,
            last,
            ..
        } = *fragment;
        self.words.extend([base, count, max_frequency, last, start]);
    }

    /// Adds a table as runs of pages that stand one behind the other; gives how many.
    fn table(&mut self, pages: &[Option<PageAddress>]) -> u32 {
        let here = pages.iter().zip(0_u32..);
        let here = here.filter_map(|(address, page)| Some(((*address)?, page)));
        let here: Vec<(PageAddress, u32)> = here.collect();
        let mut runs = 0;
        for run in here.chunk_by(|(one, page), (next, behind)| {
            one.zone == next.zone && one.page + 1 == next.page && page + 1 == *behind
        }) {
            let (address, page) = run[0];
            self.words
                .extend([page, run.len() as u32, self.spans.len() as u32]);
            self.spans.push(PageSpan {
                file: FileId::Zone(address.zone),
                page: address.page,
                pages: run.len() as u32,
            });
            runs += 1;
        }
        runs
    }
}
