//! Which columns there are, and what was decided about each.
//!
//! Columns are numbered in the order in which they were made; a number is never given again. All
//! decisions are the writer's. They stand in the log before the first document that they hold for,
//! and in each root, so that nobody else makes them.

use gannet_values::ValueType;

use crate::analysis::FieldId;
use crate::base::{ByteReader, DocId, Result, put_varint};

/// The number of a column.
pub type ColumnId = u16;

/// The most columns that an index can have: of a field of text a keyword and a date.
const COLUMNS_MAX: usize = 2 * crate::analysis::MAX_FIELDS;

const DECLARED: u8 = 1;
const CLOSED: u8 = 2;
const BESIDE_TEXT: u8 = 4;
const SETTLED: u8 = 8;
const LENIENT: u8 = 16;
const FLAGS: u8 = 31;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its field.
    pub field: FieldId,
    /// The type of its newest values. Older pieces of doubles may be longs.
    pub value_type: ValueType,
    /// Set if its type was declared, and not found.
    pub declared: bool,
    /// Set if a value that does not fit is left out, though the type was declared.
    pub lenient: bool,
    /// Set if it was given up: it has not all values.
    pub closed: bool,
    /// Set for the whole strings of a field of words; it has another name than the field.
    pub beside_text: bool,
    /// Set once it is known that it is kept.
    pub settled: bool,
    /// Values that did not fit and are not in it.
    pub misfits: u64,
}

/// The part of a column that flushes know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushedColumn {
    /// The number that the next string gets.
    pub next_number: u32,
    /// The first document of its last map and that of its last piece, if it has any.
    pub last: Option<(DocId, DocId)>,
}

/// All columns of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    columns: Vec<Column>,
    /// By field.
    of_field: Vec<Vec<ColumnId>>,
    /// The number of changes so far, but for counts of misfits.
    version: u64,
}

impl Column {
    /// A column that was found.
    pub fn found(field: FieldId, value_type: ValueType) -> Column {
        Column {
            field,
            value_type,
            declared: false,
            lenient: false,
            closed: false,
            beside_text: false,
            settled: false,
            misfits: 0,
        }
    }

    fn flags(&self) -> u8 {
        [
            (self.declared, DECLARED),
            (self.closed, CLOSED),
            (self.beside_text, BESIDE_TEXT),
            (self.settled, SETTLED),
            (self.lenient, LENIENT),
        ]
        .iter()
        .filter(|(is_set, _)| *is_set)
        .fold(0, |flags, (_, flag)| flags | flag)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.field as u64);
        out.push(self.value_type.code());
        out.push(self.flags());
        put_varint(out, self.misfits);
    }

    fn decode(reader: &mut ByteReader<'_>) -> Result<Column> {
        let field = reader.varint_u16()?;
        let code = reader.u8()?;
        let value_type =
            ValueType::from_code(code).ok_or_else(|| reader.damaged("a type of values", code))?;
        let flags = reader.u8()?;
        if flags & !FLAGS != 0 {
            return Err(reader.damaged("flags of a column", flags));
        }
        let has = |flag: u8| flags & flag != 0;
        Ok(Column {
            field,
            value_type,
            declared: has(DECLARED),
            lenient: has(LENIENT),
            closed: has(CLOSED),
            beside_text: has(BESIDE_TEXT),
            settled: has(SETTLED),
            misfits: reader.varint()?,
        })
    }
}

impl FlushedColumn {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.next_number as u64);
        match self.last {
            None => out.push(0),
            Some((map, piece)) => {
                out.push(1);
                put_varint(out, map as u64);
                put_varint(out, piece as u64);
            }
        }
    }

    pub(super) fn decode(reader: &mut ByteReader<'_>) -> Result<FlushedColumn> {
        Ok(FlushedColumn {
            next_number: reader.varint_u32()?,
            last: match reader.u8()? {
                0 => None,
                1 => Some((reader.varint_u32()?, reader.varint_u32()?)),
                other => return Err(reader.damaged("0 or 1", other)),
            },
        })
    }
}

impl Columns {
    /// Returns all columns, by their numbers.
    pub fn all(&self) -> &[Column] {
        &self.columns
    }

    /// Returns a column.
    pub fn get(&self, id: ColumnId) -> Option<&Column> {
        self.columns.get(id as usize)
    }

    /// Returns the columns of a field.
    pub fn of_field(&self, field: FieldId) -> &[ColumnId] {
        self.of_field.get(field as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of changes so far.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Adds a column.
    pub fn add(&mut self, column: Column) -> ColumnId {
        let id = self.columns.len() as ColumnId;
        self.index(column.field, id);
        self.columns.push(column);
        self.version += 1;
        id
    }

    /// Changes what was decided of a column.
    pub fn change(&mut self, id: ColumnId, change: impl FnOnce(&mut Column)) {
        if let Some(column) = self.columns.get_mut(id as usize) {
            change(column);
            self.version += 1;
        }
    }

    /// Counts values that did not fit.
    pub fn count_misfits(&mut self, id: ColumnId, misfits: u64) {
        if let Some(column) = self.columns.get_mut(id as usize) {
            column.misfits += misfits;
        }
    }

    /// Takes newer decisions. Counts stay, but for columns that are new.
    pub fn take(&mut self, newer: Columns) {
        if newer.version <= self.version {
            return;
        }
        let misfits: Vec<u64> = self.columns.iter().map(|column| column.misfits).collect();
        *self = newer;
        for (column, misfits) in self.columns.iter_mut().zip(misfits) {
            column.misfits = misfits;
        }
    }

    /// The same columns without counts, for documents that are written anew.
    pub fn anew(&self) -> Columns {
        let mut columns = self.clone();
        columns.columns.iter_mut().for_each(|c| c.misfits = 0);
        columns
    }

    /// Bytes of memory, about.
    pub fn memory_bytes(&self) -> usize {
        let places = size_of::<Column>() + size_of::<ColumnId>();
        self.columns.len() * places + self.of_field.len() * size_of::<Vec<ColumnId>>()
    }

    fn index(&mut self, field: FieldId, id: ColumnId) {
        let at = field as usize;
        if self.of_field.len() <= at {
            self.of_field.resize(at + 1, Vec::new());
        }
        self.of_field[at].push(id);
    }

    /// Appends all columns.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.version);
        put_varint(out, self.columns.len() as u64);
        self.columns.iter().for_each(|column| column.encode(out));
    }

    /// Reads what [`Columns::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Columns> {
        let mut columns = Columns {
            version: reader.varint()?,
            ..Columns::default()
        };
        for id in 0..reader.length(COLUMNS_MAX)? {
            let column = Column::decode(reader)?;
            if column.field as usize >= crate::analysis::MAX_FIELDS {
                return Err(reader.damaged("the number of a field", column.field));
            }
            columns.index(column.field, id as ColumnId);
            columns.columns.push(column);
        }
        Ok(columns)
    }
}
