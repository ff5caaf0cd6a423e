//! The planner: decides list by list who reads, and has it done.
//!
//! It never asks the model of the drive what a plan would take: it estimates both sides by a
//! profile, as it would have to with a real drive. What a session took is counted afterwards.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gannet::Result;
use gannet::diagnostics::OffloadReport;
use gannet::offload::{ListOffload, OffloadFound, OffloadTask};
use gannet_ssd::smart::{SmartProfile, SmartSsd, Work};

use crate::estimate::{Cost, Estimate, Steps, Way, host_estimate, in_drive};
use crate::folder::Folder;
use crate::session::{self, Drive, DriveRun};
use crate::task::Task;

/// Bytes that a span takes in OPEN.
const BYTES_OF_SPAN: usize = 12;

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
    drive: Box<dyn Drive>,
    profile: SmartProfile,
    folder: Arc<Folder>,
    choice: Choice,
    last: Mutex<Option<Decision>>,
}

impl fmt::Debug for Planner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Planner({})", self.profile.name)
    }
}

/// A way to do a task in the drive.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Which.
    pub way: Way,
    /// How often each step is estimated to be done.
    pub steps: Steps,
    /// Bytes that OPEN sends.
    opening: usize,
}

impl Plan {
    /// The plan for this way; fails with the reason if the drive cannot do it.
    fn new(asked: &OffloadTask<'_>, way: Way) -> std::result::Result<Plan, String> {
        let steps = Steps::of(asked, way);
        let mut plan = Plan {
            way,
            steps,
            opening: 0,
        };
        let task = plan.task(asked)?;
        plan.opening = task.parameters.len() + BYTES_OF_SPAN * task.spans.len();
        Ok(plan)
    }

    fn task(&self, asked: &OffloadTask<'_>) -> std::result::Result<Task, String> {
        match self.way {
            Way::All => Task::new(asked, None, false),
            Way::Best => Task::new(asked, asked.ranking.as_ref(), true),
        }
    }
}

/// What the drive can do of a task, or why it can do nothing.
pub fn plans(asked: &OffloadTask<'_>) -> std::result::Result<Vec<Plan>, String> {
    let all = (asked.all_required && asked.lists.len() > 1).then_some(Way::All);
    let best = asked.ranking.is_some().then_some(Way::Best);
    let mut plans = Vec::new();
    let mut reason = "it is one list, of which all is wanted".to_owned();
    for way in all.into_iter().chain(best) {
        match Plan::new(asked, way) {
            Ok(plan) => plans.push(plan),
            Err(why) => reason = why,
        }
    }
    if plans.is_empty() {
        Err(reason)
    } else {
        Ok(plans)
    }
}

/// What both sides are estimated to take.
#[derive(Clone, Copy, Debug)]
pub struct Weighed {
    /// The host.
    pub host: Estimate,
    /// The cheapest of the drive's plans, by its place, if there is one.
    pub drive: Option<(usize, Estimate)>,
}

impl Weighed {
    /// Weighs the host's steps and the drive's plans by a profile.
    pub fn new(host: &Steps, plans: &[Plan], lists: usize, profile: &SmartProfile) -> Weighed {
        let is_ranked = plans.iter().any(|plan| plan.way == Way::Best);
        let each = plans.iter().map(|plan| {
            let mut estimate = plan.steps.in_drive(lists, plan.opening, profile);
            if plan.way == Way::All && is_ranked {
                add_ranking(&mut estimate.cost, plan.steps.found, profile);
            }
            estimate
        });
        Weighed {
            host: host.on_host(lists, profile),
            drive: each
                .enumerate()
                .min_by(|a, b| a.1.cost.ms.total_cmp(&b.1.cost.ms)),
        }
    }

    /// Whether the drive pays.
    pub fn pays(&self) -> bool {
        let drive = self.drive.map(|(_, drive)| drive.cost.ms);
        drive.is_some_and(|ms| ms < self.host.cost.ms)
    }
}

impl Planner {
    /// A planner for a modelled drive on which the index in `folder` stands.
    pub fn new(profile: &SmartProfile, folder: &Path, choice: Choice) -> Result<Planner> {
        Planner::over(profile, folder, choice, |drive| Box::new(drive))
    }

