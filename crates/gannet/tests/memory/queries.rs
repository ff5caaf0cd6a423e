//! Queries as people write them, and hostile ones that ask for as much as can be written down.

use gannet::{Operator, Query, SearchOptions, Snapshot};

use crate::corpus::{DOCUMENTS, Random, WORDS, word};

/// A query with what is asked of it.
pub struct Asked {
    /// For messages.
    pub text: String,
    pub query: Query,
    pub options: SearchOptions,
}

/// A query of any kind.
pub fn any(snapshot: &Snapshot, random: &mut Random) -> Asked {
    let text = match random.below(3) {
        0 => hostile(random),
        _ => normal(random),
    };
    let query = snapshot.parse(&text, Operator::Or).expect("a query");
    let k = *random.of(&[0, 1, 10, 10, 10, 100, 1_000, 10_000]);
    let options = SearchOptions {
        k,
        count: random.below(2) == 0,
        fetch: random.below(2) == 0,
        sources: random.below(4) > 0,
        explain: random.below(8) == 0,
        highlight: match random.below(3) {
            0 => vec!["title".to_owned(), "body".to_owned()],
            _ => Vec::new(),
        },
        ..SearchOptions::default()
    };
    let text = text.chars().take(60).collect();
    Asked {
        text,
        query,
        options,
    }
}

fn normal(random: &mut Random) -> String {
    let words = |count, random: &mut Random| {
        let words = (0..count).map(|_| word(random.below(400)));
        words.collect::<Vec<_>>()
    };
    match random.below(8) {
        0 => words(1, random).join(" "),
        1 => words(3, random).join(" "),
        2 => words(3, random).join(" AND "),
        3 => format!("\"the of\" {}", words(1, random)[0]),
        4 => format!("body:\"of {}\"", words(1, random)[0]),
        5 => format!("+sea -{} title:sea^2", words(1, random)[0]),
        6 => format!("{}*", &words(1, random)[0][..3]),
        _ => format!("{}~", words(1, random)[0]),
    }
}

/// Makes a hostile query of 64 KiB.
pub fn hostile(random: &mut Random) -> String {
    let many = |count: u64, random: &mut Random| -> Vec<String> {
        (0..count).map(|_| word(random.below(WORDS))).collect()
    };
    match random.below(18) {
        0 => format!("body:\"{}\"", "the of ".repeat(512)),
        1 => format!("body:\"{}\"~{}", "the of ".repeat(200), random.below(2_000)),
        2 => format!("body:\"{}\"~7", "the ".repeat(500)),
        3 => format!("body:{}~2", "漢字かな".repeat(60)),
        4 => format!("body:{}~", "abcdefghij".repeat(25)),
        5 => many(300, random).join("~ ") + "~",
        6 => format!("body:*{}*", "a*e*i*".repeat(100)),
        7 => many(1_000, random).join(" "),
        8 => many(500, random).join(" AND "),
        9 => format!("({})~{}", many(400, random).join(" "), 2 + random.below(20)),
        10 => format!("{} *:*", many(20, random).join(" ")),
        11 => "a* e* i* o* n* r*".to_owned(),
        12 => "key:[a TO b] key:[s TO t] title:*".to_owned(),
        13 => format!("{}sea{}", "(the AND (of OR ".repeat(15), "))".repeat(15)),
        14 => many(60, random)
            .iter()
            .map(|w| format!("(+the +{w} of) "))
            .collect(),
        15 => many(100, random)
            .iter()
            .map(|w| format!("\"the {w} of\" "))
            .collect(),
        16 => "*:*".to_owned(),
        _ => format!(
            "{}* -the",
            word(random.below(DOCUMENTS) % WORDS).split_at(2).0
        ),
    }
}

/// Queries that are rejected before anything is built, with what the error names.
pub fn rejected() -> Vec<(String, &'static str)> {
    vec![
        (format!("body:\"{}\"", "the of ".repeat(1_000)), "1024"),
        (format!("body:\"{}\"", "the of ".repeat(9_000)), "1024"),
        (format!("body:{}~", "a".repeat(60_000)), "255"),
        (format!("body:{}~1", "a".repeat(256)), "255"),
        (format!("body:a{}*b", "?".repeat(1_024)), "1024"),
        (format!("body:{}", "a-".repeat(30_000)), "1024"),
        (format!("body:{}~or", "a-".repeat(30_000)), "4096"),
    ]
}
