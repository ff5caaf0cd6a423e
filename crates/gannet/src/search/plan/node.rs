//! The nodes of a plan, and the terms and patterns that they name.
//!
//! A node is asked through [`PlanNode::as_kind`]; this file knows only their data.

use crate::analysis::FieldId;
use crate::search::query::pattern::Pattern;

/// A place in [`Plan::terms`], [`Plan::patterns`] or [`Plan::ids`].
pub type PlanSlot = usize;

/// A node of the plan. `boost` is `None` where the node only filters.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanNode {
    /// Nothing.
    None,
    /// Every document.
    All(Option<f32>),
    /// The documents of a term.
    Term(PlanSlot, Option<f32>),
    /// Documents with terms at places: slots with places in the phrase.
    Phrase {
        /// The terms.
        words: Vec<(PlanSlot, u32)>,
        /// A pattern, any term of which stands at its place behind them.
        last: Option<(PlanSlot, u32)>,
        /// The slop: positions that they may be moved in all.
        slop: u32,
        /// The boost.
        boost: Option<f32>,
    },
    /// The documents of all terms that a pattern stands for.
    Pattern(PlanSlot, Option<f32>),
    /// Documents that have a field.
    Exists(FieldId, Option<f32>),
    /// The document with an external ID.
    Id(PlanSlot, Option<f32>),
    /// At least `minimum` of the parts must match; the scores are added up.
    Any {
        /// The parts.
        parts: Vec<PlanNode>,
        /// The number of parts that must match.
        minimum: usize,
    },
    /// Any of the parts must match; the best part's score counts, and `tie` times those of others.
    Best {
        /// The parts.
        parts: Vec<PlanNode>,
        /// The part of other scores, 0 to 1.
        tie: f32,
    },
    /// All of `required` must match and none of `excluded`; `optional` adds to the score.
    Filtered {
        /// All must match.
        required: Vec<PlanNode>,
        /// None may match.
        excluded: Vec<PlanNode>,
        /// May match.
        optional: Vec<PlanNode>,
    },
}

impl PlanNode {
    /// It and all nodes below it, each before those below it.
    pub fn nodes(&self) -> impl Iterator<Item = &PlanNode> {
        below(self, |parts| {
            let [one, other] = parts.matching;
            [one, parts.excluded, other]
        })
    }

    /// It and the nodes below it that documents may match: none that is excluded.
    pub fn matching(&self) -> impl Iterator<Item = &PlanNode> {
        below(self, |parts| {
            let [one, other] = parts.matching;
            [one, other, &[]]
        })
    }

    /// Returns true if it contains a phrase: positions are read of the lists of its words.
    pub fn has_phrases(&self) -> bool {
        let mut nodes = self.nodes();
        nodes.any(|node| node.as_kind(|kind| kind.ordered_words()) > 0)
    }

    /// Requires at least `minimum` of `parts`, in the simplest form.
    pub fn any(mut parts: Vec<PlanNode>, minimum: usize) -> PlanNode {
        match parts.len() {
            count if count < minimum || count == 0 => PlanNode::None,
            1 => parts.remove(0),
            _ => PlanNode::Any { parts, minimum },
        }
    }

    /// Requires any of `parts`, of which the best alone counts.
    pub fn best(parts: Vec<PlanNode>) -> PlanNode {
        PlanNode::Best { parts, tie: 0.0 }
    }

    /// Requires all of `required`, in the simplest form.
    pub fn all(
        mut required: Vec<PlanNode>,
        excluded: Vec<PlanNode>,
        optional: Vec<PlanNode>,
    ) -> PlanNode {
        if required.is_empty() || required.contains(&PlanNode::None) {
            return PlanNode::None;
        }
        if required.len() == 1 && excluded.is_empty() && optional.is_empty() {
            return required.remove(0);
        }
        PlanNode::Filtered {
            required,
            excluded,
            optional,
        }
    }
}

/// A node and those below it that `among` tells, from the first to the last.
fn below<'p>(
    node: &'p PlanNode,
    among: impl Fn(Parts<'p>) -> [&'p [PlanNode]; 3],
) -> impl Iterator<Item = &'p PlanNode> {
    // Most plans are one node, which takes no memory.
    let (mut first, mut open) = (Some(node), Vec::new());
    std::iter::from_fn(move || {
        let node = first.take().or_else(|| open.pop())?;
        let lists = among(node.as_kind(|kind| kind.parts()));
        lists
            .iter()
            .rev()
            .for_each(|list| open.extend(list.iter().rev()));
        Some(node)
    })
}

/// The nodes directly below one.
#[derive(Clone, Copy, Default)]
pub struct Parts<'p> {
    /// Those that may match.
    pub matching: [&'p [PlanNode]; 2],
    /// Those that must not.
    pub excluded: &'p [PlanNode],
}

/// Nodes whose lists are joined, in the order in which their scores are added up.
pub struct JoinedNodes<'p> {
    /// The nodes.
    pub nodes: &'p [PlanNode],
    /// Set if all must match, not any.
    pub all_required: bool,
    /// Those that only add to the score, and those that must not match.
    pub optional: &'p [PlanNode],
    pub excluded: &'p [PlanNode],
}

impl<'p> JoinedNodes<'p> {
    /// Nodes with nothing beside them.
    pub fn whole(nodes: &'p [PlanNode], all_required: bool) -> JoinedNodes<'p> {
        JoinedNodes {
            nodes,
            all_required,
            optional: &[],
            excluded: &[],
        }
    }

    /// Returns true if there is nothing beside the nodes.
    pub fn is_whole(&self) -> bool {
        self.optional.is_empty() && self.excluded.is_empty()
    }
}

/// The terms and patterns of a plan whose statistics the scores need.
pub struct ScoredSlots {
    /// Of each term whether it is one.
    pub terms: Vec<bool>,
    /// Of each pattern.
    pub patterns: Vec<bool>,
}

/// A term of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTerm {
    /// The field.
    pub field: FieldId,
    /// The key in the dictionary.
    pub key: Vec<u8>,
}

/// The terms that are wanted of those that a pattern fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedTerms {
    /// All, of which many may become a set of documents.
    All,
    /// The most frequent, since it is the last word of a phrase and positions are needed.
    MostFrequent,
    /// So many of them at most, the first in their order. Each counts in the score.
    First(usize),
}

/// A pattern over a field's terms.
pub struct PlannedPattern {
    /// The field.
    pub field: FieldId,
    /// The pattern.
    pub pattern: Pattern,
    /// The pattern as it was written.
    pub written: String,
    /// The terms that are wanted.
    pub wanted: WantedTerms,
    /// Set if the terms of the field are stems.
    pub stems: bool,
}
