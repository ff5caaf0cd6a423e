//! Tables for people: `_cat`.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::cluster::CLUSTER;
use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::json::fits;
use crate::service::Service;

/// `GET /_cat/health`.
pub fn health(call: &Call, service: &Service) -> Outcome<Answer> {
    let shards = service.indexes.names()?.len().to_string();
    let (seconds, time) = now();
    let row = [
        ("epoch", seconds.to_string()),
        ("timestamp", time),
        ("cluster", CLUSTER.to_owned()),
        ("status", "green".to_owned()),
        ("node.total", "1".to_owned()),
        ("node.data", "1".to_owned()),
        ("shards", shards.clone()),
        ("pri", shards),
        ("relo", "0".to_owned()),
        ("init", "0".to_owned()),
        ("unassign", "0".to_owned()),
        ("pending_tasks", "0".to_owned()),
        ("max_task_wait_time", "-".to_owned()),
        ("active_shards_percent", "100.0%".to_owned()),
    ];
    table(call, &["status"], &[row.to_vec()])
}

/// `GET /_cat/nodes`.
pub fn nodes(call: &Call, service: &Service) -> Outcome<Answer> {
    table(call, &["name"], &[super::nodes::row(service)])
}

/// `GET /_cat/indices`.
pub fn indices(call: &Call, service: &Service) -> Outcome<Answer> {
    let mut rows = Vec::new();
    for name in Where::of_call(call)?.names(service)? {
        let looked = service.indexes.look(&name, &call.caller, |open| {
            Ok((open.index.stats()?, open.metadata().uuid.clone()))
        });
        let (stats, uuid) = match looked {
            Ok(found) => found,
            Err(fault) if fault.status >= 500 => {
                // One that cannot be opened hides no other.
                rows.push(vec![
                    ("health", "red".to_owned()),
                    ("status", "open".to_owned()),
                    ("index", name),
                ]);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        let bytes = stats.bytes.allocated.to_string();
        rows.push(vec![
            ("health", "green".to_owned()),
            ("status", "open".to_owned()),
            ("index", name),
            ("uuid", uuid),
            ("pri", "1".to_owned()),
            ("rep", "0".to_owned()),
            ("docs.count", stats.documents.to_string()),
            ("docs.deleted", stats.dead_documents.to_string()),
            ("store.size", bytes.clone()),
            ("pri.store.size", bytes.clone()),
            ("dataset.size", bytes),
        ]);
    }
    // The columns are those of the first row.
    rows.sort_by_key(|row| std::cmp::Reverse(row.len()));
    table(call, &["index", "docs.count"], &rows)
}

/// `GET /_cat/count`.
pub fn count(call: &Call, service: &Service) -> Outcome<Answer> {
    let asked = call.body.trim_ascii();
    if !asked.is_empty() && call.json()? != json!({}) {
        return Err(Fault::not_there("a query in the body of [_cat/count]"));
    }
    let mut documents = 0;
    for name in Where::of_call(call)?.names(service)? {
        let count = |open: &OpenIndex| Ok(open.index.snapshot().documents());
        documents += service.indexes.look(&name, &call.caller, count)?;
    }
    let (seconds, time) = now();
    let row = vec![
        ("epoch", seconds.to_string()),
        ("timestamp", time),
        ("count", documents.to_string()),
    ];
    table(call, &["count"], &[row])
}

/// `GET /_cat/aliases`.
pub fn aliases(call: &Call, service: &Service) -> Outcome<Answer> {
    let wanted = match call.part("name") {
        "" => "*",
        written => written,
    };
    let catalog = service.indexes.catalog();
    let mut rows = Vec::new();
    for alias in catalog.aliases.names() {
        if !wanted.split(',').any(|pattern| fits(pattern, alias)) {
            continue;
        }
        for (index, options) in catalog.aliases.indexes(alias) {
            if !service.indexes.exists(index) || !call.caller.may(index) {
                continue;
            }
            let is_write = options.is_write_index;
            rows.push(vec![
                ("alias", alias.clone()),
                ("index", index.clone()),
                ("filter", "-".to_owned()),
                ("routing.index", "-".to_owned()),
                ("routing.search", "-".to_owned()),
                (
                    "is_write_index",
                    is_write.map_or_else(|| "-".to_owned(), |is| is.to_string()),
                ),
            ]);
        }
    }
    table(call, &["alias", "index"], &rows)
}

/// The seconds since 1970, and the time of the day.
fn now() -> (u64, String) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |now| now.as_secs());
    let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
    (
        seconds,
        format!("{hours:02}:{minutes:02}:{:02}", seconds % 60),
    )
}

type Row = Vec<(&'static str, String)>;

/// The rows with the columns that are asked for, as text or as JSON.
fn table(call: &Call, named: &[&str], rows: &[Row]) -> Outcome<Answer> {
    if call.flag("help")? == Some(true) {
        return Err(Fault::not_there("[help] of _cat"));
    }
    let rows = sorted(call, rows);
    let rows = rows.as_slice();
    let wanted = call
        .parameter("h")
        .map(|list| list.split(',').collect::<Vec<_>>());
    let columns: Vec<&str> = match (&wanted, rows.first()) {
        (Some(wanted), _) => wanted.clone(),
        (None, Some(row)) => row.iter().map(|(name, _)| *name).collect(),
        (None, None) => named.to_vec(),
    };
    let cell = |row: &Row, column: &str| {
        let found = row.iter().find(|(name, _)| *name == column);
        found.map_or_else(String::new, |(_, value)| value.clone())
    };
    let of_accept = call.wants_json.then_some("json");
    match call.parameter("format").or(of_accept) {
        Some("json") => {
            let object = |row: &Row| -> Value {
                let cells = columns
                    .iter()
                    .map(|name| ((*name).to_owned(), json!(cell(row, name))));
                Value::Object(cells.collect::<Map<String, Value>>())
            };
            Ok(Answer::of(&rows.iter().map(object).collect::<Vec<Value>>()))
        }
        None | Some("text" | "txt") => {
            let mut lines: Vec<Vec<String>> = Vec::new();
            if call.flag("v")? == Some(true) {
                lines.push(columns.iter().map(|name| (*name).to_owned()).collect());
            }
            lines.extend(
                rows.iter()
                    .map(|row| columns.iter().map(|name| cell(row, name)).collect()),
            );
            Ok(Answer::text(aligned(&lines)))
        }
        Some(other) => Err(Fault::not_there(&format!("[format] of [{other}]"))),
    }
}

/// The rows in the order of the columns that `s` names, each perhaps with `:desc` behind it. Cells
/// of numbers are compared as numbers.
fn sorted(call: &Call, rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    let written = call.parameter("s").unwrap_or_default().split(',');
    for key in written.rev().filter(|key| !key.is_empty()) {
        let (column, order) = key.split_once(':').unwrap_or((key, "asc"));
        let cell = |row: &Row| {
            let found = row.iter().find(|(name, _)| *name == column);
            let text = found.map_or_else(String::new, |(_, text)| text.clone());
            (text.parse::<u64>().ok(), text)
        };
        rows.sort_by(|one, other| {
            let order_of = cell(one).cmp(&cell(other));
            if order == "desc" {
                order_of.reverse()
            } else {
                order_of
            }
        });
    }
    rows
}

fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let cells = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        out.push_str(cells.collect::<Vec<_>>().join(" ").trim_end());
        out.push('\n');
    }
    out
}
