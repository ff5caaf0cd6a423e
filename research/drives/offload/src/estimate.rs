//! What a task would take on the host and in the drive, from what is known before it runs: how many
//! documents and pages its lists have, and how many of the pages are in memory.
//!
//! Both sides are taken to do the same steps: to decode the same blocks of the same pages. The
//! prices differ, and so do the pages: the host needs no page that it has in memory, the drive
//! sends no page over the link. How often a step is done is estimated as if the documents of a list
//! were spread at random; what a step takes is counted in the program ([`Steps::work`]).

use gannet::device::PAGE_SIZE;
use gannet::offload::{OffloadList, OffloadRanking, OffloadTask};
use gannet_ssd::smart::{SmartProfile, Times, Work};

/// Postings of a block.
const BLOCK: f64 = 128.0;

/// Pages that the program reads at once where it reads in order, and entries of a page of norms.
const PAGES_AHEAD: f64 = 16.0;
const NORMS_OF_PAGE: f64 = (PAGE_SIZE - 8) as f64;

/// Pages of a chunk that is read whole, at most.
const GROUPED_PAGES: f64 = 5.0;

/// What bounds spare depends on scores, so nothing that is known before tells it. Lists of a union
/// whose weights together are not above this part of all weights are taken to be optional: their
/// documents are looked up, and half of their pages is read.
const OPTIONAL_WEIGHT: f64 = 0.2;
const OPTIONAL_PAGES: f64 = 0.5;

/// The part of a union that is done for optional lists all the same.
const LEFT_ANYWAY: f64 = 0.1;

/// The part of one list that bounds are taken to leave. Of an intersection they leave nearly all.
const LEFT_OF_LIST: f64 = 0.7;

/// Words of a query stand together more often than at random. This is the power of the share of
/// documents with a word that fits the results of real queries best.
const TOGETHER: f64 = 0.8;

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
    /// Postings of blocks that are not full, which are decoded one by one.
    pub short_postings: f64,
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
    /// Whether documents of any list are wanted.
    pub is_union: bool,
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

    /// Blocks; a short one counts as a part of one.
    fn blocks(&self) -> f64 {
        self.documents / BLOCK
    }

    /// The part of its blocks that is full, and the postings of the last one if it is not.
    fn short(&self) -> (f64, f64) {
        let full = (self.documents / BLOCK).floor();
        let left = self.documents - full * BLOCK;
        let all = full + if left > 0.0 { 1.0 } else { 0.0 };
        (full / all.max(1.0), left / all.max(1.0))
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
    if all > 0.0 {
        all * (1.0 - (-tries / all).exp())
    } else {
        0.0
    }
}

/// The parts of a ranked task that bounds are taken to leave.
#[derive(Clone, Copy)]
struct Left {
    work: f64,
    pages: f64,
}

impl Left {
    const ALL: Left = Left {
        work: 1.0,
        pages: 1.0,
    };

    fn of(task: &OffloadTask<'_>, ranking: &OffloadRanking) -> Left {
        match (task.lists.len(), task.all_required) {
            (1, _) => Left {
                work: LEFT_OF_LIST,
                pages: LEFT_OF_LIST,
            },
            (_, true) => Left::ALL,
            (_, false) => Left::of_union(task, ranking),
        }
    }

