//! `gannet inspect`: the parts of an index, looked at without changing it.

use gannet::diagnostics::{FillReport, ListReport, ListsReport, Stats, ZoneReport};
use gannet::{Index, PageKind};
use serde_json::{Value, json};

use crate::arguments::{Common, InspectArguments, Part};
use crate::failure::{Failure, Outcome};
use crate::opening::open_to_read;
use crate::output::{Form, Output};
use crate::size::{counted, grouped, human};
use crate::stats::tree;

/// Bytes of a page that a line shows.
const BYTES_PER_LINE: usize = 16;

/// Prints one part.
pub fn run(common: &Common, arguments: &InspectArguments, output: &mut Output) -> Outcome<()> {
    let index = open_to_read(&arguments.index, common)?;
    match &arguments.part {
        Part::Zones => print_zones(&index.zones(), output),
        Part::Trees => print_trees(&index.stats()?, &index.fill()?, output),
        Part::Lists => print_lists(&index.lists()?, output),
        Part::Page { zone, page } => {
            let (kind, payload) = index.page(*zone, *page)?;
            print_page(kind, &payload, output)
        }
        Part::Term { field, term } => print_list(&list(&index, field, term)?, output),
    }
}

fn print_zones(zones: &[ZoneReport], output: &mut Output) -> Outcome<()> {
    match output.form() {
        Form::Json => output.json(&json!({"zones": zones.iter().map(zone).collect::<Vec<_>>()})),
        Form::Text => print_zone_lines(zones, output),
    }
}

fn zone(zone: &ZoneReport) -> Value {
    json!({
        "zone": zone.number,
        "kind": name(zone.kind),
        "pages": zone.pages,
        "live_bytes": zone.live_bytes,
        "live_share": zone.live_share,
        "open": zone.open,
    })
}

fn name(kind: PageKind) -> String {
    format!("{kind:?}").to_lowercase()
}

fn print_zone_lines(zones: &[ZoneReport], output: &mut Output) -> Outcome<()> {
    let heading = output.dim("zone  kind           pages       live  share");
    output.line(heading)?;
    for zone in zones {
        let open = if zone.open { "  open" } else { "" };
        output.line(format!(
            "{:>4}  {:<10} {:>9} {:>10}  {:>4.0}%{open}",
            zone.number,
            name(zone.kind),
            grouped(zone.pages.into()),
            human(zone.live_bytes),
            zone.live_share * 100.0,
        ))?;
    }
    Ok(())
}

fn print_trees(stats: &Stats, fill: &FillReport, output: &mut Output) -> Outcome<()> {
    let named = |name: &str| name.to_owned();
    let mut trees = vec![
        (
            named("frequent_lists"),
            &stats.frequent_lists,
            fill.frequent_lists,
        ),
        (named("long_lists"), &stats.long_lists, fill.long_lists),
        (named("short_lists"), &stats.short_lists, fill.short_lists),
        (named("ids"), &stats.ids, fill.ids),
        (named("columns"), &stats.columns, fill.columns),
    ];
    let levels = stats.delta_postings.iter().zip(fill.delta_postings);
    trees.extend(
        (0..)
            .zip(levels)
            .map(|(level, (figures, fill))| (format!("recent_postings_{level}"), figures, fill)),
    );
    if output.is_json() {
        let trees = trees.into_iter().map(|(name, figures, fill)| {
            let mut tree = tree(figures);
            tree["fill"] = json!(fill);
            (name, tree)
        });
        return output.json(&Value::Object(trees.collect()));
    }
    let heading = output.dim("tree               height      nodes     leaves    entries   fill");
    output.line(heading)?;
    for (name, figures, fill) in trees {
        let name = name.replace('_', " ");
        let fill = fill.map_or("-".to_owned(), |fill| format!("{:.0}%", fill * 100.0));
        output.line(format!(
            "{name:<19}{:>6} {:>10} {:>10} {:>10} {fill:>6}",
            figures.height,
            grouped(figures.nodes),
            grouped(figures.leaves),
            grouped(figures.entries),
        ))?;
    }
    Ok(())
}

