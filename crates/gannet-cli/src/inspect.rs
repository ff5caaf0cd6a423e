//! `gannet inspect`: the parts of an index, looked at without changing it.

use std::ops::Bound;

use gannet::{Index, Query, SearchOptions, Stats, TermReport};
use serde_json::json;

use crate::arguments::{Common, InspectArguments, Part};
use crate::failure::{Failure, Outcome};
use crate::output::{Form, Output};
use crate::search::open_to_read;
use crate::size::grouped;
use crate::stats::tree;

/// Prints one part.
pub fn run(common: &Common, arguments: &InspectArguments, output: &mut Output) -> Outcome<()> {
    let index = open_to_read(&arguments.index, common)?;
    match &arguments.part {
        Part::Trees => trees(&index.stats()?, output),
        Part::Term { field, term } => print_term(&look_up(&index, field, term)?, output),
    }
}

fn trees(stats: &Stats, output: &mut Output) -> Outcome<()> {
    let trees = [("terms", &stats.dictionary), ("ids", &stats.ids)];
    if output.form() != Form::Text {
        let [terms, ids] = trees.map(|(_, figures)| tree(figures));
        return output.json(&json!({"terms": terms, "ids": ids}));
    }
    let heading = output.dim("tree    height      nodes     leaves    entries");
    output.line(heading)?;
    for (name, figures) in trees {
        output.line(format!(
            "{name:<8}{:>6} {:>10} {:>10} {:>10}",
            figures.height,
            grouped(figures.nodes),
            grouped(figures.leaves),
            grouped(figures.entries),
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
