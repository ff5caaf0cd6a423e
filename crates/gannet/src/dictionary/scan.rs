//! Entries in key order.
//!
//! A scan keeps its leaf and the lower bound of the leaf after it, and descends anew for each leaf: the inner
//! nodes are in memory then, and nothing is left behind that would have to be kept valid. When a leaf is
//! missing, the leaves behind it under the same parent are read along: twice as many each time, up to 16, so
//! that short scans do not read what they will not use.
//!
//! Invariants:
//! 1. Keys ascend strictly, whatever the pages hold; so a scan ends even on hostile nodes.
//! 2. A step that stops changes nothing but how far it reads ahead; calling it again goes on.

use super::cursor::Cursor;
use super::node::Node;
use super::view::NodeFrame;
use super::{NodeId, TreeView};
use crate::base::Result;
use crate::cache::{Pages, Step, Stop};

/// The most leaves that are read at once.
const AHEAD_MAX: usize = 16;

/// An ordered iteration over a [`TreeView`].
#[derive(Clone, Debug)]
pub struct Scan {
    leaf: Option<(NodeFrame, Cursor)>,
    /// Where to go on when the leaf has ended; nothing after the last leaf.
    next: Option<Vec<u8>>,
    /// The last key given.
    last: Option<Vec<u8>>,
    ahead: usize,
}

/// A leaf with where the next one begins.
struct Landing {
    leaf: NodeFrame,
    upper: Option<Vec<u8>>,
}

impl Scan {
    pub(super) fn new(from: &[u8]) -> Scan {
        Scan {
            leaf: None,
            next: Some(from.to_vec()),
            last: None,
            ahead: 1,
        }
    }

    /// Goes to the next entry, and tells whether there is one. `view` is the same at each call.
    pub fn advance(&mut self, view: &TreeView, pages: &mut Pages<'_>) -> Step<bool> {
        if view.height == 0 {
            return Ok(false);
        }
        loop {
            if self.advance_in_leaf()? {
                return Ok(true);
            }
            match self.enter_leaf(view, pages) {
                Ok(true) if self.leaf.is_some() => return Ok(true),
                Ok(true) => {}
                Err(Stop::Pages) => {
                    self.ahead = (self.ahead * 2).min(AHEAD_MAX);
                    return Err(Stop::Pages);
                }
                ended => return ended,
            }
        }
    }

    /// The key of the entry that the scan stands on; empty before the first.
    pub fn key(&self) -> &[u8] {
        self.leaf.as_ref().map_or(&[], |(_, cursor)| &cursor.key)
    }

    /// The value of the entry that the scan stands on; empty before the first.
    pub fn value(&self) -> &[u8] {
        match &self.leaf {
            Some((leaf, cursor)) => leaf.bytes(cursor.value.clone()),
            None => &[],
        }
    }

    fn advance_in_leaf(&mut self) -> Result<bool> {
        let Some((leaf, cursor)) = &mut self.leaf else {
            return Ok(false);
        };
        let node = leaf.node()?;
        let last = self.last.get_or_insert_with(Vec::new);
        last.clear();
        last.extend_from_slice(&cursor.key);
        if !cursor.advance(&node)? {
            self.leaf = None;
            return Ok(false);
        }
        match cursor.key > *last {
            true => Ok(true),
            false => Err(node.name().damaged("its keys do not ascend")),
        }
    }

    /// Goes to the leaf that may hold the next key, and there to the first entry from it on, if it has any.
    fn enter_leaf(&mut self, view: &TreeView, pages: &mut Pages<'_>) -> Step<bool> {
        let Some(from) = &self.next else {
            return Ok(false);
        };
        let landing = self.land(view, from, pages)?;
        let node = landing.leaf.node()?;
        let upper_ascends = landing.upper.as_ref().is_none_or(|upper| upper > from);
        let first = node.seek(from)?;
        let key_ascends = match (&first, &self.last) {
            (Some(cursor), Some(last)) => cursor.key > *last,
            _ => true,
        };
        if !upper_ascends || !key_ascends {
            return Err(node
                .name()
                .damaged("its keys do not follow the leaf before")
                .into());
        }
        pages.trim();
        self.next = landing.upper;
        self.leaf = first.map(|cursor| (landing.leaf, cursor));
        Ok(true)
    }

    fn land(&self, view: &TreeView, from: &[u8], pages: &mut Pages<'_>) -> Step<Landing> {
        let (mut id, mut upper) = (view.root, None);
        for level in (1..view.height).rev() {
            let frame = view.node(id, level, pages)?;
            let node = frame.node()?;
            let (ordinal, child) = node.child_for(from)?;
            if ordinal + 1 < node.count() {
                upper = Some(node.cursor_at(ordinal + 1)?.key);
            }
            id = child;
            if level == 1 {
                self.read_ahead(view, &node, ordinal, child, pages)?;
            }
        }
        let leaf = view.node(id, 0, pages)?;
        Ok(Landing { leaf, upper })
    }

    /// Notes the leaves behind `child` too, if `child` has to be read anyway.
    fn read_ahead(
        &self,
        view: &TreeView,
        parent: &Node<'_>,
        ordinal: usize,
        child: NodeId,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if pages.want(view.mapping.address(child)?)? {
            return Ok(());
        }
        let mut cursor = parent.cursor_at(ordinal)?;
        for _ in 1..self.ahead {
            if !cursor.advance(parent)? {
                break;
            }
            let next = parent.child(cursor.value.clone())?;
            pages.want(view.mapping.address(next)?)?;
        }
        Err(Stop::Pages)
    }
}
