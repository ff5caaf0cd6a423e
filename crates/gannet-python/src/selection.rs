//! Documents with some of their fields.
//!
//! A field has the name that it has in the index: `by.name` is the member `name` of the object
//! `by`. The name of an object stands for all that is in it.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The fields of these names, where they stand in the document.
pub fn selected<'py>(
    document: &Bound<'py, PyDict>,
    names: &[String],
) -> PyResult<Bound<'py, PyDict>> {
    members(document, "", names)
}

/// Returns the part of a value at `path` that belongs to the named fields; nothing if there is
/// none.
fn within<'py>(
    value: &Bound<'py, PyAny>,
    path: &str,
    names: &[String],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if names.iter().any(|name| name == path) {
        return Ok(Some(value.clone()));
    }
    if !names.iter().any(|name| is_within(name, path)) {
        return Ok(None);
    }
    if let Ok(object) = value.cast::<PyDict>() {
        let found = members(object, path, names)?;
        return Ok((!found.is_empty()).then(|| found.into_any()));
    }
    let Ok(items) = value.cast::<PyList>() else {
        return Ok(None);
    };
    let found = PyList::empty(value.py());
    for item in items {
        if let Some(item) = within(&item, path, names)? {
            found.append(item)?;
        }
    }
    Ok((!found.is_empty()).then(|| found.into_any()))
}

fn members<'py>(
    object: &Bound<'py, PyDict>,
    path: &str,
    names: &[String],
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(object.py());
    for (name, value) in object {
        let name: String = name.extract()?;
        let path = match path {
            "" => name.clone(),
            _ => format!("{path}.{name}"),
        };
        if let Some(value) = within(&value, &path, names)? {
            found.set_item(name, value)?;
        }
    }
    Ok(found)
}

/// Returns true if a field is a member of the object `name`, at any depth.
pub fn is_within(field: &str, name: &str) -> bool {
    let rest = field.strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with('.'))
}
