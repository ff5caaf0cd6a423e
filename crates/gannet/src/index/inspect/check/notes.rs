//! Notes: pages on the device that no root and no log knows.
//!
//! The log behind the root ends with the first page that does not prove itself. That is what a
//! crash leaves of a write that it cut short, and what damage makes of a page; nothing tells the
//! two apart. So it is noted that there are such pages.

use super::Check;
use crate::base::{Result, Span, ZoneNumber};
use crate::device::FileId;
use crate::storage::{LogReach, PageKind};

impl Check<'_> {
    /// Notes the end of the log that an opening for reading has not taken. One for writing removes
    /// it, and a backup never has any. Beside a writer it is the writer's.
    pub(crate) fn notes(&mut self, reach: LogReach) -> Result<()> {
        if !self.shared.options.read_only || reach == LogReach::Known {
            return Ok(());
        }
        let logs = self
            .zones
            .iter()
            .filter(|(_, zone)| zone.kind == PageKind::Log);
        let log_end = logs.map(|(number, _)| number).max();
        for (file, pages) in self.shared.store.device().list()? {
            let FileId::Zone(number) = file else { continue };
            let known = self.zones.get(number).map(|zone| zone.pages);
            let unknown = match known {
                None if self.is_of_earlier_roots(number) => 0,
                None => pages,
                Some(known) if log_end == Some(number) => pages.saturating_sub(known),
                Some(_) => 0,
            };
            if unknown > 0 {
                self.report.notes.push(format!(
                    "zone {number}: the last {unknown} of {pages} pages belong to nothing: a crash cut a \
                     write short, or the page before them is damaged; open the index for writing to drop them"
                ));
            }
        }
        Ok(())
    }

    /// Returns true if a zone has root records: those before the newest root stay until the next
    /// checkpoint.
    fn is_of_earlier_roots(&self, zone: ZoneNumber) -> bool {
        let first = Span {
            zone,
            page: 0,
            offset: 0,
            length: 1,
        };
        self.shared.store.read_span(first, PageKind::Root).is_ok()
    }
}
