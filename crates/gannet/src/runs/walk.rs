//! A walk over the entries of all runs in the order of their keys, in steps.

use super::view::{RunView, RunsView};
use crate::btree::{Scan, TreeView};
use crate::cache::{Pages, Step, Stop};

/// A walk; the newest entry of each key counts.
pub struct RunsWalk {
    /// The newest first.
    runs: Vec<WalkedRun>,
    /// The run whose entry was given last.
    at: usize,
    /// Its key.
    key: Vec<u8>,
}

/// The entries of one run.
struct WalkedRun {
    tree: TreeView,
    scan: Scan,
    /// Set if the scan has to go on before its entry counts.
    is_behind: bool,
    is_at_end: bool,
}

impl RunsView {
    /// Walks over the entries from the first key on that is not below `from`.
    pub fn walk(&self, from: &[u8]) -> RunsWalk {
        let walked = |run: &RunView| WalkedRun {
            tree: run.tree.clone(),
            scan: run.tree.scan(from),
            is_behind: true,
            is_at_end: false,
        };
        RunsWalk {
            runs: self.runs.iter().map(walked).collect(),
            at: 0,
            key: Vec::new(),
        }
    }
}

impl RunsWalk {
    /// Goes to the next entry, and tells whether there is one. Removed ones are passed over.
    pub fn advance(&mut self, pages: &mut Pages<'_>) -> Step<bool> {
        loop {
            self.catch_up(pages)?;
            let mut least: Option<(usize, &[u8])> = None;
            for (number, run) in self.runs.iter().enumerate() {
                if let Some(key) = run.key()
                    && least.is_none_or(|(_, least)| key < least)
                {
                    least = Some((number, key));
                }
            }
            let Some((number, key)) = least else {
                return Ok(false);
            };
            self.key.clear();
            self.key.extend_from_slice(key);
            for run in &mut self.runs {
                run.is_behind = run.key() == Some(self.key.as_slice());
            }
            self.at = number;
            if !self.value().is_empty() {
                return Ok(true);
            }
        }
    }

    /// The key of the entry that the walk stands on.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The value of the entry that the walk stands on.
    pub fn value(&self) -> &[u8] {
        self.runs.get(self.at).map_or(&[], |run| run.scan.value())
    }

    /// Has all runs go on whose entries were given.
    fn catch_up(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let mut complete = true;
        for run in self.runs.iter_mut().filter(|run| run.is_behind) {
            match run.scan.advance(&run.tree, pages) {
                Ok(there) => {
                    run.is_behind = false;
                    run.is_at_end = !there;
                }
                Err(Stop::Pages) => complete = false,
                Err(failed) => return Err(failed),
            }
        }
        if complete { Ok(()) } else { Err(Stop::Pages) }
    }
}

impl WalkedRun {
    fn key(&self) -> Option<&[u8]> {
        (!self.is_at_end).then(|| self.scan.key())
    }
}
