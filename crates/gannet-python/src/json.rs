//! Python objects as JSON, and JSON as Python objects.
//!
//! A document is written straight from its dict. What JSON has no value for is an error that names
//! the field: `NaN`, bytes, objects of unknown classes.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::classes::class_of;
use crate::converting::{Plain, fields_of, plain};
use crate::errors::{invalid, invalid_from};

/// The depth to which objects may be nested, as in the engine.
const DEPTH_MAX: usize = 32;

/// Digits of an integer that fits into 64 bits are written without a detour through text.
type Short = i64;

/// The names of a document's members.
#[derive(Clone, Copy, Default)]
pub struct Naming<'a> {
    /// The member that is the external ID, where it is not called `id`.
    pub id: Option<&'a str>,
}

/// Appends a document as one line of JSON.
pub fn append_document(
    document: &Bound<'_, PyAny>,
    naming: Naming<'_>,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let document = &fields_of(document)?;
    let start = out.len();
    let depth = 0;
    let written = Writer { naming, out, depth }.document(document);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Appends a text as JSON.
pub fn append_text(text: &str, out: &mut Vec<u8>) {
    // Writing text to a vector cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends a number, which must be finite.
pub fn append_float(value: f64, out: &mut Vec<u8>) -> Result<(), String> {
    if value.is_finite() {
        let _ = serde_json::to_writer(out, &value);
        Ok(())
    } else {
        Err(no_number(&value.to_string()))
    }
}

fn no_number(text: &str) -> String {
    format!("{text} is no number that JSON has: leave it out, or use None")
}

/// The value of JSON text.
pub fn value<'py>(py: Python<'py>, json: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let loads = LOADS.import(py, "json", "loads")?;
    loads.call1((PyBytes::new(py, json),))
}

struct Writer<'a> {
    naming: Naming<'a>,
    out: &'a mut Vec<u8>,
    /// Lists and objects around the value, but for the document.
    depth: usize,
}

/// The path to a value in a document: field names from the outside in.
struct FieldPath<'p> {
    name: &'p str,
    outer: Option<&'p FieldPath<'p>>,
}

impl FieldPath<'_> {
    fn dotted(&self) -> String {
        match self.outer {
            None => self.name.to_owned(),
            Some(outer) => format!("{}.{}", outer.dotted(), self.name),
        }
    }
}

