//! What a task would take on the host and in the drive, from what is known before it runs: how many
//! documents and pages its lists have, and how many of the pages are in memory.
//!
//! Both sides are taken to do the same steps: to decode the same blocks of the same pages. The
//! prices differ, and so do the pages: the host needs no page that it has in memory, the drive
//! sends no page over the link. How often a step is done is estimated as if the documents of a list
//! were spread at random; what a step takes is counted in the program ([`Steps::work`]).

use gannet::lab::{OffloadList, OffloadRanking, OffloadTask, PAGE_SIZE};
use gannet_ssd::smart::{SmartProfile, Times, Work};

/// Postings of a block.
const BLOCK: f64 = 128.0;

/// Pages that the program reads at once where it reads in order, and entries of a page of norms.
const PAGES_AHEAD: f64 = 16.0;
const NORMS_OF_PAGE: f64 = (PAGE_SIZE - 8) as f64;

/// Pages of a chunk that is read whole, at most.
const GROUPED_PAGES: f64 = 5.0;

/// The part of a ranked task that bounds are taken to leave: about the mean of random lists. It
/// depends on scores, so nothing that is known before tells it.
const LEFT_BY_BOUNDS: f64 = 0.7;

/// Rounds in which the host reads lists: heads, then docs.
const HOST_ROUNDS: f64 = 2.0;

/// Modelled time and energy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Milliseconds.
    pub ms: f64,
    /// Millijoules above idle: power times time.
    pub mj: f64,
    /// Millijoules by counts.
    pub mj_by_counts: f64,
}

/// What a plan is estimated to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Time and energy.
    pub cost: Cost,
    /// Operators of programs.
    pub operators: f64,
    /// Pages of flash.
    pub pages: f64,
    /// Bytes over the link.
    pub link_bytes: f64,
}

/// How a task is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All documents are found.
    All,
    /// The best are, with bounds.
    Best,
}

/// How often each step is done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// Blocks whose documents are decoded, and whose frequencies are.
    pub blocks: f64,
    /// See there.
    pub frequency_blocks: f64,
    /// Entries of directories.
    pub entries: f64,
    /// Moves of a list to a document.
    pub moves: f64,
    /// Frequencies that are taken: results times lists.
    pub taken: f64,
    /// Documents that are scored.
    pub scored: f64,
    /// Pages of lists.
    pub pages: f64,
    /// Reads of the drive for them.
    pub reads: f64,
    /// Pages of lists that the host reads: all heads and short chunks at once, wanted or not.
    pub host_pages: f64,
    /// Pages of norms.
    pub norm_pages: f64,
    /// The part of the pages of lists that the host has in memory.
    pub in_memory: f64,
    /// Documents that are found.
    pub found: f64,
}

/// A list as the estimate sees it.
struct Facts {
    documents: f64,
    pages: f64,
    heads: f64,
}

impl Facts {
    fn of(list: &OffloadList<'_>) -> Facts {
        Facts {
            documents: list.document_frequency as f64,
            pages: f64::from(list.docs_pages),
            heads: list.chunks.len() as f64,
        }
    }

    /// A short block counts as a part of one: it is decoded posting by posting.
    fn blocks(&self) -> f64 {
        self.documents / BLOCK
    }

    /// Whether its chunks are read whole.
    fn is_short(&self) -> bool {
        self.pages <= GROUPED_PAGES * self.heads
    }

    /// Reads of the drive for so many of its pages. Short chunks are one read. Behind the heads of
    /// others, the more pages are read in order, the more at once.
    fn reads(&self, pages: f64, in_order: bool) -> f64 {
        let docs = (pages - self.heads).max(0.0);
        match in_order {
            _ if self.is_short() => self.heads,
            true => self.heads + docs.min(PAGES_AHEAD.log2()) + docs / PAGES_AHEAD,
            false => self.heads + docs,
        }
    }
}

/// How many of `all` are met by `tries` at random.
fn met(all: f64, tries: f64) -> f64 {
    match all > 0.0 {
        true => all * (1.0 - (-tries / all).exp()),
        false => 0.0,
    }
}

