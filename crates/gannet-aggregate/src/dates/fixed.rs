//! Dates that do not depend on the present.

use gannet_values::{Rounding, date_arithmetic};

/// Returns the milliseconds of a date that does not depend on the present.
pub(crate) fn date_of(text: &str) -> Option<i64> {
    let is_fixed = !text.starts_with("now");
    is_fixed.then(|| date_arithmetic(text, 0, Rounding::Down).ok())?
}
