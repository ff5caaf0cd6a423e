//! The slots of a paged table, in groups: a change after a snapshot copies one group, not all
//! slots.

use std::sync::Arc;

use crate::base::{PAGE_PAYLOAD, PageAddress};

/// The payload of one page of a table.
pub type TablePage = [u8; PAGE_PAYLOAD];

/// Slots of a group: a copy of one is about the size of a page.
const GROUP_SLOTS: usize = 128;

/// The place of one page of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct TableSlot {
    pub(super) address: Option<PageAddress>,
    pub(super) page: Option<Arc<TablePage>>,
    pub(super) dirty: bool,
    /// A page that was replaced by none, to be released.
    pub(super) given_up: Option<PageAddress>,
}

/// All slots of a table; a clone shares the groups.
#[derive(Clone, Debug, Default)]
pub(super) struct TableSlots {
    groups: Arc<Vec<Arc<Vec<TableSlot>>>>,
    length: usize,
}

impl TableSlots {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn get(&self, ordinal: usize) -> Option<&TableSlot> {
        let group = self.groups.get(ordinal / GROUP_SLOTS)?;
        group.get(ordinal % GROUP_SLOTS)
    }

    /// A slot to be changed; slots up to it are made.
    pub(super) fn get_mut(&mut self, ordinal: usize) -> &mut TableSlot {
        if ordinal >= self.length {
            self.grow(ordinal + 1);
        }
        let groups = Arc::make_mut(&mut self.groups);
        &mut Arc::make_mut(&mut groups[ordinal / GROUP_SLOTS])[ordinal % GROUP_SLOTS]
    }

    /// Puts an empty slot at `ordinal`; those from there on move up by one.
    pub(super) fn insert(&mut self, ordinal: usize) {
        let mut moved = TableSlot::default();
        for place in ordinal..=self.length {
            std::mem::swap(self.get_mut(place), &mut moved);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &TableSlot> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The slots that `matches`, to be changed; groups without one stay shared.
    pub(super) fn iter_mut_where(
        &mut self,
        matches: impl Fn(&TableSlot) -> bool + Copy,
    ) -> impl Iterator<Item = (usize, &mut TableSlot)> {
        let any = self.iter().any(matches);
        let groups: &mut [Arc<Vec<TableSlot>>] = if any {
            Arc::make_mut(&mut self.groups).as_mut_slice()
        } else {
            &mut []
        };
        let numbered = groups.iter_mut().enumerate();
        numbered
            .filter(move |(_, group)| group.iter().any(matches))
            .flat_map(move |(number, group)| {
                let slots = Arc::make_mut(group).iter_mut().enumerate();
                let numbered = slots.map(move |(at, slot)| (number * GROUP_SLOTS + at, slot));
                numbered.filter(move |(_, slot)| matches(slot))
            })
    }

    fn grow(&mut self, length: usize) {
        let groups = Arc::make_mut(&mut self.groups);
        while self.length < length {
            if self.length.is_multiple_of(GROUP_SLOTS) {
                groups.push(Arc::default());
            }
            let last = groups.len() - 1;
            let room = GROUP_SLOTS - self.length % GROUP_SLOTS;
            let more = room.min(length - self.length);
            let group = Arc::make_mut(&mut groups[last]);
            group.resize(group.len() + more, TableSlot::default());
            self.length += more;
        }
    }
}
