//! The failures of a request, and their messages.
//!
//! A request that may succeed later is tried again, with growing pauses, until the time of its
//! batch is over. Everything else ends at once. An error names the URL, the object and what to do.

use std::future::Future;
use std::time::{Duration, Instant};

use gannet::Error;

/// The first pause before a request is made again, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(3));

/// Why a request gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no such object.
    Missing,
    /// It is the version that is known.
    Same,
    /// It is another version than the one that was to be replaced.
    Changed,
    /// The store rejects the request: it would do so again.
    Rejected(String),
    /// The store or the network failed: it may be better later.
    Failed(String),
}

/// The answer to a request.
pub(crate) type Answer<T> = Result<T, Fault>;

impl From<object_store::Error> for Fault {
    fn from(error: object_store::Error) -> Fault {
        use object_store::Error as E;
        match error {
            E::NotFound { .. } => Fault::Missing,
            E::NotModified { .. } => Fault::Same,
            E::Precondition { .. } | E::AlreadyExists { .. } => Fault::Changed,
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Fault::Rejected(format!(
                "{}: check the credentials, and the rights of the bucket",
                short(&error)
            )),
            E::InvalidPath { .. } | E::NotSupported { .. } | E::NotImplemented { .. } => {
                Fault::Rejected(short(&error))
            }
            E::Generic { .. } if is_rejected(&error) => Fault::Rejected(format!(
                "{}: check the bucket, the region and the endpoint",
                short(&error)
            )),
            _ => Fault::Failed(short(&error)),
        }
    }
}

/// Returns true if a server has said that the request is wrong.
fn is_rejected(error: &object_store::Error) -> bool {
    let text = error.to_string();
    let code = text.split_once("status code: ").map(|(_, rest)| rest);
    let is_wrong =
        |code: &str| code.starts_with('4') && !code.starts_with("408") && !code.starts_with("429");
    code.is_some_and(is_wrong) || text.contains("redirect without LOCATION")
}

/// The words of an error on one line, without the bodies of answers, which are long.
fn short(error: &object_store::Error) -> String {
    const LONGEST: usize = 300;
    let mut text: String = error
        .to_string()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push_str(" ...");
    }
    text
}

impl Fault {
    /// The error for `operation` of `object`, an object's URL.
    pub(crate) fn error(self, operation: &'static str, object: String) -> Error {
        let reason = match self {
            Fault::Missing => "the object is not there (404): publish the index again".to_owned(),
            Fault::Same => {
                "the store says that nothing has changed, which was not asked".to_owned()
            }
            Fault::Changed => "another publisher has replaced it meanwhile".to_owned(),
            Fault::Rejected(reason) | Fault::Failed(reason) => reason,
        };
        Error::Device {
            operation,
            file: object,
            reason,
            full: false,
        }
    }
}

/// The time that the requests of one batch have together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    start: Instant,
    limit: Duration,
}

impl Deadline {
    pub(crate) fn after(limit: Duration) -> Deadline {
        Deadline {
            start: Instant::now(),
            limit,
        }
    }

    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed())
    }

    /// Returns the time that a request waits for the next bytes before it is made again.
    fn retention(&self) -> Duration {
        self.left().min(self.limit / 3)
    }

    /// Waits for the next bytes.
    pub(crate) async fn next<T>(&self, step: impl Future<Output = T>) -> Result<T, Fault> {
        let retention = self.retention();
        let waited = tokio::time::timeout(retention, step).await;
        waited.map_err(|_| Fault::Failed(format!("nothing came for {retention:.1?}")))
    }

    /// Makes a request again and again until it is answered, or the time is over. `noted` is called
    /// before each one but the first.
    pub(crate) async fn attempts<T, F>(
        &self,
        noted: impl Fn(),
        mut once: impl FnMut() -> F,
    ) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let mut pause = PAUSES.0;
        let mut made = 1;
        loop {
            let failed = match once().await {
                Err(Fault::Failed(reason)) => reason,
                done => return done,
            };
            if self.left() <= pause {
                return Err(Fault::Failed(format!(
                    "{failed} ({made} attempts in {:.1?}): check the network and the endpoint, or give \
                     the command more time with --remote-timeout",
                    self.start.elapsed()
                )));
            }
            tokio::time::sleep(pause).await;
            noted();
            made += 1;
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}