    /// The lightest lists are optional as long as their weights are low enough.
    fn of_union(task: &OffloadTask<'_>, ranking: &OffloadRanking) -> Left {
        let weights = ranking.weights.iter().map(|weight| f64::from(*weight));
        let mut lists: Vec<(f64, Facts)> = weights.zip(task.lists.iter().map(Facts::of)).collect();
        lists.sort_by(|one, other| one.0.total_cmp(&other.0));
        let most = OPTIONAL_WEIGHT * lists.iter().map(|list| list.0).sum::<f64>();
        let mut sum = 0.0;
        let is_optional = |list: &&(f64, Facts)| {
            sum += list.0;
            sum < most
        };
        let optional = lists.iter().take_while(is_optional).count();
        let documents = f64::from(task.below).max(1.0);
        let found = |lists: &[(f64, Facts)]| {
            let without = |list: &(f64, Facts)| 1.0 - (list.1.documents / documents).min(1.0);
            documents * (1.0 - lists.iter().map(without).product::<f64>())
        };
        let pages = |lists: &[(f64, Facts)]| lists.iter().map(|list| list.1.pages).sum::<f64>();
        let done = found(&lists[optional..]) / found(&lists).max(f64::MIN_POSITIVE);
        let spared = OPTIONAL_PAGES * pages(&lists[..optional]) / pages(&lists).max(1.0);
        Left {
            work: LEFT_ANYWAY + (1.0 - LEFT_ANYWAY) * done,
            pages: 1.0 - spared,
        }
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
        let mut steps = if task.all_required {
            Steps::of_intersection(&facts, documents)
        } else {
            Steps::of_union(&facts, documents)
        };
        if let (Way::Best, Some(ranking)) = (way, &task.ranking) {
            steps.rank(ranking, documents, Left::of(task, ranking));
        }
        steps.is_union = !task.all_required;
        if steps.is_union {
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
            let blocks = met(list.blocks().ceil(), if at == 0 { f64::MAX } else { left });
            let (full, short) = list.short();
            let docs_pages = (list.pages - list.heads).max(0.0);
            // A list is opened when a document is left to look up.
            let is_opened = 1.0 - (-left).exp();
            let pages = is_opened * list.heads + met(docs_pages, blocks.max(is_opened));
            steps.blocks += blocks * full;
            steps.short_postings += blocks * short;
            steps.entries += list.blocks() * pages / list.pages.max(1.0);
            steps.moves += left;
            steps.pages += pages;
            steps.host_pages += if list.is_short() {
                list.pages * (blocks.max(1.0) / list.heads.max(1.0)).min(1.0)
            } else {
                list.heads + met(docs_pages, blocks)
            };
            steps.reads += is_opened * list.reads(pages, blocks * 2.0 > list.blocks());
            if at > 0 {
                left *= (list.documents / documents).min(1.0).powf(TOGETHER);
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
            let (full, short) = list.short();
            steps.blocks += list.blocks().ceil() * full;
            steps.short_postings += list.blocks().ceil() * short;
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
    fn rank(&mut self, ranking: &OffloadRanking, documents: f64, left: Left) {
        let top = ranking.top as f64;
        let left = if self.found > top { left } else { Left::ALL };
        for count in [
            &mut self.blocks,
            &mut self.frequency_blocks,
            &mut self.moves,
            &mut self.taken,
            &mut self.short_postings,
        ] {
            *count *= left.work;
        }
        self.pages *= left.pages;
        self.reads *= left.pages;
        self.scored = self.found * left.work;
        let tables = (1 + ranking.deletions.len().min(1)) as f64;
        self.norm_pages = tables * met(documents / NORMS_OF_PAGE, self.scored);
        self.found = self.found.min(top);
    }

    /// Operators and accesses, as the program counts them. What a step takes was fitted to queries
    /// of a log on real text; the test `estimates_are_near_what_is_counted` holds it.
    fn work(&self, lists: usize) -> Work {
        let prices = if self.is_union { &UNION } else { &INTERSECTION };
        let count = |each: &[f64; 8]| {
            let steps = [
                self.blocks,
                self.frequency_blocks,
                self.entries,
                self.moves,
                self.taken,
                self.scored,
                self.short_postings,
                1.0,
            ];
            let all = steps.iter().zip(each).map(|(count, each)| count * each);
            all.sum::<f64>() as u64
        };
        let row = 4 * (1 + lists) as u64;
        Work {
            operators: count(&prices.operators),
            dram_accesses: count(&prices.dram_accesses),
            sram_accesses: count(&prices.sram_accesses),
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
        times.waiting = expected_waiting(work.running(profile), profile.poll_nanos());
        times.sending += (parameters as f64 * 1e3 / profile.link_mb_s) as u64;
        Estimate {
            cost: in_drive(&work, &times, profile),
            operators: work.operators as f64,
            pages,
            link_bytes: work.link_bytes as f64,
        }
    }
}

/// What the host waits for the poll after the end. An estimate is off by more than an interval
/// unless the program is short, so that is half of one, and at least the rest of the first.
fn expected_waiting(running: u64, interval: u64) -> u64 {
    (interval / 2).max(interval.saturating_sub(running))
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

/// What each step takes, in the order of [`Steps::work`]; the last number is that of the program
/// itself.
struct Prices {
    operators: [f64; 8],
    dram_accesses: [f64; 8],
    sram_accesses: [f64; 8],
}

const INTERSECTION: Prices = Prices {
    operators: [6_780.0, 2_450.0, 210.0, 81.0, 540.0, 103.0, 104.0, 1_430.0],
    dram_accesses: [80.0, 0.0, 15.4, 0.0, 0.0, 3.5, 3.0, 28.0],
    sram_accesses: [423.0, 289.0, 0.0, 6.0, 14.3, 10.9, 6.7, 163.0],
};

/// Blocks of a union are all decoded, so what they take is in the price of a posting.
const UNION: Prices = Prices {
    operators: [0.0, 0.0, 0.0, 72.0, 227.0, 103.0, 123.0, 5_930.0],
    dram_accesses: [0.0, 0.0, 0.0, 0.0, 0.2, 3.5, 4.9, 283.0],
    sram_accesses: [0.0, 0.0, 0.0, 4.6, 20.4, 10.9, 11.4, 517.0],
};
