//! Tells a tier that saves time from one that does not, as where its folder is on the disk that the
//! index is on.

use std::time::Duration;

/// Batches of each kind that are compared, by their medians: one that others kept waiting says
/// nothing.
const WINDOW: usize = 256;

/// Comparisons in a row that a tier must lose. A slow stretch of a machine loses one or two.
const LOSSES: u32 = 4;

/// A tier pays if its batches take less than this share of those of the device of the index.
const SHARE: f64 = 0.8;

/// Of the batches of a tier that holds all of their pages, one in so many is read from the device
/// of the index until both can be compared: otherwise the device would never be asked.
const PROBES_ONE_OF: u32 = 4;

/// The times of reads since the last comparison.
#[derive(Debug, Default)]
pub(super) struct Gain {
    tier: Times,
    device: Times,
    lost: u32,
    /// Set once the tier has won, after which it is not probed any more.
    has_won: bool,
    unprobed: u32,
}

/// The times of the first batches of a window, in nanoseconds.
#[derive(Debug, Default)]
struct Times(Vec<u64>);

impl Gain {
    /// Notes the time of a batch of the tier.
    pub(super) fn note_tier(&mut self, took: Duration) {
        self.tier.note(took);
    }

    /// Notes the time of a batch of the device of the index.
    pub(super) fn note_device(&mut self, took: Duration) {
        self.device.note(took);
    }

    /// Returns true if the next batch is to be read from the device of the index, so that its time
    /// is known.
    pub(super) fn wants_probe(&mut self) -> bool {
        if self.has_won || !self.tier.is_complete() || self.device.is_complete() {
            return false;
        }
        self.unprobed = (self.unprobed + 1) % PROBES_ONE_OF;
        self.unprobed == 0
    }

    /// The reason why the tier does not pay, once it has lost often enough. Both are compared anew
    /// after as many batches more.
    pub(super) fn loss(&mut self) -> Option<String> {
        if !self.tier.is_complete() || !self.device.is_complete() {
            return None;
        }
        let (tier, device) = (self.tier.take_median(), self.device.take_median());
        if tier < device * SHARE {
            (self.lost, self.has_won) = (0, true);
            return None;
        }
        self.lost += 1;
        (self.lost == LOSSES).then(|| {
            format!(
                "it does not pay: a read of it takes {:.0} us, one of the index {:.0} us: give a folder on a faster \
                 device than the index is on, or no cache",
                tier * 1e-3,
                device * 1e-3
            )
        })
    }
}

impl Times {
    fn note(&mut self, took: Duration) {
        if !self.is_complete() {
            let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            self.0.push(nanos);
        }
    }

    fn is_complete(&self) -> bool {
        self.0.len() >= WINDOW
    }

    /// Nanoseconds. Begins a window.
    fn take_median(&mut self) -> f64 {
        let middle = self.0.len() / 2;
        let (_, median, _) = self.0.select_nth_unstable(middle);
        let median = *median as f64;
        self.0.clear();
        median
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes a window of such microseconds, and tells whether the tier goes on.
    fn goes_on(gain: &mut Gain, tier: u64, device: u64) -> bool {
        for _ in 1..WINDOW {
            gain.note_tier(Duration::from_micros(tier));
            gain.note_device(Duration::from_micros(device));
        }
        assert_eq!(gain.loss(), None);
        gain.note_tier(Duration::from_micros(tier));
        gain.note_device(Duration::from_micros(device));
        gain.loss().is_none()
    }

    #[test]
    fn a_tier_on_the_same_disk_does_not_pay_and_a_fast_one_does() {
        for (tier, device, pays) in [(100, 100, false), (70, 100, true), (50, 20_000, true)] {
            let mut gain = Gain::default();
            for _ in 1..LOSSES {
                assert!(goes_on(&mut gain, tier, device));
            }
            assert_eq!(goes_on(&mut gain, tier, device), pays, "{tier} {device}");
        }
    }

    #[test]
    fn a_tier_that_holds_everything_is_compared_too() {
        for (tier, device, pays) in [(100, 100, false), (70, 100, true)] {
            let (mut gain, mut batches, mut probes) = (Gain::default(), 0, 0);
            let lost = loop {
                batches += 1;
                if gain.wants_probe() {
                    probes += 1;
                    gain.note_device(Duration::from_micros(device));
                    if gain.loss().is_some() {
                        break true;
                    }
                } else {
                    gain.note_tier(Duration::from_micros(tier));
                }
                if batches == 100 * WINDOW {
                    break false;
                }
            };
            assert_eq!(lost, !pays);
            let windows = if pays { 1 } else { LOSSES as usize };
            assert_eq!(probes, windows * WINDOW);
        }
    }

    #[test]
    fn one_slow_stretch_does_not_turn_a_tier_off() {
        let mut gain = Gain::default();
        for _ in 0..3 {
            for _ in 1..LOSSES {
                assert!(goes_on(&mut gain, 90_000, 100));
            }
            assert!(goes_on(&mut gain, 50, 100));
        }
    }

    #[test]
    fn few_slow_batches_say_nothing() {
        let mut gain = Gain::default();
        for number in 0..LOSSES as usize * WINDOW {
            let slow = if number % 3 == 0 { 500_000 } else { 50 };
            gain.note_tier(Duration::from_micros(slow));
            gain.note_device(Duration::from_micros(100));
            assert_eq!(gain.loss(), None, "{number}");
        }
    }
}
