//! A pass over the documents of one list: what is asked of the others.

use std::ops::Range;

use crate::search::matching::matcher::Role;

/// Documents that are looked at before there is a threshold, where all of them match.
pub const FIRST: usize = 16;

/// The number of times that so few are looked at: what excludes may leave no match for long.
pub const FIRSTS: usize = 16;

/// Words of which a document has any or none: one word of a query in each of the fields.
#[derive(Clone, Debug)]
pub struct WordClause {
    /// The words.
    pub words: Range<usize>,
    /// The use that is made of the documents that have any. Its score is that of the best word.
    pub role: Role,
}

/// A word whose list is asked for the documents of the leading one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// The word.
    pub word: usize,
    /// The use that is made of them. It is required if a document has none of those before it in
    /// its clause.
    pub role: Role,
    /// The words of its clause that come just before it, the leading one included.
    pub before: usize,
}

/// A pass over the documents of one list.
pub struct Pass {
    /// The word whose list leads.
    pub leader: usize,
    /// The other words, in the order in which they are asked, those of a clause in a row. First
    /// come those that led passes before.
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

    fn excluded(word: usize) -> Other {
        Other {
            word,
            role: Role::Excluded,
            before: 0,
        }
    }
}

impl Pass {
    /// The passes that find the documents of a query, each in one of them. The words of the rarest
    /// required clause lead, or all words where none is required, the rarest first.
    pub fn of(clauses: &[WordClause], frequency: impl Fn(usize) -> u64) -> Vec<Pass> {
        if let [only] = clauses
            && only.words.len() == 1
        {
            return vec![Pass::alone(only.words.start)];
        }
        let mut order: Vec<(Role, Vec<usize>)> = clauses
            .iter()
            .map(|clause| {
                let mut words: Vec<usize> = clause.words.clone().collect();
                words.sort_by_key(|word| frequency(*word));
                (clause.role, words)
            })
            .collect();
        let all = |words: &[usize]| words.iter().map(|word| frequency(*word)).sum::<u64>();
        order.sort_by_key(|(role, words)| (rank_of(*role), all(words)));
        let leaders = match order.as_slice() {
            [(Role::Required, words), ..] => words.clone(),
            _ => {
                let some = order.iter().filter(|(role, _)| *role == Role::Optional);
                let mut words: Vec<usize> = some.flat_map(|(_, words)| words).copied().collect();
                words.sort_by_key(|word| frequency(*word));
                words
            }
        };
        let passes = (0..leaders.len()).map(|at| Pass::led(&leaders, at, &order));
        passes.collect()
    }

    /// Returns true if every document of the leading list matches that no word excludes.
    pub fn requires_none(&self) -> bool {
        self.others.iter().all(|other| other.role != Role::Required)
    }

    /// The pass of a word that is the whole query.
    fn alone(word: usize) -> Pass {
        Pass {
            leader: word,
            others: Vec::new(),
            scored: vec![word],
            goes_back: false,
        }
    }

    /// The pass that the word at a place of `leaders` leads, without the documents of those before.
    fn led(leaders: &[usize], at: usize, order: &[(Role, Vec<usize>)]) -> Pass {
        let (before, leader) = (&leaders[..at], leaders[at]);
        let words = order.iter().map(|(_, words)| words.len()).sum();
        let mut others: Vec<Other> = Vec::with_capacity(words);
        others.extend(before.iter().map(|word| Other::excluded(*word)));
        let (own, rest): (Vec<_>, Vec<_>) =
            order.iter().partition(|(_, words)| words.contains(&leader));
        for (role, words) in own.into_iter().chain(rest) {
            let is_own = words.contains(&leader);
            let left = words.iter().filter(|word| !leaders[..=at].contains(word));
            let left: Vec<usize> = left.copied().collect();
            for (place, word) in left.iter().copied().enumerate() {
                let is_last = place + 1 == left.len();
                others.push(match role {
                    Role::Excluded => Other::excluded(word),
                    Role::Required if is_last && !is_own => Other {
                        word,
                        role: Role::Required,
                        before: place,
                    },
                    Role::Required | Role::Optional => Other {
                        word,
                        role: Role::Optional,
                        before: place + usize::from(is_own),
                    },
                });
            }
        }
        let mut pass = Pass {
            leader,
            others,
            scored: Vec::with_capacity(words),
            goes_back: at > 0,
        };
        let scored = pass.others.iter().filter(|other| other.scores());
        pass.scored.extend(scored.map(|other| other.word));
        pass.scored.push(leader);
        pass.scored.sort_unstable();
        pass
    }
}

/// The place of a role in the order in which clauses are asked.
fn rank_of(role: Role) -> u8 {
    match role {
        Role::Required => 0,
        Role::Optional => 1,
        Role::Excluded => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that each pass asks, with `+` or `-` before those that decide and the number of
    /// those before in the clause behind.
    fn passes(clauses: &[(usize, Role)], frequencies: &[u64]) -> Vec<String> {
        let mut end = 0;
        let clauses: Vec<WordClause> = clauses
            .iter()
            .map(|(count, role)| {
                end += count;
                WordClause {
                    words: end - count..end,
                    role: *role,
                }
            })
            .collect();
        let written = |other: &Other| {
            let sign = match other.role {
                Role::Required => "+",
                Role::Excluded => "-",
                Role::Optional => "",
            };
            format!(" {sign}{}/{}", other.word, other.before)
        };
        let passes = Pass::of(&clauses, |word| frequencies[word]);
        let each = passes.iter();
        let each = each.map(|pass| {
            format!("{}:", pass.leader) + &pass.others.iter().map(written).collect::<String>()
        });
        each.collect()
    }

    #[test]
    fn each_document_is_found_in_one_pass() {
        let (all, any, none) = (Role::Required, Role::Optional, Role::Excluded);
        assert_eq!(passes(&[(1, any)], &[3]), ["0:"]);
        assert_eq!(
            passes(&[(1, any), (1, any), (1, any)], &[3, 1, 2]),
            ["1: 2/0 0/0", "2: -1/0 0/0", "0: -1/0 -2/0"]
        );
        assert_eq!(passes(&[(1, all), (1, all)], &[3, 1]), ["1: +0/0"]);
        // In two fields each.
        assert_eq!(
            passes(&[(2, all), (2, all)], &[1, 9, 2, 5]),
            ["2: 3/1 0/0 +1/1", "3: -2/0 0/0 +1/1"]
        );
        assert_eq!(
            passes(&[(2, any), (1, any)], &[1, 9, 4]),
            ["0: 1/1 2/0", "2: -0/0 1/0", "1: -0/0 -2/0"]
        );
        assert_eq!(
            passes(&[(1, all), (1, any), (2, none)], &[5, 3, 1, 2]),
            ["0: 1/0 -2/0 -3/0"]
        );
    }
}
