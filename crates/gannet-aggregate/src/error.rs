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
        "the answer would have more than {limit} buckets, those of aggregation \"{aggregation}\" among \
         them: ask for fewer by its size, its interval, its bounds or min_doc_count, or for page after \
         page of a composite"
    )]
    Buckets {
        /// The aggregation whose bucket was one too many.
        aggregation: String,
        /// The most buckets of all aggregations together.
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
