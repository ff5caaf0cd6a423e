//! A query as a line of a result: what was counted, what both sides were estimated to take before,
//! and what they take by their counts.

use gannet_offload::{Cost, Tried, Way, add_ranking};
use gannet_ssd::smart::SmartProfile;
use serde_json::{Map, Value as Json, json};

use super::{Asked, Side};
use crate::Outcome;

impl Asked<'_> {
    /// Whether the best are wanted.
    pub fn is_ranked(&self) -> bool {
        self.trial.tried(Way::Best, true).is_some()
    }

    /// What the engine's own work is taken to be: it ranks with bounds wherever it ranks.
    pub fn of_host(&self) -> Option<&Tried> {
        let best = self.trial.tried(Way::Best, true);
        best.or_else(|| self.trial.tried(Way::All, false))
    }

    /// What a run takes in the drive. The host ranks what a program has not ranked, where that is
    /// asked for.
    pub fn in_drive(&self, run: &Tried, profile: &SmartProfile) -> Cost {
        let mut cost = run.in_drive(profile);
        if run.way == Way::All && self.is_ranked() {
            add_ranking(&mut cost, run.found.docs.len() as f64, profile);
        }
        cost
    }

    /// What the work of a run takes on the host with no page of a list in memory.
    pub fn on_host(&self, run: &Tried, profile: &SmartProfile) -> Cost {
        let pages = self.cold_pages(run.way, run.prunes) as f64;
        let rounds = f64::from(self.read.cold_rounds);
        run.on_host(pages, rounds, profile).cost
    }
}

/// The line of a query.
pub fn row(asked: &Asked<'_>, sides: &[Side]) -> Outcome<Json> {
    let trial = &asked.trial;
    let counted = trial.runs.iter().map(|run| {
        let work = &run.work;
        let counts = json!({
            "operators": work.operators, "dram_accesses": work.dram_accesses,
            "sram_accesses": work.sram_accesses,
            "pages": work.flash_pages, "link_bytes": work.link_bytes,
            "host_pages": asked.cold_pages(run.way, run.prunes),
        });
        (name(run), counts)
    });
    let frames = asked
        .frames
        .iter()
        .map(|(read, in_memory)| json!({"in_memory": rounded(*in_memory), "pages": read.read}));
    let modelled = sides
        .iter()
        .map(|side| Ok((side.profile.name.clone(), priced(asked, side)?)));
    Ok(json!({
        "words": asked.query.words, "operation": trial.operation,
        "frequencies": trial.lists.iter().map(|list| list.0).collect::<Vec<_>>(),
        "list_pages": asked.list_pages(), "results": asked.total, "agrees": asked.agrees,
        "counted": counted.collect::<Map<_, _>>(), "frames": frames.collect::<Vec<_>>(),
        "modelled": modelled.collect::<Outcome<Map<_, _>>>()?,
    }))
}

/// What a profile makes of a query, with no page in memory and with each of the budgets.
fn priced(asked: &Asked<'_>, side: &Side) -> Outcome<Json> {
    let profile = &side.profile;
    let (mut drive, mut host) = (Map::new(), Map::new());
    for run in &asked.trial.runs {
        let anew = side.trials.anew(run)?;
        drive.insert(name(run), cost(asked.in_drive(&anew, profile)));
        host.insert(name(run), cost(asked.on_host(run, profile)));
    }
    let frames = asked.frames.iter().map(|(read, in_memory)| {
        let run = asked.of_host();
        let (pages, rounds) = (read.read as f64, f64::from(read.rounds));
        let ms = run.map(|run| run.on_host(pages, rounds, profile).cost.ms);
        let weighed = asked.trial.weighed(profile, Some(*in_memory));
        json!({"estimated_host_ms": rounded(weighed.host.cost.ms), "host_ms": ms.map(rounded)})
    });
    let weighed = asked.trial.weighed(profile, Some(0.0));
    let estimated = weighed.drive.map(|(at, drive)| {
        let way = if asked.trial.plans[at].way == Way::All {
            "all"
        } else {
            "early"
        };
        json!({"host_ms": rounded(weighed.host.cost.ms), "host_pages": rounded(weighed.host.pages),
               "way": way, "drive_ms": rounded(drive.cost.ms), "operators": drive.operators,
               "pages": rounded(drive.pages)})
    });
    Ok(json!({"estimated": estimated, "host": host, "drive": drive,
              "frames": frames.collect::<Vec<_>>()}))
}

fn name(run: &Tried) -> String {
    let name = match (run.way, run.prunes) {
        (Way::All, _) => "all",
        (Way::Best, false) => "plain",
        (Way::Best, true) => "early",
    };
    name.to_owned()
}

fn cost(cost: Cost) -> Json {
    json!({"ms": rounded(cost.ms), "mj": rounded(cost.mj), "mj_by_counts": rounded(cost.mj_by_counts)})
}

/// To a ten-thousandth.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
