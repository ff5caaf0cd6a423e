//! The experiments of the Smart SSD paper (Wang and Park, 2016) on a modelled drive.
//!
//! Each query runs twice over the same lists: as a program in the drive (`programs/`), and on the
//! host (`host`). Both answers are compared byte for byte; counts are what was executed; times and
//! energy are modelled from them by a profile. See research/papers/smart-ssd/page.md.

mod calibrate;
mod cases;
mod counted;
mod early;
mod host;
mod lists;
mod operation;
mod session;
#[cfg(test)]
mod tests;

use gannet_ssd::smart::{Limits, SmartProfile, Work};
use serde_json::{Value as Json, json};

use crate::Outcome;
use cases::Case;
use session::{Bench, Plan};

/// The arguments of `gannet-lab smart-ssd`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The profile: smart-ssd-2016, smart-pcie4, smart-pcie5, smart-fast, or a file that ends with
    /// .profile
    #[arg(long, default_value = "smart-ssd-2016")]
    profile: String,
    /// A number of the profile to replace, as `key=number`; may be repeated
    #[arg(long, value_name = "KEY=NUMBER")]
    set: Vec<String>,
    /// Only these experiments, by figure or table: `12`, `table 3`, `union size`
    #[arg(long)]
    only: Vec<String>,
    /// Print the numbers of the profile that are calibrated on figures 7 and 8, and run nothing
    /// else
    #[arg(long)]
    calibrate: bool,
    /// What random numbers start from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut profile = SmartProfile::find(&arguments.profile)?;
    for line in &arguments.set {
        profile = profile.with(line)?;
    }
    let report = if arguments.calibrate {
        calibrate::calibrated(&profile, arguments.seed)?
    } else {
        experiments(arguments, &profile)?
    };
    println!("{report}");
    Ok(())
}

fn experiments(arguments: &Arguments, profile: &SmartProfile) -> Outcome<Json> {
    let is_wanted = |case: &Case| {
        arguments.only.is_empty() || arguments.only.iter().any(|place| place == case.place)
    };
    let cases: Vec<Case> = cases::all().into_iter().filter(is_wanted).collect();
    if cases.is_empty() {
        let mut known: Vec<&str> = cases::all().iter().map(|case| case.place).collect();
        known.dedup();
        return Err(format!(
            "no experiment is called so: expected of {}",
            known.join(", ")
        )
        .into());
    }
    let mut rows = Vec::new();
    for (done, case) in cases.iter().enumerate() {
        eprintln!(
            "{} of {}: {} at {}",
            done + 1,
            cases.len(),
            case.place,
            case.x
        );
        rows.push(row(case, profile, arguments.seed)?);
    }
    Ok(json!({ "profile": profile.name, "seed": arguments.seed, "rows": rows }))
}

fn row(case: &Case, profile: &SmartProfile, seed: u64) -> Outcome<Json> {
    let made = lists::lists(&case.sizes, case.common, seed);
    let bench = Bench::new(profile, Limits::of(profile), made)?;
    let (device, host) = (bench.in_device(&case.query)?, bench.on_host(&case.query)?);
    if device.answer != host.answer {
        return Err(format!("{} at {}: drive and host disagree", case.place, case.x).into());
    }
    let results = match case.query.top {
        None => host.answer.len() / lists::POSTING_BYTES,
        Some(_) => host::run(&case.query, bench.lists()).results,
    };
    Ok(json!({
        "place": case.place, "x": case.x, "operation": case.query.program(),
        "lists": case.sizes.len(), "postings": case.sizes.iter().sum::<usize>(), "results": results,
        "device": plan(&device), "host": plan(&host),
    }))
}

fn plan(plan: &Plan) -> Json {
    let ms = |nanos: u64| nanos as f64 / 1e6;
    let times = &plan.times;
    json!({
        "ms": ms(times.total()), "mj": plan.millijoules,
        "io_ms": ms(times.io), "cpu_ms": ms(times.cpu), "memory_ms": ms(times.memory),
        "waiting_ms": ms(times.waiting), "sending_ms": ms(times.sending), "host_ms": ms(times.host),
        "counts": counts(&plan.work),
    })
}

fn counts(work: &Work) -> Json {
    json!({
        "operators": work.operators, "dram_accesses": work.dram_accesses,
        "sram_accesses": work.sram_accesses, "flash_pages": work.flash_pages,
        "flash_requests": work.flash_requests, "link_bytes": work.link_bytes,
        "result_bytes": work.result_bytes, "polls": work.polls,
    })
}
