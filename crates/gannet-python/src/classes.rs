//! Names of classes, as sentences have them.

use pyo3::prelude::*;

/// The name of the class of an object.
pub fn class_of(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().fully_qualified_name();
    name.map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}
