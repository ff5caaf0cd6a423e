//! Checks that runs are whole.

use super::view::{RunsView, find};
use crate::base::{Error, KeyHash, Result};
use crate::btree::check as check_tree;
use crate::cache::{Pages, finish};

/// Walks all runs, shows the newest value of every key that was not removed to `visit`, and gives
/// all that is wrong. `pages` are those of the walk, `newer` those of looking up whether a newer
/// run has a key.
///
/// Only a failing device is an error.
pub fn check(
    view: &RunsView,
    pages: &mut Pages<'_>,
    newer: &mut Pages<'_>,
    visit: &mut dyn FnMut(&[u8], &[u8]),
) -> Result<Vec<String>> {
    let (mut findings, mut failed) = (Vec::new(), None);
    for (at, run) in view.runs.iter().enumerate() {
        let mut faults = Vec::new();
        let mut look = |key: &[u8], value: &[u8]| {
            if !run.filter.may_have(KeyHash::of(key)) {
                let name = String::from_utf8_lossy(key);
                faults.push(format!("run {at}: its filter lacks the key {name:?}"));
            }
            newer.trim();
            match finish(newer, |pages| find(&view.runs[..at], key, pages)) {
                Ok(None) if !value.is_empty() => visit(key, value),
                Ok(_) => {}
                // The walk over that run tells of it.
                Err(Error::Damaged { .. }) => {}
                Err(error) => failed = Some(error),
            }
        };
        let found = check_tree(&run.tree, pages, &mut look)?;
        findings.extend(found.into_iter().map(|fault| format!("run {at}: {fault}")));
        findings.append(&mut faults);
    }
    failed.map_or(Ok(findings), Err)
}
