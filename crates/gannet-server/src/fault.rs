//! Errors as Elasticsearch words them: a type, a reason, a status, and a root cause.

use std::fmt;

use gannet::Error;
use serde_json::{Map, Value, json};

/// The result of everything that a request asks for.
pub type Outcome<T> = Result<T, Fault>;

/// Seconds after which a request that found no place may be sent again.
pub const RETRY_AFTER: u32 = 1;

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
    /// The error that led to it, if that is another one.
    cause: Option<Box<Fault>>,
    /// Set if the answer is the sentence alone, as of errors before a request is understood.
    is_plain: bool,
}

impl Fault {
    /// Makes an error of a type with a status.
    pub fn new(status: u16, kind: &'static str, reason: impl Into<String>) -> Fault {
        Fault {
            status,
            kind,
            reason: reason.into(),
            index: None,
            cause: None,
            is_plain: false,
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
            "{feature} is not there in Gannet yet: docs/compatibility.md lists what is"
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

    /// Puts another error around this one, which stays as its cause.
    #[must_use]
    pub fn within(self, kind: &'static str, reason: impl Into<String>) -> Fault {
        Fault {
            status: self.status,
            kind,
            reason: reason.into(),
            index: self.index.clone(),
            is_plain: false,
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
