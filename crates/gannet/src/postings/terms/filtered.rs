//! A tree beside a filter of its keys.

use std::sync::Arc;

use super::key_filter::KeyFilter;
use crate::base::Result;
use crate::btree::{Tree, TreeView};
use crate::cache::{Bytes, FramePool, Pages, Step, finish};
use crate::storage::Store;

/// The most nodes of a tree behind a network that an opening reads: 512 KiB, which a store sends in
/// the time of a few requests.
const REMOTE_NODES_MAX: u64 = 128;

/// A tree that is not asked for most keys that it does not have.
///
/// Invariant: the filter has all keys of the tree.
pub(in crate::postings) struct FilteredTree {
    pub(crate) tree: Tree,
    pub(in crate::postings) keys: KeyFilter,
}

/// The same as of one moment.
#[derive(Clone, Debug)]
pub(crate) struct FilteredView {
    pub(crate) tree: TreeView,
    pub(crate) keys: KeyFilter,
}

impl FilteredTree {
    /// An empty one.
    pub(crate) fn new(store: &Arc<Store>) -> FilteredTree {
        FilteredTree {
            tree: Tree::new(Arc::clone(store)),
            keys: KeyFilter::with_room_for(0),
        }
    }

    /// A tree that was opened; reads it to know its keys. A large tree behind a network is not read
    /// and counts as one that may have any: a look-up then asks for one leaf more along with
    /// others, which costs less than all leaves at each opening.
    pub(crate) fn open(tree: Tree, store: &Store, pool: &FramePool) -> Result<FilteredTree> {
        let is_large = tree.view().nodes() > REMOTE_NODES_MAX;
        let keys = if is_large && store.device().is_remote() {
            KeyFilter::of_any_key()
        } else {
            keys_of(tree.view(), pool)?
        };
        Ok(FilteredTree { tree, keys })
    }

    pub(crate) fn view(&self) -> FilteredView {
        FilteredView {
            tree: self.tree.view().clone(),
            keys: self.keys.clone(),
        }
    }

    /// Removes all.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.keys = KeyFilter::with_room_for(0);
        self.tree.clear()
    }

    /// Makes a larger filter if there are too many keys for this one; reads the tree for that.
    pub(crate) fn widen(&mut self, pool: &FramePool) -> Result<()> {
        if self.keys.has_room_for(self.tree.view().entries()) {
            return Ok(());
        }
        self.tree.flush()?;
        self.keys = keys_of(self.tree.view(), pool)?;
        Ok(())
    }
}

impl FilteredView {
    /// Bytes of memory that it holds.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes() + self.keys.memory_bytes()
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<Option<Bytes>> {
        if self.keys.may_have(key) {
            self.tree.get(key, pages)
        } else {
            Ok(None)
        }
    }
}

/// A filter of all keys of a tree, with room for as many again.
fn keys_of(tree: &TreeView, pool: &FramePool) -> Result<KeyFilter> {
    let mut keys = KeyFilter::with_room_for(tree.entries());
    let (mut pages, mut scan) = (Pages::new(pool), tree.scan(&[]));
    while finish(&mut pages, |pages| scan.advance(tree, pages))? {
        pages.trim();
        keys.insert(scan.key());
    }
    Ok(keys)
}
