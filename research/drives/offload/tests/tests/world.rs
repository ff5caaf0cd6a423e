//! Random indexes, and an oracle that knows their documents and no lists.

use std::path::Path;
use std::sync::Arc;

use gannet::lab::Norm;
use gannet::{Document, Index, Limits, Options, SearchOptions, SearchResults};
use gannet_offload::{Choice, Planner};
use gannet_ssd::random::Random;
use gannet_ssd::smart::SmartProfile;

/// A document: its words, by their numbers.
#[derive(Clone, Debug)]
pub struct Paper {
    pub words: Vec<usize>,
    pub is_deleted: bool,
}

/// What was written, in the order of doc IDs.
#[derive(Default)]
pub struct World {
    pub papers: Vec<Paper>,
}

/// A query: words that must be there, that must not, and that add to the score.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub required: Vec<usize>,
    pub excluded: Vec<usize>,
    pub optional: Vec<usize>,
    pub k: usize,
    pub count: bool,
}

impl Asked {
    /// In the query language.
    pub fn text(&self) -> String {
        let signed = |sign: &str, words: &[usize]| -> String {
            words.iter().map(|word| format!("{sign}w{word} ")).collect()
        };
        signed("+", &self.required) + &signed("-", &self.excluded) + &signed("", &self.optional)
    }

    /// Words that differ, of all lengths of lists.
    pub fn random(random: &mut Random, vocabulary: usize) -> Asked {
        // A word more than there are stands in no document.
        let mut words: Vec<usize> = (0..=vocabulary).collect();
        random.shuffle(&mut words);
        let mut asked = Asked {
            k: [1, 3, 10, 40][random.below(4)],
            count: random.below(4) == 0,
            ..Asked::default()
        };
        let count = (1 + random.below(5)).min(words.len());
        match random.below(5) {
            0 | 1 => asked.optional = words.drain(..count).collect(),
            2 | 3 => asked.required = words.drain(..count).collect(),
            _ => {
                asked.required = words.drain(..count.min(2)).collect();
                asked.excluded = words.drain(..random.below(2).min(words.len())).collect();
                asked.optional = words.drain(..random.below(3).min(words.len())).collect();
            }
        }
        asked
    }
}

/// Options with the drive of a profile.
pub fn with_drive(options: Options, folder: &Path, choice: Choice) -> (Options, Arc<Planner>) {
    let profile = SmartProfile::named("smart-ssd-2016").unwrap();
    let planner = Arc::new(Planner::new(&profile, folder, choice).unwrap());
    (options.offload(Arc::clone(&planner) as _), planner)
}

/// Asks an index.
pub fn ask(index: &Index, asked: &Asked) -> SearchResults {
    let snapshot = index.snapshot();
    let query = snapshot.parse(&asked.text(), gannet::Operator::Or).unwrap();
    let options = SearchOptions {
        k: asked.k,
        count: asked.count,
        fetch: false,
        explain: false,
        ..SearchOptions::default()
    };
    snapshot.search_all(&[query], &options).remove(0).unwrap()
}

/// Documents and scores of an answer.
pub fn scores(results: &SearchResults) -> Vec<(u32, f32)> {
    let hits = results.hits.iter();
    hits.map(|hit| (hit.doc, hit.score)).collect()
}

impl World {
    /// Writes random documents into an index, in batches; gives how many words there are.
    pub fn write(&mut self, index: &Index, count: usize, vocabulary: usize, random: &mut Random) {
        let longest = [3, 12, 60][random.below(3)];
        while self.papers.len() < count {
            let batch = 1 + random.below(count / 2 + 1);
            let mut documents = Vec::new();
            for _ in 0..batch.min(count - self.papers.len()) {
                let length = 1 + random.below(longest);
                let words = (0..length).map(|_| word(random, vocabulary)).collect();
                let paper = Paper {
                    words,
                    is_deleted: false,
                };
                documents.push(paper.document(self.papers.len()));
                self.papers.push(paper);
            }
            index.write(documents).unwrap();
            if random.below(3) == 0 {
                index.checkpoint().unwrap();
            }
        }
    }

    /// Deletes about one of so many documents.
    pub fn delete(&mut self, index: &Index, one_of: usize, random: &mut Random) {
        for (number, paper) in self.papers.iter_mut().enumerate() {
            if random.below(one_of) == 0 && !paper.is_deleted {
                index.delete(&[&number.to_string()]).unwrap();
                paper.is_deleted = true;
            }
        }
    }

    /// Whether so many documents are deleted that a vacuum may have forgotten some.
    pub fn may_be_vacuumed(&self) -> bool {
        16 * self.papers.iter().filter(|paper| paper.is_deleted).count() >= self.papers.len()
    }

    /// How many documents match.
    pub fn total(&self, asked: &Asked) -> u64 {
        self.papers
            .iter()
            .filter(|paper| paper.matches(asked))
            .count() as u64
    }

    /// The best documents with their scores.
    pub fn best(&self, asked: &Asked) -> Vec<(u32, f32)> {
        let documents = self.papers.len() as f64;
        let total: usize = self.papers.iter().map(|paper| paper.words.len()).sum();
        let average = (total as f64 / documents) as f32;
        let words: Vec<(usize, f32)> = asked
            .required
            .iter()
            .chain(&asked.optional)
            .map(|word| {
                let has = |paper: &&Paper| paper.words.contains(word);
                let df = self.papers.iter().filter(has).count() as f64;
                (
                    *word,
                    (1.0 + (documents - df + 0.5) / (df + 0.5)).ln() as f32,
                )
            })
            .collect();
        let matching = self.papers.iter().zip(0..);
        let matching = matching.filter(|(paper, _)| paper.matches(asked));
        let mut best: Vec<(u32, f32)> = matching
            .map(|(paper, doc)| (doc, paper.score(&words, average)))
            .collect();
        best.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        best.truncate(asked.k);
        best
    }
}

impl Paper {
    fn document(&self, number: usize) -> Document {
        let words: Vec<String> = self.words.iter().map(|word| format!("w{word}")).collect();
        let line = format!(r#"{{"id": "{number}", "body": "{}"}}"#, words.join(" "));
        Document::parse(line.as_bytes()).unwrap()
    }

    fn matches(&self, asked: &Asked) -> bool {
        let has = |word: &usize| self.words.contains(word);
        let is_wanted = if asked.required.is_empty() {
            asked.optional.iter().any(has)
        } else {
            asked.required.iter().all(has)
        };
        is_wanted && !self.is_deleted && !asked.excluded.iter().any(has)
    }

    fn score(&self, words: &[(usize, f32)], average: f32) -> f32 {
        let length = Norm::length(Norm::of(self.words.len() as u32)) as f32;
        let inverse = 1.0 / (1.2 * ((1.0 - 0.75) + 0.75 * length / average));
        let each = words.iter().map(|(word, idf)| {
            let frequency = self.words.iter().filter(|one| *one == word).count() as f32;
            f64::from(idf - idf / (1.0 + frequency * inverse))
        });
        each.sum::<f64>() as f32
    }
}

/// The lower, the more frequent.
fn word(random: &mut Random, vocabulary: usize) -> usize {
    let most = 1 + random.below(vocabulary);
    random.below(most)
}

/// Limits that make lists of many parts of little.
pub fn small_limits(random: &mut Random) -> Limits {
    Limits {
        buffer_bytes: Some([16 << 10, 256 << 10, 4 << 20][random.below(3)]),
        zone_pages: Some(256),
        beside: false,
        maintain_after: None,
        ..Limits::default()
    }
}
