//! Errors, split by who can act.

/// A failure of an aggregation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request asks for something that is wrong or not supported.
    #[error("{0}")]
    Request(String),
    /// The memory does not suffice, even with the most passes.
    #[error(
        "aggregation \"{aggregation}\" needs more memory than it may take: {bytes} bytes are \
         expected to suffice; raise the memory budget, or ask for fewer buckets"
    )]
    Memory {
        /// The name of the aggregation.
        aggregation: String,
        /// Bytes that are expected to suffice for all aggregations of the request.
        bytes: u64,
    },
    /// An answer has too many buckets.
    #[error(
        "aggregation \"{aggregation}\" would answer more than {limit} buckets: make its interval \
         larger, narrow its bounds, or set min_doc_count to 1"
    )]
    Buckets {
        /// The name of the aggregation.
        aggregation: String,
        /// The most buckets that it may answer.
        limit: usize,
    },
    /// The caller gave what was not asked for, or states that do not belong together.
    #[error("{0}")]
    Given(String),
}

impl Error {
    pub(crate) fn request(text: impl Into<String>) -> Error {
        Error::Request(text.into())
    }

    pub(crate) fn given(text: impl Into<String>) -> Error {
        Error::Given(text.into())
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
