//! Queries being carried out, in groups over common rounds.

pub(crate) mod column_range;
pub(crate) mod execute;
pub(crate) mod expand;
pub(crate) mod first_terms;
pub(crate) mod frequent;
pub(crate) mod given;
pub(crate) mod group;
pub(crate) mod lookup;
pub(crate) mod offload;
pub(crate) mod range_terms;
pub(crate) mod ties;
