//! Queries by the values of a field, written as comparisons: `field("price") > 5`.

use std::ops::Bound as End;

use gannet::Query;
use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDate, PyDateTime, PyDict, PyFloat, PyInt, PyString};

use crate::classes::class_of;
use crate::errors::invalid;
use crate::query::PyQuery;

/// A field that queries are made of.
#[pyclass(frozen, name = "Field", module = "gannet")]
pub struct PyField {
    #[pyo3(get)]
    name: String,
}

/// A value that a field is compared with.
pub struct Compared {
    /// The value as the query language has it.
    text: String,
    /// Set if it is a date or a moment, which strings may stand for in several ways.
    is_date: bool,
}

impl Compared {
    fn of(text: String) -> Compared {
        Compared {
            text,
            is_date: false,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Compared {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Compared> {
        if let Ok(value) = object.cast::<PyBool>() {
            return Ok(Compared::of(value.is_true().to_string()));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Compared::of(text.to_string()));
        }
        if object.is_instance_of::<PyInt>() {
            return Ok(Compared::of(object.str()?.to_string()));
        }
        if let Ok(number) = object.cast::<PyFloat>() {
            return Ok(Compared::of(spelled(number.extract()?)?));
        }
        let date = if object.is_instance_of::<PyDateTime>() {
            Some(moment(&object)?)
        } else if object.is_instance_of::<PyDate>() {
            Some(object.call_method0("isoformat")?.extract()?)
        } else {
            None
        };
        if let Some(text) = date {
            return Ok(Compared {
                text,
                is_date: true,
            });
        }
        Err(invalid(format!(
            "expected a value to compare a field with, which is a string, a number, a boolean or a date, found {}",
            class_of(&object)
        )))
    }
}

/// A number as JSON spells it.
fn spelled(number: f64) -> PyResult<String> {
    if number.is_finite() {
        Ok(format!("{number:?}"))
    } else {
        Err(invalid(format!(
            "expected a finite number to compare a field with, found {number}"
        )))
    }
}

/// A moment in UTC to the millisecond. One without a time zone is taken as UTC.
fn moment(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let is_naive = object.call_method0("utcoffset")?.is_none();
    let in_utc = if is_naive {
        object.clone()
    } else {
        let utc = object
            .py()
            .import("datetime")?
            .getattr("timezone")?
            .getattr("utc")?;
        object.call_method1("astimezone", (utc,))?
    };
    let plain = PyDict::new(object.py());
    plain.set_item("tzinfo", object.py().None())?;
    let plain = in_utc.call_method("replace", (), Some(&plain))?;
    let text: String = plain
        .call_method1("isoformat", ("T", "milliseconds"))?
        .extract()?;
    Ok(text + "Z")
}

impl PyField {
    fn range(&self, lower: End<String>, upper: End<String>) -> PyQuery {
        PyQuery(Query::Range {
            field: Some(self.name.clone()),
            lower,
            upper,
        })
    }

    /// Documents with one of some values. A date stands for all that it begins, as in a range.
    fn one_of(&self, values: Vec<Compared>) -> PyQuery {
        let field = self.name.clone();
        if values.iter().all(|value| !value.is_date) {
            let values = values.into_iter().map(|value| value.text).collect();
            return PyQuery(Query::OneOf { field, values });
        }
        let each = values.into_iter().map(|value| {
            let end = End::Included(value.text);
            self.range(end.clone(), end).0
        });
        let mut each: Vec<Query> = each.collect();
        if each.len() == 1 {
            return PyQuery(each.remove(0));
        }
        PyQuery(Query::Bool {
            must: Vec::new(),
            should: each,
            must_not: Vec::new(),
            filter: Vec::new(),
            minimum_should_match: 0,
        })
    }
}

#[pymethods]
impl PyField {
    #[new]
    fn new(name: String) -> PyResult<PyField> {
        if name.is_empty() {
            return Err(invalid("expected the name of a field, found an empty one"));
        }
        Ok(PyField { name })
    }

    /// A query; of another field a boolean, so that fields can be the keys of a dict.
    fn __richcmp__<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        operator: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        if let Ok(other) = value.cast::<PyField>() {
            let is_same = self.name == other.get().name;
            match operator {
                CompareOp::Eq => return is_same.into_bound_py_any(py),
                CompareOp::Ne => return (!is_same).into_bound_py_any(py),
                _ => {}
            }
        }
        let value: Compared = value.extract()?;
        let query = match operator {
            CompareOp::Lt => self.range(End::Unbounded, End::Excluded(value.text)),
            CompareOp::Le => self.range(End::Unbounded, End::Included(value.text)),
            CompareOp::Gt => self.range(End::Excluded(value.text), End::Unbounded),
            CompareOp::Ge => self.range(End::Included(value.text), End::Unbounded),
            CompareOp::Eq => self.one_of(vec![value]),
            CompareOp::Ne => self.one_of(vec![value]).without()?,
        };
        query.into_bound_py_any(py)
    }

    /// Documents with a value between two others. `inclusive` says which of these count too.
    #[pyo3(signature = (lower, upper, *, inclusive="both"))]
    fn between(&self, lower: Compared, upper: Compared, inclusive: &str) -> PyResult<PyQuery> {
        let (from, to) = match inclusive {
            "both" => (true, true),
            "left" => (true, false),
            "right" => (false, true),
            "neither" => (false, false),
            other => {
                return Err(crate::options::unknown(
                    "inclusive",
                    other,
                    "both, left, right, neither",
                ));
            }
        };
        let end = |value: Compared, is_in: bool| {
            if is_in {
                End::Included(value.text)
            } else {
                End::Excluded(value.text)
            }
        };
        Ok(self.range(end(lower, from), end(upper, to)))
    }

    /// Documents that have one of these values.
    fn isin(&self, values: Vec<Compared>) -> PyResult<PyQuery> {
        if values.is_empty() {
            return Err(invalid("isin: expected at least one value"));
        }
        Ok(self.one_of(values))
    }

    /// Documents that have any value.
    fn exists(&self) -> PyQuery {
        let field = self.name.clone();
        PyQuery(Query::Exists { field })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let class = py.import("gannet._native")?.getattr("Field")?;
        Ok((class, (self.name.clone(),)))
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.name.hash(&mut hasher);
        hasher.finish()
    }

    /// A field is no condition: `and`, `or` and `if` would pass over it in silence.
    fn __bool__(&self) -> PyResult<bool> {
        Err(invalid(
            "a field is neither true nor false: compare it, as field(\"price\") > 5, and join queries by &, | and ~",
        ))
    }

    fn __repr__(&self) -> String {
        format!("<Field {:?}>", self.name)
    }
}
