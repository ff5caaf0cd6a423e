//! `gannet bench --device`: whether a drive that reads lists itself would pay for an index and its
//! queries. Times and energies are modelled and say so; counts are of programs that ran.

use std::sync::Arc;

use gannet::MEMORY_MIN;
use gannet_offload::{Choice, Class, Comparison, Cost, Planner};
use gannet_ssd::smart::Work;
use serde_json::{Map, Value, json};

use super::settings::Settings;
use crate::arguments::{BenchArguments, Common, ResultCacheArguments};
use crate::drive::planner_that;
use crate::failure::Outcome;
use crate::interrupt;
use crate::opening::reading;
use crate::output::Output;

/// The headings of the columns of costs and counts per query.
const HEADING: [&str; 11] = [
    "queries",
    "pays",
    "host ms",
    "drive ms",
    "host mJ",
    "drive mJ",
    "host mJ/c",
    "drive mJ/c",
    "operators",
    "accesses",
    "link bytes",
];

/// Compares and prints.
pub fn run(
    common: &Common,
    arguments: &BenchArguments,
    profile: &str,
    settings: &Settings,
    output: &mut Output,
) -> Outcome<()> {
    let planner = planner_that(Choice::Drive, profile, &arguments.index)?;
    // The index is open twice, and each has half of the memory.
    let options = || {
        reading(common, &ResultCacheArguments::default())
            .memory((common.memory().bytes() / 2).max(MEMORY_MIN))
    };
    let host = options().open(&arguments.index)?;
    let drive = options()
        .offload(Arc::clone(&planner) as _)
        .open(&arguments.index)?;
    interrupt::catch()?;
    let comparison = Comparison::new(
        (&host.snapshot(), &drive.snapshot()),
        &planner,
        &settings.queries,
        &settings.options,
        &|| !interrupt::asked(),
    )?;
    if output.is_json() {
        output.json(&as_json(&comparison, &planner))
    } else {
        print(&comparison, &planner, output)
    }?;
    if interrupt::asked() {
        output.finish()?;
        Err(interrupt::failure(
            "interrupted before all queries were asked",
        ))
    } else {
        Ok(())
    }
}

fn print(comparison: &Comparison, planner: &Planner, output: &mut Output) -> Outcome<()> {
    let name = &planner.profile().name;
    output.line(format!(
        "drive {name}; ms and mJ are modelled, of lists alone and for a query; none of their pages is in memory; \
         mJ is power times time, mJ/c by counts"
    ))?;
    let heading = HEADING.map(|name| format!("{name:>11}")).concat();
    let heading = output.bold(&format!("{:<22}{heading}  pages host/drive", "class"));
    output.line(heading)?;
    let all = comparison.all();
    for (name, class) in &comparison.classes {
        output.line(row(name, class))?;
    }
    if comparison.classes.len() > 1 {
        output.line(row("all", &all))?;
    }
    for (reason, queries) in &comparison.stay {
        output.line(format!("{queries} stay with the host: {reason}"))?;
    }
    output.line(verdict(&all))
}

/// A class: means of a query.
fn row(name: &str, class: &Class) -> String {
    let each = |sum: f64| sum / class.queries.max(1) as f64;
    let ms = |cost: Cost| format!("{:.3}", each(cost.ms));
    let mj = |cost: Cost| format!("{:.3}", each(cost.mj));
    let counted = |cost: Cost| format!("{:.3}", each(cost.mj_by_counts));
    let mean = |count: u64| format!("{:.0}", each(count as f64));
    let cells = [
        class.queries.to_string(),
        class.drive_chosen.to_string(),
        ms(class.host),
        ms(class.drive),
        mj(class.host),
        mj(class.drive),
        counted(class.host),
        counted(class.drive),
        mean(class.work.operators),
        mean(accesses(&class.work)),
        mean(class.work.link_bytes),
    ];
    let cells = cells.map(|cell| format!("{cell:>11}")).concat();
    let (host, drive) = (mean(class.host_pages), mean(class.work.flash_pages));
    format!("{name:<22}{cells}  {host}/{drive}")
}

fn accesses(work: &Work) -> u64 {
    work.dram_accesses + work.sram_accesses
}

/// Returns the conclusion in one sentence.
fn verdict(all: &Class) -> String {
    if all.queries == 0 {
        return "such a drive can do nothing for these queries".to_owned();
    }
    let each = |cost: Cost| cost.ms / all.queries as f64;
    let pays = match all.drive_chosen {
        0 => "such a drive does not pay for these queries".to_owned(),
        count => format!("such a drive pays for {count} of {} queries", all.queries),
    };
    format!(
        "{pays}: {:.3} ms a query where the planner chooses, {:.3} on the host, {:.3} in the drive, {:.3} with \
         the better of both, {:.3} on the host with its frames, all modelled; {} of {} choices are within a \
         tenth of the better one",
        each(all.chosen),
        each(all.host),
        each(all.drive),
        each(all.better),
        each(all.host_with_frames),
        all.good_choices,
        all.queries
    )
}

fn as_json(comparison: &Comparison, planner: &Planner) -> Value {
    let classes = comparison.classes.iter();
    let classes = classes.map(|(name, class)| (name.clone(), class_json(class)));
    json!({
        "profile": planner.profile().name,
        "classes": classes.collect::<Map<_, _>>(),
        "all": class_json(&comparison.all()),
        "stay_with_host": comparison.stay,
    })
}

/// The sums of a class.
fn class_json(class: &Class) -> Value {
    let cost =
        |cost: Cost| json!({"ms": cost.ms, "mj": cost.mj, "mj_by_counts": cost.mj_by_counts});
    json!({
        "queries": class.queries,
        "drive_chosen": class.drive_chosen,
        "drive_faster": class.drive_faster,
        "good_choices": class.good_choices,
        "modelled": {
            "host": cost(class.host),
            "host_with_frames": cost(class.host_with_frames),
            "drive": cost(class.drive),
            "host_before": cost(class.host_estimated),
            "drive_before": cost(class.drive_estimated),
            "chosen": cost(class.chosen),
            "better": cost(class.better),
        },
        "counted": {
            "operators": class.work.operators,
            "dram_accesses": class.work.dram_accesses,
            "sram_accesses": class.work.sram_accesses,
            "host_pages": class.host_pages,
            "drive_pages": class.work.flash_pages,
            "link_bytes": class.work.link_bytes,
            "polls": class.work.polls,
        },
    })
}
