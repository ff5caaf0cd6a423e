//! Pages and bytes of zones against what refers to them.

use super::Check;
use crate::base::Error;
use crate::index::owners::{Live, owners};
use crate::storage::RootSlot;

impl Check<'_> {
    /// Counts the references to whole pages and to the root record. Tells whether all lead
    /// somewhere.
    pub(crate) fn refer_to_pages(&mut self, root: Option<&RootSlot>) -> bool {
        let (root, references) = (root.map(|slot| slot.root), &mut self.references);
        let mut faults: Vec<Error> = Vec::new();
        for owner in owners() {
            let kind = owner.kind();
            match owner.live(self.state, root, &self.parts) {
                Live::Pages(pages) => {
                    faults.extend(pages.filter_map(|page| references.page(kind, page).err()));
                }
                Live::Run(run) => {
                    faults.extend(run.and_then(|run| references.span(&[kind], run).err()));
                }
                Live::Walked | Live::Nothing => {}
            }
        }
        self.find_all(faults.iter().map(Error::to_string));
        faults.is_empty()
    }

    /// The zone table's counts of live bytes against what is referred to.
    pub(crate) fn live_bytes(&mut self) {
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
