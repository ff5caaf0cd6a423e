//! Checks that columns are whole: every piece is named by a map, which says of it what is true; and
//! numbers and strings of keywords lead to each other.

use std::collections::HashMap;

use gannet_values::{Piece, ValueType};

use super::column::{ColumnId, Columns};
use super::entries::{EntryKind, EntryName, damaged_piece, decode_number, split};
use super::map::{MapEntry, decode_map};
use super::tree::ColumnTreeView;
use crate::base::{DocId, Error, Result};
use crate::btree::check as check_tree;
use crate::cache::{Pages, Step, finish, gather};

/// The most findings that are reported one by one.
const FINDINGS_MAX: usize = 1000;

/// Strings that are looked up at once.
const STRINGS_AT_ONCE: usize = 64;

/// Counts of all that a check has gone over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnsFound {
    /// Pieces read.
    pub pieces: u64,
    /// Values in them.
    pub values: u64,
    /// Keywords with a number.
    pub terms: u64,
}

/// The bytes of keys and values of each column, by its number.
pub fn column_bytes(view: &ColumnTreeView, pages: &mut Pages<'_>) -> Result<Vec<u64>> {
    let mut bytes = Vec::new();
    let mut scan = view.tree.scan(&[]);
    while finish(pages, |pages| scan.advance(&view.tree, pages))? {
        pages.trim();
        let (id, _) = split(scan.key())?;
        let at = id as usize;
        if bytes.len() <= at {
            bytes.resize(at + 1, 0);
        }
        bytes[at] += (scan.key().len() + scan.value().len()) as u64;
    }
    Ok(bytes)
}

/// Counts of a column.
#[derive(Default)]
struct Counts {
    pieces: u64,
    named: u64,
    numbers: u64,
    terms: u64,
    /// The end of the last piece that a map named.
    end: DocId,
    last: Option<(DocId, DocId)>,
}

/// Reads an entry of the tree alone: a map with all it has, a piece with all values.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn decode_entry(key: &[u8], value: &[u8]) -> Result<()> {
    match split(key)?.1 {
        EntryName::Map(first) => {
            let entries = decode_map(value, first)?;
            let mut again = Vec::new();
            super::map::encode_map(&entries, &mut again);
            assert_eq!(decode_map(&again, first)?, entries);
        }
        EntryName::Piece(first) => {
            for documents in [1, 100, gannet_values::PIECE_DOCUMENTS] {
                let piece = Piece::parse(value, documents);
                let piece = piece.map_err(|reason| damaged_piece(0, first, reason))?;
                let _ = piece.check();
                let mut keys = Vec::new();
                piece.keys_of(documents - 1, &mut keys);
            }
        }
        EntryName::Number(_) => drop(decode_number(value)?),
        EntryName::Term(_) => {}
    }
    Ok(())
}

struct ColumnsCheck<'c> {
    view: &'c ColumnTreeView,
    columns: &'c Columns,
    below: DocId,
    counts: HashMap<ColumnId, Counts>,
    found: ColumnsFound,
    findings: Vec<String>,
}

/// Walks the whole tree and gives all that is wrong. `pages` are those of the walk, `others` those
/// of what entries lead to. Only a failing device is an error.
pub fn check_columns(
    view: &ColumnTreeView,
    columns: &Columns,
    below: DocId,
    pages: &mut Pages<'_>,
    others: &mut Pages<'_>,
) -> Result<(ColumnsFound, Vec<String>)> {
    let mut check = ColumnsCheck {
        view,
        columns,
        below,
        counts: HashMap::new(),
        found: ColumnsFound::default(),
        findings: Vec::new(),
    };
    let mut failed = None;
    let mut visit = |key: &[u8], value: &[u8]| {
        others.trim();
        match check.entry(key, value, others) {
            Ok(()) => {}
            Err(Error::Damaged { what, reason }) => check.note(format!("{what}: {reason}")),
            Err(error) => failed = Some(error),
        }
    };
    let mut findings = check_tree(&view.tree, pages, &mut visit)?;
    if let Some(error) = failed {
        return Err(error);
    }
    check.compare_counts();
    findings.append(&mut check.findings);
    Ok((check.found, findings))
}

