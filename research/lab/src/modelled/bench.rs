//! `gannet-lab bench`: whether a drive that reads lists itself would pay for an index and its
//! queries. Times and energies are modelled and say so; counts are of programs that ran.

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use gannet::diagnostics::Techniques;
use gannet::{MEMORY_MIN, SearchOptions};
use gannet_offload::{Choice, Class, Comparison, Cost, Planner};
use gannet_ssd::smart::Work;
use serde_json::{Map, Value, json};

use super::queries::{self, PlainKind};
use super::{Asked, planner};
use crate::Outcome;

/// The arguments of `gannet-lab bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArguments {
    #[command(flatten)]
    asked: Asked,
    /// The file of queries: lines of KIND<TAB>WORDS, where KIND is term, and, or, phrase
    queries: PathBuf,
    /// The drive: smart-ssd-2016, smart-pcie4, smart-pcie5, smart-fast, or a file that ends with
    /// .profile
    #[arg(long, value_name = "PROFILE")]
    device: String,
    /// Number of documents that each query asks for
    #[arg(short, value_name = "K", default_value_t = 10)]
    k: usize,
    /// The field that is searched
    #[arg(long, value_name = "FIELD", default_value = "body")]
    field: String,
    /// Kind of query that a line of plain words becomes
    #[arg(long = "as", value_name = "KIND")]
    plain: Option<PlainKind>,
    /// Never ask the same query twice
    #[arg(long)]
    distinct: bool,
    /// Count all matching documents exactly
    #[arg(long)]
    count: bool,
    /// Search without these techniques, to measure what each saves
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = PossibleValuesParser::new(Techniques::NAMES))]
    without: Vec<String>,
}

impl BenchArguments {
    fn options(&self) -> SearchOptions {
        let techniques = self.without.iter();
        SearchOptions {
            k: self.k,
            count: self.count,
            deadline: self.asked.deadline(),
            techniques: techniques.fold(Techniques::default(), |left, name| {
                left.without(name).unwrap_or(left)
            }),
            ..SearchOptions::default()
        }
    }
}

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
pub fn run(arguments: &BenchArguments) -> Outcome {
    let asked = &arguments.asked;
    let planner = planner(Choice::Drive, &arguments.device, &asked.index)?;
    let mut queries = queries::read(&arguments.queries, arguments.plain, &arguments.field)?;
    if arguments.distinct {
        queries::keep_distinct(&mut queries);
    }
    // The index is open twice, and each has half of the memory.
    let options = || asked.options((asked.memory / 2).max(MEMORY_MIN));
    let host = options().open(&asked.index)?;
    let drive = options()
        .offload(Arc::clone(&planner) as _)
        .open(&asked.index)?;
    let comparison = Comparison::new(
        (&host.snapshot(), &drive.snapshot()),
        &planner,
        &queries,
        &arguments.options(),
        &|| true,
    )?;
    if asked.json {
        println!("{}", as_json(&comparison, &planner));
    } else {
        print(&comparison, &planner);
    }
    Ok(())
}

fn print(comparison: &Comparison, planner: &Planner) {
    let name = &planner.profile().name;
    println!(
        "drive {name}; ms and mJ are modelled, of lists alone and for a query; none of their pages is in memory; \
         mJ is power times time, mJ/c by counts"
    );
    let heading = HEADING.map(|name| format!("{name:>11}")).concat();
    println!("{:<22}{heading}  pages host/drive", "class");
    let all = comparison.all();
    for (name, class) in &comparison.classes {
        println!("{}", row(name, class));
    }
    if comparison.classes.len() > 1 {
        println!("{}", row("all", &all));
    }
    for (reason, queries) in &comparison.stay {
        println!("{queries} stay with the host: {reason}");
    }
    println!("{}", verdict(&all));
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
