//! Checks that a tree is whole: every rule of its nodes, its mapping and its counts.

use super::cursor::Cursor;
use super::mapping::Mapped;
use super::node::Node;
use super::{NodeId, TreeView};
use crate::base::{Error, Result};
use crate::cache::{Pages, Stop, finish};

/// The most findings that are reported one by one.
const FINDINGS_MAX: usize = 1000;

/// The number of leaves that are read at once.
const AHEAD: usize = 16;

/// Walks the whole tree, shows every entry to `visit`, and gives all that is wrong, naming node and
/// page.
///
/// Only a failing device is an error.
pub fn check(
    view: &TreeView,
    pages: &mut Pages<'_>,
    visit: &mut dyn FnMut(&[u8], &[u8]),
) -> Result<Vec<String>> {
    let mut walk = TreeWalk {
        view,
        visit,
        seen: vec![false; view.mapping.next() as usize],
        findings: Vec::new(),
        last: None,
        counts: [0; 3],
    };
    if view.height > 0 {
        let whole = Bounds {
            lower: Vec::new(),
            upper: None,
        };
        walk.node(view.root, view.height - 1, &whole, pages)?;
    }
    walk.free_chain();
    walk.unreachable();
    walk.counts();
    Ok(walk.findings)
}

struct TreeWalk<'w> {
    view: &'w TreeView,
    visit: &'w mut dyn FnMut(&[u8], &[u8]),
    seen: Vec<bool>,
    findings: Vec<String>,
    last: Option<Vec<u8>>,
    /// Entries, leaves, inner nodes.
    counts: [u64; 3],
}

/// The keys that a node may have.
struct Bounds {
    lower: Vec<u8>,
    upper: Option<Vec<u8>>,
}

impl Bounds {
    fn include(&self, key: &[u8]) -> bool {
        self.lower.as_slice() <= key
            && self
                .upper
                .as_ref()
                .is_none_or(|upper| key < upper.as_slice())
    }
}

impl TreeWalk<'_> {
    fn note(&mut self, finding: impl Into<String>) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding.into());
        }
    }

    /// Checks a node and all below it. No deeper than the tree is high, which was checked when it
    /// was opened.
    fn node(
        &mut self,
        id: NodeId,
        level: usize,
        bounds: &Bounds,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        match self.seen.get_mut(id as usize) {
            Some(seen) if *seen => {
                self.note(format!("node {id} has two parents"));
                return Ok(());
            }
            Some(seen) => *seen = true,
            None => {}
        }
        let checked = self.content(id, level, bounds, pages);
        self.forgive(checked)
    }

    /// Notes damage and goes on; anything else is the device's and ends the check.
    fn forgive(&mut self, checked: Result<()>) -> Result<()> {
        match checked {
            Err(Error::Damaged { what, reason }) => {
                self.note(format!("{what}: {reason}"));
                Ok(())
            }
            other => other,
        }
    }

    fn content(
        &mut self,
        id: NodeId,
        level: usize,
        bounds: &Bounds,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        pages.trim();
        let frame = finish(pages, |pages| self.view.node(id, level, pages))?;
        let node = frame.node()?;
        self.counts[if level == 0 { 1 } else { 2 }] += 1;
        match level {
            0 => self.leaf(&node, bounds),
            _ => self.inner(&node, level, bounds, pages),
        }
    }

    fn leaf(&mut self, node: &Node<'_>, bounds: &Bounds) -> Result<()> {
        let mut cursor = Cursor::new();
        while cursor.advance(node)? {
            let key = cursor.key.as_slice();
            if !bounds.include(key) {
                self.note(format!("{}: a key lies outside its bounds", node.name()));
            }
            if self.last.as_deref().is_some_and(|last| last >= key) {
                self.note(format!("{}: its keys do not ascend", node.name()));
            }
            self.last.get_or_insert_default().clone_from(&cursor.key);
            self.counts[0] += 1;
            (self.visit)(&cursor.key, node.value(cursor.value.clone()));
        }
        Ok(())
    }

    fn inner(
        &mut self,
        node: &Node<'_>,
        level: usize,
        bounds: &Bounds,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        let children = self.children(node, bounds)?;
        for (at, (lower, child)) in children.iter().enumerate() {
            if at % AHEAD == 0 {
                let end = children.len().min(at + AHEAD);
                self.read_ahead(&children[at..end], pages)?;
            }
            let upper = children.get(at + 1).map(|(next, _)| next.clone());
            let bounds = Bounds {
                lower: lower.clone(),
                upper: upper.or_else(|| bounds.upper.clone()),
            };
            self.node(*child, level - 1, &bounds, pages)?;
        }
        Ok(())
    }

    fn children(&mut self, node: &Node<'_>, bounds: &Bounds) -> Result<Vec<(Vec<u8>, NodeId)>> {
        let mut children: Vec<(Vec<u8>, NodeId)> = Vec::with_capacity(node.count());
        let mut cursor = Cursor::new();
        while cursor.advance(node)? {
            let ascends = match children.last() {
                None => cursor.key == bounds.lower,
                Some((last, _)) => *last < cursor.key && bounds.include(&cursor.key),
            };
            if !ascends {
                let ordinal = children.len();
                self.note(format!(
                    "{}: separator {ordinal} is out of order",
                    node.name()
                ));
            }
            children.push((cursor.key.clone(), node.child(cursor.value.clone())?));
        }
        Ok(children)
    }

    /// Reads nodes in one batch. A page that is damaged is noted when the walk comes to it.
    fn read_ahead(&mut self, children: &[(Vec<u8>, NodeId)], pages: &mut Pages<'_>) -> Result<()> {
        let mapping = &self.view.mapping;
        let read = finish(pages, |pages| {
            let mut complete = true;
            for (_, child) in children {
                if let Ok(address) = mapping.address(*child) {
                    complete &= pages.want(address)?;
                }
            }
            if complete { Ok(()) } else { Err(Stop::Pages) }
        });
        match read {
            Err(Error::Damaged { .. }) => Ok(()),
            other => other,
        }
    }

    fn free_chain(&mut self) {
        let mapping = &self.view.mapping;
        let (mut at, mut count) = (mapping.free_head(), 0);
        while let Some(id) = at {
            let Some(Mapped::Free(next)) = mapping.get(id) else {
                return self.note(format!("node {id} is in the free list and mapped"));
            };
            match self.seen.get_mut(id as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return self.note(format!("node {id} is in the free list and in use")),
            }
            (at, count) = (next, count + 1);
        }
        if count != mapping.free_count() {
            let expected = mapping.free_count();
            self.note(format!("the free list has {count} nodes, not {expected}"));
        }
    }

    fn unreachable(&mut self) {
        for id in 0..self.view.mapping.next() {
            if !self.seen[id as usize] {
                self.note(match self.view.mapping.get(id) {
                    Some(Mapped::At(at)) => format!(
                        "node {id} at page {} of zone {} is mapped but has no parent",
                        at.page, at.zone
                    ),
                    _ => format!("node {id} is neither mapped nor in the free list"),
                });
            }
        }
    }

    fn counts(&mut self) {
        let view = self.view;
        let expected = [view.entries, view.leaves, view.inner];
        let names = ["entries", "leaves", "inner nodes"];
        for ((name, expected), got) in names.into_iter().zip(expected).zip(self.counts) {
            if expected != got {
                self.note(format!(
                    "the tree has {got} {name}, its root says {expected}"
                ));
            }
        }
    }
}
