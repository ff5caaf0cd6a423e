//! Lines written one by one: those of a batch for which there is too little memory, and those of
//! which it depends on what is there what is written.

use gannet::{Document, Error, Expected, Index, Result, Written};

use crate::batches::RawBatch;
use crate::change::{Change, ChangeKind, Write};
use crate::input::{brings_id, without_id};
use crate::rejection::Rejection;
use crate::run::{Done, PipelineOptions, rejection};

/// The counts of what writes have changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changed {
    /// Documents written.
    pub documents: u64,
    /// Documents that replaced an earlier one.
    replaced: u64,
    /// Documents that were updated with other members.
    updated: u64,
    /// Documents for which an ID was made.
    ids_made: u64,
    /// Documents deleted.
    pub deleted: u64,
    /// Deletions that found nothing.
    absent: u64,
}

impl Changed {
    /// Of documents that were written whole.
    pub fn of(written: Written, ids_made: u64) -> Changed {
        Changed {
            documents: written.added,
            replaced: written.replaced,
            ids_made,
            ..Changed::default()
        }
    }

    /// Adds it to what a run came to.
    pub fn note(self, done: &mut Done) {
        done.documents += self.documents;
        done.replaced += self.replaced;
        done.updated += self.updated;
        done.ids_made += self.ids_made;
        done.deleted += self.deleted;
        done.absent += self.absent;
    }

    fn add(&mut self, other: Changed) {
        self.documents += other.documents;
        self.replaced += other.replaced;
        self.updated += other.updated;
        self.ids_made += other.ids_made;
        self.deleted += other.deleted;
        self.absent += other.absent;
    }
}

/// Writes the lines of a batch but those that were rejected already. Those that the index does not
/// take are rejected, too.
pub fn write_lines(
    index: &Index,
    raw: &RawBatch,
    options: PipelineOptions,
    rejected: &mut Vec<Rejection>,
) -> Result<Changed> {
    let mut all = Changed::default();
    for (number, line) in raw.lines() {
        if options.strict && rejected.first().is_some_and(|first| first.line < number) {
            break;
        }
        if rejected.iter().any(|rejection| rejection.line == number) {
            continue;
        }
        let change = raw.change(number);
        let written = match (change, options.write) {
            (Some(change), _) => carry_out(index, change, line),
            (None, Write::Whole) => write_whole(index, line),
            (None, Write::Merge) => merge(index, line, false),
            (None, Write::MergeOrAdd) => merge(index, line, true),
        };
        match written {
            Ok(Ok(changed)) => all.add(changed),
            // What is there is not what is wanted: that is where it is asked for.
            Ok(Err(reason)) => {
                let at = change.map_or(number, |change| change.asked_at);
                rejected.push(raw.rejection(at, reason));
            }
            Err(error @ (Error::Memory { .. } | Error::Invalid(_))) => {
                rejected.push(rejection(raw, number, &error));
            }
            Err(error) => return Err(error),
        }
        if options.strict {
            rejected.sort_by_key(|rejection| rejection.line);
        }
    }
    rejected.sort_by_key(|rejection| rejection.line);
    Ok(all)
}

/// The counts of a change, or the reason for which the stored document does not allow it.
type Attempt = std::result::Result<Changed, String>;

fn write_whole(index: &Index, line: &[u8]) -> Result<Attempt> {
    let written = index.write_line(line)?;
    Ok(Ok(Changed::of(written, u64::from(!brings_id(line)))))
}

/// Writes a document unless there is one with its ID.
fn create(index: &Index, line: &[u8]) -> Result<Attempt> {
    let document = Document::parse(line)?;
    let Some(id) = document.id().map(str::to_owned) else {
        return Ok(Ok(Changed::of(index.add(document)?, 1)));
    };
    match index.add(document.expecting(Expected::Absent)) {
        Err(Error::Conflict { .. }) => Ok(Err(format!(
            "there is a document {id:?} already, which create does not replace: index replaces it"
        ))),
        written => Ok(Ok(Changed::of(written?, 0))),
    }
}

/// Does what a change asks for.
fn carry_out(index: &Index, change: &Change, line: &[u8]) -> Result<Attempt> {
    match &change.kind {
        ChangeKind::Create => create(index, line),
        ChangeKind::Merge(id, partial) => {
            let (partial, upsert) = line.split_at(*partial);
            let upsert = if upsert.is_empty() {
                None
            } else {
                Some(Document::parse(upsert)?)
            };
            let why = "the update has neither upsert nor doc_as_upsert";
            merge_into(index, id, partial, upsert, why)
        }
        ChangeKind::Delete(id) => {
            let deleted = index.delete(&[id.as_str()])?.deleted;
            Ok(Ok(Changed {
                deleted,
                absent: u64::from(deleted == 0),
                ..Changed::default()
            }))
        }
    }
}

/// Changes the document with the ID of a line by the members of the line.
fn merge(index: &Index, line: &[u8], adds: bool) -> Result<Attempt> {
    let document = Document::parse(line)?;
    let Some(id) = document.id().map(str::to_owned) else {
        return Err(Error::invalid(
            "expected the ID of the document that changes in the field id, found none: --id names another field",
        ));
    };
    let upsert = adds.then_some(document);
    merge_into(
        index,
        &id,
        line,
        upsert,
        "--upsert adds those that are not there",
    )
}

fn merge_into(
    index: &Index,
    id: &str,
    partial: &[u8],
    upsert: Option<Document>,
    why: &str,
) -> Result<Attempt> {
    if upsert.is_none() && !index.contains(id)? {
        return Ok(Err(format!(
            "there is no document {id:?} to change, and {why}"
        )));
    }
    let written = index.merge(id, &without_id(partial), upsert)?;
    Ok(Ok(Changed {
        documents: written.added,
        updated: written.replaced,
        ..Changed::default()
    }))
}
