//! The greatest key below another.
//!
//! A leaf may be empty, or begin at the key itself: then the answer is in one before it.

use super::{NodeId, TreeView};
use crate::cache::{Pages, Step};

impl TreeView {
    /// The greatest key below `bound`, if there is one.
    pub fn last_below(&self, bound: &[u8], pages: &mut Pages<'_>) -> Step<Option<Vec<u8>>> {
        match self.height() {
            0 => Ok(None),
            height => self.last_in(self.root, height - 1, bound, pages),
        }
    }

    fn last_in(
        &self,
        id: NodeId,
        level: usize,
        bound: &[u8],
        pages: &mut Pages<'_>,
    ) -> Step<Option<Vec<u8>>> {
        let frame = self.node(id, level, pages)?;
        let node = frame.node()?;
        let end = match node.seek(bound)? {
            Some(cursor) => cursor.next_ordinal() - 1,
            None => node.count(),
        };
        if level == 0 {
            let last = end.checked_sub(1).map(|last| node.cursor_at(last));
            return Ok(last.transpose()?.map(|cursor| cursor.key));
        }
        // The first child takes all that is below its key.
        for child in (0..end.max(1)).rev() {
            let child = node.child(node.cursor_at(child)?.value)?;
            let last = self.last_in(child, level - 1, bound, pages)?;
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }
}
