//! Carries actions out, in batches in which each document occurs once.
//!
//! The caller is the only one who writes to the index, so what is looked up before a batch still
//! holds when it is written. Nothing is durable before a sync, which is left to whoever answers.

use std::collections::HashSet;

use gannet::{Document, DocumentVersion, Error, Index, Reservation, Value, Workbench};

use super::action::{Action, Change, Precondition};
use super::done::{Done, ItemResult, Results};
use crate::fault::{Fault, Outcome};
use crate::indexes::{Mapping, OpenIndex, Turn, random_name};

/// Documents of one batch.
const BATCH_MAX: usize = 1_000;

/// Memory that a document takes until it is written, in bytes of its source.
const PREPARED_TIMES: usize = 12;

/// Memory that a value takes beside its name and its text.
const VALUE_BYTES: usize = 160;

/// Values of a document, and bytes of the name of a field: the engine rejects more.
const VALUES_MAX: usize = 100_000;
const NAME_BYTES_MAX: usize = 255;

/// Carries actions out in their order.
pub fn carry_out(open: &OpenIndex, actions: &[&Action<'_>]) -> Results {
    match open.wait_to_write() {
        Ok(turn) => carry_out_in(open, &turn, actions),
        Err(fault) => actions.iter().map(|_| Err(fault.clone())).collect(),
    }
}

/// The same by a caller who is the one who writes.
pub fn carry_out_in(open: &OpenIndex, turn: &Turn<'_>, actions: &[&Action<'_>]) -> Results {
    let room = open.index.preparation_bytes() / PREPARED_TIMES / 2;
    let mut results: Vec<Option<Outcome<Done>>> = actions.iter().map(|_| None).collect();
    let mut batch: Vec<Wanted<'_>> = Vec::new();
    let mut ids: HashSet<&str> = HashSet::new();
    let made: Vec<Outcome<String>> = actions.iter().map(|action| made_id(action)).collect();
    let mut bytes = 0;
    for (place, (action, id)) in actions.iter().zip(&made).enumerate() {
        let id = match id {
            Ok(id) => id,
            Err(fault) => {
                results[place] = Some(Err(fault.clone()));
                continue;
            }
        };
        let more = source_bytes(action);
        if ids.contains(id.as_str()) || batch.len() >= BATCH_MAX || bytes + more > room {
            write_batch(open, turn, &mut batch, &mut results);
            ids.clear();
            bytes = 0;
        }
        ids.insert(id);
        bytes += more;
        batch.push(Wanted { place, id, action });
    }
    write_batch(open, turn, &mut batch, &mut results);
    let lost = || {
        Err(Fault::internal(
            "an action was not carried out; this is a defect",
        ))
    };
    results
        .into_iter()
        .map(|result| result.unwrap_or_else(lost))
        .collect()
}

/// An action of a batch.
struct Wanted<'a> {
    /// Its place among all.
    place: usize,
    id: &'a str,
    action: &'a Action<'a>,
}

/// A document that is to be written.
struct Put {
    place: usize,
    id: String,
    document: Document,
    before: Option<DocumentVersion>,
    /// The share of the memory budget that the document takes.
    _memory: Reservation,
}

fn made_id(action: &Action<'_>) -> Outcome<String> {
    match &action.id {
        Some(id) => Ok(id.clone()),
        None => random_name(),
    }
}

fn source_bytes(action: &Action<'_>) -> usize {
    match &action.change {
        Change::Index(source) | Change::Put(source) => source.len(),
        // Of the document that changes nothing is known yet.
        Change::Update(_) => 4 << 10,
        Change::Delete => 0,
    }
}

fn write_batch(
    open: &OpenIndex,
    turn: &Turn<'_>,
    batch: &mut Vec<Wanted<'_>>,
    results: &mut [Option<Outcome<Done>>],
) {
    let batch = std::mem::take(batch);
    let ids: Vec<&str> = batch.iter().map(|wanted| wanted.id).collect();
    let found = match open.index.versions(&ids) {
        Ok(found) => found,
        Err(error) => {
            let fault = Fault::from(error);
            for wanted in &batch {
                results[wanted.place] = Some(Err(fault.clone()));
            }
            return;
        }
    };
    let (mut puts, mut deletions) = (Vec::new(), Vec::new());
    let mut mapping = Mapping::clone(&open.metadata().mapping);
    let mut is_changed = false;
    for (wanted, before) in batch.iter().zip(found) {
        let decided = decide(open, wanted, before);
        match decided.map_err(|fault| first_fault(fault, wanted, &mapping)) {
            Err(fault) => results[wanted.place] = Some(Err(fault)),
            Ok(Step::Done(done)) => results[wanted.place] = Some(Ok(done)),
            Ok(Step::Delete(before)) => deletions.push((wanted, before)),
            Ok(Step::Put(document)) => match mapping.admit(wanted.id, &document) {
                Err(fault) => results[wanted.place] = Some(Err(fault)),
                Ok(changed) => {
                    is_changed |= changed;
                    match reserve(&open.index, &document) {
                        Err(fault) => results[wanted.place] = Some(Err(fault)),
                        Ok(memory) => puts.push(Put {
                            place: wanted.place,
                            id: wanted.id.to_owned(),
                            document: versioned(*document, wanted.action.before),
                            before,
                            _memory: memory,
                        }),
                    }
                }
            },
        }
    }
    // Fields are known before documents have them, also behind a crash.
    if is_changed && let Err(fault) = open.set_mapping(mapping, turn) {
        for put in &puts {
            results[put.place] = Some(Err(fault.clone()));
        }
        puts.clear();
    }
    put_all(&open.index, puts, results);
    delete_all(&open.index, &deletions, results);
}

