//! `gannet-lab search`: one query, with what a planner decided for the lists of its words.

use gannet::diagnostics::OffloadReport;
use gannet::{Operator, SearchOptions, SearchResults};
use gannet_offload::Choice;
use serde_json::{Map, Value, json};

use super::{Asked, planner};
use crate::Outcome;

/// The arguments of `gannet-lab search`.
#[derive(Debug, clap::Args)]
pub struct SearchArguments {
    #[command(flatten)]
    asked: Asked,
    /// The query; several words are one query
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Let a modelled drive read lists where a planner finds that this pays: smart-ssd-2016,
    /// smart-pcie4, smart-pcie5, smart-fast, or a file that ends with .profile
    #[arg(long, value_name = "PROFILE")]
    device: Option<String>,
    /// Number of documents that the query asks for
    #[arg(short, value_name = "K", default_value_t = 10)]
    k: usize,
}

/// Asks and prints hits and plan.
pub fn run(arguments: &SearchArguments) -> Outcome {
    let asked = &arguments.asked;
    let mut options = asked.options(asked.memory);
    if let Some(profile) = &arguments.device {
        options = options.offload(planner(Choice::Cheaper, profile, &asked.index)?);
    }
    let index = options.open(&asked.index)?;
    let snapshot = index.snapshot();
    let query = snapshot.parse(&arguments.query.join(" "), Operator::Or)?;
    let options = SearchOptions {
        k: arguments.k,
        count: true,
        explain: true,
        deadline: asked.deadline(),
        ..SearchOptions::default()
    };
    let mut answers = snapshot.search_all(&[query], &options);
    let results = answers.swap_remove(0)?;
    if asked.json {
        println!("{}", as_json(&results));
    } else {
        print(&results);
    }
    Ok(())
}

fn print(results: &SearchResults) {
    for (rank, hit) in (1..).zip(&results.hits) {
        println!("{rank:>3}  {:.4}  {}", hit.score, hit.id);
    }
    if let Some(plan) = &results.plan {
        print!("plan\n{plan}");
    }
    println!("{} documents", results.total);
}

fn as_json(results: &SearchResults) -> Value {
    let hits = results.hits.iter();
    let hits = hits.map(|hit| json!({"id": hit.id, "score": hit.score}));
    let plan = results.plan.as_ref();
    json!({
        "total": results.total,
        "hits": hits.collect::<Vec<_>>(),
        "offload": plan.and_then(|plan| plan.offload.as_ref()).map(offload),
    })
}

/// Tells who read the lists, the host or the drive, and why.
fn offload(report: &OffloadReport) -> Value {
    let figures = report.figures.iter();
    let figures = figures.map(|(what, figure)| (what.clone(), json!(figure)));
    json!({
        "operation": report.operation,
        "in_drive": report.in_device,
        "reason": report.reason,
        "figures": figures.collect::<Map<_, _>>(),
    })
}
