//! `gannet fields`: the fields of an index, with what is known of each.
//!
//! The number of documents that have a field is counted by the writer, and is right as long as none
//! was deleted or replaced. Otherwise the documents are counted here.

use std::time::{Duration, Instant};

use gannet::{ColumnReport, FieldKind, Query, Snapshot};
use serde_json::{Value, json};

use crate::arguments::{Common, FieldsArguments};
use crate::failure::Outcome;
use crate::fields::Fields;
use crate::opening::open_to_read;
use crate::output::{Output, harmless};
use crate::size::{counted, grouped};

/// The most characters of an example in text.
const EXAMPLE_MAX: usize = 40;

/// A field of the listing.
struct Row {
    name: String,
    /// Nothing for numbers and booleans.
    analyzer: Option<String>,
    /// The columns that keep its values.
    columns: Vec<ColumnReport>,
    documents: u64,
    example: Option<String>,
}

/// Prints a line for each field, or all as one JSON object.
pub fn run(common: &Common, arguments: &FieldsArguments, output: &mut Output) -> Outcome<()> {
    let index = open_to_read(&arguments.index, common)?;
    let snapshot = index.snapshot();
    let until = arguments.timeout.time().map(|time| Instant::now() + time);
    let counts = counts(&snapshot)?;
    let columns = snapshot.columns()?;
    let mut rows = Vec::new();
    for (at, field) in snapshot.schema().fields().iter().enumerate() {
        let known = counts.as_ref().map(|counts| counts[at]);
        let (documents, example) = look_up(&snapshot, &field.name, known, until)?;
        rows.push(Row {
            name: field.name.clone(),
            analyzer: match field.kind {
                FieldKind::Text => Some(field.analyzer.name().to_owned()),
                FieldKind::Exact => None,
            },
            columns: columns
                .iter()
                .filter(|column| column.field == field.name)
                .cloned()
                .collect(),
            documents,
            example,
        });
    }
    if output.is_json() {
        output.json(&json!({
            "documents": snapshot.documents(),
            "fields": rows.iter().map(Row::json).collect::<Vec<_>>(),
        }))
    } else {
        print(&rows, snapshot.documents(), output)
    }
}

/// Returns the number of documents that have each field, if no document was deleted or replaced.
fn counts(snapshot: &Snapshot) -> Outcome<Option<Vec<u64>>> {
    if snapshot.doc_ids().len() as u64 != snapshot.documents() {
        return Ok(None);
    }
    let count = |name: &str| {
        let statistics = snapshot.statistics(&has(name))?;
        Ok(statistics.field(name).map_or(0, |(documents, _)| documents))
    };
    let fields = snapshot.schema().fields().iter();
    let counts = fields.map(|field| count(&field.name));
    Ok(Some(counts.collect::<gannet::Result<_>>()?))
}

fn has(field: &str) -> Query {
    Query::Exists {
        field: field.to_owned(),
    }
}

/// Looks up the number of documents that have a field, unless it is known, and the value of one.
fn look_up(
    snapshot: &Snapshot,
    name: &str,
    known: Option<u64>,
    until: Option<Instant>,
) -> Outcome<(u64, Option<String>)> {
    let query = has(name);
    let mut search = snapshot.search(&query).top(1).count(known.is_none());
    if let Some(until) = until {
        let left = until.saturating_duration_since(Instant::now());
        search = search.timeout(left.max(Duration::from_millis(1)));
    }
    let found = search.run()?;
    let fields = Fields::named(&[name.to_owned()], snapshot)?;
    let source = found.hits.first().and_then(|hit| hit.source.as_deref());
    let source = source.map(String::from_utf8_lossy);
    let example = source.and_then(|source| fields.values(&source).next().map(|(_, value)| value));
    Ok((known.unwrap_or(found.total), example))
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "analyzer": self.analyzer,
            "types": self.columns.iter().filter(|column| !column.closed).map(|c| c.value_type.name()).collect::<Vec<_>>(),
            "misfits": self.columns.iter().map(|column| column.misfits).sum::<u64>(),
            "documents": self.documents,
            "example": self.example,
        })
    }

    /// The types of its values, and how many fit none.
    fn types(&self) -> String {
        let open = self.columns.iter().filter(|column| !column.closed);
        let mut types: Vec<String> = open
            .map(|column| column.value_type.name().to_owned())
            .collect();
        let misfits: u64 = self.columns.iter().map(|column| column.misfits).sum();
        if misfits > 0 {
            types.push(counted(misfits, "misfit"));
        }
        types.join(", ")
    }

    fn cells(&self) -> [String; 5] {
        [
            harmless(&self.name),
            self.analyzer.clone().unwrap_or_else(|| "exact".to_owned()),
            self.types(),
            grouped(self.documents),
            shortened(self.example.as_deref().unwrap_or_default()),
        ]
    }
}

fn print(rows: &[Row], documents: u64, output: &mut Output) -> Outcome<()> {
    let headings = ["field", "analyzer", "values", "documents", "example"].map(str::to_owned);
    let cells: Vec<[String; 5]> = rows.iter().map(Row::cells).collect();
    let width = |column: usize| {
        let all = cells.iter().chain([&headings]);
        all.map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let line = |row: &[String; 5]| {
        let [name, analyzer, types, documents, example] = row;
        let [first, second, third, fourth] = widths;
        let line = format!(
            "{name:first$}  {analyzer:second$}  {types:third$}  {documents:>fourth$}  {example}"
        );
        line.trim_end().to_owned()
    };
    output.line(output.dim(&line(&headings)))?;
    cells.iter().try_for_each(|row| output.line(line(row)))?;
    output.line(format!(
        "{} of {}",
        counted(rows.len() as u64, "field"),
        counted(documents, "document")
    ))
}

/// A value on one line, cut where it is long.
fn shortened(value: &str) -> String {
    let value = harmless(value);
    if value.chars().count() > EXAMPLE_MAX {
        value.chars().take(EXAMPLE_MAX - 1).chain(['…']).collect()
    } else {
        value
    }
}
