//! Rows of Arrow data as lines of JSON.
//!
//! Text, numbers, booleans, dates, lists and structs have a place in JSON; nulls are left out. Of
//! any other type the schema is rejected before a row is read, with the name of the column.

use std::fmt::Debug;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions as temporal;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};

use crate::json::{append_float, append_text};

/// A sentence that names a column or a cell and its fault.
pub type Fault = String;

/// Writes rows of one schema.
pub struct RowWriter {
    /// Each column as the beginning of a JSON member, with its name.
    columns: Vec<(Vec<u8>, String)>,
    /// The column that has the external IDs, where the caller names it.
    id: Option<usize>,
}

impl RowWriter {
    /// For rows of `schema`, whose column `id` has the external IDs.
    pub fn new(schema: &Schema, id: Option<&str>) -> Result<RowWriter, Fault> {
        for field in schema.fields() {
            check(field, field.name())?;
        }
        let place = |name: &str| {
            schema
                .fields()
                .iter()
                .position(|field| field.name() == name)
        };
        let id_column = match id {
            None => None,
            Some(name) => Some(place(name).ok_or_else(|| {
                format!(
                    "there is no column {name:?} for the IDs: the columns are {}",
                    names(schema)
                )
            })?),
        };
        if id.is_some_and(|name| name != "id") && place("id").is_some() {
            return Err(format!(
                "there is a column \"id\" beside the IDs in {:?}: rename it, since \"id\" is the ID in the index",
                id.unwrap_or_default()
            ));
        }
        let columns = schema.fields().iter().enumerate().map(|(at, field)| {
            let name = if id_column == Some(at) {
                "id"
            } else {
                field.name()
            };
            let mut member = Vec::new();
            append_text(name, &mut member);
            member.push(b':');
            (member, field.name().clone())
        });
        Ok(RowWriter {
            columns: columns.collect(),
            id: id_column,
        })
    }

    /// Appends one row as a JSON object.
    pub fn append(&self, batch: &RecordBatch, row: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        if let Some(id) = self.id
            && is_null(&**batch.column(id), row)
        {
            return Err(format!(
                "column {:?}: expected an ID, found none: every row needs one where id= names the column",
                self.columns[id].1
            ));
        }
        out.push(b'{');
        let mut comma = false;
        for (column, (member, name)) in batch.columns().iter().zip(&self.columns) {
            if is_null(&**column, row) {
                continue;
            }
            if std::mem::replace(&mut comma, true) {
                out.push(b',');
            }
            out.extend_from_slice(member);
            append_cell(&**column, row, out)
                .map_err(|reason| format!("column {name:?}: {reason}"))?;
        }
        out.push(b'}');
        Ok(())
    }
}

fn names(schema: &Schema) -> String {
    let names: Vec<String> = schema
        .fields()
        .iter()
        .map(|f| format!("{:?}", f.name()))
        .collect();
    names.join(", ")
}

/// Rejects a type that has no place in JSON.
fn check(field: &Field, path: &str) -> Result<(), Fault> {
    use DataType::*;
    match field.data_type() {
        Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Ok(()),
        Float16 | Float32 | Float64 | Utf8 | LargeUtf8 | Utf8View | Date32 | Date64 => Ok(()),
        Timestamp(..) | Decimal128(..) | Decimal256(..) => Ok(()),
        List(item) | LargeList(item) | FixedSizeList(item, _) => check(item, path),
        Struct(fields) => fields
            .iter()
            .try_for_each(|field| check(field, &format!("{path}.{}", field.name()))),
        Dictionary(_, values) => check(&Field::new(path, (**values).clone(), true), path),
        other => Err(format!(
            "column {path:?} has the type {other}, which a document has no value for: cast it to text or numbers, \
             or leave it out"
        )),
    }
}

/// Returns true if a cell has no value.
fn is_null(array: &dyn Array, row: usize) -> bool {
    array.is_null(row) || matches!(array.data_type(), DataType::Null)
}