impl Steps {
    /// Those of a task on the host, which ranks with bounds wherever it ranks.
    pub fn of_host(task: &OffloadTask<'_>) -> Steps {
        let is_ranked = task.ranking.is_some();
        Steps::of(task, if is_ranked { Way::Best } else { Way::All })
    }

    /// Those of a task.
    pub fn of(task: &OffloadTask<'_>, way: Way) -> Steps {
        let mut facts: Vec<Facts> = task.lists.iter().map(Facts::of).collect();
        facts.sort_by(|one, other| one.documents.total_cmp(&other.documents));
        let documents = f64::from(task.below).max(1.0);
        let mut steps = match task.all_required {
            true => Steps::of_intersection(&facts, documents),
            false => Steps::of_union(&facts, documents),
        };
        if let (Way::Best, Some(ranking)) = (way, &task.ranking) {
            steps.rank(ranking, documents);
        }
        if !task.all_required {
            steps.host_pages = steps.pages;
        }
        let pages: f64 = facts.iter().map(|list| list.pages).sum();
        let in_memory = task
            .lists
            .iter()
            .map(|list| f64::from(list.pages_in_memory));
        steps.in_memory = in_memory.sum::<f64>() / pages.max(1.0);
        steps
    }

    /// The shortest list is gone through; in each other one what is left is looked up.
    fn of_intersection(facts: &[Facts], documents: f64) -> Steps {
        let mut steps = Steps::default();
        let mut left = facts.first().map_or(0.0, |first| first.documents);
        for (at, list) in facts.iter().enumerate() {
            let blocks = met(list.blocks(), if at == 0 { f64::MAX } else { left });
            let docs_pages = (list.pages - list.heads).max(0.0);
            // A list is opened when a document is left to look up.
            let is_opened = 1.0 - (-left).exp();
            let pages = is_opened * list.heads + met(docs_pages, blocks.max(is_opened));
            steps.blocks += blocks;
            steps.entries += list.blocks() * pages / list.pages.max(1.0);
            steps.moves += left;
            steps.pages += pages;
            steps.host_pages += match list.is_short() {
                true => list.pages,
                false => list.heads + met(docs_pages, blocks),
            };
            steps.reads += is_opened * list.reads(pages, blocks * 2.0 > list.blocks());
            if at > 0 {
                left *= (list.documents / documents).min(1.0);
            }
        }
        steps.found = left;
        steps.taken = left * facts.len() as f64;
        let blocks = facts.iter().map(|list| met(list.blocks(), left));
        steps.frequency_blocks = blocks.sum();
        steps
    }

    /// All lists are gone through.
    fn of_union(facts: &[Facts], documents: f64) -> Steps {
        let mut steps = Steps::default();
        let mut none = 1.0;
        for list in facts {
            steps.blocks += list.blocks();
            steps.entries += list.blocks();
            steps.pages += list.pages;
            steps.reads += list.reads(list.pages, true);
            steps.taken += list.documents;
            none *= 1.0 - (list.documents / documents).min(1.0);
        }
        steps.found = documents * (1.0 - none);
        steps.moves = steps.found * facts.len() as f64;
        steps.frequency_blocks = steps.blocks;
        steps
    }

    /// Has what is found scored, as far as bounds leave it.
    fn rank(&mut self, ranking: &OffloadRanking, documents: f64) {
        let top = ranking.top as f64;
        let left = match self.found > top {
            true => LEFT_BY_BOUNDS,
            false => 1.0,
        };
        for count in [
            &mut self.blocks,
            &mut self.frequency_blocks,
            &mut self.moves,
            &mut self.taken,
            &mut self.pages,
            &mut self.reads,
        ] {
            *count *= left;
        }
        self.scored = self.found * left;
        let tables = (1 + ranking.deletions.len().min(1)) as f64;
        self.norm_pages = tables * met(documents / NORMS_OF_PAGE, self.scored);
        self.found = self.found.min(top);
    }

