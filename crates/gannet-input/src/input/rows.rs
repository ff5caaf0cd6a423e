//! CSV and TSV with a header: each row is a document, each column a field.
//!
//! Cells are numbers and booleans where the column has only such (`cells`), and strings elsewhere;
//! an empty cell is no value. CSV has quotation marks as in RFC 4180;
//! in TSV they are ordinary. What separates fields and ends lines, `dialect` tells. A record is
//! never held beyond a limit: a quotation mark without its other would make the rest of the file
//! one record.

use std::io::{self, BufRead, Read};
use std::str;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use csv::ByteRecord;
use gannet::values::ValueType;
use gannet::{FieldMapping, FieldType};

use super::InputOptions;
use super::cells::{CellKind, cell_kinds};
use super::dialect::{DIALECT_BYTES, Dialect, is_enough, named};
use super::documents::{Documents, Found, append_json, too_long};
use crate::bytes::Bytes;
use crate::format::InputFormat;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// A record that follows those of the source. Where a quotation mark is not closed, it is part of
/// the record before.
const END: &[u8] = b"\n\0end of the rows\0\n";

/// The rows of a source.
pub struct Rows {
    reader: csv::Reader<Bounded>,
    /// The bytes that may still be read for one record.
    left: Arc<AtomicUsize>,
    /// The names of the columns.
    names: Vec<String>,
    /// The columns, each as the beginning of a JSON member.
    columns: Vec<String>,
    /// The kind of cells that each column has.
    kinds: Vec<CellKind>,
    /// The column of the external IDs, where the caller names it.
    id: Option<usize>,
    record: ByteRecord,
    line: u64,
    /// Lines before the header, which say something else.
    front: u64,
    limit: usize,
    notes: Vec<String>,
}

impl Rows {
    /// Reads the header of a source in a format of rows; a document has at most `limit` bytes.
    pub fn new(
        mut source: Bytes,
        format: InputFormat,
        options: &InputOptions,
        limit: usize,
    ) -> io::Result<Rows> {
        let head = source.peek(DIALECT_BYTES, is_enough)?;
        let dialect = Dialect::of(&head, format, options.delimiter);
        source.read_exact(&mut vec![0; dialect.front])?;
        if dialect.returns {
            source = source.with_line_feeds();
        }
        let left = Arc::new(AtomicUsize::new(0));
        let mut rows = Rows {
            reader: reader(source, &dialect, &left),
            left,
            names: Vec::new(),
            columns: Vec::new(),
            kinds: Vec::new(),
            id: None,
            record: ByteRecord::new(),
            line: 0,
            front: u64::from(dialect.front > 0),
            limit,
            notes: Vec::new(),
        };
        if !rows.read()? {
            return Err(invalid(
                "expected a header with the names of the columns, found nothing",
            ));
        }
        rows.notes
            .extend(dialect.unusual(format, options.delimiter));
        let names = names(&rows.record)?;
        if let ([name], Some(given)) = (names.as_slice(), options.delimiter)
            && name.contains([',', ';', '\t', '|'])
        {
            rows.notes.push(format!(
                "all is one column, {name:?}, since {} is not in it",
                named(given)
            ));
        }
        rows.kinds = cell_kinds(&head, &dialect, names.len());
        rows.name_columns(names, options.id.as_deref())?;
        Ok(rows)
    }

    /// Leaves the cells of declared fields strings where a number would mean something else: of a
    /// date milliseconds, of whole strings another spelling.
    pub fn of_types(mut self, mapping: &FieldMapping) -> Rows {
        for (kind, name) in self.kinds.iter_mut().zip(&self.names) {
            let declared = mapping.type_of(name);
            if let Some(
                FieldType::Text
                | FieldType::Column(ValueType::Date | ValueType::Ip | ValueType::Keyword),
            ) = declared
            {
                *kind = CellKind::Text;
            }
        }
        self
    }

    /// Notes the columns, of which that of the IDs is called `id`.
    fn name_columns(&mut self, mut names: Vec<String>, id: Option<&str>) -> io::Result<()> {
        if let Some(id) = id {
            let at = names.iter().position(|name| name == id);
            self.id = at;
            let at = at.ok_or_else(|| {
                invalid(&format!(
                    "there is no column {id:?} for the IDs: the columns are {}",
                    names.join(", ")
                ))
            })?;
            if id != "id" && names.iter().any(|name| name == "id") {
                return Err(invalid(&format!(
                    "there is a column \"id\" beside the IDs in {id:?}: rename it, since \"id\" is the ID in the index"
                )));
            }
            names[at] = "id".to_owned();
        }
        // IDs are strings, however they are spelled.
        for (kind, _) in self
            .kinds
            .iter_mut()
            .zip(&names)
            .filter(|(_, name)| *name == "id")
        {
            *kind = CellKind::Text;
        }
        let member = |name: &String| format!("{}:", serde_json::json!(name));
        self.columns = names.iter().map(member).collect();
        self.names = names;
        Ok(())
    }

    /// Reads the next record; whether there is one.
    fn read(&mut self) -> io::Result<bool> {
        // Some of it may be in the buffer already, and of the next one.
        let most = self.limit.saturating_add(READ_BYTES);
        self.left.store(most, Ordering::Relaxed);
        let begins = self.reader.position().line();
        let read = self.reader.read_byte_record(&mut self.record);
        let within = self.record.as_slice().iter().filter(|byte| **byte == b'\n');
        let behind = self.reader.position().line();
        // Blank lines before the record are no part of it.
        let first = behind.saturating_sub(within.count() as u64 + 1);
        self.line = first.max(begins);
        let read = read.map_err(|error| {
            let error = io::Error::from(error);
            io::Error::new(
                error.kind(),
                format!("line {}: {error}", begins + self.front),
            )
        })?;
        Ok(read && !self.is_end()?)
    }

