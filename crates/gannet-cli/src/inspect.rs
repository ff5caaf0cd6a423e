//! `gannet inspect`: the parts of an index, looked at without changing it.

use std::ops::Bound;

use gannet::{Index, Query, SearchOptions, TermReport, ZoneStats};
use serde_json::{Value, json};

use crate::arguments::{Common, InspectArguments, Part};
use crate::failure::{Failure, Outcome};
use crate::output::{Form, Output};
use crate::search::open_to_read;
use crate::size::{grouped, human};

/// Prints one part.
pub fn run(common: &Common, arguments: &InspectArguments, output: &mut Output) -> Outcome<()> {
    let index = open_to_read(&arguments.index, common)?;
    match &arguments.part {
        Part::Zones => zones(&index.stats().zones, output),
        Part::Term { field, term } => print_term(&look_up(&index, field, term)?, output),
    }
}

fn zones(zones: &[ZoneStats], output: &mut Output) -> Outcome<()> {
    match output.form() {
        Form::Json => output.json(&json!({"zones": zones.iter().map(zone).collect::<Vec<_>>()})),
        Form::Lines => zones.iter().try_for_each(|each| output.json(&zone(each))),
        Form::Text => print_zones(zones, output),
    }
}

fn zone(zone: &ZoneStats) -> Value {
    json!({
        "zone": zone.number,
        "part": zone.part,
        "pages": zone.pages,
        "live_bytes": zone.live_bytes,
        "live_share": zone.live_share,
        "open": zone.open,
    })
}

fn print_zones(zones: &[ZoneStats], output: &mut Output) -> Outcome<()> {
    let heading = output.dim("zone  part           pages       live  share");
    output.line(heading)?;
    for zone in zones {
        let open = if zone.open { "  open" } else { "" };
        output.line(format!(
            "{:>4}  {:<10} {:>9} {:>10}  {:>4.0}%{open}",
            zone.number,
            zone.part,
            grouped(zone.pages.into()),
            human(zone.live_bytes),
            zone.live_share * 100.0,
        ))?;
    }
    Ok(())
}

/// Looks at a term as it stands in the dictionary: a range of one term is not analyzed.
fn look_up(index: &Index, field: &str, term: &str) -> Outcome<TermReport> {
    let query = Query::Range {
        field: Some(field.to_owned()),
        lower: Bound::Included(term.to_owned()),
        upper: Bound::Included(term.to_owned()),
    };
    let options = SearchOptions {
        k: 1,
        explain: true,
        fetch: false,
        ..SearchOptions::default()
    };
    let results = index
        .snapshot()
        .search_all(&[query], &options)
        .swap_remove(0)?;
    let terms = results.plan.map(|plan| plan.terms).unwrap_or_default();
    let mut found = terms.into_iter().filter(|found| found.term == term);
    found
        .next()
        .ok_or_else(|| Failure::caller(format!("there is no term {term:?} in the field {field:?}")))
}

fn print_term(term: &TermReport, output: &mut Output) -> Outcome<()> {
    if output.form() != Form::Text {
        return output.json(&json!({
            "field": term.field,
            "term": term.term,
            "document_frequency": term.document_frequency,
            "pages_in_list": term.pages_in_list,
        }));
    }
    output.line(format!(
        "{}:{} is in {} documents; its list has {} pages",
        term.field,
        term.term,
        grouped(term.document_frequency),
        grouped(term.pages_in_list),
    ))
}
