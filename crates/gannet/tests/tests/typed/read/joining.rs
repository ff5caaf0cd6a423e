//! Joins clauses side by side to one query, by their signs and operators.

use gannet::Operator;

use super::{Leaf, Node, Wrong};

/// A clause and the signs before it.
pub struct Clause {
    pub node: Node,
    pub required: bool,
    pub excluded: bool,
    pub filters: bool,
    pub signed: bool,
    pub boosted: bool,
    pub is_group: bool,
}

impl Clause {
    /// Of a long run of CJK, all pairs must match where the word itself must, or must not.
    fn demanding(self) -> Node {
        match self.node {
            Node::Leaf {
                field,
                leaf: Leaf::Word { text, .. },
            } if !self.is_group => Node::Leaf {
                field,
                leaf: Leaf::Word { text, all: true },
            },
            other => other,
        }
    }
}

/// Alternatives that OR joins, each a row of clauses that AND joins.
pub type Item = Vec<Vec<Clause>>;

/// Returns true if parentheses stand around a single clause with a boost.
pub fn is_boosted_alone(items: &[Item]) -> bool {
    let [item] = items else {
        return false;
    };
    let mut clauses = item.iter().flatten();
    let first = clauses.next();
    clauses.next().is_none()
        && first.is_some_and(|one| one.boosted && !one.required && !one.filters && !one.excluded)
}

/// Checks that it is clear how far a sign reaches.
pub fn check_reach(items: &[Item]) -> Result<(), Wrong> {
    for item in items {
        let clauses = || item.iter().flatten();
        if clauses().count() < 2 {
            continue;
        }
        if items.len() > 1 && clauses().next().is_some_and(|clause| clause.signed) {
            return Err("a sign of unclear reach");
        }
        let is_conjunction = items.len() == 1 && item.len() == 1;
        let forces = |clause: &Clause| !clause.excluded && (clause.required || clause.filters);
        if !is_conjunction && clauses().any(forces) {
            return Err("a + among alternatives");
        }
    }
    Ok(())
}

pub fn joined(items: Vec<Item>, operator: Operator, minimum: usize) -> Node {
    let alone = items.len() == 1;
    let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        let is_or = item.len() > 1;
        if is_or {
            let alternatives: Vec<Node> = item.into_iter().map(conjunction).collect();
            if alone || operator == Operator::Or {
                should.extend(alternatives);
            } else {
                must.push(lists(Vec::new(), alternatives, Vec::new(), 0));
            }
            continue;
        }
        let clauses: Vec<Clause> = item.into_iter().flatten().collect();
        let is_and = clauses.len() > 1;
        if is_and && !alone && operator == Operator::Or {
            should.push(conjunction(clauses));
            continue;
        }
        for clause in clauses {
            let needed =
                clause.required || clause.filters || is_and || !alone && operator == Operator::And;
            match (clause.excluded, needed) {
                (true, _) => must_not.push(clause.demanding()),
                (_, true) => must.push(clause.demanding()),
                _ => should.push(clause.node),
            }
        }
    }
    lists(must, should, must_not, minimum)
}

fn conjunction(clauses: Vec<Clause>) -> Node {
    let several = clauses.len() > 1;
    let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
    for clause in clauses {
        match (
            clause.excluded,
            several || clause.required || clause.filters,
        ) {
            (true, _) => must_not.push(clause.demanding()),
            (_, true) => must.push(clause.demanding()),
            _ => should.push(clause.node),
        }
    }
    lists(must, should, must_not, 0)
}

fn lists(must: Vec<Node>, mut should: Vec<Node>, must_not: Vec<Node>, minimum: usize) -> Node {
    match (must.len() + must_not.len(), should.len(), minimum) {
        (0, 0, _) => Node::Nothing,
        (0, 1, 0) => should.remove(0),
        _ => Node::Bool {
            must,
            should,
            must_not,
            minimum,
        },
    }
}