    /// The same for what is made of the modelled drive, such as one that fails.
    pub fn over(
        profile: &SmartProfile,
        folder: &Path,
        choice: Choice,
        make: impl FnOnce(SmartSsd) -> Box<dyn Drive>,
    ) -> Result<Planner> {
        let limits = session::limits(profile);
        let folder = Arc::new(Folder::new(folder));
        let drive = SmartSsd::over(profile, limits, Arc::clone(&folder) as _)?;
        session::load(&drive)?;
        Ok(Planner {
            drive: make(drive),
            profile: profile.clone(),
            folder,
            choice,
            last: Mutex::new(None),
        })
    }

    /// The profile.
    pub fn profile(&self) -> &SmartProfile {
        &self.profile
    }

    /// The decision on the last query, once.
    pub fn take_last(&self) -> Option<Decision> {
        self.last().take()
    }

    /// What the same work takes on the host, which reads `pages` in `rounds`: counted work at the
    /// host's prices.
    pub fn counted_on_host(&self, work: &Work, pages: f64, rounds: f64) -> Estimate {
        counted_on_host(work, pages, rounds, self.profile())
    }

    /// What a session took.
    pub fn counted_in_drive(&self, run: &DriveRun) -> Cost {
        in_drive(&run.work, &run.times, self.profile())
    }

    fn last(&self) -> MutexGuard<'_, Option<Decision>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, asked: &OffloadTask<'_>) -> (Decision, Option<Task>) {
        let mut decision = Decision {
            operation: operation(asked),
            host: Estimate::default(),
            drive: None,
            steps: Steps::of_host(asked),
            pays: false,
            reason: String::new(),
            run: None,
        };
        let plans = plans(asked);
        let known = plans.as_deref().unwrap_or_default();
        let weighed = Weighed::new(&decision.steps, known, asked.lists.len(), self.profile());
        decision.host = weighed.host;
        let (Ok(plans), Some((at, drive))) = (&plans, weighed.drive) else {
            decision.reason = plans.err().unwrap_or_default();
            return (decision, None);
        };
        let plan = &plans[at];
        decision.steps = plan.steps;
        decision.drive = Some(drive);
        decision.pays = weighed.pays();
        decision.reason = reason(&weighed.host, &drive, decision.pays);
        (decision, plan.task(asked).ok())
    }
}

impl ListOffload for Planner {
    fn offload(&self, asked: &OffloadTask<'_>) -> (OffloadReport, Option<OffloadFound>) {
        let (mut decision, task) = self.decide(asked);
        let wanted = decision.pays || self.choice == Choice::Drive;
        let mut failed = None;
        if let Some(task) = task.filter(|_| wanted) {
            self.folder.prove_by(asked.identity);
            match session::run((&*self.drive, &self.profile), &task, asked) {
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

/// What is asked for, in words.
pub fn operation(asked: &OffloadTask<'_>) -> String {
    let what = match (asked.all_required, asked.lists.len()) {
        (_, 1) => "list",
        (true, _) => "intersection",
        (false, _) => "union",
    };
    if asked.ranking.is_some() {
        format!("ranked {what}")
    } else {
        what.to_owned()
    }
}

/// Why a side was chosen: the times of both, and what makes the most of the difference.
fn reason(host: &Estimate, drive: &Estimate, pays: bool) -> String {
    let (winner, loser) = if pays {
        (("drive", drive), ("host", host))
    } else {
        (("host", host), ("drive", drive))
    };
    format!(
        "the {} takes {:.3} ms and the {} {:.3} ms, modelled",
        winner.0, winner.1.cost.ms, loser.0, loser.1.cost.ms
    )
}

/// Adds what ranking on the host takes.
pub fn add_ranking(cost: &mut Cost, documents: f64, profile: &SmartProfile) {
    let ms = documents * profile.host.rank_ns / 1e6;
    cost.ms += ms;
    cost.mj += ms * profile.host.watts;
    cost.mj_by_counts += ms * profile.host.watts;
}

/// What counted work takes on the host, which reads `pages` in `rounds`.
pub fn counted_on_host(work: &Work, pages: f64, rounds: f64, profile: &SmartProfile) -> Estimate {
    let work = Work {
        operators: work.operators,
        dram_accesses: work.dram_accesses + work.sram_accesses,
        ..Work::default()
    };
    host_estimate(work, pages, rounds, profile)
}
