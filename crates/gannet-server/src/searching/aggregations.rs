//! `aggs`: the same tree for each index that is searched, whose states are merged.

use std::sync::Arc;

use gannet::aggregations::{AggregationRequest, AggregationState, State};
use serde_json::Value;

use crate::fault::{Fault, Outcome};

/// The findings of the indexes of a search so far.
#[derive(Default)]
pub struct Aggregated {
    asked: Option<Arc<AggregationRequest>>,
    state: Option<State>,
}

impl Aggregated {
    /// Adds what an index found.
    pub fn add(
        &mut self,
        asked: Option<&Arc<AggregationRequest>>,
        found: Option<AggregationState>,
    ) -> Outcome<()> {
        let (Some(asked), Some(found)) = (asked, found) else {
            return Ok(());
        };
        let found = Arc::unwrap_or_clone(found);
        match &mut self.state {
            None => self.state = Some(found),
            Some(state) => state
                .merge(found)
                .map_err(|error| Fault::illegal(error.to_string()))?,
        }
        self.asked.get_or_insert_with(|| Arc::clone(asked));
        Ok(())
    }

    /// The value of `aggregations`, if any were asked for; with types before their names if
    /// `has_types`.
    pub fn answer(&self, has_types: bool) -> Outcome<Option<Value>> {
        match (&self.asked, &self.state) {
            (Some(asked), Some(state)) if has_types => Ok(Some(asked.answer_by_types(state)?)),
            (Some(asked), Some(state)) => Ok(Some(asked.answer(state)?)),
            _ => Ok(None),
        }
    }
}
