//! Bounds of the scores that the other words of a pass add to a document of the leading list.

use super::pass::Pass;
use crate::cache::Step;

/// The bounds of a pass: the best word of each clause counts.
#[derive(Default)]
pub struct PassBounds {
    /// The most that is added from each of the others on.
    from: Vec<f64>,
    /// The most that all add.
    pub others: OthersAdd,
}

/// The most that the other words of a pass add.
#[derive(Clone, Copy, Default)]
pub struct OthersAdd {
    /// The best that a document has of the leading clause without the leading word.
    pub own: f64,
    /// The sum of the best of the other clauses.
    pub rest: f64,
}

impl OthersAdd {
    /// The bound of a document to which the leading word adds at most so much.
    pub fn with(self, leading: f32) -> f64 {
        f64::from(leading).max(self.own) + self.rest
    }
}

impl PassBounds {
    /// Takes the bounds, given the most that each word adds.
    pub fn take(
        &mut self,
        pass: &Pass,
        mut most: impl FnMut(usize) -> Step<f32>,
    ) -> Step<OthersAdd> {
        let (mut own, mut rest) = (0.0, 0.0);
        self.from.clear();
        self.from.resize(pass.others.len(), 0.0);
        for (other, from) in pass.others.iter().zip(&mut self.from).rev() {
            if other.scores() {
                own = f64::max(own, f64::from(most(other.word)?));
            }
            *from = own + rest;
            if other.scores() && other.before == 0 {
                (own, rest) = (0.0, own + rest);
            }
        }
        self.others = OthersAdd { own, rest };
        Ok(self.others)
    }

    /// The most that the others from a place on add. The leading word has its part apart, though
    /// only the best of its clause counts.
    pub fn from(&self, at: usize) -> f64 {
        self.from.get(at).copied().unwrap_or_default()
    }
}
