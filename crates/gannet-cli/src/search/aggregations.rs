//! Counts of values beside the hits: facets, and aggregations of a file.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use gannet::Snapshot;
use gannet::aggregations::AggregationRequest;
use serde_json::{Map, Value, json};

use super::Answer;
use crate::arguments::SearchArguments;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, harmless};
use crate::size::grouped;

/// The text before the names of facets, so that they differ from those of a file.
const FACET: &str = "facet of ";

/// Values of a facet that are shown unless another number is given.
const SHOWN: usize = 10;

/// The longest file of aggregations.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The aggregations that are asked for, if there are any.
pub fn asked(
    arguments: &SearchArguments,
    snapshot: &Snapshot,
) -> Outcome<Option<Arc<AggregationRequest>>> {
    if arguments.facet.is_empty() && arguments.aggregate.is_none() {
        return Ok(None);
    }
    let mut request = match &arguments.aggregate {
        None => AggregationRequest::of(Default::default()),
        Some(file) => {
            let read = snapshot.parse_aggregations(&file_of(file)?);
            read.map_err(|error| {
                let within = |reason: &str| format!("--aggregate {}: {reason}", file.display());
                Failure::from(error).within(within)
            })?
        }
    };
    for facet in &arguments.facet {
        let (field, size) = facet_of(facet)?;
        let name = format!("{FACET}{field}");
        if request.tree.list.iter().all(|known| known.name != name) {
            request.add_terms(name, field, size);
        }
    }
    Ok(Some(Arc::new(request)))
}

/// A facet as it is written: a field, and how many of its values are shown.
fn facet_of(written: &str) -> Outcome<(&str, usize)> {
    let Some((field, size)) = written.rsplit_once(':') else {
        return Ok((written, SHOWN));
    };
    match size.parse() {
        Ok(size) if size > 0 && !field.is_empty() => Ok((field, size)),
        _ => Err(Failure::caller(format!(
            "--facet {written}: expected a field and the number of values to show, as category:20"
        ))),
    }
}

fn file_of(file: &Path) -> Outcome<Value> {
    let wrong =
        |reason: String| Failure::caller(format!("--aggregate {}: {reason}", file.display()));
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().take(FILE_BYTES_MAX).read_to_string(&mut text)
    } else {
        fs::File::open(file).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text))
    };
    read.map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(format!("expected JSON: {error}")))
}

/// Counts of values.
#[derive(Default)]
pub struct Counted {
    /// Facets by field.
    pub facets: Map<String, Value>,
    /// Aggregations by name.
    pub others: Map<String, Value>,
}

/// The counts; nothing if nothing was asked for.
pub fn answered(answer: &Answer) -> Outcome<Option<Counted>> {
    let asked = answer.asked.options.aggregations.as_ref();
    let (Some(asked), Some(state)) = (asked, &answer.results.aggregations) else {
        return Ok(None);
    };
    let mut counted = Counted::default();
    if let Value::Object(all) = asked.answer(state)? {
        for (name, answer) in all {
            match name.strip_prefix(FACET) {
                Some(field) => counted.facets.insert(field.to_owned(), facet(&answer)),
                None => counted.others.insert(name, answer),
            };
        }
    }
    Ok(Some(counted))
}

/// A facet: its values with their counts, and the documents of other values.
fn facet(answer: &Value) -> Value {
    let buckets = answer["buckets"].as_array().map_or(&[][..], Vec::as_slice);
    let values = buckets
        .iter()
        .map(|bucket| json!({"value": key(bucket), "count": bucket["doc_count"]}));
    json!({
        "values": values.collect::<Vec<_>>(),
        "others": answer["sum_other_doc_count"],
    })
}

/// Prints facets and plain buckets as tables, and other aggregations as JSON.
pub fn print(answer: &Answer, output: &mut Output) -> Outcome<()> {
    let Some(Counted { facets, others }) = answered(answer)? else {
        return Ok(());
    };
    for (field, facet) in &facets {
        let values = facet["values"].as_array().map_or(&[][..], Vec::as_slice);
        let rows = values.iter().map(|row| (&row["value"], &row["count"]));
        print_table(field, rows, &facet["others"], output)?;
    }
    let mut rest = Map::new();
    for (name, answer) in others {
        match answer["buckets"].as_array() {
            Some(buckets) if buckets.iter().all(is_plain) => {
                let rows = buckets
                    .iter()
                    .map(|bucket| (key(bucket), &bucket["doc_count"]));
                print_table(&name, rows, &answer["sum_other_doc_count"], output)?;
            }
            _ => {
                rest.insert(name, answer);
            }
        }
    }
    if !rest.is_empty() {
        let text = serde_json::to_string_pretty(&rest).unwrap_or_default();
        output.line(text)?;
        output.line("")?;
    }
    Ok(())
}

/// The key of a bucket as it is shown: of a date as it is written.
fn key(bucket: &Value) -> &Value {
    bucket.get("key_as_string").unwrap_or(&bucket["key"])
}

/// Returns true if a bucket has a key and a count, and nothing else to show.
fn is_plain(bucket: &Value) -> bool {
    const SHOWN: [&str; 3] = ["key", "key_as_string", "doc_count"];
    let is_shown = |name: &String| SHOWN.contains(&name.as_str());
    let is_one_key = !bucket["key"].is_object() && !bucket["key"].is_array();
    let members = bucket.as_object();
    is_one_key && members.is_some_and(|members| members.keys().all(is_shown))
}

/// Prints values with their counts below a heading, and the number of documents of others.
fn print_table<'v>(
    heading: &str,
    rows: impl Iterator<Item = (&'v Value, &'v Value)>,
    others: &Value,
    output: &mut Output,
) -> Outcome<()> {
    let heading = output.bold(&harmless(heading));
    output.line(heading)?;
    for (value, count) in rows {
        let value = match value {
            Value::String(text) => harmless(text),
            Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
            other => other.to_string(),
        };
        let count = grouped(count.as_u64().unwrap_or(0));
        output.line(format!("{count:>12}  {value}"))?;
    }
    match others.as_u64() {
        None | Some(0) => {}
        Some(others) => {
            let others = format!("{:>12}  of other values", grouped(others));
            let others = output.dim(&others);
            output.line(others)?;
        }
    }
    output.line("")
}
