//! Free space of a part of flash, in runs of units.

use std::collections::BTreeMap;
use std::ops::Range;

/// Free runs by their beginning; no two touch.
#[derive(Debug)]
pub struct Space {
    free: BTreeMap<u64, u64>,
    units: u64,
}

impl Space {
    /// So many units, all free.
    pub fn new(units: u64) -> Space {
        let mut space = Space {
            free: BTreeMap::new(),
            units: 0,
        };
        space.give(0..units);
        space
    }

    /// Free units.
    pub fn free(&self) -> u64 {
        self.units
    }

    /// Takes units: the first run that is long enough, or the first runs where none is; nothing
    /// where too few are free.
    pub fn take(&mut self, units: u64) -> Option<Vec<Range<u64>>> {
        if units > self.units {
            return None;
        }
        let fitting = self.free.iter().find(|(_, length)| **length >= units);
        if let Some((start, _)) = fitting {
            return Some(vec![self.cut(*start, units)]);
        }
        let (mut runs, mut missing) = (Vec::new(), units);
        while missing > 0 {
            let (start, length) = self.free.first_key_value()?;
            let run = self.cut(*start, missing.min(*length));
            missing -= run.end - run.start;
            runs.push(run);
        }
        Some(runs)
    }

    /// Gives a run back.
    pub fn give(&mut self, run: Range<u64>) {
        let (mut start, mut end) = (run.start, run.end);
        self.units += end - start;
        if let Some((before, length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            start = *before;
        }
        if let Some(length) = self.free.remove(&end) {
            end += length;
        }
        if start < end {
            self.free.insert(start, end - start);
        }
    }

    /// The beginning of a free run.
    fn cut(&mut self, start: u64, units: u64) -> Range<u64> {
        let length = self.free.remove(&start).unwrap_or(0);
        if length > units {
            self.free.insert(start + units, length - units);
        }
        self.units -= units;
        start..start + units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_and_joined() {
        let mut space = Space::new(10);
        let taken = |runs: Option<Vec<Range<u64>>>| match runs.as_deref() {
            Some([run]) => (run.start, run.end),
            runs => panic!("one run was expected: {runs:?}"),
        };
        assert_eq!(taken(space.take(4)), (0, 4));
        assert_eq!(taken(space.take(4)), (4, 8));
        space.give(1..3);
        assert_eq!(taken(space.take(2)), (1, 3), "the first that fits");
        space.give(1..2);
        space.give(5..6);
        assert_eq!(space.take(3), Some(vec![1..2, 5..6, 8..9]), "in pieces");
        assert_eq!((space.free(), space.take(2)), (1, None));
        space.give(0..9);
        assert_eq!(space.free.into_iter().collect::<Vec<_>>(), [(0, 10)]);
    }
}
