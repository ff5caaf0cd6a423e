//! Errors as Elasticsearch words them: a type, a reason, a status, and a root cause.

use std::fmt;

use gannet::Error;
use serde_json::{Map, Value, json};

/// The result of everything that a request asks for.
pub type Outcome<T> = Result<T, Fault>;

/// Words of every error about what Elasticsearch has and Gannet has not.
const NOT_THERE: &str = "is not there in Gannet yet";

/// Seconds after which a request that found no place may be sent again.
pub const RETRY_AFTER: u32 = 1;

/// The place in a request at which something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The part of the request: `body`, `query`, `filter`.
    pub part: &'static str,
    /// The line, counted from 1; none of a query.
    pub line: Option<usize>,
    /// The column of the line in bytes, or the character of the query; counted from 1.
    pub position: Option<usize>,
}

/// An error that a client is told.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The status of HTTP.
    pub status: u16,
    /// The type, as Elasticsearch's clients know it.
    pub kind: &'static str,
    /// The reason: what, where, and what to do.
    pub reason: String,
    /// The index that it is about.
    pub index: Option<String>,
    /// The place in the request, where it is known.
    pub place: Option<Box<Place>>,
    /// The error that led to it, if that is another one.
    cause: Option<Box<Fault>>,
    /// Set if the answer is the sentence alone, as of errors before a request is understood.
    is_plain: bool,
    /// Set if a query does not fit the type of its field.
    is_of_field: bool,
}

impl Fault {
    /// Makes an error of a type with a status.
    pub fn new(status: u16, kind: &'static str, reason: impl Into<String>) -> Fault {
        Fault {
            status,
            kind,
            reason: reason.into(),
            index: None,
            place: None,
            cause: None,
            is_plain: false,
            is_of_field: false,
        }
    }

    /// Something in the request has no meaning, or not here.
    pub fn illegal(reason: impl Into<String>) -> Fault {
        Fault::new(400, "illegal_argument_exception", reason)
    }

    /// The body cannot be read as what it should be.
    pub fn parsing(reason: impl Into<String>) -> Fault {
        Fault::new(400, "parsing_exception", reason)
    }

    /// A part of the body is of another kind than what it should be.
    pub fn content(reason: impl Into<String>) -> Fault {
        Fault::new(400, "x_content_parse_exception", reason)
    }

    /// The same, of a body that is read with its members known beforehand.
    #[must_use]
    pub fn as_content(self) -> Fault {
        if self.kind == "parsing_exception" && !self.is_not_there() {
            Fault {
                kind: "x_content_parse_exception",
                ..self
            }
        } else {
            self
        }
    }

    /// Returns true if it is about what Elasticsearch has and Gannet has not.
    pub fn is_not_there(&self) -> bool {
        self.reason.contains(NOT_THERE)
    }

    /// A query does not fit the fields of an index.
    pub fn query_shard(reason: impl Into<String>) -> Fault {
        Fault {
            is_of_field: true,
            ..Fault::new(400, "query_shard_exception", reason)
        }
    }

    /// A date cannot be read.
    pub fn date(reason: impl Into<String>) -> Fault {
        Fault {
            is_of_field: true,
            ..Fault::new(400, "parse_exception", reason)
        }
    }

    /// A mapping cannot be had.
    pub fn mapping(reason: impl Into<String>) -> Fault {
        Fault::new(400, "mapper_parsing_exception", reason)
    }

    /// A document does not fit the mapping.
    pub fn document(reason: impl Into<String>) -> Fault {
        Fault::new(400, "document_parsing_exception", reason)
    }

    /// Elasticsearch has it, and Gannet does not.
    pub fn not_there(feature: &str) -> Fault {
        Fault::illegal(format!(
            "{feature} {NOT_THERE}: docs/compatibility.md lists what is"
        ))
    }

    /// A query asks for something that Elasticsearch has, and Gannet does not.
    pub fn query_not_there(feature: &str) -> Fault {
        Fault {
            kind: "parsing_exception",
            ..Fault::not_there(feature)
        }
    }

    /// There is no such index.
    pub fn no_index(name: &str) -> Fault {
        Fault::new(
            404,
            "index_not_found_exception",
            format!("no such index [{name}]"),
        )
        .of_index(name)
    }

    /// The server has too much to do, and nothing was done.
    pub fn busy(reason: impl Into<String>) -> Fault {
        Fault::new(429, "es_rejected_execution_exception", reason)
    }

    /// The server is at fault.
    pub fn internal(reason: impl Into<String>) -> Fault {
        Fault::new(500, "exception", reason)
    }

    /// The sentence alone, as Elasticsearch answers what it does not understand as a request.
    pub fn plain(status: u16, reason: impl Into<String>) -> Fault {
        Fault {
            is_plain: true,
            ..Fault::new(status, "exception", reason)
        }
    }

