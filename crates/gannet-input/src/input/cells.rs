//! The kinds of cells that the columns of a file of rows have: numbers and booleans are such in
//! documents too, so that they have an order, and all else is text.
//!
//! The first rows decide: a column is of numbers if all of their cells are, but for empty ones. A
//! cell of a later row that is none stays text. Dates are found by the engine.

use std::str;

use csv::ByteRecord;
use gannet::values::Number;

use super::dialect::Dialect;

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellKind {
    /// Text.
    #[default]
    Text,
    /// Numbers as JSON writes them.
    Number,
    /// `true` and `false`.
    Boolean,
}

impl CellKind {
    /// Returns true if a cell is written as JSON writes values of this kind.
    pub fn has(self, cell: &str) -> bool {
        match self {
            CellKind::Text => false,
            CellKind::Number => Number::parse(cell).is_some(),
            CellKind::Boolean => matches!(cell, "true" | "false"),
        }
    }

    fn of(cell: &[u8]) -> CellKind {
        let cell = str::from_utf8(cell).unwrap_or_default();
        let mut kinds = [CellKind::Number, CellKind::Boolean].into_iter();
        kinds.find(|kind| kind.has(cell)).unwrap_or_default()
    }
}

/// The kinds of the columns of a file that begins so; its first record is the header.
pub fn cell_kinds(head: &[u8], dialect: &Dialect, columns: usize) -> Vec<CellKind> {
    let mut rows = csv::ReaderBuilder::new()
        .delimiter(dialect.delimiter)
        .quoting(dialect.quoting)
        .flexible(true)
        .from_reader(head.get(dialect.front..).unwrap_or_default());
    let mut kinds: Vec<Option<CellKind>> = vec![None; columns];
    let mut record = ByteRecord::new();
    // Where the head ends within a row, the rest of its last cell may say something else: such a
    // cell is then text in a column of numbers, as any other that is none.
    while matches!(rows.read_byte_record(&mut record), Ok(true)) {
        let cells = record
            .iter()
            .map(|cell| cell.strip_suffix(b"\r").unwrap_or(cell));
        for (kind, cell) in kinds
            .iter_mut()
            .zip(cells)
            .filter(|(_, cell)| !cell.is_empty())
        {
            let found = CellKind::of(cell);
            *kind = match *kind {
                Some(known) if known != found => Some(CellKind::Text),
                _ => Some(found),
            };
        }
    }
    kinds.into_iter().map(Option::unwrap_or_default).collect()
}
