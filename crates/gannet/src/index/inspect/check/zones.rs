//! Pages and bytes of zones against what refers to them.

use super::Check;
use crate::base::Error;
use crate::postings::TermTree;
use crate::storage::{PageKind, RootSlot};

impl Check<'_> {
    /// Counts the references to whole pages and to the root record. Tells whether all lead
    /// somewhere.
    pub(crate) fn refer_to_pages(&mut self, root: Option<&RootSlot>) -> bool {
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
