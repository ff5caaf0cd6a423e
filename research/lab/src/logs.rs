//! Sets made of queries that people wrote: a web log, and the queries of the search benchmark game.
//!
//! The words are those of the analyzer `standard`. Queries of AND and OR name no word twice, since
//! engines differ in what that means for a score.

use std::collections::HashSet;

use gannet::{Analyzer, Scratch};

use crate::Outcome;
use crate::queries::{Kind, Query, Set};

/// The log as it was asked, any word matching, and the sets derived from it: queries of one word;
/// the others as AND, OR and phrase.
pub fn web(text: &str) -> Outcome<Vec<Set>> {
    let mut sets = Sets::new("web");
    for line in text.lines() {
        let (_, typed) = line
            .split_once('\t')
            .ok_or_else(|| format!("expected a name, a tab and words, found {line:?}"))?;
        let words = words(typed);
        if words.len() == 1 {
            sets.add("all", Kind::Term, &words);
            sets.add("term", Kind::Term, &words);
        } else {
            sets.add("all", Kind::Or, &words);
            sets.add("or", Kind::Or, &words);
            sets.add("and", Kind::And, &words);
            sets.add("phrase", Kind::Phrase, &words);
        }
    }
    Ok(sets.made)
}

/// The queries whose first tag is one of the four kinds; the few others mix operators.
pub fn game(text: &str) -> Outcome<Vec<Set>> {
    let mut sets = Sets::new("game");
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line)?;
        let kind = match line["tags"][0].as_str() {
            Some("term") => Kind::Term,
            Some("intersection") => Kind::And,
            Some("union") => Kind::Or,
            Some("phrase") => Kind::Phrase,
            _ => continue,
        };
        let words = words(line["query"].as_str().unwrap_or(""));
        sets.add(&kind.to_string(), kind, &words);
    }
    Ok(sets.made)
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    Analyzer::default().analyze(text, &mut Scratch::default(), |token| {
        words.push(token.text.to_owned());
    });
    words
}

/// Sets that grow, in the order in which they were first named.
struct Sets {
    source: &'static str,
    made: Vec<Set>,
    seen: HashSet<(String, Query)>,
}

impl Sets {
    fn new(source: &'static str) -> Sets {
        Sets {
            source,
            made: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Adds a query unless the set has it, or it has too few words for its kind.
    fn add(&mut self, set: &str, kind: Kind, words: &[String]) {
        let mut words = words.to_vec();
        if kind != Kind::Phrase {
            let mut seen = HashSet::new();
            words.retain(|word| seen.insert(word.clone()));
        }
        let words_min = if kind == Kind::Term { 1 } else { 2 };
        if words.len() < words_min {
            return;
        }
        let words = words.join(" ");
        let (name, query) = (format!("{}-{set}", self.source), Query { kind, words });
        if self.seen.insert((name.clone(), query.clone())) {
            self.set(name).queries.push(query);
        }
    }

    fn set(&mut self, name: String) -> &mut Set {
        let found = self.made.iter().position(|set| set.name == name);
        let at = found.unwrap_or_else(|| {
            let queries = Vec::new();
            self.made.push(Set { name, queries });
            self.made.len() - 1
        });
        &mut self.made[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(sets: &[Set]) -> Vec<String> {
        let lines = sets.iter().flat_map(|set| {
            let queries = set.queries.iter();
            queries.map(move |q| format!("{}: {} {}", set.name, q.kind, q.words))
        });
        lines.collect()
    }

    #[test]
    fn a_log_gives_the_log_and_four_sets() {
        let sets = web("1\tHSN\n2\tNew york new jersey\n3\thsn\n4\t!!\n").unwrap();
        assert_eq!(
            shown(&sets),
            [
                "web-all: term hsn",
                "web-all: or new york jersey",
                "web-term: term hsn",
                "web-or: or new york jersey",
                "web-and: and new york jersey",
                "web-phrase: phrase new york new jersey",
            ]
        );
        assert!(web("no tab").is_err());
    }

    #[test]
    fn tags_say_the_kind() {
        let lines = r#"{"query": "+a +b", "tags": ["intersection", "global"]}
            {"query": "\"a b\"", "tags": ["phrase"]}
            {"query": "+a b", "tags": ["intersection_union"]}"#;
        assert_eq!(
            shown(&game(lines).unwrap()),
            ["game-and: and a b", "game-phrase: phrase a b"]
        );
    }
}
