//! References: what names a place on the device, counted by zone. It must lie in a zone of the
//! right kind and inside of what was written there, and the counts must be those of the zone table.

use std::collections::HashMap;

use super::Check;
use crate::base::{Error, PAGE_PAYLOAD, PageAddress, Result, Span, ZoneNumber};
use crate::documents::Address;
use crate::postings::TermTree;
use crate::storage::{PageKind, RootSlot, ZoneTable};

/// Bytes that are referred to, by zone.
pub(super) struct References<'a> {
    zones: &'a ZoneTable,
    live: HashMap<ZoneNumber, u64>,
}

impl<'a> References<'a> {
    pub(super) fn new(zones: &'a ZoneTable) -> References<'a> {
        References {
            zones,
            live: HashMap::new(),
        }
    }

    /// Counts a reference to a run of bytes; fails if it leads nowhere.
    pub(super) fn span(&mut self, kinds: &[PageKind], span: Span) -> Result<()> {
        let end = span.page as u64 + span.page_count() as u64;
        self.check(kinds, span.zone, end)?;
        *self.live.entry(span.zone).or_default() += span.length as u64;
        Ok(())
    }

    /// Counts a reference to a whole page.
    pub(super) fn page(&mut self, kind: PageKind, page: PageAddress) -> Result<()> {
        self.check(&[kind], page.zone, page.page as u64 + 1)?;
        *self.live.entry(page.zone).or_default() += PAGE_PAYLOAD as u64;
        Ok(())
    }

    /// Counts a reference to the record of a document.
    pub(super) fn record(&mut self, address: Address) -> Result<()> {
        let kinds = [PageKind::Log, PageKind::Documents];
        let last = address.pages().map(|page| page.page).max();
        self.check(&kinds, address.zone, last.map_or(0, |page| page as u64 + 1))?;
        *self.live.entry(address.zone).or_default() += address.length as u64;
        Ok(())
    }

    /// Whether there are pages up to `end` in a zone of one of these kinds.
    fn check(&self, kinds: &[PageKind], zone: ZoneNumber, end: u64) -> Result<()> {
        let found = self.zones.get(zone);
        match found {
            Some(found) if kinds.contains(&found.kind) && end <= found.pages as u64 => Ok(()),
            _ => {
                let found = found.map(|zone| (zone.kind, zone.pages));
                let reason = format!("expected {end} pages of {kinds:?}, got {found:?}");
                Err(Error::damaged(format!("reference to zone {zone}"), reason))
            }
        }
    }
}

impl Check<'_> {
    /// Counts the references to whole pages and to the root record. Tells whether all lead
    /// somewhere.
    pub(super) fn refer_to_pages(&mut self, root: Option<&RootSlot>) -> bool {
        let state = self.state;
        let trees = TermTree::ALL.map(|tree| state.terms.tree(tree));
        let trees = || trees.into_iter().chain([&state.ids]);
        let nodes = trees().flat_map(|tree| tree.node_pages());
        let mappings = trees().flat_map(|tree| tree.mapping_pages());
        let tables = state.tables.table_pages().chain(mappings);
        let nodes = nodes.map(|page| (PageKind::Node, page));
        let pages = nodes.chain(tables.map(|page| (PageKind::Table, page)));
        let references = &mut self.references;
        let faults = pages.filter_map(|(kind, page)| references.page(kind, page).err());
        let mut faults: Vec<Error> = faults.collect();
        let roots = root.map(|slot| self.references.span(&[PageKind::Root], slot.root));
        faults.extend(roots.and_then(Result::err));
        self.find_all(faults.iter().map(Error::to_string));
        faults.is_empty()
    }

    /// The zone table's counts of live bytes against what is referred to.
    pub(super) fn live_bytes(&mut self) {
        for (number, zone) in self.zones.iter() {
            let found = self.references.live.get(&number).copied().unwrap_or(0);
            if found != zone.live {
                let expected = zone.live;
                self.find(format!(
                    "zone {number}: expected {expected} live bytes, got {found}"
                ));
            }
        }
    }
}
