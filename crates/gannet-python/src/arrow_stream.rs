//! Streams of Arrow data from and to other packages, by the PyCapsule interface.

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::classes::class_of;
use crate::errors::{invalid, invalid_from};

/// The name of a capsule with a stream, as the interface has it.
const NAME: &CStr = c"arrow_array_stream";

/// The method that gives such a capsule.
const METHOD: &str = "__arrow_c_stream__";

/// Returns true if an object gives a stream of Arrow data.
pub fn has_stream(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr(METHOD).unwrap_or(false)
}

/// Takes the stream of an object.
pub fn reader(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0(METHOD).map_err(|error| {
        let sentence = format!("{} gives no Arrow data: {error}", class_of(object));
        if error.is_instance_of::<pyo3::exceptions::PyException>(object.py()) {
            invalid_from(object.py(), sentence, error)
        } else {
            error
        }
    })?;
    let Ok(capsule) = capsule.cast::<PyCapsule>() else {
        return Err(invalid(format!(
            "{METHOD} of {} gives no capsule",
            class_of(object)
        )));
    };
    let stream = capsule.pointer_checked(Some(NAME))?;
    // SAFETY: a capsule of this name holds a stream of the C interface, which is moved out of it:
    // what is left in its place is released, as the interface asks for.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr().cast()) };
    reader.map_err(|error| match error {
        // The schema of a stream of rows is that of a struct.
        ArrowError::CDataInterface(_) => invalid(format!(
            "{} gives one column and no rows: add a table whose columns have the names of fields, as \
             series.to_frame(\"body\")",
            class_of(object)
        )),
        error => invalid(crate::arrow_cells::sentence(&error)),
    })
}

/// A capsule with the stream of a reader.
pub fn capsule<'py>(
    py: Python<'py>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, NAME)
}
