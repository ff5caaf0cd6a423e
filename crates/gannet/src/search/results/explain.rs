//! Why a document has its score: the formula with the numbers put in, as Lucene's `explain` shows
//! it.

use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::build::Built;
use crate::search::lists::{OpenLists, OpenTerm};
use crate::search::plan::PlanNode;
use crate::search::scoring::explanation::{Explanation, ScoredLeaf};
use crate::search::scoring::formula::{Formula, LeafId};
use crate::search::scoring::term_scorer::TermScorer;
use crate::search::view::SearchView;

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
        let Some((scorer, norm)) = ranked else {
            let what = format!("constant score of {}, the boost", note.field);
            return Explanation::new(value, what);
        };
        scorer.explain(&ScoredLeaf {
            note,
            frequency: self.frequencies[leaf],
            norm,
            score: value,
        })
    }
}
