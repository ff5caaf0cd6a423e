//! Values of columns as a stream of Arrow batches.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use gannet::values::{Value, ValueType};
use gannet::{ColumnBatch, ColumnTable, Query, Snapshot, TableColumn};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow_stream;
use crate::errors::Raise;

/// The time zone of dates.
const ZONE: &str = "+00:00";

/// The name of the external ID among columns.
const ID: &str = "id";

/// The values of columns of all documents that a query finds.
#[pyclass(frozen, name = "Table", module = "gannet")]
pub struct PyTable {
    snapshot: Snapshot,
    query: Query,
    names: Vec<String>,
    timeout: Option<Duration>,
}

/// Makes one batch after the other.
struct TableBatches {
    table: ColumnTable,
    /// By the columns of Arrow: the place of the column in batches, nothing for the ID.
    places: Vec<Option<usize>>,
    schema: SchemaRef,
}

impl PyTable {
    /// Of the state that is there now. Fails if there is no such column.
    pub fn new(
        snapshot: Snapshot,
        query: Query,
        names: Vec<String>,
        timeout: Option<Duration>,
    ) -> PyResult<PyTable> {
        let table = PyTable {
            snapshot,
            query,
            names,
            timeout,
        };
        table.batches()?;
        Ok(table)
    }

    fn batches(&self) -> PyResult<TableBatches> {
        let of_columns = self.names.iter().filter(|name| *name != ID);
        let of_columns: Vec<String> = of_columns.cloned().collect();
        let with_ids = of_columns.len() < self.names.len();
        let table = self.snapshot.table(&self.query, &of_columns, with_ids);
        let table = table.or_raise()?.timeout(self.timeout);
        let (mut places, mut fields) = (Vec::new(), Vec::new());
        let mut columns = table.columns().iter().enumerate();
        for name in &self.names {
            if name == ID {
                places.push(None);
                fields.push(Field::new(ID, DataType::Utf8, false));
            } else if let Some((place, column)) = columns.next() {
                places.push(Some(place));
                fields.push(Field::new(name, type_of(column), true));
            }
        }
        Ok(TableBatches {
            table,
            places,
            schema: Arc::new(Schema::new(fields)),
        })
    }
}

#[pymethods]
impl PyTable {
    /// The names of its columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Arrow data, batch after batch, by the PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer pass over a schema that it cannot give.
        let _ = requested_schema;
        arrow_stream::capsule(py, self.batches()?)
    }

    /// A pyarrow.Table of all batches.
    fn to_arrow<'py>(slf: &Bound<'py, PyTable>) -> PyResult<Bound<'py, PyAny>> {
        PyTable::frame(slf, "stream_to_arrow")
    }

    /// A polars.DataFrame of all batches.
    fn to_polars<'py>(slf: &Bound<'py, PyTable>) -> PyResult<Bound<'py, PyAny>> {
        PyTable::frame(slf, "stream_to_polars")
    }

    /// A pandas.DataFrame of all batches.
    fn to_pandas<'py>(slf: &Bound<'py, PyTable>) -> PyResult<Bound<'py, PyAny>> {
        PyTable::frame(slf, "stream_to_pandas")
    }

    fn __repr__(&self) -> String {
        format!("<Table of {}>", self.names.join(", "))
    }
}

impl PyTable {
    fn frame<'py>(slf: &Bound<'py, PyTable>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("gannet._frames")?
            .call_method1(name, (slf,))
    }
}

impl TableBatches {
    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let failed = |error: gannet::Error| ArrowError::ExternalError(Box::new(error));
        let Some(batch) = self.table.next_batch().map_err(failed)? else {
            return Ok(None);
        };
        let columns = self.places.iter().map(|place| match place {
            None => Arc::new(StringArray::from_iter_values(&batch.ids)) as ArrayRef,
            Some(place) => array(&self.table.columns()[*place], &batch.columns[*place]),
        });
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect()).map(Some)
    }
}

impl Iterator for TableBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl RecordBatchReader for TableBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn type_of(column: &TableColumn) -> DataType {
    let one = match column.value_type {
        ValueType::Long => DataType::Int64,
        ValueType::Double => DataType::Float64,
        ValueType::Boolean => DataType::Boolean,
        ValueType::Date => DataType::Timestamp(TimeUnit::Millisecond, Some(ZONE.into())),
        ValueType::Ip | ValueType::Keyword => DataType::Utf8,
    };
    if column.has_several {
        DataType::List(Arc::new(Field::new_list_field(one, true)))
    } else {
        one
    }
}

/// The values of a column: one of each document, or a list; null where there is none.
fn array(column: &TableColumn, batch: &ColumnBatch) -> ArrayRef {
    match column.value_type {
        ValueType::Long => built(column, batch, Int64Builder::new(), |builder, value| {
            builder.append_option(whole(value));
        }),
        ValueType::Boolean => built(column, batch, BooleanBuilder::new(), |builder, value| {
            builder.append_option(match value {
                Some(Value::Boolean(value)) => Some(*value),
                _ => None,
            });
        }),
        ValueType::Double => built(column, batch, Float64Builder::new(), |builder, value| {
            builder.append_option(match value {
                Some(Value::Double(value)) => Some(*value),
                _ => None,
            });
        }),
        ValueType::Date => {
            let builder = TimestampMillisecondBuilder::new().with_timezone(ZONE);
            built(column, batch, builder, |builder, value| {
                builder.append_option(whole(value));
            })
        }
        ValueType::Ip => built(column, batch, StringBuilder::new(), |builder, value| {
            builder.append_option(value.map(Value::to_string));
        }),
        ValueType::Keyword => built(column, batch, StringBuilder::new(), |builder, value| {
            builder.append_option(match value {
                Some(Value::Keyword(text)) => Some(text),
                _ => None,
            });
        }),
    }
}

fn whole(value: Option<&Value<'_>>) -> Option<i64> {
    match value {
        Some(Value::Long(value) | Value::Date(value)) => Some(*value),
        _ => None,
    }
}

fn built<B: ArrayBuilder>(
    column: &TableColumn,
    batch: &ColumnBatch,
    mut builder: B,
    append: impl Fn(&mut B, Option<&Value<'_>>),
) -> ArrayRef {
    if !column.has_several {
        (0..batch.ends.len()).for_each(|at| append(&mut builder, batch.of(at).first()));
        return builder.finish();
    }
    let mut lists = ListBuilder::new(builder);
    for at in 0..batch.ends.len() {
        let values = batch.of(at);
        for value in values {
            append(lists.values(), Some(value));
        }
        lists.append(!values.is_empty());
    }
    Arc::new(lists.finish())
}
