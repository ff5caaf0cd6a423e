//! Intervals of time, and dates as text in formats and zones.

pub(crate) mod fixed;
pub(crate) mod format;
pub(crate) mod rounding;
pub(crate) mod zone;
