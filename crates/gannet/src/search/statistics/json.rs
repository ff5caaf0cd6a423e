//! Statistics of a query as JSON, with a version: they go from one process to another.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{FieldCounts, QueryStatistics, SimilarTerms};
use crate::base::{Error, Result};
use crate::search::scoring::field::FieldStatistics;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 1;

/// The most bytes that are read.
const BYTES_MAX: usize = 16 << 20;

/// The largest count: every number that a JSON reader takes is exact up to it.
const COUNT_MAX: u64 = 1 << 53;

impl QueryStatistics {
    /// The statistics as JSON, which [`QueryStatistics::from_json`] reads.
    pub fn to_json(&self) -> String {
        let fields = self.fields.iter().map(|(name, counts)| {
            let similar = counts.similar.iter().map(|(written, similar)| {
                let terms = json!({"cut": similar.is_cut, "terms": similar.terms});
                (written.clone(), terms)
            });
            let counts = json!({
                "documents": counts.whole.documents,
                "tokens": counts.whole.total_length,
                "terms": counts.terms,
                "similar": similar.collect::<Map<_, _>>(),
            });
            (name.clone(), counts)
        });
        let fields: Map<String, Value> = fields.collect();
        json!({"version": VERSION, "fields": fields}).to_string()
    }

    /// Reads what [`QueryStatistics::to_json`] has written.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for what is no such JSON, has more than 16 MiB, is of another version, or
    /// cannot be: counts above 2^53, terms with more documents than their field.
    pub fn from_json(text: &str) -> Result<QueryStatistics> {
        if text.len() > BYTES_MAX {
            let bytes = text.len();
            return Err(rejected(&format!(
                "{bytes} bytes, the limit is {BYTES_MAX}"
            )));
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| rejected(&format!("found no JSON ({error})")))?;
        let mut top = Members::of(value, String::new())?;
        match top.take("version")? {
            Value::Number(version) if version.as_u64() == Some(VERSION) => {}
            other => {
                let found = excerpt(&other);
                return Err(rejected(&format!(
                    "expected version {VERSION}, found version {found}: use the same version of Gannet everywhere"
                )));
            }
        }
        let fields = top.members("fields")?;
        top.end()?;
        let fields = fields.each(FieldCounts::read)?;
        Ok(QueryStatistics { fields })
    }
}

impl FieldCounts {
    fn read(value: Value, path: String) -> Result<FieldCounts> {
        let mut members = Members::of(value, path.clone())?;
        let whole = FieldStatistics {
            documents: members.count("documents")?,
            total_length: members.count("tokens")?,
        };
        let terms = members.members("terms")?.each(count)?;
        let similar = members.members("similar")?.each(SimilarTerms::read)?;
        members.end()?;
        if whole.total_length < whole.documents {
            return Err(rejected(&format!(
                "{path} has fewer tokens ({}) than documents ({})",
                whole.total_length, whole.documents
            )));
        }
        let all = similar.values().flat_map(|similar| &similar.terms);
        for (term, documents) in terms.iter().chain(all) {
            if *documents > whole.documents {
                return Err(rejected(&format!(
                    "{path} has the term {term:.40?} in {documents} documents of {}",
                    whole.documents
                )));
            }
        }
        Ok(FieldCounts {
            whole,
            terms,
            similar,
        })
    }
}

impl SimilarTerms {
    fn read(value: Value, path: String) -> Result<SimilarTerms> {
        let mut members = Members::of(value, path)?;
        let is_cut = members.take("cut")?;
        let Value::Bool(is_cut) = is_cut else {
            return Err(members.wrong("cut", "true or false", &is_cut));
        };
        let terms = members.members("terms")?.each(count)?;
        members.end()?;
        Ok(SimilarTerms { is_cut, terms })
    }
}

/// The members of a JSON object, and where it stands.
struct Members {
    members: Map<String, Value>,
    path: String,
}

impl Members {
    fn of(value: Value, path: String) -> Result<Members> {
        match value {
            Value::Object(members) => Ok(Members { members, path }),
            other => Err(rejected(&format!(
                "expected an object{}, found {}",
                if path.is_empty() {
                    String::new()
                } else {
                    format!(" in {path}")
                },
                excerpt(&other)
            ))),
        }
    }

    fn place(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    fn take(&mut self, name: &str) -> Result<Value> {
        let found = self.members.remove(name);
        found.ok_or_else(|| rejected(&format!("{} is missing", self.place(name))))
    }

    fn members(&mut self, name: &str) -> Result<Members> {
        Members::of(self.take(name)?, self.place(name))
    }

    fn count(&mut self, name: &str) -> Result<u64> {
        count(self.take(name)?, self.place(name))
    }

    /// Reads all members.
    fn each<T>(self, read: impl Fn(Value, String) -> Result<T>) -> Result<BTreeMap<String, T>> {
        let path = self.path;
        let read = |(name, value)| {
            let place = format!("{path}.{name}");
            Ok((name, read(value, place)?))
        };
        self.members.into_iter().map(read).collect()
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> Error {
        let (place, found) = (self.place(name), excerpt(found));
        rejected(&format!("expected {expected} in {place}, found {found}"))
    }

    /// Checks that all members were taken.
    fn end(&self) -> Result<()> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(name) => Err(rejected(&format!("{:.80} is unknown", self.place(name)))),
        }
    }
}

fn count(value: Value, place: String) -> Result<u64> {
    let count = value.as_u64().filter(|count| *count <= COUNT_MAX);
    count.ok_or_else(|| {
        let found = excerpt(&value);
        rejected(&format!(
            "expected a count from 0 to 2^53 in {place:.80}, found {found}"
        ))
    })
}

/// The beginning of a value.
fn excerpt(value: &Value) -> String {
    format!("{:.40}", value.to_string())
}

fn rejected(reason: &str) -> Error {
    Error::invalid(format!("statistics of a query as JSON: {reason}"))
}
