//! Expectations of a write of the document that it replaces, so that no change of another writer is
//! lost.

use crate::base::{Error, Result, Sequence};

/// The version that must be there when a write takes place; if it is not, nothing of the batch is
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No document with this external ID.
    Absent,
    /// A document of this version.
    Version(u64),
    /// A document that this operation brought.
    Sequence(Sequence),
}

impl Expected {
    /// Fails with [`Error::Conflict`] unless it is met by what there is: a version and a sequence
    /// number, or nothing.
    pub(crate) fn check(self, id: &str, found: Option<(u64, Sequence)>) -> Result<()> {
        let is_met = match (self, found) {
            (Expected::Absent, None) => true,
            (Expected::Version(expected), Some((version, _))) => expected == version,
            (Expected::Sequence(expected), Some((_, sequence))) => expected == sequence,
            _ => false,
        };
        if is_met {
            return Ok(());
        }
        let shown = |version, sequence| format!("version {version} of operation {sequence}");
        Err(Error::Conflict {
            id: id.to_owned(),
            expected: match self {
                Expected::Absent => "no document".to_owned(),
                Expected::Version(version) => format!("version {version}"),
                Expected::Sequence(sequence) => format!("the document of operation {sequence}"),
            },
            found: found.map_or("none".to_owned(), |(v, s)| shown(v, s)),
        })
    }
}