    /// Returns true if the record is the one behind those of the source.
    fn is_end(&self) -> io::Result<bool> {
        let end = END.trim_ascii();
        let Some(last) = self.record.iter().next_back() else {
            return Ok(false);
        };
        match last.trim_ascii_end().strip_suffix(end) {
            None => Ok(false),
            Some([]) if self.record.len() == 1 => Ok(true),
            Some(_) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "line {}: a quotation mark is not closed before the end of the file: close it, or \
                     double those that are part of the text",
                    self.number()
                ),
            )),
        }
    }

    /// Describes a record that has more or fewer fields than the header.
    fn ragged(&self) -> String {
        let mut cells = self.record.iter();
        let hint = if cells.any(|cell| without_return(cell).contains(&b'\r')) {
            "; a carriage return (CR) stands in it: end all lines alike"
        } else {
            ""
        };
        format!(
            "expected {} fields as in the header, found {}{hint}",
            self.columns.len(),
            self.record.len()
        )
    }

    /// Appends the record as a JSON object; or says why it is none.
    fn append(&self, buffer: &mut Vec<u8>) -> io::Result<Result<(), String>> {
        if self.record.len() != self.columns.len() {
            return Ok(Err(self.ragged()));
        }
        if self
            .id
            .is_some_and(|id| without_return(&self.record[id]).is_empty())
        {
            return Ok(Err(
                "expected an ID, found an empty cell: every row needs one where --id names the column".to_owned(),
            ));
        }
        buffer.push(b'{');
        let mut comma = "";
        for ((column, kind), cell) in self.columns.iter().zip(&self.kinds).zip(&self.record) {
            let cell = without_return(cell);
            if cell.is_empty() {
                continue;
            }
            let Ok(cell) = str::from_utf8(cell) else {
                return Ok(Err(format!(
                    "the field {} is not UTF-8: convert the file, for example with iconv",
                    column.trim_end_matches(':')
                )));
            };
            buffer.extend_from_slice(comma.as_bytes());
            buffer.extend_from_slice(column.as_bytes());
            if kind.has(cell) {
                buffer.extend_from_slice(cell.as_bytes());
            } else {
                append_json(cell, buffer)?;
            }
            comma = ",";
        }
        buffer.push(b'}');
        Ok(Ok(()))
    }
}

impl Documents for Rows {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        loop {
            if !self.read()? {
                return Ok(Found::End);
            }
            // Spreadsheets end with rows of nothing but delimiters.
            if self
                .record
                .iter()
                .all(|cell| without_return(cell).is_empty())
            {
                continue;
            }
            let start = buffer.len();
            let reason = match self.append(buffer)? {
                Err(reason) => reason,
                Ok(()) if buffer.len() - start > self.limit => too_long("row", self.limit),
                Ok(()) => return Ok(Found::Document),
            };
            buffer.truncate(start);
            return Ok(Found::Rejected(reason));
        }
    }

    fn pauses(&mut self, until: Instant) -> bool {
        let behind = self.reader.position().byte();
        let source = self.reader.get_mut();
        // The reader of rows has no more of the source than whole lines.
        source.given == behind && source.source.pauses(until, b'\n')
    }

    fn number(&self) -> u64 {
        self.line + self.front
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

/// A reader of rows that are written so.
fn reader(source: Bytes, dialect: &Dialect, left: &Arc<AtomicUsize>) -> csv::Reader<Bounded> {
    let source = Bounded {
        source,
        left: Arc::clone(left),
        given: 0,
        end: END,
    };
    csv::ReaderBuilder::new()
        .delimiter(dialect.delimiter)
        .quoting(dialect.quoting)
        // Rows that have more or fewer fields are rejected one by one.
        .flexible(true)
        // Lines are counted only where each record ends with its line.
        .terminator(csv::Terminator::Any(b'\n'))
        .has_headers(false)
        .buffer_capacity(READ_BYTES)
        .from_reader(source)
}

/// The names in a header.
fn names(header: &ByteRecord) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    for (at, name) in header.iter().enumerate() {
        let place = at + 1;
        let name = str::from_utf8(name);
        let name =
            name.map_err(|_| invalid(&format!("the name of column {place} is not UTF-8")))?;
        match name.trim() {
            "" => {
                return Err(invalid(&format!(
                    "column {place} has no name: the first line must name all columns"
                )));
            }
            name if names.iter().any(|other| other == name) => {
                return Err(invalid(&format!(
                    "two columns are called {name:?}: give each its own name"
                )));
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok(names)
}

/// Returns a cell without the carriage return with which lines of some systems end.
fn without_return(cell: &[u8]) -> &[u8] {
    cell.strip_suffix(b"\r").unwrap_or(cell)
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("line 1: {reason}"))
}

/// A source of which only so much may be read for one record.
struct Bounded {
    source: Bytes,
    left: Arc<AtomicUsize>,
    /// Bytes that were read.
    given: u64,
    /// The bytes behind the source that were not read yet.
    end: &'static [u8],
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the record is longer than this memory budget allows: a quotation mark may be missing, or give more \
                 with --memory",
            ));
        }
        let at_hand = self.source.fill_buf()?;
        let most = buffer.len().min(left);
        // Whole lines, where there are some: what is left of a line stays where it is seen.
        let lines = at_hand.iter().take(most).rposition(|byte| *byte == b'\n');
        let most = lines.map_or(most, |last| last + 1);
        let read = match self.source.read(&mut buffer[..most])? {
            0 => self.end.read(&mut buffer[..most])?,
            read => read,
        };
        self.left.store(left - read, Ordering::Relaxed);
        self.given += read as u64;
        Ok(read)
    }
}