fn append_cell(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    use DataType::*;
    if is_null(array, row) {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    match array.data_type() {
        Boolean => append_number(array.as_boolean().value(row), out),
        Int8 => append_primitive::<Int8Type>(array, row, out),
        Int16 => append_primitive::<Int16Type>(array, row, out),
        Int32 => append_primitive::<Int32Type>(array, row, out),
        Int64 => append_primitive::<Int64Type>(array, row, out),
        UInt8 => append_primitive::<UInt8Type>(array, row, out),
        UInt16 => append_primitive::<UInt16Type>(array, row, out),
        UInt32 => append_primitive::<UInt32Type>(array, row, out),
        UInt64 => append_primitive::<UInt64Type>(array, row, out),
        Float16 => append_single(primitive::<Float16Type>(array, row).to_f32(), out)?,
        Float32 => append_single(primitive::<Float32Type>(array, row), out)?,
        Float64 => append_float(primitive::<Float64Type>(array, row), out)?,
        Utf8 => append_text(array.as_string::<i32>().value(row), out),
        LargeUtf8 => append_text(array.as_string::<i64>().value(row), out),
        Utf8View => append_text(array.as_string_view().value(row), out),
        Date32 => append_date(
            temporal::date32_to_datetime(primitive::<Date32Type>(array, row)),
            out,
        )?,
        Date64 => append_date(
            temporal::date64_to_datetime(primitive::<Date64Type>(array, row)),
            out,
        )?,
        Timestamp(unit, zone) => append_timestamp(array, row, *unit, zone.is_some(), out)?,
        Decimal128(..) => append_raw(
            &array.as_primitive::<Decimal128Type>().value_as_string(row),
            out,
        ),
        Decimal256(..) => append_raw(
            &array.as_primitive::<Decimal256Type>().value_as_string(row),
            out,
        ),
        List(_) => append_items(&*array.as_list::<i32>().value(row), out)?,
        LargeList(_) => append_items(&*array.as_list::<i64>().value(row), out)?,
        FixedSizeList(..) => append_items(&*array.as_fixed_size_list().value(row), out)?,
        Struct(fields) => append_struct(array, fields, row, out)?,
        Dictionary(keys, _) => append_entry(array, keys, row, out)?,
        other => return Err(format!("unexpected type {other}")),
    }
    Ok(())
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn append_primitive<T: ArrowPrimitiveType>(array: &dyn Array, row: usize, out: &mut Vec<u8>)
where
    T::Native: ToString,
{
    append_number(primitive::<T>(array, row), out);
}

fn append_number(number: impl ToString, out: &mut Vec<u8>) {
    append_raw(&number.to_string(), out);
}

fn append_raw(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

/// Spells a number of single precision as short as it reads back, not as its double.
fn append_single(value: f32, out: &mut Vec<u8>) -> Result<(), Fault> {
    if value.is_finite() {
        let _ = serde_json::to_writer(out, &value);
        Ok(())
    } else {
        append_float(value.into(), out)
    }
}

/// Appends a date of a column of dates: `2026-11-26`.
fn append_date(date: Option<impl Debug>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let text = iso(date)?;
    append_text(text.split('T').next().unwrap_or_default(), out);
    Ok(())
}

fn append_timestamp(
    array: &dyn Array,
    row: usize,
    unit: TimeUnit,
    has_zone: bool,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut text = match unit {
        TimeUnit::Second => iso(array
            .as_primitive::<TimestampSecondType>()
            .value_as_datetime(row)),
        TimeUnit::Millisecond => iso(array
            .as_primitive::<TimestampMillisecondType>()
            .value_as_datetime(row)),
        TimeUnit::Microsecond => iso(array
            .as_primitive::<TimestampMicrosecondType>()
            .value_as_datetime(row)),
        TimeUnit::Nanosecond => iso(array
            .as_primitive::<TimestampNanosecondType>()
            .value_as_datetime(row)),
    }?;
    if has_zone {
        // Arrow keeps moments of a time zone in UTC.
        text.push('Z');
    }
    append_text(&text, out);
    Ok(())
}

/// As ISO 8601 has it, which is how the type shows itself.
fn iso(moment: Option<impl Debug>) -> Result<String, Fault> {
    let moment = moment.ok_or("expected a date, found one beyond the calendar")?;
    Ok(format!("{moment:?}"))
}

fn append_items(items: &dyn Array, out: &mut Vec<u8>) -> Result<(), Fault> {
    out.push(b'[');
    for row in 0..items.len() {
        if row > 0 {
            out.push(b',');
        }
        append_cell(items, row, out)?;
    }
    out.push(b']');
    Ok(())
}

fn append_struct(
    array: &dyn Array,
    fields: &arrow_schema::Fields,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    out.push(b'{');
    for (at, (field, column)) in fields.iter().zip(array.as_struct().columns()).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        append_text(field.name(), out);
        out.push(b':');
        append_cell(&**column, row, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn append_entry(
    array: &dyn Array,
    keys: &DataType,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    fn key<T: ArrowDictionaryKeyType>(array: &dyn Array, row: usize) -> Option<usize> {
        array.as_dictionary::<T>().keys().value(row).to_usize()
    }
    let key = match keys {
        DataType::Int8 => key::<Int8Type>(array, row),
        DataType::Int16 => key::<Int16Type>(array, row),
        DataType::Int32 => key::<Int32Type>(array, row),
        DataType::Int64 => key::<Int64Type>(array, row),
        DataType::UInt8 => key::<UInt8Type>(array, row),
        DataType::UInt16 => key::<UInt16Type>(array, row),
        DataType::UInt32 => key::<UInt32Type>(array, row),
        DataType::UInt64 => key::<UInt64Type>(array, row),
        _ => None,
    };
    let values = array.as_any_dictionary().values();
    let key = key.filter(|key| *key < values.len());
    append_cell(
        &**values,
        key.ok_or("a key has no entry in its dictionary")?,
        out,
    )
}

/// An error of Arrow in a sentence.
pub fn sentence(error: &ArrowError) -> Fault {
    format!("the Arrow data cannot be read: {error}")
}