/// The document with the version that its change brings.
fn versioned(document: Document, before: Precondition) -> Document {
    match before.external_version() {
        Some(version) => document.with_version(version),
        None => document,
    }
}

/// Reserves what a document takes beside what the engine reserves: it is there twice, until it is
/// known that it is written.
fn reserve(index: &Index, document: &Document) -> Outcome<Reservation> {
    let values = document.fields().iter().map(|(name, value)| {
        let (Value::Text(text) | Value::Exact(text)) = value;
        VALUE_BYTES + name.len() + text.len()
    });
    let bytes = 2 * (document.source().len() + values.sum::<usize>());
    index
        .reserve("the documents of a request", bytes)
        .map_err(Fault::from)
}

/// Reserves what a document takes at most once it is read, so that it is never read in vain.
fn reserve_unread(index: &Index, source: &[u8]) -> Outcome<Reservation> {
    let most = index.document_bytes_max();
    if source.len() > most {
        return Err(Fault::new(
            413,
            "content_too_long_exception",
            format!(
                "the document has {} bytes, at most {most} are indexed in this memory (--memory)",
                source.len()
            ),
        ));
    }
    index
        .reserve("a document that is read", unread_bytes(source))
        .map_err(Fault::from)
}

/// The bytes that a document takes at most once it is read.
fn unread_bytes(source: &[u8]) -> usize {
    let (values, names) = values_and_names(source);
    let value = VALUE_BYTES + names.min(NAME_BYTES_MAX);
    2 * source.len() + values.min(VALUES_MAX) * value
}

/// The most values that a text of JSON has, and the bytes of all names of members.
fn values_and_names(json: &[u8]) -> (usize, usize) {
    let (mut values, mut names) = (1, 0);
    // The length of the string that is read, or of the last one.
    let (mut length, mut is_string) = (0, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match (byte, is_string) {
            (b'"', false) => (length, is_string) = (0, true),
            (b'"', true) => is_string = false,
            (b'\\', true) => {
                length += 2;
                bytes.next();
            }
            (_, true) => length += 1,
            (b':', false) => names += length + 1,
            (b',', false) => values += 1,
            _ => {}
        }
    }
    (values, names)
}

/// The status of what another document is in the way of.
const CONFLICT: u16 = 409;

/// The step that one action needs.
enum Step {
    Done(Done),
    Put(Box<Document>),
    Delete(DocumentVersion),
}

/// The error that is told of a document that cannot be written: as in Elasticsearch a document that
/// does not fit the mapping is told so before another one is found in its place.
fn first_fault(fault: Fault, wanted: &Wanted<'_>, mapping: &Mapping) -> Fault {
    let Change::Index(source) = &wanted.action.change else {
        return fault;
    };
    if fault.status != CONFLICT {
        return fault;
    }
    let fits = parsed(wanted.id, source)
        .and_then(|document| Mapping::clone(mapping).admit(wanted.id, &document));
    fits.err().unwrap_or(fault)
}

fn parsed(id: &str, source: &[u8]) -> Outcome<Document> {
    Document::parse_as(Some(id.to_owned()), source)
        .map_err(|error| Fault::document(format!("failed to parse: {error}")))
}

fn decide(open: &OpenIndex, wanted: &Wanted<'_>, before: Option<DocumentVersion>) -> Outcome<Step> {
    let id = wanted.id;
    let external = wanted.action.before.external_version();
    let is_update_of_nothing =
        before.is_none() && matches!(&wanted.action.change, Change::Update(_));
    // An update of what is not there says so, whatever it expects.
    if !is_update_of_nothing {
        wanted.action.before.check(id, before)?;
    }
    // Taken before a document is read, and given back for what it takes then.
    let _memory = match &wanted.action.change {
        Change::Index(source) | Change::Put(source) => Some(reserve_unread(&open.index, source)?),
        _ => None,
    };
    match &wanted.action.change {
        Change::Index(source) => parsed(id, source).map(|document| Step::Put(Box::new(document))),
        Change::Put(source) => put(id, source).map(|document| Step::Put(Box::new(document))),
        Change::Update(update) => {
            let found = match before {
                None => None,
                Some(_) => open.index.get(id)?,
            };
            let stored = found
                .as_ref()
                .map_or(0, |found| unread_bytes(&found.source));
            let bytes = stored + unread_bytes(update.text().as_bytes());
            let _memory = open.index.reserve("a document that is changed", bytes)?;
            Ok(match update.apply(id, found.as_ref())? {
                Some(document) => Step::Put(Box::new(document)),
                None => Step::Done(Done {
                    id: id.to_owned(),
                    result: ItemResult::Noop,
                    version: before.unwrap_or(ABSENT),
                }),
            })
        }
        Change::Delete => Ok(match before {
            Some(before) => Step::Delete(before),
            None => Step::Done(Done {
                id: id.to_owned(),
                result: ItemResult::NotFound,
                version: DocumentVersion {
                    version: external.unwrap_or(ABSENT.version),
                    ..ABSENT
                },
            }),
        }),
    }
}

