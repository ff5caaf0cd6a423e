//! The planner: decides list by list who reads, and has it done.
//!
//! It never asks the model of the drive what a plan would take: it estimates both sides by a
//! profile, as it would have to with a real drive. What a session took is counted afterwards.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gannet::lab::{ListOffload, OffloadFound, OffloadTask};
use gannet::{OffloadReport, Result};
use gannet_ssd::smart::{SmartProfile, SmartSsd, Work};

use crate::estimate::{Cost, Estimate, Steps, Way, host_estimate, in_drive};
use crate::folder::Folder;
use crate::session::{self, DriveRun};
use crate::task::Task;

/// What decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The estimates.
    #[default]
    Cheaper,
    /// Whatever the drive can do it does: to compare.
    Drive,
}

/// A decision, and what came of it.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What was asked for.
    pub operation: String,
    /// What the host was estimated to take.
    pub host: Estimate,
    /// What the drive was estimated to take; nothing if it cannot do it.
    pub drive: Option<Estimate>,
    /// How often each step of the drive's way was estimated to be done.
    pub steps: Steps,
    /// Whether the drive was found to pay.
    pub pays: bool,
    /// Why.
    pub reason: String,
    /// What the drive did, if it was asked.
    pub run: Option<DriveRun>,
}

/// Decides who reads lists, and has a modelled drive read them.
pub struct Planner {
    drive: SmartSsd,
    folder: Arc<Folder>,
    choice: Choice,
    last: Mutex<Option<Decision>>,
}

impl fmt::Debug for Planner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Planner({})", self.drive.profile().name)
    }
}

/// A way to do a task in the drive, with what it is estimated to take there.
struct Candidate {
    task: Task,
    steps: Steps,
    estimate: Estimate,
}

impl Planner {
    /// A planner for a modelled drive on which the index in `folder` stands.
    pub fn new(profile: &SmartProfile, folder: &Path, choice: Choice) -> Result<Planner> {
        let limits = session::limits(profile);
        let folder = Arc::new(Folder::new(folder));
        let drive = SmartSsd::over(profile, limits, Arc::clone(&folder) as _)?;
        session::load(&drive)?;
        Ok(Planner {
            drive,
            folder,
            choice,
            last: Mutex::new(None),
        })
    }

    /// The profile.
    pub fn profile(&self) -> &SmartProfile {
        self.drive.profile()
    }

    /// The decision on the last query, once.
    pub fn take_last(&self) -> Option<Decision> {
        self.last().take()
    }

    /// What the same work takes on the host, which reads `pages` in `rounds`: counted work at the
    /// host's prices.
    pub fn counted_on_host(&self, work: &Work, pages: f64, rounds: f64) -> Estimate {
        let work = Work {
            operators: work.operators,
            dram_accesses: work.dram_accesses + work.sram_accesses,
            ..Work::default()
        };
        host_estimate(work, pages, rounds, self.profile())
    }

    /// What a session took.
    pub fn counted_in_drive(&self, run: &DriveRun) -> Cost {
        in_drive(&run.work, &run.times, self.profile())
    }

    fn last(&self) -> MutexGuard<'_, Option<Decision>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the drive can do of a task, the cheapest way first, or why it can do nothing.
    fn candidates(&self, asked: &OffloadTask<'_>) -> std::result::Result<Vec<Candidate>, String> {
        let lists = asked.lists.len();
        let all = (asked.all_required && lists > 1).then(|| Task::new(asked, None, false));
        let ranking = asked.ranking.as_ref();
        let best = ranking.map(|ranking| Task::new(asked, Some(ranking), true));
        let mut candidates = Vec::new();
        let mut reason = "it is one list, of which all is wanted".to_owned();
        for (way, task) in [(Way::All, all), (Way::Best, best)] {
            match task {
                Some(Ok(task)) => {
                    let bytes = task.parameters.len() + 12 * task.spans.len();
                    let steps = Steps::of(asked, way);
                    let mut estimate = steps.in_drive(lists, bytes, self.profile());
                    if way == Way::All {
                        add_ranking(&mut estimate, steps.found, self.profile());
                    }
                    candidates.push(Candidate {
                        task,
                        steps,
                        estimate,
                    });
                }
                Some(Err(why)) => reason = why,
                None => {}
            }
        }
        candidates.sort_by(|a, b| a.estimate.cost.ms.total_cmp(&b.estimate.cost.ms));
        match candidates.is_empty() {
            true => Err(reason),
            false => Ok(candidates),
        }
    }

