//! The experiments of the paper: for each point of a figure, or line of a table, the query and the
//! sizes of its lists.
//!
//! Lists are those of table 2. What is not varied has its default: two lists, the longer of 10 MB,
//! a hundredth of it the shorter, and 1 % of the shorter in both. The tables on real data are made
//! with lists that have the means which the paper gives of them; its data cannot be had.

use super::lists::POSTING_BYTES;
use super::operation::{Operation, Query};

/// What the heap holds, as in the paper.
pub const TOP: usize = 10;

/// Postings of 1 MB, which are 32,768.
const MB: usize = (1 << 20) / POSTING_BYTES;

/// Postings of the short list by default: 3,277.
const SHORT: usize = LONG.div_ceil(100);

/// Postings of the long list by default: 327,680.
const LONG: usize = 10 * MB;

/// A query of an experiment.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where it belongs in the paper.
    pub place: &'static str,
    /// The value that is varied.
    pub x: f64,
    /// What is asked.
    pub query: Query,
    /// Postings of each list; a difference is that of the first and the second.
    pub sizes: Vec<usize>,
    /// Documents that all lists have.
    pub common: usize,
}

/// The query of figures 5, 7 and 8. How many results it had is not told: the default's share.
pub fn typical() -> Case {
    two("7", 1.0, intersection(), 2_938, 65_057, 0.01)
}

/// All experiments in the order of the paper.
pub fn all() -> Vec<Case> {
    let ranked = |query: Query| query.ranked();
    let (equal, short) = ((LONG, LONG), (SHORT, LONG));
    let parts = [
        vec![typical()],
        means(),
        by_size("9", intersection()),
        by_size("9 ranked", ranked(intersection())),
        by_skew("10", intersection()),
        by_skew("10 ranked", ranked(intersection())),
        by_ratio("11", intersection(), short),
        by_ratio("12", intersection(), equal),
        by_lists("13", intersection()),
        by_ratio("14", ranked(intersection()), equal),
        by_size("15", difference()),
        by_difference_skew("16", difference()),
        by_ratio("17", difference(), equal),
        by_difference_skew("18", ranked(difference())),
        by_ratio("19", ranked(difference()), equal),
        by_lists("20", ranked(union())),
        by_size("union size", ranked(union())),
        by_skew("union skew", ranked(union())),
        by_ratio("union ratio", ranked(union()), short),
        vec![two("union plain", 1.0, union(), SHORT, LONG, 0.01)],
        early(),
    ];
    parts.concat()
}

/// Beyond the paper: the ranked unions above with early termination.
fn early() -> Vec<Case> {
    let early = Query {
        operation: Operation::EarlyUnion,
        top: Some(TOP),
    };
    let mut cases = means();
    cases.retain(|case| case.place == "table 5");
    for case in &mut cases {
        (case.place, case.query) = ("table 5 early", early);
    }
    let parts = [
        cases,
        by_lists("20 early", early),
        by_size("union size early", early),
        by_skew("union skew early", early),
        by_ratio("union ratio early", early, (SHORT, LONG)),
    ];
    parts.concat()
}

/// The size of the longer list is varied.
fn by_size(place: &'static str, query: Query) -> Vec<Case> {
    let case = |mb: usize| {
        let long = mb * MB;
        two(place, mb as f64, query, long.div_ceil(100), long, 0.01)
    };
    [1, 10, 50, 100].map(case).to_vec()
}

/// The shorter list is varied.
fn by_skew(place: &'static str, query: Query) -> Vec<Case> {
    let case = |skew: usize| two(place, skew as f64, query, LONG.div_ceil(skew), LONG, 0.01);
    [1, 10, 100, 1_000, 10_000].map(case).to_vec()
}

/// The share of common documents is varied, in per cent.
fn by_ratio(place: &'static str, query: Query, (a, b): (usize, usize)) -> Vec<Case> {
    let case = |percent: f64| two(place, percent, query, a, b, percent / 100.0);
    [0.1, 1.0, 10.0, 100.0].map(case).to_vec()
}

/// The number of lists is varied.
fn by_lists(place: &'static str, query: Query) -> Vec<Case> {
    (2..=8).map(|count| many(place, count, query)).collect()
}

/// Tables 3 to 5: five queries of 3.8 lists on average, with the mean skew of 3,672 and, without
/// the fifth of them that is most skewed, 75. Their results have the means that the paper gives
/// (1,144 and 3,109). The longest list has 10 MB; the others lie between by equal ratios.
fn means() -> Vec<Case> {
    let mut cases = Vec::new();
    for number in 0..5 {
        let (count, shortest) = if number < 4 { (4, LONG / 75) } else { (3, 18) };
        let (common, both) = if number < 4 { (1_426, 486) } else { (18, 1) };
        let step = (LONG as f64 / shortest as f64).powf(1.0 / (count - 1) as f64);
        let size = |at: i32| (shortest as f64 * step.powi(at)).round() as usize;
        let sizes: Vec<usize> = (0..count).map(size).collect();
        let of = |place, query, sizes: Vec<usize>, common| Case {
            place,
            x: f64::from(number),
            query,
            sizes,
            common,
        };
        cases.push(of("table 3", intersection(), sizes.clone(), common));
        cases.push(of("table 4", difference(), vec![shortest, LONG], both));
        cases.push(of("table 5", union().ranked(), sizes, common));
    }
    cases.sort_by_key(|case| case.place);
    cases
}

/// The skew of a difference is |B| / |A|; one of the two has 10 MB.
fn by_difference_skew(place: &'static str, query: Query) -> Vec<Case> {
    let pairs = [
        (0.01, 100, 1),
        (0.1, 10, 1),
        (1.0, 1, 1),
        (10.0, 1, 10),
        (100.0, 1, 100),
    ];
    let case = |(skew, a, b): (f64, usize, usize)| {
        let most = a.max(b);
        two(
            place,
            skew,
            query,
            10 * MB * a / most,
            10 * MB * b / most,
            0.01,
        )
    };
    pairs.into_iter().map(case).collect()
}

/// The first list, the second, and the share of the shorter that both have.
fn two(place: &'static str, x: f64, query: Query, a: usize, b: usize, share: f64) -> Case {
    Case {
        place,
        x,
        query,
        sizes: vec![a, b],
        common: (a.min(b) as f64 * share).round() as usize,
    }
}

/// Short and long lists in turn, the short ones first.
fn many(place: &'static str, count: usize, query: Query) -> Case {
    let sizes = (0..count).map(|at| if at % 2 == 0 { SHORT } else { LONG });
    Case {
        place,
        x: count as f64,
        query,
        sizes: sizes.collect(),
        common: SHORT / 100,
    }
}

fn intersection() -> Query {
    Query {
        operation: Operation::Intersection,
        top: None,
    }
}

fn difference() -> Query {
    Query {
        operation: Operation::Difference,
        top: None,
    }
}

fn union() -> Query {
    Query {
        operation: Operation::Union,
        top: None,
    }
}

impl Query {
    fn ranked(self) -> Query {
        Query {
            top: Some(TOP),
            ..self
        }
    }
}