/// Reads a document whose member `id`, if it has one, is its ID.
fn put(id: &str, source: &[u8]) -> Outcome<Document> {
    let read = |error: Error| Fault::document(error.to_string());
    let document = Document::parse(source).map_err(read)?;
    match document.id() {
        None => Document::parse_as(Some(id.to_owned()), source).map_err(read),
        Some(own) if own == id => Ok(document),
        Some(own) => Err(Fault::document(format!(
            "the document has the id {own:?}, and is to be written as {id:?}: give one"
        ))),
    }
}

/// The version that the deletion of a document is told that is not there.
const ABSENT: DocumentVersion = DocumentVersion {
    version: 1,
    sequence: 0,
};

/// Writes documents together; alone those for which there is too little memory so.
fn put_all(index: &Index, puts: Vec<Put>, results: &mut [Option<Outcome<Done>>]) {
    if puts.is_empty() {
        return;
    }
    let documents = puts.iter().map(|put| put.document.clone()).collect();
    let mut bench = Workbench::default();
    let prepared = match index.prepare(&mut bench, documents) {
        Ok(prepared) => prepared,
        Err(_) => return put_each(index, puts, results),
    };
    let rejected: Vec<(usize, Error)> = prepared.rejected().to_vec();
    if let Err(error) = index.write_prepared(prepared) {
        if matches!(error, Error::Memory { .. }) && puts.len() > 1 {
            return put_each(index, puts, results);
        }
        for put in &puts {
            results[put.place] = Some(Err(Fault::from(error.clone())));
        }
        return;
    }
    for (at, error) in rejected {
        if let Some(put) = puts.get(at) {
            results[put.place] = Some(Err(rejection(&error)));
        }
    }
    note_written(index, &puts, results);
}

fn put_each(index: &Index, puts: Vec<Put>, results: &mut [Option<Outcome<Done>>]) {
    for put in puts {
        match index.write(vec![put.document.clone()]) {
            Ok(_) => note_written(index, &[put], results),
            Err(error) => results[put.place] = Some(Err(rejection(&error))),
        }
    }
}

fn rejection(error: &Error) -> Fault {
    match error {
        Error::Invalid(reason) => Fault::document(reason.clone()),
        other => Fault::from(other.clone()),
    }
}

/// Notes the versions of documents that were written.
fn note_written(index: &Index, puts: &[Put], results: &mut [Option<Outcome<Done>>]) {
    let ids: Vec<&str> = puts.iter().map(|put| put.id.as_str()).collect();
    let versions = index.versions(&ids);
    for (at, put) in puts.iter().enumerate() {
        if results[put.place].is_some() {
            continue;
        }
        let version = match &versions {
            Ok(versions) => versions.get(at).copied().flatten(),
            Err(_) => None,
        };
        let lost = || {
            Fault::internal(format!(
                "document [{}] was written and cannot be found",
                put.id
            ))
        };
        results[put.place] = Some(version.ok_or_else(lost).map(|version| Done {
            id: put.id.clone(),
            result: if put.before.is_some() {
                ItemResult::Updated
            } else {
                ItemResult::Created
            },
            version,
        }));
    }
}

fn delete_all(
    index: &Index,
    deletions: &[(&Wanted<'_>, DocumentVersion)],
    results: &mut [Option<Outcome<Done>>],
) {
    if deletions.is_empty() {
        return;
    }
    let ids: Vec<&str> = deletions.iter().map(|(wanted, _)| wanted.id).collect();
    let deleted = index.delete(&ids);
    for (wanted, before) in deletions {
        let external = wanted.action.before.external_version();
        results[wanted.place] = Some(match &deleted {
            Err(error) => Err(Fault::from(error.clone())),
            Ok(written) => Ok(Done {
                id: wanted.id.to_owned(),
                result: ItemResult::Deleted,
                version: DocumentVersion {
                    version: external.unwrap_or(before.version.saturating_add(1)),
                    sequence: written.sequence,
                },
            }),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names_are_bounds_of_what_the_engine_reads() {
        for json in [
            r#"{}"#,
            r#"{"a":1,"b":{"c":[1,2,{"d":"x, y: \"z\","}]}}"#,
            r#"{"a\"b":"c","d":[[],[true,null]]}"#,
            r#"{"a":[{"b":1},{"b":2}],"c":"\\"}"#,
        ] {
            let document = Document::parse_as(Some("1".to_owned()), json.as_bytes()).unwrap();
            let (values, names) = values_and_names(json.as_bytes());
            assert!(document.fields().len() <= values, "{json}");
            for (name, _) in document.fields() {
                assert!(name.len() <= names, "{json}");
            }
        }
    }
}