    /// Operators and accesses, as the program counts them. What a step takes was fitted to several
    /// hundred tasks on random lists; the test `estimates_are_near_what_is_counted` holds it.
    fn work(&self, lists: usize) -> Work {
        let count = |each: [f64; 6]| {
            let steps = [
                self.blocks,
                self.frequency_blocks,
                self.entries,
                self.moves,
                self.taken,
                self.scored,
            ];
            let all = steps.iter().zip(each).map(|(count, each)| count * each);
            all.sum::<f64>() as u64
        };
        let row = 4 * (1 + lists) as u64;
        Work {
            operators: count(OPERATORS),
            dram_accesses: count(DRAM_ACCESSES),
            sram_accesses: count(SRAM_ACCESSES),
            result_bytes: self.found as u64 * row,
            ..Work::default()
        }
    }

    /// What the host takes.
    pub fn on_host(&self, lists: usize, profile: &SmartProfile) -> Estimate {
        let pages = self.host_pages * (1.0 - self.in_memory);
        let mut work = self.work(lists);
        work.dram_accesses += work.sram_accesses;
        host_estimate(work, pages, HOST_ROUNDS.min(pages), profile)
    }

    /// What the drive takes. `parameters` are bytes that OPEN sends.
    pub fn in_drive(&self, lists: usize, parameters: usize, profile: &SmartProfile) -> Estimate {
        let pages = self.pages + self.norm_pages;
        let reads = self.reads + self.norm_pages.min(1.0) + self.norm_pages / PAGES_AHEAD;
        let rate = profile.channels * profile.channel_mb_s;
        let mut work = self.work(lists);
        work.flash_pages = pages as u64;
        work.flash_requests = (pages / profile.request_pages).ceil() as u64;
        work.flash_nanos = (reads * profile.page_us * 1e3 + bytes(pages) * 1e3 / rate) as u64;
        work.link_bytes = parameters as u64 + work.result_bytes;
        let mut times = work.in_device(profile);
        // The host polls at once, and then once an interval until the program has ended.
        let running = work.running(profile);
        times.waiting = running.next_multiple_of(profile.poll_nanos()) - running;
        times.sending += (parameters as f64 * 1e3 / profile.link_mb_s) as u64;
        Estimate {
            cost: in_drive(&work, &times, profile),
            operators: work.operators as f64,
            pages,
            link_bytes: work.link_bytes as f64,
        }
    }
}

fn bytes(pages: f64) -> f64 {
    pages * PAGE_SIZE as f64
}

/// What the host takes for work, to which so many pages come in so many rounds.
pub fn host_estimate(work: Work, pages: f64, rounds: f64, profile: &SmartProfile) -> Estimate {
    let work = Work {
        flash_pages: pages as u64,
        flash_requests: (pages / profile.request_pages).ceil() as u64,
        flash_nanos: (rounds * profile.page_us * 1e3 + bytes(pages) * 1e3 / profile.link_mb_s)
            as u64,
        link_bytes: bytes(pages) as u64,
        ..work
    };
    let ms = work.on_host(profile).total() as f64 / 1e6;
    Estimate {
        cost: Cost {
            ms,
            mj: ms * profile.host.watts,
            mj_by_counts: work.mj_on_host(profile),
        },
        operators: work.operators as f64,
        pages,
        link_bytes: work.link_bytes as f64,
    }
}

/// Time and energy of a session.
pub fn in_drive(work: &Work, times: &Times, profile: &SmartProfile) -> Cost {
    let ms = times.total() as f64 / 1e6;
    Cost {
        ms,
        mj: ms * profile.device.watts,
        mj_by_counts: work.mj_in_device(profile),
    }
}

/// Operators of each step, in the order of [`Steps::work`].
const OPERATORS: [f64; 6] = [1600.0, 1000.0, 290.0, 230.0, 120.0, 100.0];
/// Accesses to DRAM.
const DRAM_ACCESSES: [f64; 6] = [85.0, 0.0, 0.0, 0.1, 0.0, 3.0];
/// Accesses to SRAM.
const SRAM_ACCESSES: [f64; 6] = [377.0, 434.0, 0.0, 10.0, 11.0, 8.0];
