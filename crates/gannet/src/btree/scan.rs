//! Entries in key order.
//!
//! A scan keeps its leaf and the lower bound of the leaf after it, and descends anew for each
//! leaf: the inner nodes are in memory then, and nothing is left behind that would have to be kept
//! valid. When a node is missing, those behind it are read along, also under other parents: four
//! times as many each time, so that short scans do not read what they will not use and long ones
//! take few rounds. A caller that knows which stretches of keys matter has only their nodes read
//! ahead.
//!
//! Invariants:
//! 1. Keys ascend strictly, whatever the pages hold; so a scan ends even on hostile nodes.
//! 2. A step that stops changes nothing but how far it reads ahead; calling it again goes on.

use super::cursor::Cursor;
use super::view::NodeFrame;
use super::{NodeId, TreeView};
use crate::base::Result;
use crate::cache::{Pages, Step, Stop};

/// The most nodes that are read at once.
const AHEAD_MAX: usize = 256;

/// The factor by which the number of nodes read at once grows.
const AHEAD_GROWTH: usize = 4;

/// Decides whether keys from one (included) to another (excluded; nothing for the end) matter to a
/// scan.
pub type Matters<'a> = &'a dyn Fn(&[u8], Option<&[u8]>) -> bool;

/// An ordered iteration over a [`TreeView`].
#[derive(Clone, Debug)]
pub struct Scan {
    leaf: Option<(NodeFrame, Cursor)>,
    /// The key at which to go on when the leaf has ended; nothing after the last leaf.
    next: Option<Vec<u8>>,
    /// The last key given.
    last: Option<Vec<u8>>,
    /// The key to go on from, if that is not the next in the leaf.
    skip: Option<Vec<u8>>,
    ahead: usize,
}

/// A leaf with where the next one begins.
struct Landing {
    leaf: NodeFrame,
    upper: Option<Vec<u8>>,
}

impl TreeView {
    /// All entries from the first key that is not below `from`, in order.
    pub fn scan(&self, from: &[u8]) -> Scan {
        Scan::new(from)
    }
}

impl Scan {
    /// An iteration over a view's entries from the first key that is not below `from` on.
    pub fn new(from: &[u8]) -> Scan {
        Scan {
            leaf: None,
            next: Some(from.to_vec()),
            last: None,
            skip: None,
            ahead: 1,
        }
    }

    /// The same for a scan that most surely comes to its end: it reads ahead as far as it may from
    /// the first missing node on.
    pub fn to_the_end(from: &[u8]) -> Scan {
        Scan {
            ahead: AHEAD_MAX,
            ..Scan::new(from)
        }
    }

    /// Goes to the next entry, and tells whether there is one. `view` is the same at each call.
    pub fn advance(&mut self, view: &TreeView, pages: &mut Pages<'_>) -> Step<bool> {
        self.advance_where(&|_, _| true, view, pages)
    }

    /// The same for a scan of which only some keys are used: reads ahead only what `matters`.
    pub fn advance_where(
        &mut self,
        matters: Matters<'_>,
        view: &TreeView,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        self.go_on(matters, None, view, pages)
    }

    /// Goes to the next entry if its key is below `end`, and tells whether there is one. Reads no
    /// leaf that begins behind it, as far as the nodes above tell where leaves begin.
    pub fn advance_below(
        &mut self,
        end: &[u8],
        view: &TreeView,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let matters = |from: &[u8], _: Option<&[u8]>| from < end;
        Ok(self.go_on(&matters, Some(end), view, pages)? && self.key() < end)
    }

    fn go_on(
        &mut self,
        matters: Matters<'_>,
        end: Option<&[u8]>,
        view: &TreeView,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        if view.height == 0 {
            return Ok(false);
        }
        loop {
            if self.advance_in_leaf()? {
                return Ok(true);
            }
            if let (Some(next), Some(end)) = (&self.next, end)
                && next.as_slice() >= end
            {
                return Ok(false);
            }
            match self.enter_leaf(view, pages) {
                Ok(true) if self.leaf.is_some() => return Ok(true),
                Ok(true) => {}
                Err(Stop::Pages) => {
                    self.read_ahead(matters, view, pages)?;
                    return Err(Stop::Pages);
                }
                ended => return ended,
            }
        }
    }

    /// Has the next entry be the first from `key` on.
    pub fn skip_to(&mut self, key: &[u8]) {
        let behind_leaf = self.next.as_deref().is_some_and(|next| *next < *key);
        if let Some((_, cursor)) = self.leaf.take_if(|_| behind_leaf) {
            self.last = Some(cursor.key);
        }
        if behind_leaf {
            self.next = Some(key.to_vec());
        } else {
            self.skip = Some(key.to_vec());
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
        let there = match self.skip.take() {
            None => cursor.advance(&node)?,
            Some(skip) => node.seek(&skip)?.map(|found| *cursor = found).is_some(),
        };
        if !there {
            self.leaf = None;
            return Ok(false);
        }
        if cursor.key > *last {
            Ok(true)
        } else {
            Err(node.name().damaged("its keys do not ascend"))
        }
    }

    /// Goes to the leaf that may hold the next key, and there to the first entry from it on, if it
    /// has any.
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
        }
        let leaf = view.node(id, 0, pages)?;
        Ok(Landing { leaf, upper })
    }

    /// Notes nodes from the next leaf on, more each time.
    fn read_ahead(
        &mut self,
        matters: Matters<'_>,
        view: &TreeView,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        self.ahead = (self.ahead * AHEAD_GROWTH).min(AHEAD_MAX);
        let mut ahead = NodesAhead {
            matters,
            view,
            from: self.next.as_deref().unwrap_or_default(),
            left: self.ahead,
        };
        match ahead.note(view.root, view.height - 1, None, pages) {
            Ok(()) | Err(Stop::Pages) => Ok(()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }
}

/// Nodes being noted.
struct NodesAhead<'a> {
    matters: Matters<'a>,
    view: &'a TreeView,
    from: &'a [u8],
    /// The number of nodes that may still be looked at.
    left: usize,
}

impl NodesAhead<'_> {
    /// Notes what lies at and under a node whose keys end before `upper`.
    fn note(
        &mut self,
        id: NodeId,
        level: usize,
        upper: Option<&[u8]>,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let address = self.view.mapping.address(id)?;
        self.left = self.left.saturating_sub(1);
        if !pages.want(address)? || level == 0 {
            return Ok(());
        }
        let frame = self.view.node(id, level, pages)?;
        let node = frame.node()?;
        let (ordinal, _) = node.child_for(self.from)?;
        let mut cursor = node.cursor_at(ordinal)?;
        while self.left > 0 && pages.has_room() {
            let lower = self.from.max(&cursor.key).to_vec();
            let child = node.child(cursor.value.clone())?;
            let is_last = !cursor.advance(&node)?;
            let end = if is_last {
                upper
            } else {
                Some(cursor.key.as_slice())
            };
            if (self.matters)(&lower, end) {
                self.note(child, level - 1, end, pages)?;
            }
            if is_last {
                break;
            }
        }
        Ok(())
    }
}
