//! The root under which pages enter a tier.

use crate::base::{Span, ZoneNumber};
use crate::storage::{History, IndexIdentity, RootSlot, SlotKind};

/// The root that is read, and the zones that belong to it.
#[derive(Clone)]
pub struct TierRoot {
    /// Its slot.
    pub slot: RootSlot,
    /// The number that its next zone gets.
    pub next_zone: ZoneNumber,
}

impl TierRoot {
    /// Returns what stands for the root of an index that has none yet: no zone belongs to it.
    pub fn before_the_first(identity: IndexIdentity) -> TierRoot {
        let root = Span {
            zone: 0,
            page: 0,
            offset: 0,
            length: 0,
        };
        TierRoot {
            slot: RootSlot {
                identity,
                generation: 0,
                root,
                kind: SlotKind::Index,
                history: History::default(),
            },
            next_zone: 0,
        }
    }
}
