//! Which columns there are, and what was decided about each.
//!
//! Columns are numbered in the order in which they were made; a number is never given again. All
//! decisions are the writer's. They stand in the log before the first document that they hold for,
//! and in each root, so that nobody else makes them.

use gannet_values::ValueType;

use crate::analysis::FieldId;
use crate::base::{ByteReader, DocId, Error, Result, put_varint};

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
    /// Numbers whose strings were taken out, since no document had them any more.
    pub dropped: u32,
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
    /// Of each column the version that changed it last; of those that were read, the version then.
    changed: Vec<u64>,
}

/// The columns that changed between two versions, in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnChanges {
    /// The version that is known before.
    since: u64,
    version: u64,
    columns: Vec<(ColumnId, Column)>,
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

    /// Reads a column whose field can be there.
    fn decode_of_field(reader: &mut ByteReader<'_>) -> Result<Column> {
        let column = Column::decode(reader)?;
        if column.field as usize >= crate::analysis::MAX_FIELDS {
            return Err(reader.damaged("the number of a field", column.field));
        }
        Ok(column)
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
        put_varint(out, self.dropped as u64);
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
            dropped: reader.varint_u32()?,
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
        self.changed.push(self.version);
        id
    }

    /// Changes what was decided of a column.
    pub fn change(&mut self, id: ColumnId, change: impl FnOnce(&mut Column)) {
        if let Some(column) = self.columns.get_mut(id as usize) {
            change(column);
            self.version += 1;
            self.changed[id as usize] = self.version;
        }
    }

    /// Counts values that did not fit.
    pub fn count_misfits(&mut self, id: ColumnId, misfits: u64) {
        if let Some(column) = self.columns.get_mut(id as usize) {
            column.misfits += misfits;
        }
    }

    /// Returns the columns that changed since a version.
    pub fn changes_since(&self, version: u64) -> ColumnChanges {
        let ids = 0..self.columns.len() as ColumnId;
        let own = ids.zip(&self.columns).zip(&self.changed);
        let newer = own.filter(|(_, changed)| **changed > version);
        ColumnChanges {
            since: version,
            version: self.version,
            columns: newer
                .map(|((id, column), _)| (id, column.clone()))
                .collect(),
        }
    }

    /// Takes newer decisions. Counts stay, but for columns that are new.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if others are missing before.
    pub fn take(&mut self, newer: ColumnChanges) -> Result<()> {
        if newer.version <= self.version {
            return Ok(());
        }
        if newer.since > self.version {
            return Err(lost(newer.since, self.version));
        }
        for (id, column) in newer.columns {
            let count = self.columns.len();
            match self.columns.get_mut(id as usize) {
                Some(known) => {
                    let misfits = known.misfits;
                    *known = Column { misfits, ..column };
                    self.changed[id as usize] = newer.version;
                }
                None if id as usize == count => {
                    self.index(column.field, id);
                    self.columns.push(column);
                    self.changed.push(newer.version);
                }
                None => return Err(lost(id.into(), count as u64)),
            }
        }
        self.version = newer.version;
        Ok(())
    }

    /// The same columns without counts, for documents that are written anew.
    pub fn anew(&self) -> Columns {
        let mut columns = self.clone();
        columns.columns.iter_mut().for_each(|c| c.misfits = 0);
        columns
    }

    /// Bytes of memory, about.
    pub fn memory_bytes(&self) -> usize {
        let places = size_of::<Column>() + size_of::<ColumnId>() + size_of::<u64>();
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
            let column = Column::decode_of_field(reader)?;
            columns.index(column.field, id as ColumnId);
            columns.columns.push(column);
            columns.changed.push(columns.version);
        }
        Ok(columns)
    }
}

impl ColumnChanges {
    /// The version that they lead to.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Appends them.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.since);
        put_varint(out, self.version);
        put_varint(out, self.columns.len() as u64);
        for (id, column) in &self.columns {
            put_varint(out, u64::from(*id));
            column.encode(out);
        }
    }

    /// Reads what [`ColumnChanges::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<ColumnChanges> {
        let (since, version) = (reader.varint()?, reader.varint()?);
        let mut columns = Vec::new();
        for _ in 0..reader.length(COLUMNS_MAX)? {
            let id = reader.varint_u16()?;
            columns.push((id, Column::decode_of_field(reader)?));
        }
        Ok(ColumnChanges {
            since,
            version,
            columns,
        })
    }
}

fn lost(found: u64, known: u64) -> Error {
    let reason = format!("expected what was decided up to {found}, got {known} decisions");
    Error::damaged("the columns in the log", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand fields that come one by one, and later changes, take a few bytes each in the log;
    /// who reads the records has the same columns, whatever record it begins with.
    #[test]
    fn records_have_the_columns_that_changed() {
        let (mut columns, mut bytes) = (Columns::default(), 0);
        let (mut read, mut late) = (Columns::default(), None);
        for step in 0..1_500u16 {
            let before = columns.version();
            match step {
                0..1_000 => drop(columns.add(Column::found(step, ValueType::Long))),
                _ => columns.change(step % 1_000, |column| column.value_type = ValueType::Double),
            }
            if step % 7 == 0 {
                columns.count_misfits(step % 500, 1);
            }
            let mut record = Vec::new();
            columns.changes_since(before).encode(&mut record);
            bytes += record.len();
            let changes = ColumnChanges::decode(&mut ByteReader::new(&record, "changes"));
            let changes = changes.unwrap();
            if step == 700 {
                let mut root = Vec::new();
                columns.encode(&mut root);
                let decoded = Columns::decode(&mut ByteReader::new(&root, "columns"));
                late = Some(decoded.unwrap());
            }
            if let Some(late) = &mut late {
                late.take(changes.clone()).unwrap();
            }
            read.take(changes).unwrap();
        }
        assert!(bytes < 1_500 * 16, "{bytes}");
        for read in [&read, late.as_ref().unwrap()] {
            assert_eq!(read.version(), columns.version());
            assert_eq!(read.of_field, columns.of_field);
            let types = |columns: &Columns| -> Vec<ValueType> {
                let all = columns.all().iter();
                all.map(|column| column.value_type).collect()
            };
            assert_eq!(types(read), types(&columns));
        }
        // What was decided before must be known.
        let mut empty = Columns::default();
        let changes = columns.changes_since(1_400);
        assert!(empty.take(changes).is_err());
    }
}
