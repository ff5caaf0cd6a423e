//! `_source`: how much of the sources is returned.

use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::http::Call;
use crate::json::{Members, SourceFilter, kind_of};

/// The part of each source that is returned.
#[derive(Clone, Debug)]
pub enum SourceChoice {
    /// None of it.
    None,
    /// The members that stay.
    Filtered(SourceFilter),
}

/// Parameters of a URL that say so.
pub const SOURCE_PARAMETERS: [&str; 3] = ["_source", "_source_includes", "_source_excludes"];

impl Default for SourceChoice {
    fn default() -> SourceChoice {
        SourceChoice::Filtered(SourceFilter::default())
    }
}

impl SourceChoice {
    /// Reads the member `_source` of a body.
    pub fn parse(value: &Value) -> Outcome<SourceChoice> {
        let filter = match value {
            Value::Bool(false) => return Ok(SourceChoice::None),
            Value::Bool(true) => SourceFilter::default(),
            Value::String(pattern) => including(vec![pattern.clone()]),
            Value::Array(list) => including(texts(list)?),
            Value::Object(_) => {
                let members = Members::of("_source", value)?;
                let known = ["includes", "excludes", "include", "exclude"];
                members.check(&known, &["exclude_vectors"])?;
                let list = |names: [&str; 2]| -> Outcome<Vec<String>> {
                    let texts = match members.texts(names[0])? {
                        Some(texts) => Some(texts),
                        None => members.texts(names[1])?,
                    };
                    let texts = texts.unwrap_or_default().into_iter();
                    Ok(texts.map(str::to_owned).collect())
                };
                SourceFilter {
                    includes: list(["includes", "include"])?,
                    excludes: list(["excludes", "exclude"])?,
                }
            }
            other => {
                return Err(Fault::parsing(format!(
                    "[_source] expected true, false, names or an object, found {}",
                    kind_of(other)
                )));
            }
        };
        Ok(SourceChoice::Filtered(filter))
    }

    /// Reads the parameters of a URL; nothing if there are none.
    pub fn of_call(call: &Call) -> Option<SourceChoice> {
        let list = |name: &str| {
            let names = call.parameter(name).unwrap_or_default().split(',');
            let names = names.filter(|name| !name.is_empty());
            names.map(str::to_owned).collect::<Vec<String>>()
        };
        let (mut includes, excludes) = (list("_source_includes"), list("_source_excludes"));
        match call.parameter("_source") {
            Some("false") => return Some(SourceChoice::None),
            Some("true" | "") => {}
            Some(_) => includes.extend(list("_source")),
            None if includes.is_empty() && excludes.is_empty() => return None,
            None => {}
        }
        Some(SourceChoice::Filtered(SourceFilter { includes, excludes }))
    }

    /// Returns true if sources need not be read.
    pub fn is_none(&self) -> bool {
        matches!(self, SourceChoice::None)
    }

    /// Returns true if sources stay as they are.
    pub fn takes_all(&self) -> bool {
        matches!(self, SourceChoice::Filtered(filter) if filter.takes_all())
    }

    /// Returns what is returned of a source.
    pub fn apply(&self, source: &[u8]) -> Outcome<Option<String>> {
        let SourceChoice::Filtered(filter) = self else {
            return Ok(None);
        };
        let source = std::str::from_utf8(source)
            .map_err(|error| Fault::internal(format!("a stored source is not UTF-8: {error}")))?;
        Ok(Some(filter.apply(source)))
    }
}

fn including(includes: Vec<String>) -> SourceFilter {
    SourceFilter {
        includes,
        excludes: Vec::new(),
    }
}

fn texts(list: &[Value]) -> Outcome<Vec<String>> {
    let texts = list.iter().map(|one| match one {
        Value::String(text) => Ok(text.clone()),
        other => Err(Fault::parsing(format!(
            "[_source] expected names, found {}",
            kind_of(other)
        ))),
    });
    texts.collect()
}