    fn decide(&self, asked: &OffloadTask<'_>) -> (Decision, Option<Task>) {
        let ranked = asked.ranking.is_some();
        let way = if ranked { Way::Best } else { Way::All };
        let steps = Steps::of(asked, way);
        let host = steps.on_host(asked.lists.len(), self.profile());
        let mut decision = Decision {
            operation: operation(asked),
            host,
            drive: None,
            steps,
            pays: false,
            reason: String::new(),
            run: None,
        };
        let candidates = match self.candidates(asked) {
            Ok(candidates) => candidates,
            Err(reason) => {
                decision.reason = reason;
                return (decision, None);
            }
        };
        let Some(Candidate {
            task,
            steps,
            estimate,
        }) = candidates.into_iter().next()
        else {
            return (decision, None);
        };
        decision.steps = steps;
        decision.drive = Some(estimate);
        decision.pays = estimate.cost.ms < host.cost.ms;
        decision.reason = reason(&host, &estimate, decision.pays);
        (decision, Some(task))
    }
}

impl ListOffload for Planner {
    fn offload(&self, asked: &OffloadTask<'_>) -> (OffloadReport, Option<OffloadFound>) {
        let (mut decision, task) = self.decide(asked);
        let wanted = decision.pays || self.choice == Choice::Drive;
        let mut failed = None;
        if let Some(task) = task.filter(|_| wanted) {
            self.folder.prove_by(asked.identity);
            match session::run(&self.drive, &task, asked) {
                Ok(run) => decision.run = Some(run),
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            decision.reason = format!("the drive failed, so the host did it: {error}");
        }
        let found = decision.run.as_ref().map(|run| run.found.clone());
        let report = self.report(&decision);
        *self.last() = Some(decision);
        (report, found)
    }
}

impl Planner {
    fn report(&self, decision: &Decision) -> OffloadReport {
        let mut figures = Vec::new();
        let mut add = |what: &str, figure: f64| figures.push((what.to_owned(), figure));
        let estimates = [("host", Some(decision.host)), ("drive", decision.drive)];
        for (side, estimate) in estimates {
            if let Some(Estimate { cost, pages, .. }) = estimate {
                add(&format!("{side}, modelled before, ms"), rounded(cost.ms));
                add(&format!("{side}, modelled before, mJ"), rounded(cost.mj));
                add(&format!("{side}, pages, estimated"), pages.round());
            }
        }
        if let Some(run) = &decision.run {
            let cost = self.counted_in_drive(run);
            add("drive, modelled of its run, ms", rounded(cost.ms));
            add("drive, modelled of its run, mJ", rounded(cost.mj));
            add("drive, modelled by counts, mJ", rounded(cost.mj_by_counts));
            add("drive, operators, counted", run.work.operators as f64);
            let accesses = run.work.dram_accesses + run.work.sram_accesses;
            add("drive, accesses, counted", accesses as f64);
            add("drive, pages, counted", run.work.flash_pages as f64);
            add("drive, link bytes, counted", run.work.link_bytes as f64);
            add("drive, polls, counted", run.work.polls as f64);
        }
        OffloadReport {
            operation: decision.operation.clone(),
            in_device: decision.run.is_some(),
            reason: decision.reason.clone(),
            figures,
        }
    }
}

/// To a thousandth.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn operation(asked: &OffloadTask<'_>) -> String {
    let what = match (asked.all_required, asked.lists.len()) {
        (_, 1) => "list",
        (true, _) => "intersection",
        (false, _) => "union",
    };
    match asked.ranking.is_some() {
        true => format!("ranked {what}"),
        false => what.to_owned(),
    }
}

/// Why a side was chosen: the times of both, and what makes the most of the difference.
fn reason(host: &Estimate, drive: &Estimate, pays: bool) -> String {
    let (winner, loser) = match pays {
        true => (("drive", drive), ("host", host)),
        false => (("host", host), ("drive", drive)),
    };
    format!(
        "the {} takes {:.3} ms and the {} {:.3} ms, modelled",
        winner.0, winner.1.cost.ms, loser.0, loser.1.cost.ms
    )
}

/// Adds what ranking on the host takes.
fn add_ranking(estimate: &mut Estimate, documents: f64, profile: &SmartProfile) {
    let ms = documents * profile.host.rank_ns / 1e6;
    estimate.cost.ms += ms;
    estimate.cost.mj += ms * profile.host.watts;
    estimate.cost.mj_by_counts += ms * profile.host.watts;
}
