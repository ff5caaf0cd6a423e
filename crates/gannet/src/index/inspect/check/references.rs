//! References: what names a place on the device, counted by zone. It must lie in a zone of the
//! right kind and inside of what was written there, and the counts must be those of the zone table.

use std::collections::HashMap;

use crate::base::{Error, PAGE_PAYLOAD, PageAddress, Result, Span, ZoneNumber};
use crate::documents::Address;
use crate::storage::{PageKind, ZoneTable};

/// Bytes that are referred to, by zone.
pub(crate) struct References<'a> {
    zones: &'a ZoneTable,
    pub(crate) live: HashMap<ZoneNumber, u64>,
}

impl<'a> References<'a> {
    pub(crate) fn new(zones: &'a ZoneTable) -> References<'a> {
        References {
            zones,
            live: HashMap::new(),
        }
    }

    /// Counts a reference to a run of bytes; fails if it leads nowhere.
    pub(crate) fn span(&mut self, kinds: &[PageKind], span: Span) -> Result<()> {
        let end = span.page as u64 + span.page_count() as u64;
        self.check(kinds, span.zone, end)?;
        *self.live.entry(span.zone).or_default() += span.length as u64;
        Ok(())
    }

    /// Counts a reference to a whole page.
    pub(crate) fn page(&mut self, kind: PageKind, page: PageAddress) -> Result<()> {
        self.check(&[kind], page.zone, page.page as u64 + 1)?;
        *self.live.entry(page.zone).or_default() += PAGE_PAYLOAD as u64;
        Ok(())
    }

    /// Counts a reference to the record of a document.
    pub(crate) fn record(&mut self, address: Address) -> Result<()> {
        let kinds = [PageKind::Log, PageKind::Documents];
        let last = address.pages().map(|page| page.page).max();
        self.check(&kinds, address.zone, last.map_or(0, |page| page as u64 + 1))?;
        *self.live.entry(address.zone).or_default() += address.length as u64;
        Ok(())
    }

    /// Checks that there are pages up to `end` in a zone of one of these kinds.
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