impl Writer<'_> {
    fn document(&mut self, document: &Bound<'_, PyMapping>) -> PyResult<()> {
        let Some(id) = self.naming.id else {
            return self.object(document, None);
        };
        let found = document.get_item(id).ok().filter(|value| !value.is_none());
        if found.is_none() {
            return Err(invalid(format!(
                "expected an ID in the field {id:?}, found none: every document needs one where id= names it"
            )));
        }
        if id != "id" && document.contains("id")? {
            return Err(invalid(format!(
                "the document has a field \"id\" beside the ID in {id:?}: rename it, since \"id\" is the ID in the index"
            )));
        }
        self.object(document, None)
    }

    fn object(
        &mut self,
        object: &Bound<'_, PyMapping>,
        outer: Option<&FieldPath<'_>>,
    ) -> PyResult<()> {
        self.out.push(b'{');
        let mut comma = false;
        if let Ok(dict) = object.cast::<PyDict>() {
            for (key, value) in dict.iter() {
                self.member(&key, &value, outer, &mut comma)?;
            }
        } else {
            for pair in object.items()?.iter() {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
                self.member(&key, &value, outer, &mut comma)?;
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn member(
        &mut self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        outer: Option<&FieldPath<'_>>,
        comma: &mut bool,
    ) -> PyResult<()> {
        let Ok(name) = key.cast::<PyString>() else {
            return Err(invalid(format!(
                "expected a string as the name of a field, found {}",
                class_of(key)
            )));
        };
        let name = text_of(name, "the name of a field")?;
        if std::mem::replace(comma, true) {
            self.out.push(b',');
        }
        let is_id = outer.is_none() && self.naming.id == Some(name.as_str());
        append_text(if is_id { "id" } else { &name }, self.out);
        self.out.push(b':');
        self.value(value, &FieldPath { name: &name, outer })
    }

    fn value(&mut self, value: &Bound<'_, PyAny>, path: &FieldPath<'_>) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            append_text(
                &text_of(text, &format!("field {:?}", path.dotted()))?,
                self.out,
            );
        } else if value.is_none() {
            self.out.extend_from_slice(b"null");
        } else if let Ok(flag) = value.cast::<PyBool>() {
            let word: &[u8] = if flag.is_true() { b"true" } else { b"false" };
            self.out.extend_from_slice(word);
        } else if value.is_instance_of::<PyInt>() {
            self.integer(value)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number.value(), path)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.items(list.iter(), path)?;
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.items(tuple.iter(), path)?;
        } else if let Ok(object) = value.cast::<PyMapping>() {
            self.enter(path)?;
            self.object(object, Some(path))?;
            self.depth -= 1;
        } else if let (Ok(tuple), false) = (value.cast::<PyTuple>(), value.hasattr("_asdict")?) {
            self.items(tuple.iter(), path)?;
        } else {
            self.converted(value, path)?;
        }
        Ok(())
    }

    /// Goes into a list or an object, unless it is too deep, as one is that holds itself.
    fn enter(&mut self, path: &FieldPath<'_>) -> PyResult<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            Err(invalid(format!(
                "field {:?} is nested deeper than {DEPTH_MAX} levels: flatten it",
                path.dotted()
            )))
        } else {
            Ok(())
        }
    }

    fn items<'py>(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        path: &FieldPath<'_>,
    ) -> PyResult<()> {
        self.enter(path)?;
        self.out.push(b'[');
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.value(&item, path)?;
        }
        self.out.push(b']');
        self.depth -= 1;
        Ok(())
    }

    fn integer(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match value.extract::<Short>() {
            Ok(short) => self.out.extend_from_slice(short.to_string().as_bytes()),
            // A subclass may print as it likes.
            Err(_) => {
                let plain = value
                    .py()
                    .get_type::<PyInt>()
                    .call_method1("__repr__", (value,))?;
                self.out
                    .extend_from_slice(plain.extract::<String>()?.as_bytes());
            }
        }
        Ok(())
    }

    fn float(&mut self, value: f64, path: &FieldPath<'_>) -> PyResult<()> {
        append_float(value, self.out)
            .map_err(|reason| invalid(format!("field {:?}: {reason}", path.dotted())))
    }

    fn converted(&mut self, value: &Bound<'_, PyAny>, path: &FieldPath<'_>) -> PyResult<()> {
        match plain(value)? {
            Plain::Value(plain) => self.value(&plain, path),
            Plain::Number(digits) => {
                self.out.extend_from_slice(digits.as_bytes());
                Ok(())
            }
            Plain::NoNumber(text) => Err(invalid(format!(
                "field {:?}: {}",
                path.dotted(),
                no_number(&text)
            ))),
            Plain::Unfit => Err(unfit(&class_of(value), path)),
        }
    }
}

fn unfit(class: &str, path: &FieldPath<'_>) -> PyErr {
    let hint = match class {
        "bytes" | "bytearray" | "memoryview" => "decode it to a string",
        "set" | "frozenset" | "generator" | "collections.deque" => "make it a list",
        "datetime.timedelta" | "numpy.timedelta64" => "give seconds as a number, or a text",
        _ => "convert it, or leave it out",
    };
    invalid(format!(
        "field {:?}: expected a string, number, boolean, date, list, dict or None, found {class}: {hint}",
        path.dotted()
    ))
}

/// The text of a string, which may hold half a surrogate pair.
fn text_of(text: &Bound<'_, PyString>, what: &str) -> PyResult<String> {
    text.extract::<String>().map_err(|error| {
        let sentence = format!("{what}: expected text, found a string that UTF-8 cannot hold");
        invalid_from(text.py(), sentence, error)
    })
}
