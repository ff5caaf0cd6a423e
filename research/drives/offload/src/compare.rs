//! Whether a drive would pay for the queries of an index: each query is answered twice, by the
//! engine alone and with the drive, and what both did is counted and priced.
//!
//! The host's pages are those of lists that the engine used. Its operators and accesses are those
//! of the program, which does the same steps, at the host's prices. No page of a list is taken to
//! be in memory. All norms are, as in an index that stays open. What the host takes with the frames
//! as they were stands beside.

use std::collections::BTreeMap;

use gannet::diagnostics::UsedPage;
use gannet::{PageKind, Query, Result, SearchOptions, SearchResults, Snapshot};
use gannet_ssd::smart::Work;

use crate::estimate::{Cost, Estimate};
use crate::planner::{Decision, Planner};
use crate::session::DriveRun;

/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;

/// Rounds of a host without a page in memory, at least: heads, then docs.
const COLD_ROUNDS: u32 = 2;

/// A choice counts as good if it costs at most so many times what the better one does.
const GOOD: f64 = 1.1;

/// Queries of a kind, in sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Class {
    /// How many.
    pub queries: u64,
    /// For how many the planner takes the drive.
    pub drive_chosen: u64,
    /// For how many the drive takes less time, as counted.
    pub drive_faster: u64,
    /// How many choices cost at most a tenth more than the better one.
    pub good_choices: u64,
    /// Modelled, of the host.
    pub host: Cost,
    /// The same with its frames as they were.
    pub host_with_frames: Cost,
    /// Modelled, of the drive.
    pub drive: Cost,
    /// What the planner took both to be before, with its own frames.
    pub host_estimated: Cost,
    /// See there.
    pub drive_estimated: Cost,
    /// Modelled, of what the planner chose.
    pub chosen: Cost,
    /// Modelled, of the better one each time.
    pub better: Cost,
    /// Pages that the host used.
    pub host_pages: u64,
    /// What the programs did.
    pub work: Work,
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Queries that the drive can take part in, by what it does.
    pub classes: BTreeMap<String, Class>,
    /// Why the others stay with the host.
    pub stay: BTreeMap<String, u64>,
}

impl Comparison {
    /// Asks all queries. `drive` is a snapshot of an index that was opened with `planner`, which
    /// has the drive do all it can; `host` one of the same index without.
    pub fn new(
        (host, drive): (&Snapshot, &Snapshot),
        planner: &Planner,
        queries: &[Query],
        options: &SearchOptions,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Comparison> {
        let options = SearchOptions {
            explain: true,
            list_pages: true,
            fetch: false,
            highlight: Vec::new(),
            ..options.clone()
        };
        let mut comparison = Comparison::default();
        for query in queries.iter().take_while(|_| goes_on()) {
            let query = std::slice::from_ref(query);
            let host = host.search_all(query, &options).swap_remove(0)?;
            planner.take_last();
            let driven = drive.search_all(query, &options).swap_remove(0)?;
            comparison.add(&host, &driven, planner);
        }
        Ok(comparison)
    }

    fn add(&mut self, host: &SearchResults, driven: &SearchResults, planner: &Planner) {
        let decision = planner.take_last();
        match decision {
            Some(Decision {
                run: Some(run),
                pays,
                operation,
                host: on_host,
                drive: Some(in_drive),
                ..
            }) => {
                let class = self.classes.entry(operation).or_default();
                class.add(host, (&run, pays), (on_host, in_drive), planner);
            }
            decision => {
                let report = driven.plan.as_ref().and_then(|plan| plan.offload.as_ref());
                let told = report.map(|report| report.reason.clone());
                let reason = decision.map(|decision| decision.reason).or(told);
                *self.stay.entry(reason.unwrap_or_default()).or_default() += 1;
            }
        }
    }

    /// All classes together.
    pub fn all(&self) -> Class {
        let mut all = Class::default();
        self.classes.values().for_each(|class| all.merge(class));
        all
    }
}

/// Pages of lists that the host used for a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostRead {
    /// All of them.
    pub used: u64,
    /// Those that came from the drive, in so many rounds.
    pub read: u64,
    /// See there.
    pub rounds: u32,
    /// Rounds if none of them is in memory.
    pub cold_rounds: u32,
}

impl HostRead {
    /// Those of a search with its plan and its pages.
    pub fn of(results: &SearchResults) -> HostRead {
        let steps = results.plan.iter().flat_map(|plan| &plan.steps);
        let step = steps.into_iter().find(|step| step.name == "match and rank");
        let io = step.map(|step| step.io).unwrap_or_default();
        let of_lists = |page: &&UsedPage| page.kind == PageKind::Postings;
        let used = results.pages.iter().filter(of_lists).count() as u64;
        HostRead {
            used,
            read: used.min(io.bytes / PAGE_BYTES),
            rounds: io.rounds,
            cold_rounds: io.rounds.max(COLD_ROUNDS).min(used as u32),
        }
    }
}

impl Class {
    fn add(
        &mut self,
        host: &SearchResults,
        (run, pays): (&DriveRun, bool),
        estimates: (Estimate, Estimate),
        planner: &Planner,
    ) {
        let HostRead {
            used,
            read,
            rounds,
            cold_rounds,
        } = HostRead::of(host);
        let on_host = |pages: u64, rounds: u32| {
            let estimate = planner.counted_on_host(&run.work, pages as f64, f64::from(rounds));
            estimate.cost
        };
        let (host, drive) = (on_host(used, cold_rounds), planner.counted_in_drive(run));
        let chosen = if pays { drive } else { host };
        let better = if drive.ms < host.ms { drive } else { host };
        self.merge(&Class {
            queries: 1,
            drive_chosen: pays.into(),
            drive_faster: u64::from(drive.ms < host.ms),
            good_choices: u64::from(chosen.ms <= better.ms * GOOD),
            host,
            host_with_frames: on_host(read, rounds),
            drive,
            host_estimated: estimates.0.cost,
            drive_estimated: estimates.1.cost,
            chosen,
            better,
            host_pages: used,
            work: run.work,
        });
    }

    fn merge(&mut self, other: &Class) {
        for (count, more) in [
            (&mut self.queries, other.queries),
            (&mut self.drive_chosen, other.drive_chosen),
            (&mut self.drive_faster, other.drive_faster),
            (&mut self.good_choices, other.good_choices),
            (&mut self.host_pages, other.host_pages),
            (&mut self.work.operators, other.work.operators),
            (&mut self.work.dram_accesses, other.work.dram_accesses),
            (&mut self.work.sram_accesses, other.work.sram_accesses),
            (&mut self.work.flash_pages, other.work.flash_pages),
            (&mut self.work.flash_requests, other.work.flash_requests),
            (&mut self.work.flash_nanos, other.work.flash_nanos),
            (&mut self.work.result_bytes, other.work.result_bytes),
            (&mut self.work.link_bytes, other.work.link_bytes),
            (&mut self.work.polls, other.work.polls),
        ] {
            *count += more;
        }
        for (cost, more) in [
            (&mut self.host, other.host),
            (&mut self.host_with_frames, other.host_with_frames),
            (&mut self.drive, other.drive),
            (&mut self.host_estimated, other.host_estimated),
            (&mut self.drive_estimated, other.drive_estimated),
            (&mut self.chosen, other.chosen),
            (&mut self.better, other.better),
        ] {
            cost.ms += more.ms;
            cost.mj += more.mj;
            cost.mj_by_counts += more.mj_by_counts;
        }
    }
}
