//! States of the index as the result cache tells them apart: by number in this process, by the root
//! between processes.

use std::sync::Arc;
use std::time::Instant;

use crate::base::Sequence;
use crate::cache::AnswerState;
use crate::storage::{Lineage, RootSlot};

/// A state of the index, as a snapshot has seen it.
#[derive(Clone, Debug)]
pub struct SeenState {
    /// The state's number: later ones have greater numbers.
    pub state: u64,
    /// The time at which the snapshot was taken.
    pub at: Instant,
    /// The root that it stands on, if there is one.
    pub root: Option<SeenRoot>,
}

/// The root that a state of the index stands on.
#[derive(Clone, Debug)]
pub struct SeenRoot {
    /// Its slot.
    pub slot: Arc<RootSlot>,
    /// The last operation that the state includes.
    pub sequence: Sequence,
    /// Set if the root names the state alone, so that it is durable.
    pub is_durable: bool,
}

impl SeenRoot {
    pub(super) fn state(&self) -> AnswerState {
        AnswerState {
            root: Lineage::of(&self.slot),
            sequence: self.sequence,
        }
    }

    /// Returns true if an answer of `state` is one of this state.
    pub(super) fn is(&self, state: &AnswerState) -> bool {
        self.is_durable && self.state() == *state
    }

    /// Returns true if this state goes on from `state`.
    pub(super) fn follows(&self, state: &AnswerState) -> bool {
        state.sequence <= self.sequence && state.root.leads_to(&self.slot)
    }
}
