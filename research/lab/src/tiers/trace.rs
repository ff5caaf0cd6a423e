//! The queries of a log with their entries, for caches of other programs.
//!
//! A line is a query: its number, the bytes of its result, then TERM:USED:MEAN:LONGEST for each
//! list that it needs. USED bytes of the list are needed; MEAN and LONGEST are the prefixes that
//! were learned on the first half of the log, of which a cache takes one.

use std::fmt::Write;

use super::learned::{Learned, Statistic};
use super::policies::RESULT_BYTES;
use super::{Key, Workload};

/// The lines.
pub fn lines(workload: &Workload) -> String {
    let half = &workload.asked[..workload.asked.len() / 2];
    let learn = |statistic| Learned::from(workload, half, statistic);
    let (mut mean, mut longest) = (learn(Statistic::Mean), learn(Statistic::Max));
    let mut text = String::new();
    for query in &workload.asked {
        line(&mut text, workload, *query, (&mut mean, &mut longest));
    }
    text
}

fn line(text: &mut String, workload: &Workload, query: Key, learned: (&mut Learned, &mut Learned)) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{query}\t{RESULT_BYTES}");
    for used in &workload.queries[query as usize] {
        let whole = workload.lists[used.term as usize];
        let mean = learned.0.prefix(used.term, used.bytes).min(whole);
        let longest = learned.1.prefix(used.term, used.bytes).min(whole);
        let _ = write!(text, "\t{}:{}:{mean}:{longest}", used.term, used.bytes);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::workload::tests::workload;
    use super::*;

    #[test]
    fn a_line_has_the_result_and_the_lists_of_a_query() {
        let mut workload = workload(&[8, 1], &[&[0], &[0, 1]], &[0, 1, 1, 0]);
        workload.queries[0][0].bytes = 100;
        workload.queries[1][0].bytes = 400;
        let text = lines(&workload);
        let found: Vec<&str> = text.lines().collect();
        assert_eq!(found.len(), 4);
        assert_eq!(found[0], "0\t20000\t0:100:250:400");
        assert_eq!(found[2], "1\t20000\t0:400:250:400\t1:131072:131072:131072");
    }
}
