//! What the literature says about the amplification of page-mapped drives under uniform random
//! writes. Tests compare the model with it.
//!
//! A drive has `N` blocks of `b` pages, of which the share `utilization` is valid. All figures are
//! those of a drive with many blocks in its steady state.

/// FIFO garbage collection: `a / (a + W(-a exp(-a)))` with `a` = physical / valid pages and
/// Lambert's function `W` (Desnoyers, "Analytic modeling of SSD write performance", 2012; Xiang and
/// Kurkoski, arXiv 1110.4245, for an older model of greedy collection, which is its limit for large
/// blocks).
pub fn fifo(utilization: f64) -> f64 {
    let a = 1.0 / utilization;
    a / (a + lambert_w(-a * (-a).exp()))
}

/// Greedy garbage collection by its mean field.
///
/// Sources: the limit of "d choices" for large `d` of Van Houdt, "A mean field model for a class of
/// garbage collection algorithms in flash-based solid state drives" (2013). The recurrence is that
/// of Desnoyers (2012), with a fraction of a page.
///
/// With `U` valid pages in all, a host write makes a page of one of `n(i)` blocks with `i` valid
/// pages invalid with the probability `i n(i) / U`. Let `r` blocks be collected for each host
/// write. As many become full, so as many go from `i` to `i - 1` for each `i` above the level `j`
/// of the victims: `i n(i) / U = r`. Of the blocks at `j`, some go on to `j - 1` at a rate `f`,
/// where they are taken at once; the other victims are taken at `j`. All blocks together are `N`,
/// and a host write needs one page:
///
/// - `r (1/(j + 1) + ... + 1/b) + f / j = N / U = 1 / (utilization b)`
/// - `r (b - j) + f = 1`
///
/// That level `j` is the one at which `0 <= f <= r`.
pub fn greedy(utilization: f64, pages_per_block: u32) -> f64 {
    let b = f64::from(pages_per_block);
    let blocks = 1.0 / (utilization * b);
    let mut harmonic = 0.0;
    for level in (1..pages_per_block).rev() {
        harmonic += 1.0 / f64::from(level + 1);
        let j = f64::from(level);
        let collected = (blocks - 1.0 / j) / (harmonic - (b - j) / j);
        let onward = 1.0 - collected * (b - j);
        if (0.0..=collected).contains(&onward) {
            return collected * b;
        }
    }
    // So much is invalid that victims have nothing to move.
    1.0
}

/// The share of the pages written to that have content, in the steady state. The share `trims` of
/// all requests trim a page that has content; the others write a uniformly random one. Trims and
/// writes that fill an empty page balance.
///
/// Source: Frankie, Hughes, Kreutz-Delgado, "Analysis of Trim commands on overprovisioning and
/// write amplification in solid state drives" (2012, arXiv 1208.1794).
pub fn share_in_use(trims: f64) -> f64 {
    (1.0 - 2.0 * trims) / (1.0 - trims)
}

/// The principal branch of Lambert's function, `W exp(W) = x`, for `x` from `-1/e` to 0.
fn lambert_w(x: f64) -> f64 {
    // Between the branch point, where the function has a vertical tangent, and 0, where it is x.
    let mut w = -1.0 + (2.0 * (1.0 + std::f64::consts::E * x)).max(0.0).sqrt();
    for _ in 0..64 {
        let (power, above) = (w.exp(), w + 1.0);
        let off = w * power - x;
        if off == 0.0 || above == 0.0 {
            break;
        }
        // Halley's method.
        w -= off / (power * above - (w + 2.0) * off / (2.0 * above));
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambert_inverts() {
        for w in [-0.999, -0.9, -0.5, -0.1, -1e-3] {
            let x: f64 = w * f64::exp(w);
            assert!((lambert_w(x) - w).abs() < 1e-6, "{w}");
        }
    }

    /// Xiang and Kurkoski's abstract: 2.36 for an over-provisioning of 0.3.
    #[test]
    fn fifo_is_the_published_figure() {
        assert!(
            (fifo(1.0 / 1.3) - 2.36).abs() < 0.005,
            "{}",
            fifo(1.0 / 1.3)
        );
    }

    #[test]
    fn greedy_approaches_fifo_as_blocks_grow() {
        for utilization in [0.5, 0.7, 0.9] {
            let (small, large) = (greedy(utilization, 8), greedy(utilization, 1 << 14));
            let limit = fifo(utilization);
            assert!(
                small < 0.95 * limit && large < limit,
                "{utilization}: {small}, {large}"
            );
            assert!(
                (large / limit - 1.0).abs() < 0.01,
                "{utilization}: {large}, {limit}"
            );
        }
    }

    /// A block of one page has nothing to move, and neither has a drive that is nearly empty.
    #[test]
    fn greedy_is_one_where_nothing_is_to_move() {
        assert_eq!(greedy(0.9, 1), 1.0);
        assert_eq!(greedy(0.1, 64), 1.0);
    }
}
