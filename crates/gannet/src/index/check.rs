//! Whether an index is sound: every page is what was written, and the trees keep their rules.

use super::Index;
use crate::base::{Error, PageAddress, Result};
use crate::cache::Pages;
use crate::device::PagePool;
use crate::dictionary::{TreeView, check};

/// Pages read at once.
const PAGES_AT_ONCE: u32 = 64;

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Pages read.
    pub pages: u64,
    /// Terms and external IDs looked at.
    pub entries: u64,
    /// What is wrong, one sentence each; nothing if the index is sound.
    pub findings: Vec<String>,
}

impl Index {
    /// Reads the whole index and tells all that is wrong with it. Only a failing device is an error.
    pub fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        self.check_pages(&mut report)?;
        let state = self.shared().published.get();
        for (name, tree) in [("terms", &state.terms), ("external IDs", &state.ids)] {
            self.check_tree(name, tree, &mut report)?;
        }
        Ok(report)
    }

    fn check_pages(&self, report: &mut CheckReport) -> Result<()> {
        let zones = self.shared().store.zones().clone();
        let pool = PagePool::new(PAGES_AT_ONCE as usize);
        for (zone, pages) in zones.iter().map(|(number, zone)| (number, zone.pages)) {
            for first in (0..pages).step_by(PAGES_AT_ONCE as usize) {
                let end = pages.min(first.saturating_add(PAGES_AT_ONCE));
                let addresses = (first..end).map(|page| PageAddress { zone, page });
                self.check_batch(&addresses.collect::<Vec<_>>(), &pool, report)?;
            }
        }
        Ok(())
    }

    /// Reads pages together; if one of them is damaged, each alone, to name them all.
    fn check_batch(
        &self,
        addresses: &[PageAddress],
        pool: &PagePool,
        report: &mut CheckReport,
    ) -> Result<()> {
        let store = &self.shared().store;
        let written = addresses
            .iter()
            .filter(|address| !store.is_pending(**address));
        let wanted = written.map_while(|address| Some((*address, pool.take()?)));
        match store.read(wanted.collect()) {
            Ok((pages, _)) => report.pages += pages.len() as u64,
            Err(error @ Error::Damaged { .. }) if addresses.len() == 1 => {
                report.findings.push(error.to_string());
            }
            Err(Error::Damaged { .. }) => {
                for address in addresses {
                    self.check_batch(&[*address], pool, report)?;
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn check_tree(&self, name: &str, tree: &TreeView, report: &mut CheckReport) -> Result<()> {
        let mut pages = Pages::new(&self.shared().pool);
        let entries = &mut report.entries;
        let findings = check(tree, &mut pages, &mut |_, _| *entries += 1)?;
        let findings = findings.into_iter();
        report
            .findings
            .extend(findings.map(|finding| format!("the tree of {name}: {finding}")));
        Ok(())
    }
}
