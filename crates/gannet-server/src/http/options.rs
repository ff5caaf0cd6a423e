//! The way in which an expression stands for indexes: what is missing, what patterns find.

use super::call::Call;
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The way in which an expression stands for indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexOptions {
    /// Set if a name that is missing is passed over.
    pub ignores_missing: bool,
    /// Set if an expression may stand for nothing.
    pub allows_none: bool,
    /// Set if patterns stand for indexes.
    pub expands: bool,
    /// Set if patterns stand for names that begin with a dot, too.
    pub expands_hidden: bool,
}

impl Default for IndexOptions {
    fn default() -> IndexOptions {
        IndexOptions {
            ignores_missing: false,
            allows_none: true,
            expands: true,
            expands_hidden: false,
        }
    }
}

impl IndexOptions {
    /// Reads the parameters of a URL.
    pub fn of_call(call: &Call) -> Outcome<IndexOptions> {
        let mut options = IndexOptions::default();
        if let Some(ignores) = call.flag("ignore_unavailable")? {
            options.ignores_missing = ignores;
        }
        if let Some(allows) = call.flag("allow_no_indices")? {
            options.allows_none = allows;
        }
        if let Some(written) = call.parameter("expand_wildcards") {
            options.expand(written.split(','))?;
        }
        Ok(options)
    }

    /// The same with the members of an object, as the header of a search has them.
    pub fn with(self, members: &Members<'_>) -> Outcome<IndexOptions> {
        let mut options = self;
        if let Some(ignores) = members.flag("ignore_unavailable")? {
            options.ignores_missing = ignores;
        }
        if let Some(allows) = members.flag("allow_no_indices")? {
            options.allows_none = allows;
        }
        if let Some(states) = members.texts("expand_wildcards")? {
            options.expand(states.iter().flat_map(|states| states.split(',')))?;
        }
        Ok(options)
    }

    /// Reads `expand_wildcards`. No index is ever closed.
    fn expand<'t>(&mut self, states: impl Iterator<Item = &'t str>) -> Outcome<()> {
        (self.expands, self.expands_hidden) = (false, false);
        for state in states {
            match state.trim() {
                "open" => self.expands = true,
                "closed" | "none" | "" => {}
                "hidden" => self.expands_hidden = true,
                "all" => (self.expands, self.expands_hidden) = (true, true),
                other => {
                    return Err(Fault::illegal(format!(
                        "No valid expand wildcard value [{other}]: there are open, closed, hidden, none and all"
                    )));
                }
            }
        }
        Ok(())
    }
}