    /// The same, about an index.
    #[must_use]
    pub fn of_index(mut self, name: &str) -> Fault {
        self.index.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The same at a place of the request.
    #[must_use]
    pub fn at(mut self, place: Place) -> Fault {
        self.place.get_or_insert_with(|| Box::new(place));
        self
    }

    /// Returns true if it is that a query does not fit the type of its field.
    pub fn is_of_field(&self) -> bool {
        self.is_of_field
    }

    /// The same as clients are told it where an index found it, and not the reader of the request.
    #[must_use]
    pub fn of_shard(self) -> Fault {
        if self.is_of_field() {
            self.within("search_phase_execution_exception", "all shards failed")
        } else {
            self
        }
    }

    /// Puts another error around this one, which stays as its cause.
    #[must_use]
    pub fn within(self, kind: &'static str, reason: impl Into<String>) -> Fault {
        Fault {
            status: self.status,
            kind,
            reason: reason.into(),
            index: self.index.clone(),
            place: self.place.clone(),
            is_plain: false,
            is_of_field: false,
            cause: Some(Box::new(self)),
        }
    }

    /// The members that a cause has.
    pub fn cause_json(&self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("type".to_owned(), json!(self.kind));
        members.insert("reason".to_owned(), json!(self.reason));
        if let Some(index) = &self.index {
            if self.status == 404 {
                members.insert("resource.type".to_owned(), json!("index_or_alias"));
                members.insert("resource.id".to_owned(), json!(index));
            }
            // Clients of version 7 need one with each index, and none knows what it is.
            members.insert("index_uuid".to_owned(), json!("_na_"));
            members.insert("index".to_owned(), json!(index));
        }
        members
    }

    /// The same with what led to it.
    pub fn item_json(&self) -> Map<String, Value> {
        let mut members = self.cause_json();
        if let Some(cause) = &self.cause {
            members.insert("caused_by".to_owned(), json!(cause.cause_json()));
        }
        members
    }

    /// The whole answer.
    pub fn json(&self, with_trace: bool) -> Value {
        if self.is_plain {
            return json!({ "error": self.reason, "status": self.status });
        }
        let root = self.cause.as_deref().unwrap_or(self);
        let mut error = Map::new();
        error.insert("root_cause".to_owned(), json!([root.cause_json()]));
        error.extend(self.item_json());
        if with_trace {
            error.insert("stack_trace".to_owned(), json!(self.to_string()));
        }
        json!({ "error": error, "status": self.status })
    }
}

impl Fault {
    /// The answer of a route of Gannet's own: one sentence, and its place.
    pub fn own_json(&self) -> Value {
        let root = self.cause.as_deref().unwrap_or(self);
        let mut error = json!({
            "status": self.status,
            "code": code_of(self.status),
            "message": root.reason,
        });
        if let Some(index) = &self.index {
            error["index"] = json!(index);
        }
        if let Some(place) = &self.place {
            error["place"] = place.json();
        }
        json!({ "error": error })
    }
}

impl Place {
    /// A line and a column of the body.
    pub fn in_body(line: usize, column: usize) -> Place {
        Place {
            part: "body",
            line: Some(line),
            position: Some(column).filter(|column| *column > 0),
        }
    }

    /// Its object in an answer.
    pub fn json(&self) -> Value {
        let mut place = json!({ "part": self.part });
        let position = match self.line {
            Some(_) => "column",
            None => "character",
        };
        for (name, number) in [("line", self.line), (position, self.position)] {
            if let Some(number) = number {
                place[name] = json!(number);
            }
        }
        place
    }
}

/// The word for a status, which programs can compare.
fn code_of(status: u16) -> &'static str {
    match status {
        400 => "invalid",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "not_found",
        405 => "wrong_method",
        406 => "wrong_media_type",
        408 | 504 => "timeout",
        409 => "conflict",
        413 => "too_large",
        429 => "busy",
        503 => "unavailable",
        507 => "full",
        _ => "internal",
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "[{}] {}", self.kind, self.reason)?;
        match &self.cause {
            Some(cause) => write!(out, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let (status, kind) = match &error {
            Error::Invalid(_) => (400, "illegal_argument_exception"),
            Error::Buckets(_) => (400, "too_many_buckets_exception"),
            Error::Memory { .. } | Error::DocumentMemory { .. } | Error::LogMemory { .. } => {
                (429, "circuit_breaking_exception")
            }
            Error::Timeout { .. } => (504, "search_timeout_exception"),
            Error::Expired { .. } => (429, "es_rejected_execution_exception"),
            Error::Conflict { .. } => (409, "version_conflict_engine_exception"),
            Error::Locked { .. } => (503, "unavailable_shards_exception"),
            Error::Device { full: true, .. } => (507, "cluster_block_exception"),
            Error::Stopped(_) => (503, "engine_closed_exception"),
            _ => (500, "exception"),
        };
        Fault::new(status, kind, error.to_string())
    }
}
