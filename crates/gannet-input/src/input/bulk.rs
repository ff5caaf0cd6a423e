//! Actions and documents line by line, as the bulk API of Elasticsearch takes them.
//!
//! An action says what is done with which ID: `index`, `create`, `update`, `delete`. All but the
//! last have a second line. `_index`, `_type` and what else says where a document lies are passed
//! over. Whatever would change what is done and is not supported is rejected by its name.

use std::io;
use std::time::Instant;

use super::action::{Action, Verb, is_action, with_id};
use super::documents::{Documents, Found, too_long};
use super::members::{fault, members_of};
use crate::change::{Change, ChangeKind};
use crate::source::{Line, Lines};

/// Members of an `update` that are passed over: they do not change what is written.
const PASSED_OVER: [&str; 3] = ["detect_noop", "_source", "fields"];

/// Why nothing is updated or deleted.
const NO_ID: &str = "expected an _id, which says what is updated or deleted, found none";

/// The lines of a source, two for most documents.
pub struct Bulk {
    lines: Lines,
    limit: usize,
    /// The line that came last, or what a rejection is about.
    number: u64,
    line: Vec<u8>,
    /// Set if `line` was read as a document but is an action.
    is_ahead: bool,
    notes: Vec<String>,
    /// The first index that was named, and whether another one was told.
    index: Option<String>,
    is_other_told: bool,
}

impl Bulk {
    /// Lines of at most `limit` bytes.
    pub fn new(lines: Lines, limit: usize) -> Bulk {
        Bulk {
            lines,
            limit,
            number: 0,
            line: Vec::new(),
            is_ahead: false,
            notes: vec!["actions of Elasticsearch's bulk API are carried out".to_owned()],
            index: None,
            is_other_told: false,
        }
    }

    /// Reads the next line that is not blank; nothing at the end.
    fn read(&mut self) -> io::Result<Option<Result<(), String>>> {
        if std::mem::take(&mut self.is_ahead) {
            return Ok(Some(Ok(())));
        }
        loop {
            self.line.clear();
            match self.lines.next(&mut self.line)? {
                Line::End => return Ok(None),
                Line::TooLong => return Ok(Some(Err(too_long("line", self.limit)))),
                Line::Whole if self.line.trim_ascii().is_empty() => {}
                Line::Whole => return Ok(Some(Ok(()))),
            }
        }
    }

    /// Reads an action and what belongs to it; or says why nothing can be done.
    fn item(&mut self, buffer: &mut Vec<u8>) -> io::Result<Result<Option<Found>, String>> {
        let read = self.read()?;
        self.number = self.lines.number();
        match read {
            None => return Ok(Ok(Some(Found::End))),
            Some(Err(reason)) => return Ok(Err(reason)),
            Some(Ok(())) => {}
        }
        let action = match Action::of(&self.line) {
            Ok(action) => action,
            Err(reason) => return Ok(Err(reason)),
        };
        self.note_index(&action);
        if action.verb == Verb::Delete {
            return Ok(self.delete(action, buffer).map(Some));
        }
        match self.read()? {
            Some(Ok(())) if !is_action(&self.line) => {}
            Some(Err(reason)) => {
                self.number = self.lines.number();
                return Ok(Err(reason));
            }
            found => {
                self.is_ahead = found.is_some();
                let then = if self.is_ahead {
                    "another action follows"
                } else {
                    "the file ends"
                };
                return Ok(Err(format!(
                    "expected a line with the document behind the action {}, but {then}",
                    action.verb
                )));
            }
        }
        if let Some(fault) = action.fault {
            return Ok(Err(fault));
        }
        if action.verb == Verb::Update && action.id.is_none() {
            return Ok(Err(NO_ID.to_owned()));
        }
        let asked_at = std::mem::replace(&mut self.number, self.lines.number());
        Ok(match (action.verb, action.id) {
            (Verb::Update, Some(id)) => self.update(id, asked_at, buffer).map(Some),
            (verb, id) => self.whole(verb, id, asked_at, buffer).map(Some),
        })
    }

    fn delete(&self, action: Action, buffer: &mut Vec<u8>) -> Result<Found, String> {
        if let Some(fault) = action.fault {
            return Err(fault);
        }
        let id = action.id.ok_or(NO_ID)?;
        buffer.extend_from_slice(id.as_bytes());
        Ok(self.change(ChangeKind::Delete(id), self.number))
    }

    /// A document to be written.
    fn whole(
        &self,
        verb: Verb,
        id: Option<String>,
        asked_at: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Found, String> {
        match id {
            None => buffer.extend_from_slice(&self.line),
            Some(id) => with_id(&self.line, &id, buffer)?,
        }
        Ok(match verb {
            Verb::Create => self.change(ChangeKind::Create, asked_at),
            _ => Found::Document,
        })
    }

    /// Appends the members that an update changes, and the document that it adds where there is
    /// nothing to change.
    fn update(&self, id: String, asked_at: u64, buffer: &mut Vec<u8>) -> Result<Found, String> {
        let body = members_of(&self.line).map_err(|error| fault(&error))?;
        let mut names = body.0.iter().map(|(name, _)| name.as_str());
        let known = ["doc", "upsert", "doc_as_upsert"];
        let unknown = names.find(|name| !known.contains(name) && !PASSED_OVER.contains(name));
        if let Some(name) = unknown {
            return Err(format!(
                "{name} is not supported in an update: give the fields that change as doc, and upsert or doc_as_upsert"
            ));
        }
        let doc = body
            .value("doc")
            .ok_or("expected a member doc with the fields that change, found none")?;
        let as_upsert = match body.value("doc_as_upsert") {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => return Err(format!("doc_as_upsert is true or false, not {other}")),
        };
        // A partial document may name its own ID, which is no change.
        let mut whole = Vec::new();
        with_id(doc.as_bytes(), &id, &mut whole)?;
        buffer.extend_from_slice(doc.as_bytes());
        let partial = doc.len();
        match (body.value("upsert"), as_upsert) {
            (_, true) => buffer.append(&mut whole),
            (Some(upsert), false) => with_id(upsert.as_bytes(), &id, buffer)?,
            (None, false) => {}
        }
        Ok(self.change(ChangeKind::Merge(id, partial), asked_at))
    }

    fn change(&self, kind: ChangeKind, asked_at: u64) -> Found {
        Found::Change(Change { kind, asked_at })
    }

    /// Two indexes may have different documents of one ID.
    fn note_index(&mut self, action: &Action) {
        let Some(named) = &action.index else {
            return;
        };
        match &self.index {
            None => self.index = Some(named.clone()),
            Some(first) if first != named && !self.is_other_told => {
                self.is_other_told = true;
                self.notes.push(format!(
                    "it names several indexes, such as {first:?} and {named:?}: all documents go into this one"
                ));
            }
            Some(_) => {}
        }
    }
}

impl Documents for Bulk {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        let start = buffer.len();
        Ok(match self.item(buffer)? {
            Ok(found) => found.unwrap_or(Found::End),
            Err(reason) => {
                buffer.truncate(start);
                Found::Rejected(reason)
            }
        })
    }

    fn pauses(&mut self, until: Instant) -> bool {
        !self.is_ahead && self.lines.pauses(until)
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
