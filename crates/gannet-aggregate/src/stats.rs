//! Count, extremes, sum and squares of values, which merge.

use gannet_values::Number;
use serde::{Deserialize, Serialize};

/// Figures of some values.
///
/// Longs are summed exactly. Doubles are summed with the error of each addition (Neumaier), and
/// the variance is followed as Welford and Chan do, so that close values of great size have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Portable", into = "Portable")]
pub struct Stats {
    /// The number of values.
    pub count: u64,
    /// The least and the greatest value.
    pub extremes: Option<(Number, Number)>,
    longs: i128,
    doubles: Compensated,
    mean: f64,
    squares_of_deviations: f64,
    squares: Compensated,
}

/// A sum of doubles with its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let lost = if self.sum.abs() >= value.abs() {
            (self.sum - sum) + value
        } else {
            (value - sum) + self.sum
        };
        // Infinities lose nothing that could be added later.
        if lost.is_finite() {
            self.error += lost;
        }
        self.sum = sum;
    }

    fn total(self) -> f64 {
        self.sum + self.error
    }
}

impl Stats {
    /// Adds a value; with `squares` also to the variance.
    pub(crate) fn add(&mut self, value: Number, squares: bool) {
        self.count += 1;
        match &mut self.extremes {
            Some((least, greatest)) => {
                if value < *least {
                    *least = value;
                } else if value > *greatest {
                    *greatest = value;
                }
            }
            None => self.extremes = Some((value, value)),
        }
        match value {
            Number::Long(long) => self.longs = self.longs.saturating_add(i128::from(long)),
            Number::Double(double) => self.doubles.add(double),
        }
        if squares {
            let double = value.nearest_double();
            let from_mean = double - self.mean;
            self.mean += from_mean / self.count as f64;
            self.squares_of_deviations += from_mean * (double - self.mean);
            self.squares.add(double * double);
        }
    }

    /// Adds the values of others.
    pub fn merge(&mut self, other: &Stats) {
        if other.count == 0 {
            return;
        }
        let (own, others) = (self.count as f64, other.count as f64);
        let apart = other.mean - self.mean;
        self.squares_of_deviations +=
            other.squares_of_deviations + apart * apart * (own * others / (own + others));
        self.mean += apart * (others / (own + others));
        self.count = self.count.saturating_add(other.count);
        self.longs = self.longs.saturating_add(other.longs);
        self.doubles.add(other.doubles.sum);
        self.doubles.add(other.doubles.error);
        self.squares.add(other.squares.sum);
        self.squares.add(other.squares.error);
        self.extremes = match (self.extremes, other.extremes) {
            (Some(own), Some(other)) => Some((own.0.min(other.0), own.1.max(other.1))),
            (own, other) => own.or(other),
        };
    }

    /// Returns the sum.
    pub fn sum(&self) -> f64 {
        let mut sum = self.doubles;
        // Both halves of the exact sum are doubles, but for the last bits of the larger one.
        let high = self.longs as f64;
        sum.add(high);
        sum.add((self.longs.saturating_sub(high as i128)) as f64);
        sum.total()
    }

    /// Returns the mean, none of no values.
    pub fn avg(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum() / self.count as f64)
    }

    /// Returns the sum of squares, where the variance was asked for.
    pub fn sum_of_squares(&self) -> f64 {
        self.squares.total()
    }

    /// Returns the variance of the values as a whole, or as a sample of others.
    pub fn variance(&self, of_sample: bool) -> Option<f64> {
        let count = self.count.checked_sub(u64::from(of_sample))?;
        (count > 0).then(|| (self.squares_of_deviations / count as f64).max(0.0))
    }
}

/// The form that is stored: doubles by their bits, since text need not give all of them back.
#[derive(Serialize, Deserialize)]
struct Portable {
    count: u64,
    extremes: Option<([u64; 2], [u64; 2])>,
    longs: [u64; 2],
    doubles: [u64; 6],
}

impl From<Stats> for Portable {
    fn from(stats: Stats) -> Portable {
        let number = |number: Number| match number {
            Number::Long(long) => [0, long.cast_unsigned()],
            Number::Double(double) => [1, double.to_bits()],
        };
        let longs = stats.longs.cast_unsigned();
        let doubles = [
            stats.doubles.sum,
            stats.doubles.error,
            stats.mean,
            stats.squares_of_deviations,
            stats.squares.sum,
            stats.squares.error,
        ];
        Portable {
            count: stats.count,
            extremes: stats
                .extremes
                .map(|(least, most)| (number(least), number(most))),
            longs: [(longs >> 64) as u64, longs as u64],
            doubles: doubles.map(f64::to_bits),
        }
    }
}

impl From<Portable> for Stats {
    fn from(portable: Portable) -> Stats {
        let number = |[kind, bits]: [u64; 2]| match kind {
            0 => Number::Long(bits.cast_signed()),
            _ => Number::Double(f64::from_bits(bits)),
        };
        let [high, low] = portable.longs.map(u128::from);
        let [sum, error, mean, deviations, squares, squares_error] =
            portable.doubles.map(f64::from_bits);
        Stats {
            count: portable.count,
            extremes: portable
                .extremes
                .map(|(least, most)| (number(least), number(most))),
            longs: (high << 64 | low).cast_signed(),
            doubles: Compensated { sum, error },
            mean,
            squares_of_deviations: deviations,
            squares: Compensated {
                sum: squares,
                error: squares_error,
            },
        }
    }
}
