//! Objects that stand for documents or values and are no dicts: dataclasses, models, named tuples,
//! rows, decimal numbers, scalars and arrays of other packages.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString, PyTuple, PyType};

use crate::classes::class_of;
use crate::errors::invalid;

/// The fields of a document, or an error that says what was found.
pub fn fields_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyMapping>> {
    known_fields(given)?.ok_or_else(|| {
        let hint = if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
            ": decode JSON with json.loads"
        } else {
            ""
        };
        invalid(format!(
            "expected a document, which is a dict, found {}{hint}",
            class_of(given)
        ))
    })
}

/// The fields of what stands for a document: a mapping, or an object that has names for its values.
pub fn known_fields<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyMapping>>> {
    if let Ok(mapping) = given.cast::<PyMapping>() {
        return Ok(Some(mapping.clone()));
    }
    if given.is_instance_of::<PyType>() {
        return Ok(None);
    }
    let py = given.py();
    let fields = if given.hasattr("__dataclass_fields__")? {
        Some(attributes(given, &given.getattr("__dataclass_fields__")?)?)
    } else if given.hasattr("__struct_fields__")? {
        Some(attributes(given, &given.getattr("__struct_fields__")?)?)
    } else if given.hasattr("__attrs_attrs__")? {
        let names = given.getattr("__attrs_attrs__")?.try_iter()?;
        let names = names.map(|field| field?.getattr("name"));
        let names = PyTuple::new(py, names.collect::<PyResult<Vec<_>>>()?)?;
        Some(attributes(given, names.as_any())?)
    } else if given.hasattr("model_dump")? {
        Some(given.call_method0("model_dump")?)
    } else if given.is_instance_of::<PyTuple>() && given.hasattr("_asdict")? {
        Some(given.call_method0("_asdict")?)
    } else if class_of(given) == "sqlite3.Row" {
        Some(py.get_type::<PyDict>().call1((given,))?)
    } else {
        None
    };
    Ok(fields
        .map(|fields| fields.cast_into::<PyMapping>())
        .transpose()?)
}

/// The attributes of an object that have these names.
fn attributes<'py>(
    object: &Bound<'py, PyAny>,
    names: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(object.py());
    for name in names.try_iter()? {
        let name = name?.cast_into::<PyString>()?;
        fields.set_item(&name, object.getattr(&name)?)?;
    }
    Ok(fields.into_any())
}

/// A value of another class as one that JSON has.
pub enum Plain<'py> {
    /// An object of Python that is plainer.
    Value(Bound<'py, PyAny>),
    /// Digits, as JSON has them.
    Number(String),
    /// A number that JSON does not have.
    NoNumber(String),
    /// Nothing that a document has a value for.
    Unfit,
}

/// Dates as ISO 8601 has them, decimal numbers digit by digit, IDs and paths as texts, and what
/// the scalars and arrays of other packages hold.
pub fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Plain<'py>> {
    if let Some(fields) = known_fields(value)? {
        return Ok(Plain::Value(fields.into_any()));
    }
    let class = class_of(value);
    let found = match class.split('.').next().unwrap_or_default() {
        "decimal" => return decimal(value),
        "datetime" => by_methods(value, &["isoformat"])?,
        "uuid" | "ipaddress" => Some(value.str()?.into_any()),
        "pathlib" => by_methods(value, &["__fspath__"])?,
        "pandas" if is_missing(&class) => Some(value.py().None().into_bound(value.py())),
        "pandas" => by_methods(value, &["isoformat", "tolist"])?,
        "numpy" => numpy(value)?,
        "polars" => by_methods(value, &["to_list"])?,
        "pyarrow" => by_methods(value, &["as_py", "to_pylist"])?,
        _ if is_enum(value)? => Some(value.getattr("value")?),
        _ => None,
    };
    // What numpy itself holds as an object does not become plain.
    let found =
        found.filter(|plain| class_of(plain) != class && !plain.is_instance_of::<PyBytes>());
    Ok(found.map_or(Plain::Unfit, Plain::Value))
}

/// Calls the first of these methods that there is.
fn by_methods<'py>(
    value: &Bound<'py, PyAny>,
    methods: &[&str],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    for method in methods {
        if value.hasattr(*method)? {
            return value.call_method0(*method).map(Some);
        }
    }
    Ok(None)
}

/// Returns true if it is a missing date or value of pandas.
fn is_missing(class: &str) -> bool {
    let name = class.rsplit('.').next();
    matches!(name, Some("NaTType" | "NAType"))
}

fn is_enum(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = value.py().import("enum")?.getattr("Enum")?;
    value.is_instance(&class)
}

fn decimal<'py>(value: &Bound<'py, PyAny>) -> PyResult<Plain<'py>> {
    let text = value.str()?.to_string();
    if value.call_method0("is_finite")?.is_truthy()? {
        Ok(Plain::Number(text))
    } else {
        Ok(Plain::NoNumber(text))
    }
}

/// Dates as texts: as numbers, they would be those of whatever unit numpy counts in.
fn numpy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let kind: String = match value.getattr("dtype").and_then(|kind| kind.getattr("kind")) {
        Ok(kind) => kind.extract()?,
        Err(_) => return Ok(None),
    };
    match kind.as_str() {
        "m" => Ok(None),
        "M" => {
            let numpy = value.py().import("numpy")?;
            if numpy
                .call_method1("isnat", (value,))?
                .call_method0("any")?
                .is_truthy()?
            {
                return match value.getattr("ndim")?.extract::<usize>()? {
                    0 => Ok(Some(value.py().None().into_bound(value.py()))),
                    _ => Ok(None),
                };
            }
            let texts = numpy.call_method1("datetime_as_string", (value,))?;
            texts.call_method0("tolist").map(Some)
        }
        _ => by_methods(value, &["tolist"]),
    }
}