impl ColumnsCheck<'_> {
    fn note(&mut self, finding: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    fn entry(&mut self, key: &[u8], value: &[u8], pages: &mut Pages<'_>) -> Result<()> {
        let (id, name) = split(key)?;
        if self.columns.get(id).is_none() {
            let reason = "expected a known column".to_owned();
            return Err(Error::damaged(format!("column {id}"), reason));
        }
        let counts = self.counts.entry(id).or_default();
        match name {
            EntryName::Piece(_) => counts.pieces += 1,
            EntryName::Map(first) => return self.map(id, first, value, pages),
            EntryName::Number(term) => {
                counts.numbers += 1;
                self.found.terms += 1;
                return self.number(id, term, decode_number(value)?, pages);
            }
            EntryName::Term(_) => counts.terms += 1,
        }
        Ok(())
    }

    fn map(
        &mut self,
        id: ColumnId,
        first: DocId,
        value: &[u8],
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        for entry in decode_map(value, first)? {
            let counts = self.counts.entry(id).or_default();
            let follows = counts.named == 0 || counts.end <= entry.first;
            counts.named += 1;
            counts.end = entry.end();
            counts.last = Some((first, entry.first));
            self.found.pieces += 1;
            self.found.values += entry.summary.values as u64;
            if !follows || entry.end() > self.below {
                let reason = format!("expected it behind others and below {}", self.below);
                self.note(damaged_piece(id, entry.first, &reason).to_string());
            }
            match finish(pages, |pages| self.piece(id, &entry, pages)) {
                Err(error @ Error::Damaged { .. }) => self.note(error.to_string()),
                other => other?,
            }
        }
        Ok(())
    }

    fn piece(&self, id: ColumnId, entry: &MapEntry, pages: &mut Pages<'_>) -> Step<()> {
        let wrong = |reason: &dyn std::fmt::Display| damaged_piece(id, entry.first, reason);
        let bytes = self.view.entry(id, EntryKind::Piece, entry.first, pages)?;
        let bytes = bytes.ok_or_else(|| wrong(&"it is not there"))?;
        let piece = Piece::parse(&bytes, entry.documents as usize);
        let piece = piece.map_err(|reason| wrong(&reason))?;
        let summary = piece.check().map_err(|reason| wrong(&reason))?;
        if summary != entry.summary {
            let reason = format!("its map says {:?}, it has {summary:?}", entry.summary);
            return Err(wrong(&reason).into());
        }
        let value_type = self.columns.get(id).map(|column| column.value_type);
        let was_long = entry.value_type == ValueType::Long;
        let fits = value_type == Some(entry.value_type)
            || was_long && value_type == Some(ValueType::Double);
        let numbers = self.view.flushed(id).next_number as u64;
        let in_range = match entry.value_type {
            own if own.has_strings() => summary.greatest < numbers,
            ValueType::Boolean => summary.greatest <= 1,
            _ => true,
        };
        if !fits || !in_range {
            let reason = format!("it has {:?} of {:?}", summary, entry.value_type);
            return Err(wrong(&reason).into());
        }
        if entry.value_type.has_strings() && self.view.flushed(id).dropped > 0 {
            self.strings_of(id, &piece, entry, pages)?;
        }
        Ok(())
    }

    /// Fails if a piece has a number whose string was taken out.
    fn strings_of(
        &self,
        id: ColumnId,
        piece: &Piece<'_>,
        entry: &MapEntry,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let mut numbers = Vec::with_capacity(piece.values());
        piece.for_each(|_, key| numbers.push(key as u32));
        numbers.sort_unstable();
        numbers.dedup();
        for some in numbers.chunks(STRINGS_AT_ONCE) {
            let strings = gather(some, |number| {
                self.view.entry(id, EntryKind::Term, number, pages)
            })?;
            if let Some(at) = strings.iter().position(Option::is_none) {
                let reason = format!("it has the number {}, which no string has", some[at]);
                return Err(damaged_piece(id, entry.first, reason).into());
            }
        }
        Ok(())
    }

    fn number(&self, id: ColumnId, term: &[u8], number: u32, pages: &mut Pages<'_>) -> Result<()> {
        let back = finish(pages, |pages| {
            self.view.entry(id, EntryKind::Term, number, pages)
        })?;
        let next = self.view.flushed(id).next_number;
        if number < next && back.is_some_and(|back| *back == *term) {
            return Ok(());
        }
        let term = String::from_utf8_lossy(term);
        let reason = format!("the keyword {term:?} has the number {number}, which is another's");
        Err(Error::damaged(format!("column {id}"), reason))
    }

    fn compare_counts(&mut self) {
        for (id, counts) in std::mem::take(&mut self.counts) {
            let flushed = self.view.flushed(id);
            if counts.pieces != counts.named || counts.last != flushed.last {
                let (pieces, named) = (counts.pieces, counts.named);
                self.note(format!(
                    "column {id}: expected {named} pieces as maps name them, the last at {:?}, got {pieces} and {:?}",
                    flushed.last, counts.last
                ));
            }
            let left = flushed.next_number.checked_sub(flushed.dropped);
            if counts.numbers != counts.terms || left.map(u64::from) != Some(counts.numbers) {
                let (numbers, terms) = (counts.numbers, counts.terms);
                self.note(format!(
                    "column {id}: expected {} keywords less {}, got {numbers} with a number and {terms} by number",
                    flushed.next_number, flushed.dropped
                ));
            }
        }
    }
}