fn print_lists(lists: &[ListsReport], output: &mut Output) -> Outcome<()> {
    if output.is_json() {
        let lists: Vec<Value> = lists.iter().map(lists_object).collect();
        return output.json(&json!({"lists": lists}));
    }
    let heading = "documents       lists     inline    entries     chunks       docs    filters  positions    padding";
    output.line(output.dim(heading))?;
    for of in lists {
        output.line(format!(
            "{:>9} {:>11} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
            grouped(of.documents_from),
            grouped(of.lists),
            grouped(of.inline_lists),
            human(of.entry_bytes),
            grouped(of.chunks),
            human(of.docs_bytes),
            human(of.filter_bytes),
            human(of.position_bytes),
            human(of.padding_bytes),
        ))?;
    }
    Ok(())
}

fn lists_object(of: &ListsReport) -> Value {
    json!({
        "documents_from": of.documents_from,
        "lists": of.lists,
        "inline_lists": of.inline_lists,
        "postings": of.postings,
        "entry_bytes": of.entry_bytes,
        "chunks": of.chunks,
        "grouped_chunks": of.grouped_chunks,
        "apart_chunks": of.apart_chunks,
        "docs_bytes": of.docs_bytes,
        "filter_bytes": of.filter_bytes,
        "position_bytes": of.position_bytes,
        "padding_bytes": of.padding_bytes,
    })
}

fn print_page(kind: PageKind, payload: &[u8], output: &mut Output) -> Outcome<()> {
    let lines = (0..)
        .step_by(BYTES_PER_LINE)
        .zip(payload.chunks(BYTES_PER_LINE));
    if output.is_json() {
        let hex: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
        return output.json(&json!({"kind": name(kind), "payload": hex}));
    }
    let heading = output.dim(&format!("{}, {} bytes", name(kind), payload.len()));
    output.line(heading)?;
    for (at, bytes) in lines {
        output.line(dump_line(at, bytes))?;
    }
    Ok(())
}

/// The bytes in hexadecimal, and beside them those that are letters.
fn dump_line(at: usize, bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let visible = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let shown = bytes
        .iter()
        .map(|byte| if visible(*byte) { *byte as char } else { '.' });
    format!(
        "{at:04x}  {:<47}  {}",
        hex.join(" "),
        shown.collect::<String>()
    )
}

fn list(index: &Index, field: &str, term: &str) -> Outcome<ListReport> {
    let missing = || {
        Failure::caller(format!(
            "there is no term {term:?} in the field {field:?} on flash; gannet analyze shows how terms are made"
        ))
    };
    index.list(field, term)?.ok_or_else(missing)
}

fn print_list(list: &ListReport, output: &mut Output) -> Outcome<()> {
    if output.is_json() {
        return output.json(&list_object(list));
    }
    output.line(format!(
        "in {}, {}; an entry of {} with {} in the leaf, {}",
        counted(list.document_frequency, "document"),
        counted(list.total_frequency, "time"),
        human(list.entry_bytes as u64),
        counted(list.inline_postings.into(), "posting"),
        counted(list.chunks.len() as u64, "chunk"),
    ))?;
    for chunk in &list.chunks {
        output.line(format!(
            "zone {}, page {}: {} ({} of documents and frequencies), {}",
            chunk.zone,
            chunk.page,
            counted(chunk.bytes.into(), "byte"),
            chunk.docs_bytes,
            counted(chunk.postings.into(), "posting")
        ))?;
    }
    Ok(())
}

fn list_object(list: &ListReport) -> Value {
    let chunks = list.chunks.iter().map(|chunk| {
        json!({
            "zone": chunk.zone,
            "page": chunk.page,
            "bytes": chunk.bytes,
            "docs_bytes": chunk.docs_bytes,
            "filter_bytes": chunk.filter_bytes,
            "grouped": chunk.grouped,
            "apart": chunk.apart,
            "postings": chunk.postings,
        })
    });
    json!({
        "document_frequency": list.document_frequency,
        "total_frequency": list.total_frequency,
        "entry_bytes": list.entry_bytes,
        "inline_postings": list.inline_postings,
        "chunks": chunks.collect::<Vec<_>>(),
    })
}
