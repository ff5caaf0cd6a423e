//! The change that a request asks of one document.

use gannet::DocumentVersion;

use super::update::UpdateBody;
use crate::fault::{Fault, Outcome};
use crate::http::Call;

/// One change of one document.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// The ID; one is made if there is none.
    pub id: Option<String>,
    /// The state that must be there before.
    pub before: Precondition,
    /// The change.
    pub change: Change<'a>,
}

/// A change of a document.
#[derive(Clone, Debug)]
pub enum Change<'a> {
    /// It becomes this source, of which the ID is no part.
    Index(&'a [u8]),
    /// It becomes this source, whose member `id` is its ID.
    Put(&'a [u8]),
    /// Some members are replaced.
    Update(UpdateBody<'a>),
    /// It goes.
    Delete,
}

/// The kinds of actions, by the names that a bulk has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Adds or replaces a document.
    Index,
    /// Adds one that is not there.
    Create,
    /// Changes some members of one.
    Update,
    /// Deletes one.
    Delete,
}

/// The state that must be there before a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Whatever is there.
    #[default]
    Any,
    /// No document of this ID.
    Absent,
    /// The document that this operation brought.
    Sequence(u64),
    /// The document that was written so many times.
    Version(u64),
    /// None, or a document of a version below this one of another system, which the document then
    /// has; `or_equal` also one of the same version.
    External {
        /// The version of the change.
        version: u64,
        /// Set if the same version may be there.
        or_equal: bool,
    },
}

impl ActionKind {
    /// All of them.
    pub const ALL: [ActionKind; 4] = [
        ActionKind::Create,
        ActionKind::Delete,
        ActionKind::Index,
        ActionKind::Update,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ActionKind::Index => "index",
            ActionKind::Create => "create",
            ActionKind::Update => "update",
            ActionKind::Delete => "delete",
        }
    }

    /// Returns the state that must be there before, if nothing else is asked for.
    pub fn precondition(self) -> Precondition {
        match self {
            ActionKind::Create => Precondition::Absent,
            _ => Precondition::Any,
        }
    }
}

/// The number that clients are told of an operation: they count from 0, and the engine from 1.
pub fn sequence_number(sequence: u64) -> u64 {
    sequence.saturating_sub(1)
}

/// The operation of a number that a client was told.
fn sequence_of(number: u64) -> u64 {
    number.saturating_add(1)
}

impl Precondition {
    /// Reads the parameters of a URL.
    pub fn of_call(call: &Call) -> Outcome<Precondition> {
        Precondition::of(call.count("if_seq_no")?, call.count("if_primary_term")?)
    }

    /// Of a sequence number and a primary term, of which there is one or none of both.
    pub fn of(sequence: Option<u64>, term: Option<u64>) -> Outcome<Precondition> {
        match (sequence, term) {
            (None, None) => Ok(Precondition::Any),
            (Some(number), Some(_)) => Ok(Precondition::Sequence(sequence_of(number))),
            _ => Err(Fault::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: if_seq_no and if_primary_term are needed together;",
            )),
        }
    }

    /// Returns the version that the change brings from another system, if it does.
    pub fn external_version(self) -> Option<u64> {
        match self {
            Precondition::External { version, .. } => Some(version),
            _ => None,
        }
    }

    /// Fails unless it is met by what there is.
    pub fn check(self, id: &str, found: Option<DocumentVersion>) -> Outcome<()> {
        let conflict = |reason: String| {
            Err(Fault::new(
                409,
                "version_conflict_engine_exception",
                format!("[{id}]: version conflict, {reason}"),
            ))
        };
        match (self, found) {
            (Precondition::Absent, Some(found)) => conflict(format!(
                "document already exists (current version [{}])",
                found.version
            )),
            (Precondition::Sequence(wanted), Some(found)) if found.sequence != wanted => {
                conflict(format!(
                    "required seqNo [{}], primary term [1]. current document has seqNo [{}] and primary term [1]",
                    sequence_number(wanted),
                    sequence_number(found.sequence)
                ))
            }
            (Precondition::Version(wanted), found)
                if found.map(|found| found.version) != Some(wanted) =>
            {
                let found = found.map_or_else(
                    || "and there is none".to_owned(),
                    |found| format!("and it has version {}", found.version),
                );
                conflict(format!(
                    "version {wanted} of the document was expected, {found}"
                ))
            }
            (Precondition::External { version, or_equal }, Some(found))
                if found.version > version || (found.version == version && !or_equal) =>
            {
                let how = if or_equal {
                    "higher"
                } else {
                    "higher or equal to"
                };
                let than = if or_equal { "than the one" } else { "the one" };
                conflict(format!(
                    "current version [{}] is {how} {than} provided [{version}]",
                    found.version
                ))
            }
            (Precondition::Sequence(wanted), None) => conflict(format!(
                "required seqNo [{}], primary term [1]. but no document was found",
                sequence_number(wanted)
            )),
            _ => Ok(()),
        }
    }
}
