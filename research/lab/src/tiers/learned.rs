//! What the first part of a log tells of queries and terms.

use std::collections::HashMap;

use super::{Key, Workload};

/// Which of the used prefixes of a list P_U is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Their mean: the paper's utilization rate.
    Mean,
    /// The longest one.
    Max,
}

/// Counts and prefixes.
#[derive(Debug)]
pub struct Learned {
    /// How often each query was asked.
    pub queries: HashMap<Key, u32>,
    /// How often each term was asked for.
    pub terms: HashMap<Key, u32>,
    /// Bytes of each list that are cached: S_I * P_U.
    prefixes: HashMap<Key, u64>,
}

impl Learned {
    /// Learns from queries.
    pub fn from(workload: &Workload, asked: &[Key], statistic: Statistic) -> Learned {
        let mut learned = Learned {
            queries: HashMap::new(),
            terms: HashMap::new(),
            prefixes: HashMap::new(),
        };
        for query in asked {
            *learned.queries.entry(*query).or_default() += 1;
            for used in &workload.queries[*query as usize] {
                *learned.terms.entry(used.term).or_default() += 1;
                let prefix = learned.prefixes.entry(used.term).or_default();
                match statistic {
                    Statistic::Mean => *prefix += used.bytes,
                    Statistic::Max => *prefix = used.bytes.max(*prefix),
                }
            }
        }
        if statistic == Statistic::Mean {
            for (term, sum) in &mut learned.prefixes {
                *sum = sum.div_ceil(u64::from(learned.terms[term]));
            }
        }
        learned
    }

    /// The bytes of a list that are cached. Of a list that was not asked for before, they are what
    /// its first query uses.
    pub fn prefix(&mut self, term: Key, used: u64) -> u64 {
        *self.prefixes.entry(term).or_insert(used)
    }

    /// The same, where it is known.
    pub fn known_prefix(&self, term: Key) -> u64 {
        self.prefixes.get(&term).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::tests::workload;
    use super::*;

    #[test]
    fn the_mean_and_the_longest_prefix_are_learned() {
        let mut workload = workload(&[8, 8], &[&[0], &[0, 1]], &[0, 1, 1]);
        workload.queries[0][0].bytes = 100;
        workload.queries[1][0].bytes = 400;
        let learn = |statistic| Learned::from(&workload, &[0, 1, 1], statistic);
        let mut mean = learn(Statistic::Mean);
        assert_eq!(
            (mean.prefix(0, 7), mean.prefix(9, 7), mean.prefix(9, 8)),
            (300, 7, 7)
        );
        assert_eq!(learn(Statistic::Max).known_prefix(0), 400);
        assert_eq!(
            (mean.queries[&1], mean.terms[&0], mean.terms[&1]),
            (2, 3, 2)
        );
    }
}
