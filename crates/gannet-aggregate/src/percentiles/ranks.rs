//! The ranks of percentiles, and values between two of them.

/// Returns a percentile of values by rank: between the two ranks where it falls, linearly.
pub(crate) fn interpolated(percent: f64, count: u64, value: impl Fn(u64) -> f64) -> f64 {
    let Some(last) = count.checked_sub(1) else {
        return f64::NAN;
    };
    let (low, high, share) = ranks(percent, last);
    let (below, above) = (value(low), value(high));
    if below == above || share == 0.0 {
        return below;
    }
    below + (above - below) * share
}

/// Returns the two ranks between which a percentile is, and how far it is above the lower one.
pub(super) fn ranks(percent: f64, last: u64) -> (u64, u64, f64) {
    let at = last as f64 * (percent / 100.0);
    let low = (at.floor() as u64).min(last);
    let high = (at.ceil() as u64).min(last);
    (low, high, at - low as f64)
}
