//! A pass over the documents of one list: what is asked of the others.

use crate::search::matching::matcher::Role;

/// A word whose list is asked for the documents of the leading one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// The word.
    pub word: usize,
    /// The use that is made of them.
    pub role: Role,
}

/// A pass over the documents of one list.
pub struct Pass {
    /// The word whose list leads.
    pub leader: usize,
    /// The other words, in the order in which they are asked: those that exclude come first.
    pub others: Vec<Other>,
    /// The words that score, in the order of the query.
    pub scored: Vec<usize>,
    /// Set if documents behind may have been offered before: then one with an equal score may still
    /// come before them.
    pub goes_back: bool,
}

impl Other {
    /// Returns true if it adds to the score.
    pub fn scores(self) -> bool {
        self.role != Role::Excluded
    }

    fn of(word: usize, role: Role) -> Other {
        Other { word, role }
    }
}

impl Pass {
    /// The pass that finds documents with all words. `order` are the words, the rarest first: its
    /// list leads.
    pub fn all(order: &[usize]) -> Vec<Pass> {
        let Some((leader, others)) = order.split_first() else {
            return Vec::new();
        };
        let others = others.iter().map(|word| Other::of(*word, Role::Required));
        vec![Pass::new(*leader, others.collect(), false)]
    }

    /// The passes that find documents with any of the words, each document in the pass that its
    /// rarest word leads.
    pub fn any(order: &[usize]) -> Vec<Pass> {
        let pass = |at: usize| {
            let before = order[..at]
                .iter()
                .map(|word| Other::of(*word, Role::Excluded));
            let behind = order[at + 1..]
                .iter()
                .map(|word| Other::of(*word, Role::Optional));
            Pass::new(order[at], before.chain(behind).collect(), at > 0)
        };
        (0..order.len()).map(pass).collect()
    }

    /// The words beside the leading one that score.
    pub fn scored_others(&self) -> impl Iterator<Item = usize> {
        let scored = self.others.iter().filter(|other| other.scores());
        scored.map(|other| other.word)
    }

    /// Returns true if every document of the leading list matches that no word excludes.
    pub fn requires_none(&self) -> bool {
        self.others.iter().all(|other| other.role != Role::Required)
    }

    fn new(leader: usize, others: Vec<Other>, goes_back: bool) -> Pass {
        let mut pass = Pass {
            leader,
            others,
            scored: Vec::new(),
            goes_back,
        };
        pass.scored = pass.scored_others().collect();
        pass.scored.push(leader);
        pass.scored.sort_unstable();
        pass
    }
}
