//! Tuning: each policy chooses its values on the first half of a log, by the same rule.
//!
//! Counts and prefixes are learned on the first quarter. Every candidate runs through both quarters
//! and is measured on the second; the lowest [`cost`] wins. No policy tries more candidates than
//! another could: up to 24 each. The baselines have less to choose.

use gannet_ssd::Profile;

use super::figures::Figures;
use super::learned::Statistic;
use super::policies::{Name, Settings, Tuned};
use super::system::{Slow, System};
use super::{Learned, Workload};
use crate::Outcome;

const PREFIXES: [Statistic; 2] = [Statistic::Mean, Statistic::Max];

/// The candidates of a policy.
pub fn candidates(name: Name) -> Vec<Tuned> {
    let base = vec![Tuned::default()];
    let prefixes = |base| spread(base, &PREFIXES, |tuned, value| tuned.statistic = value);
    let thresholds = |base, values: &[f64]| spread(base, values, |t, value| t.threshold = value);
    let windows = |base, values: &[f64]| spread(base, values, |t, value| t.window = value);
    let kept = |base, values: &[u64]| spread(base, values, |tuned, value| tuned.keeps = value);
    match name {
        Name::Lru => base,
        Name::LruPartial | Name::LruGrows => prefixes(base),
        Name::Cblru => windows(
            thresholds(prefixes(base), &[0.0, 1.0, 2.0, 4.0]),
            &[0.05, 0.1, 0.3],
        ),
        Name::Cbslru => {
            let base = windows(thresholds(prefixes(base), &[2.0, 4.0]), &[0.1, 0.3]);
            spread(base, &[0.5, 0.75, 0.9], |tuned, value| tuned.fixed = value)
        }
        Name::Gannet => {
            let base = prefixes(base);
            let base = spread(base, &[false, true], |t, value| t.admits_results = value);
            let base = spread(base, &[0.25, 1.0], |tuned, value| tuned.ghost = value);
            let small = [8 << 10, 32 << 10, 512 << 10];
            spread(base, &small, |tuned, value| tuned.small = value)
        }
        Name::GannetAll => kept(prefixes(base), &[0, 32 << 10, 128 << 10, 1 << 30]),
    }
}

/// Each candidate with each value.
fn spread<T: Copy>(base: Vec<Tuned>, values: &[T], set: impl Fn(&mut Tuned, T)) -> Vec<Tuned> {
    let with = |tuned: Tuned| values.iter().map(move |value| (tuned, *value));
    base.into_iter()
        .flat_map(with)
        .map(|(mut tuned, value)| {
            set(&mut tuned, value);
            tuned
        })
        .collect()
}

/// The candidate with the lowest cost on the first half; the first where several are as good.
pub fn tune(
    workload: &Workload,
    settings: &Settings,
    profile: &Profile,
    slow: Slow,
) -> Outcome<Tuned> {
    let half = &workload.asked[..workload.asked.len() / 2];
    let quarter = half.len() / 2;
    let mut best: Option<(f64, Tuned)> = None;
    let candidates = candidates(settings.name);
    if candidates.len() == 1 {
        return Ok(candidates[0]);
    }
    for tuned in candidates {
        let settings = Settings { tuned, ..*settings };
        let learned = Learned::from(workload, &half[..quarter], tuned.statistic);
        let mut system = System::new(workload, settings, learned, profile, slow)?;
        let cost = cost(&system.run(half, quarter, &[])?);
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, tuned));
        }
    }
    let (_, tuned) = best.ok_or("a policy has no candidates")?;
    Ok(tuned)
}

/// Modelled response time times the share of bytes that the slow store has to give. A cache is
/// there for both, and they do not always go together: the fastest one prefers short lists.
fn cost(figures: &Figures) -> f64 {
    figures.response() * figures.missed_bytes()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn no_policy_has_more_candidates_than_allowed_and_none_comes_twice() {
        for name in Name::value_variants() {
            let candidates = candidates(*name);
            assert!((1..=24).contains(&candidates.len()), "{name:?}");
            for (at, tuned) in candidates.iter().enumerate() {
                assert!(!candidates[..at].contains(tuned), "{name:?}: {tuned:?}");
            }
        }
    }
}
