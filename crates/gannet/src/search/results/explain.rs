//! Why a document has its score: the formula with the numbers put in, as Lucene's `explain` shows
//! it.

use std::fmt;

use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::norm_to_length;
use crate::search::build::Built;
use crate::search::build::LeafNote;
use crate::search::lists::{OpenLists, OpenTerm};
use crate::search::plan::PlanNode;
use crate::search::scoring::bm25::{B, Bm25, K1, idf};
use crate::search::scoring::formula::{Formula, LeafId};
use crate::search::view::SearchView;

/// A value and what it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The value.
    pub value: f32,
    /// The name of this part.
    pub description: String,
    /// The parts that make it up.
    pub details: Vec<Explanation>,
}

impl Explanation {
    fn new(value: f32, description: impl Into<String>) -> Explanation {
        Explanation {
            value,
            description: description.into(),
            details: Vec::new(),
        }
    }

    /// Bytes that it takes with all that it has.
    pub(crate) fn memory_bytes(&self) -> usize {
        let details = self.details.iter().map(Explanation::memory_bytes);
        size_of::<Explanation>() + self.description.capacity() + details.sum::<usize>()
    }

    fn with(mut self, details: Vec<Explanation>) -> Explanation {
        self.details = details;
        self
    }

    fn write(&self, depth: usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = 2 * depth;
        writeln!(out, "{:indent$}{} = {}", "", self.value, self.description)?;
        let mut details = self.details.iter();
        details.try_for_each(|detail| detail.write(depth + 1, out))
    }
}

/// Bytes that the explanation of one score takes at most.
pub fn explanation_bytes(node: &PlanNode, lists: &OpenLists) -> usize {
    let each = node.nodes();
    let each = each.map(|node| LINES_BYTES + node.as_kind(|kind| kind.explanation_bytes(lists)));
    each.sum()
}

/// Bytes that a node's own lines take at most.
pub const LINES_BYTES: usize = 4 << 10;

/// Bytes of the lines of a term beside its name, and of a character that is written as an escape.
const TERM_BYTES: usize = 1 << 10;
const ESCAPE_BYTES: usize = 10;

/// Bytes that the lines of a term take at most: it is named in what its leaf is and in its
/// frequency, maybe with escapes.
pub fn term_bytes(term: &OpenTerm) -> usize {
    TERM_BYTES + 2 * ESCAPE_BYTES * term.key.len()
}

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(0, out)
    }
}

/// The evidence for one document's score: the frequencies of the leaves in it and the norms of
/// their fields.
struct Evidence<'a> {
    built: &'a Built,
    frequencies: Vec<f32>,
    norms: Vec<u8>,
    scores: Vec<f32>,
}

/// Explains the score of `doc`; nothing if it does not match. `built` is made anew for each
/// document.
pub fn explain(
    built: &mut Built,
    doc: DocId,
    view: &SearchView,
    pages: &mut Pages<'_>,
) -> Step<Option<Explanation>> {
    let mut frequencies = vec![0.0; built.score.leaves().len()];
    let mut matched = false;
    for (at, clause) in built.root.clauses.iter_mut().enumerate() {
        if clause.matcher.advance(doc, pages)? == doc {
            clause.matcher.collect(&mut frequencies);
            matched = true;
        } else if at == 0 && built.root.driven {
            return Ok(None);
        }
    }
    if !matched {
        return Ok(None);
    }
    let mut norms = Vec::new();
    for field in built.score.fields() {
        norms.push(view.tables.norm(*field, doc, pages)?);
    }
    let mut scores = vec![0.0; frequencies.len()];
    built.score.score(&frequencies, &norms, &mut scores);
    let evidence = Evidence {
        built,
        frequencies,
        norms,
        scores,
    };
    Ok(Some(evidence.formula(&built.root.formula())))
}

impl Evidence<'_> {
    fn formula(&self, formula: &Formula) -> Explanation {
        let value = formula.evaluate(&self.scores);
        match formula {
            Formula::Leaf(leaf) => self.leaf(*leaf),
            Formula::Sum(parts) => match self.parts(parts) {
                mut single if single.len() == 1 => single.remove(0),
                parts => Explanation::new(value, "sum of:").with(parts),
            },
            Formula::Best { parts, tie } => {
                let what = if *tie == 0.0 {
                    "best of:".to_owned()
                } else {
                    format!("best of, plus {tie} times the others:")
                };
                Explanation::new(value, what).with(self.parts(parts))
            }
        }
    }

    /// The parts that match.
    fn parts(&self, parts: &[Formula]) -> Vec<Explanation> {
        let matching = parts
            .iter()
            .filter(|part| part.evaluate(&self.scores) > 0.0);
        matching.map(|part| self.formula(part)).collect()
    }

    fn leaf(&self, leaf: LeafId) -> Explanation {
        let value = self.scores[leaf];
        let note = &self.built.notes[leaf];
        let ranked = self.built.score.ranked(leaf, &self.norms);
        let Some((bm25, norm)) = ranked else {
            let what = format!("constant score of {}, the boost", note.field);
            return Explanation::new(value, what);
        };
        let terms: Vec<&str> = note.terms.iter().map(|(term, _)| term.as_str()).collect();
        let what = format!(
            "weight of {}:{:?}, as boost * idf * tf of:",
            note.field,
            terms.join(" ")
        );
        let tf = self.tf(leaf, bm25, norm, note);
        let boost = Explanation::new(note.boost, "boost");
        Explanation::new(value, what).with(vec![boost, explain_idf(note), tf])
    }

    fn tf(&self, leaf: LeafId, bm25: &Bm25, norm: u8, note: &LeafNote) -> Explanation {
        let frequency = self.frequencies[leaf];
        let value = if bm25.weight == 0.0 {
            0.0
        } else {
            self.scores[leaf] / bm25.weight
        };
        let what = "tf, as frequency / (frequency + k1 * (1 - b + b * length / average)) of:";
        let length = norm_to_length(norm) as f32;
        Explanation::new(value, what).with(vec![
            Explanation::new(frequency, "frequency: how often it occurs in the field"),
            Explanation::new(K1, "k1"),
            Explanation::new(B, "b"),
            Explanation::new(length, "length of the field (approximate above 40)"),
            Explanation::new(
                note.statistics.average_length(),
                note.counted("average length of the field"),
            ),
        ])
    }
}

impl LeafNote {
    /// Names a count, and says if it is not that of the index.
    fn counted(&self, what: &str) -> String {
        if self.is_given {
            format!("{what}, by the statistics given")
        } else {
            what.to_owned()
        }
    }
}

fn explain_idf(note: &LeafNote) -> Explanation {
    let documents = note.statistics.documents;
    let one = |(term, df): &(String, u64)| {
        let what = format!("idf of {term:?}, as ln(1 + (N - n + 0.5) / (n + 0.5)) of:");
        Explanation::new(idf(documents, *df), what).with(vec![
            Explanation::new(*df as f32, note.counted("n: documents with the term")),
            Explanation::new(
                documents as f32,
                note.counted("N: documents with the field"),
            ),
        ])
    };
    let mut each: Vec<Explanation> = note.terms.iter().map(one).collect();
    if each.len() == 1 {
        return each.remove(0);
    }
    let sum: f64 = each.iter().map(|idf| idf.value as f64).sum();
    Explanation::new(sum as f32, "idf, sum of:").with(each)
}
