//! The rows of CSV as documents: the header names the members, an empty cell is none, and a column
//! of numbers or booleans alone has such in documents, too. IDs are strings.

use std::io::Cursor;

use csv::{ByteRecord, Position};
use gannet::values::Number;

use crate::fault::{Fault, Outcome, Place};

/// Columns of a body.
const COLUMNS_MAX: usize = 1_000;

/// Rows of CSV.
pub struct Rows<'a> {
    reader: csv::Reader<Cursor<&'a [u8]>>,
    names: Vec<String>,
    /// Set for columns whose cells are JSON as they stand.
    are_plain: Vec<bool>,
    record: ByteRecord,
    /// Set if nothing more can be read.
    is_over: bool,
}

impl<'a> Rows<'a> {
    /// Reads the header, and looks through all cells for their kinds.
    pub fn new(body: &'a [u8]) -> Outcome<Rows<'a>> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_reader(Cursor::new(body));
        let header = reader.byte_headers().map_err(|error| rejected(&error))?;
        let names = names(header)?;
        let mut are_plain = vec![None; names.len()];
        let mut record = ByteRecord::new();
        let begin = reader.position().clone();
        while matches!(reader.read_byte_record(&mut record), Ok(true)) {
            for (kind, cell) in are_plain.iter_mut().zip(&record) {
                if !cell.is_empty() {
                    let kinds = kind.get_or_insert([true, true]);
                    kinds[0] &= is_number(cell);
                    kinds[1] &= matches!(cell, b"true" | b"false");
                }
            }
        }
        let kinds = are_plain.into_iter().zip(&names);
        let are_plain =
            kinds.map(|(kind, name)| kind.is_some_and(|k: [bool; 2]| k[0] || k[1]) && name != "id");
        let are_plain = are_plain.collect();
        reader
            .seek(begin)
            .map_err(|error| Fault::internal(error.to_string()))?;
        Ok(Rows {
            reader,
            names,
            are_plain,
            record,
            is_over: false,
        })
    }

    fn document(&self) -> Result<Vec<u8>, String> {
        if self.record.len() != self.names.len() {
            return Err(format!(
                "expected {} cells as in the header, found {}",
                self.names.len(),
                self.record.len()
            ));
        }
        let mut object = vec![b'{'];
        let columns = self.names.iter().zip(&self.are_plain).zip(&self.record);
        for ((name, is_plain), cell) in columns {
            if cell.is_empty() {
                continue;
            }
            let cell =
                str::from_utf8(cell).map_err(|_| format!("the cell of {name:?} is not UTF-8"))?;
            if object.len() > 1 {
                object.push(b',');
            }
            object.extend_from_slice(serde_json::json!(name).to_string().as_bytes());
            object.push(b':');
            if *is_plain {
                object.extend_from_slice(cell.as_bytes());
            } else {
                object.extend_from_slice(serde_json::json!(cell).to_string().as_bytes());
            }
        }
        object.push(b'}');
        Ok(object)
    }
}

impl Iterator for Rows<'_> {
    type Item = (usize, Outcome<Vec<u8>>);

    /// The next document, with the line at which it begins.
    fn next(&mut self) -> Option<(usize, Outcome<Vec<u8>>)> {
        if self.is_over {
            return None;
        }
        let read = self.reader.read_byte_record(&mut self.record);
        let line = |position: Option<&Position>| position.map_or(0, |at| at.line() as usize);
        match read {
            Ok(false) => None,
            Ok(true) => {
                let source = self.document().map_err(Fault::document);
                // Blank lines before the record are no part of it.
                let within = self.record.as_slice().iter();
                let within = within.filter(|byte| **byte == b'\n').count();
                let behind = self.reader.position().line() as usize;
                let first = behind.saturating_sub(within + 1);
                Some((first.max(line(self.record.position())), source))
            }
            Err(error) => {
                self.is_over = true;
                Some((line(error.position()), Err(rejected(&error))))
            }
        }
    }
}

fn is_number(cell: &[u8]) -> bool {
    str::from_utf8(cell).is_ok_and(|cell| Number::parse(cell).is_some())
}

fn names(header: &ByteRecord) -> Outcome<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for (at, name) in header.iter().enumerate() {
        let name = str::from_utf8(name).unwrap_or_default().trim();
        let is_new = names.iter().all(|other| other != name);
        if name.is_empty() || !is_new || at >= COLUMNS_MAX {
            return Err(Fault::parsing(format!(
                "column {} of the header is empty, no UTF-8, there twice, or behind {COLUMNS_MAX} others: give each column a \
                 name of its own",
                at + 1
            ))
            .at(Place::in_body(1, 0)));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn rejected(error: &csv::Error) -> Fault {
    let fault = Fault::parsing(format!("the body cannot be read as CSV: {error}"));
    match error.position() {
        Some(at) => fault.at(Place::in_body(at.line() as usize, 0)),
        None => fault,
    }
}
