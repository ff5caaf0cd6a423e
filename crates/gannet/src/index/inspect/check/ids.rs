//! External IDs: each leads to a live document that has this ID, and each live document has one.

use super::Check;
use crate::base::{Error, Result};
use crate::cache::{Pages, Step, Stop, finish};
use crate::documents::stored;
use crate::index::state::IdEntry;
use crate::index::state::State;
use crate::runs::check as check_runs;

/// The document that an ID leads to.
enum Lead {
    /// To a live document, which has this ID as far as it can be read.
    Live,
    /// To one that is deleted.
    Deleted,
    /// Elsewhere; what is wrong.
    Wrong(String),
}

impl Check<'_> {
    /// The runs of external IDs. If they do not have all, the log has more, or has taken some away.
    pub(crate) fn ids(&mut self, has_all: bool, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let state = self.state;
        let mut pages = Pages::new(&self.shared.pool);
        let mut documents = Pages::new(&self.shared.pool);
        let (mut ids, mut live, mut faults, mut failed) = (0, 0, Vec::new(), None);
        let mut visit = |key: &[u8], value: &[u8]| {
            ids += 1;
            if ids % 10_000 == 0 {
                progress("ids", ids);
            }
            documents.trim();
            match finish(&mut documents, |pages| follow(state, key, value, pages)) {
                Ok(Lead::Live) => live += 1,
                // An ID that was deleted since the last checkpoint still stands in the tree.
                Ok(Lead::Deleted) if !has_all => {}
                Ok(Lead::Deleted) => faults.push(format!(
                    "ID {:?} leads to a deleted document",
                    String::from_utf8_lossy(key)
                )),
                Ok(Lead::Wrong(fault)) => faults.push(fault),
                Err(error @ Error::Damaged { .. }) => faults.push(error.to_string()),
                Err(error) => failed = Some(error),
            }
        };
        let mut newer = Pages::new(&self.shared.pool);
        let found = check_runs(&state.ids, &mut pages, &mut newer, &mut visit)?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.report.ids = ids;
        self.find_all(found.into_iter().chain(faults));
        if self.shared.options.read_only {
            // What a replay found; nobody adds to it.
            live += state.buffers.new_documents();
        }
        if live != state.documents {
            let expected = state.documents;
            self.find(format!("expected {expected} external IDs, got {live}"));
        }
        Ok(())
    }
}

fn follow(state: &State, key: &[u8], value: &[u8], pages: &mut Pages<'_>) -> Step<Lead> {
    let entry = IdEntry::decode(value)?;
    let id = String::from_utf8_lossy(key);
    if entry.doc >= state.below {
        let doc = entry.doc;
        return Ok(Lead::Wrong(format!(
            "ID {id:?} leads to document {doc}, which does not exist"
        )));
    }
    if !state.tables.is_live(entry.doc, pages)? {
        return Ok(Lead::Deleted);
    }
    let document = match stored(entry.doc, &state.tables, &state.dictionaries, pages) {
        // Damage was told when the documents were read.
        Err(Stop::Failed(Error::Damaged { .. } | Error::Device { .. })) => return Ok(Lead::Live),
        other => other?,
    };
    let expected = (entry.version, entry.sequence);
    let found = (document.version, document.sequence);
    Ok(if document.id == id && found == expected {
        Lead::Live
    } else {
        Lead::Wrong(format!(
            "ID {id:?}: expected version and operation {expected:?}, got {found:?} of ID {:?}",
            document.id
        ))
    })
}
