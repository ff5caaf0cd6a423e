//! Chooses the operations of a history for a while: so there are bursts of each kind of operation,
//! and the index grows and shrinks.

use gannet_testkit::random::Rng;

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    AddMany,
    Replace,
    ReplaceIfAsExpected,
    Merge,
    Update,
    Delete,
    DeleteMany,
    DeleteIfAsExpected,
    DeleteMatching,
    Get,
    Search,
    SearchMany,
    Count,
    Hold,
    AskHeld,
    LetGo,
    Sync,
    Checkpoint,
    Clean,
    Vacuum,
    VacuumAll,
    Maintain,
    Check,
}

use Operation::*;

/// The weights of the operations while nothing is special.
const WEIGHTS: [(Operation, usize); 24] = [
    (Add, 90),
    (AddMany, 2),
    (Replace, 130),
    (ReplaceIfAsExpected, 110),
    (Merge, 90),
    (Update, 60),
    (Delete, 60),
    (DeleteMany, 2),
    (DeleteIfAsExpected, 30),
    (DeleteMatching, 4),
    (Get, 140),
    (Search, 90),
    (SearchMany, 5),
    (Count, 40),
    (Hold, 8),
    (AskHeld, 24),
    (LetGo, 5),
    (Sync, 70),
    (Checkpoint, 5),
    (Clean, 4),
    (Vacuum, 8),
    (VacuumAll, 2),
    (Maintain, 6),
    (Check, 1),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Even,
    Grow,
    Shrink,
    /// Few documents change over and over.
    Hot,
    Read,
    /// Nothing is asked to become durable.
    Reckless,
}

impl Mood {
    /// A mood for a while.
    pub(super) fn draw(rng: &mut Rng) -> (Mood, usize) {
        let moods = [
            Mood::Even,
            Mood::Even,
            Mood::Grow,
            Mood::Shrink,
            Mood::Hot,
            Mood::Read,
            Mood::Reckless,
        ];
        (*rng.pick(&moods), rng.between(50, 600))
    }

    /// The next operation.
    pub(super) fn operation(self, rng: &mut Rng) -> Operation {
        let weigh = |(operation, weight): (Operation, usize)| weight * self.factor(operation);
        let all: usize = WEIGHTS.into_iter().map(weigh).sum();
        let mut left = rng.below(all);
        for (operation, weight) in WEIGHTS {
            let weight = weigh((operation, weight));
            if left < weight {
                return operation;
            }
            left -= weight;
        }
        Get
    }

    /// Returns the factor by which an operation is likelier than otherwise.
    fn factor(self, operation: Operation) -> usize {
        match (self, operation) {
            (Mood::Grow, Add) => 5,
            (Mood::Grow, AddMany) => 10,
            (Mood::Grow, Delete | DeleteMany | DeleteMatching) => 0,
            (Mood::Shrink, Add | AddMany) => 0,
            (Mood::Shrink, Delete | DeleteMany | DeleteMatching) => 5,
            (Mood::Hot, Replace | ReplaceIfAsExpected | Merge | Update) => 4,
            (Mood::Hot, AddMany | DeleteMany | DeleteMatching) => 0,
            (Mood::Read, Search | SearchMany | Get | AskHeld | Hold) => 4,
            (Mood::Reckless, Sync | Checkpoint | Clean | Vacuum | VacuumAll | Maintain | Check) => {
                0
            }
            (Mood::Reckless, Replace) => 2,
            _ => 1,
        }
    }
}
