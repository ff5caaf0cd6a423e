//! Keyword arguments: whole numbers, and names that nothing has.
//!
//! A wrong value is an error that has the name of its argument. A name that another package has for
//! the same thing is answered with the name that is meant.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::errors::{Kind, fault, invalid};

/// Advice for unknown options: their names, the option that is meant, if there is one, and the
/// remedy.
type Advice = (&'static [&'static str], &'static str, &'static str);

const ADVICE: [Advice; 15] = [
    (
        &[
            "limit",
            "top_k",
            "topk",
            "top",
            "top_n",
            "n",
            "size",
            "num",
            "num_results",
            "rows",
            "max_results",
            "number_of_results",
        ],
        "k",
        "k= says how many documents are wanted",
    ),
    (
        &["skip", "start", "from_", "page"],
        "offset",
        "offset= says how many of the best documents are passed over",
    ),
    (
        &["filter", "filters", "where", "fq", "filter_by"],
        "",
        "filter= of search narrows what is found; elsewhere a filter is a part of the query: \
         \"whale AND #(year:1851)\", or Query.words(\"whale\") & query.as_filter()",
    ),
    (
        &["sort", "sort_by", "order", "order_by"],
        "",
        "sort= of search orders hits by values, as in sort=\"-date\"; hits.rescore(function) sorts them by \
         another number",
    ),
    (
        &["facet", "facets", "aggs", "aggregations", "group_by"],
        "",
        "facets= and aggs= of search count values",
    ),
    (
        &["default_operator", "mode", "conjunction"],
        "operator",
        "operator= says how words go together",
    ),
    (
        &[
            "field",
            "search_fields",
            "default_field",
            "default_fields",
            "default_field_names",
            "query_fields",
            "query_by",
            "qf",
            "in_fields",
        ],
        "",
        "name the field in the query: \"title:whale\"",
    ),
    (
        &["highlight_fields", "highlights", "snippets"],
        "highlight",
        "highlight= names the fields to make snippets of",
    ),
    (
        &[
            "columns",
            "select",
            "attributes",
            "include_fields",
            "source",
            "_source",
        ],
        "fields",
        "fields= names the fields that hits have",
    ),
    (
        &["raw", "parse", "plain", "escape", "literal"],
        "syntax",
        "syntax=\"plain\" takes a text as words alone",
    ),
    (
        &["n_jobs", "num_threads", "workers", "max_workers"],
        "threads",
        "threads= says how many threads work",
    ),
    (
        &[
            "id_field",
            "id_column",
            "id_col",
            "ids",
            "key",
            "primary_key",
        ],
        "id",
        "id= names the field or column of the IDs",
    ),
    (
        &["errors", "ignore_errors", "skip_errors", "strict"],
        "on_error",
        "on_error=\"skip\" passes over what is rejected",
    ),
    (
        &[
            "batch_size",
            "chunk_size",
            "chunksize",
            "overwrite",
            "replace",
            "upsert",
            "commit",
        ],
        "on_error",
        "leave it out: documents are written batch by batch, and one with the same ID is replaced",
    ),
    (
        &["readonly", "mode", "read"],
        "read_only",
        "read_only=True opens an index for reading",
    ),
];

/// Fails if there are keyword arguments that the call does not have.
pub fn none(call: &str, known: &[&str], unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(unknown) = unknown else {
        return Ok(());
    };
    match unknown.keys().iter().next() {
        None => Ok(()),
        Some(name) => Err(no_option(call, known, &name.to_string())),
    }
}

/// The error for an option that a call does not have.
pub fn no_option(call: &str, known: &[&str], name: &str) -> PyErr {
    let fits = |(names, option, _): &&Advice| {
        names.contains(&name) && (option.is_empty() || known.contains(option))
    };
    let what = match ADVICE.iter().find(fits) {
        Some((_, _, advice)) => (*advice).to_owned(),
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("{name}=")).collect();
            format!("it has {}", known.join(", "))
        }
    };
    fault(
        Kind::Option,
        format!("{call} has no option {name}=: {what}"),
    )
}

/// A whole number from 0 that an argument of this name has.
fn whole<'py, T: FromPyObjectOwned<'py>>(
    name: &str,
    given: Borrowed<'_, 'py, PyAny>,
) -> PyResult<T> {
    let number = given.extract::<T>().ok();
    let number = number.filter(|_| !given.is_instance_of::<PyBool>());
    number.ok_or_else(|| {
        let given = given
            .repr()
            .map_or_else(|_| "?".to_owned(), |text| text.to_string());
        invalid(format!("{name}={given}: expected a whole number from 0"))
    })
}

/// Makes a type of whole numbers for the argument of this name.
macro_rules! whole_number {
    ($type:ident, $number:ty, $name:literal) => {
        #[doc = concat!("What the argument `", $name, "` has.")]
        #[derive(Clone, Copy)]
        pub struct $type(pub $number);

        impl<'py> FromPyObject<'_, 'py> for $type {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<$type> {
                whole($name, object).map($type)
            }
        }
    };
}

whole_number!(K, usize, "k");
whole_number!(Offset, usize, "offset");
whole_number!(Threads, usize, "threads");
whole_number!(ExpectedVersion, u64, "expected_version");
whole_number!(Slop, u32, "slop");
whole_number!(Distance, u8, "distance");
whole_number!(AtLeast, u32, "at_least");

/// The names of fields that an argument has: one, or several.
fn names(name: &str, what: &str, given: Borrowed<'_, '_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(one) = given.cast::<PyString>() {
        return Ok(vec![one.to_string()]);
    }
    if given.is(PyBool::new(given.py(), false)) {
        return Ok(Vec::new());
    }
    given.extract::<Vec<String>>().map_err(|_| {
        let given = given
            .repr()
            .map_or_else(|_| "?".to_owned(), |text| text.to_string());
        invalid(format!(
            "{name}={given}: name {what}, as in {name}=\"body\" or {name}=[\"title\", \"body\"]"
        ))
    })
}

/// Makes a type of names of fields for the argument of this name.
macro_rules! field_names {
    ($type:ident, $name:literal, $what:literal) => {
        #[doc = concat!("What the argument `", $name, "` has.")]
        pub struct $type(pub Vec<String>);

        impl<'py> FromPyObject<'_, 'py> for $type {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<$type> {
                names($name, $what, object).map($type)
            }
        }
    };
}

field_names!(Highlight, "highlight", "the fields to make snippets of");
field_names!(Fields, "fields", "the fields that hits have");
