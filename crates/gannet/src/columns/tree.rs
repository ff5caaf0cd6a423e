//! The tree of all columns: its writer, and what readers see of it.

use std::sync::Arc;

use super::column::{ColumnId, Columns, FlushedColumn};
use super::entries::{EntryKind, damaged_piece, decode_number, numbered, put_number_key};
use crate::base::{ByteReader, DocId, Result, ZoneNumber, put_bytes};
use crate::btree::{NearNodes, Tree, TreeView};
use crate::cache::{Bytes, FramePool, Pages, Step};
use crate::storage::{Store, StreamWriter, Unsynced};

/// The tree that flushes change.
pub struct ColumnTree {
    pub(super) tree: Tree,
    /// The decisions up to the last flush.
    pub(super) columns: Columns,
    pub(super) flushed: Vec<FlushedColumn>,
}

/// The tree as of one moment. Clones are cheap.
#[derive(Clone, Debug)]
pub struct ColumnTreeView {
    pub(super) tree: TreeView,
    pub(super) flushed: Arc<[FlushedColumn]>,
}

/// The part of the tree that a root keeps beside its nodes.
struct TreeRecord<'r> {
    columns: Columns,
    flushed: Vec<FlushedColumn>,
    tree: &'r [u8],
}

impl TreeRecord<'_> {
    fn decode(bytes: &[u8]) -> Result<TreeRecord<'_>> {
        let mut reader = ByteReader::new(bytes, "the columns of the root record");
        let columns = Columns::decode(&mut reader)?;
        let flushed = columns.all().iter();
        let flushed = flushed.map(|_| FlushedColumn::decode(&mut reader));
        let flushed = flushed.collect::<Result<_>>()?;
        let tree = reader.bytes()?;
        if !reader.is_empty() {
            return Err(reader.damaged("the end", reader.rest().len()));
        }
        Ok(TreeRecord {
            columns,
            flushed,
            tree,
        })
    }
}

/// Reads what [`ColumnTree::encode`] wrote, and gives the bytes of the tree in it.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn decode(bytes: &[u8]) -> Result<&[u8]> {
    TreeRecord::decode(bytes).map(|record| record.tree)
}

impl ColumnTree {
    /// An empty tree of an index for which this was decided.
    pub fn new(store: Arc<Store>, columns: Columns) -> ColumnTree {
        ColumnTree {
            tree: Tree::new(store),
            flushed: vec![FlushedColumn::default(); columns.all().len()],
            columns,
        }
    }

    /// The tree that [`ColumnTree::encode`] described.
    pub fn open(store: Arc<Store>, bytes: &[u8]) -> Result<ColumnTree> {
        let record = TreeRecord::decode(bytes)?;
        Ok(ColumnTree {
            tree: Tree::open(store, record.tree)?,
            columns: record.columns,
            flushed: record.flushed,
        })
    }

    /// The decisions up to the last flush: the log behind it has those since.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The newest state. Give it to readers only after [`ColumnTree::flush`].
    pub fn view(&self) -> ColumnTreeView {
        ColumnTreeView {
            tree: self.tree.view().clone(),
            flushed: self.flushed.as_slice().into(),
        }
    }

    /// Writes all nodes out.
    pub fn flush(&mut self) -> Result<()> {
        self.tree.flush()
    }

    /// Takes what must be synced to make all that was written out durable.
    pub fn take_unsynced(&mut self) -> Unsynced {
        self.tree.stream().take_unsynced()
    }

    /// Writes all nodes out, and goes on in a new zone if less than this share of the open one
    /// lives.
    pub fn leave_sparse_zone(&mut self, live_share: f64) -> Result<()> {
        self.tree.leave_sparse_zone(live_share)
    }

    /// Moves the nodes out of victim zones.
    pub fn move_out_of(
        &mut self,
        pool: &FramePool,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
    ) -> Result<()> {
        self.tree.move_out_of(pool, is_victim).map(drop)
    }

    /// Writes the changed pages of the node mapping to `tables`, and appends to `out` what
    /// [`ColumnTree::open`] needs.
    pub fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        self.columns.encode(out);
        self.flushed.iter().for_each(|column| column.encode(out));
        let mut tree = Vec::new();
        self.tree.encode(tables, &mut tree)?;
        put_bytes(out, &tree);
        Ok(())
    }
}

impl ColumnTreeView {
    /// The tree itself.
    pub fn tree(&self) -> &TreeView {
        &self.tree
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes() + self.flushed.len() * size_of::<FlushedColumn>()
    }

    /// The part of a column that flushes know.
    pub(super) fn flushed(&self, column: ColumnId) -> FlushedColumn {
        let flushed = self.flushed.get(column as usize);
        flushed.copied().unwrap_or_default()
    }

    /// The number of a string, if it was flushed.
    pub(super) fn number(
        &self,
        column: ColumnId,
        term: &[u8],
        pages: &mut Pages<'_>,
    ) -> Step<Option<u32>> {
        if term.len() > super::found::KEYWORD_BYTES_MAX {
            return Ok(None);
        }
        let mut key = Vec::new();
        put_number_key(column, term, &mut key);
        let value = self.tree.get(&key, pages)?;
        Ok(value.map(|value| decode_number(&value)).transpose()?)
    }

    /// The piece that begins at a document, for pieces that mostly ascend from call to call. Fails
    /// if there is none: maps name only pieces that there are.
    pub(super) fn piece(
        &self,
        column: ColumnId,
        first: DocId,
        near: &mut NearNodes,
        pages: &mut Pages<'_>,
    ) -> Step<Bytes> {
        let key = numbered(column, EntryKind::Piece, first);
        let bytes = self.tree.get_near(&key, near, pages)?;
        let missing = || damaged_piece(column, first, "it is not there");
        Ok(bytes.ok_or_else(missing)?)
    }

    /// The entry of a kind that a number names.
    pub(super) fn entry(
        &self,
        column: ColumnId,
        kind: EntryKind,
        number: u32,
        pages: &mut Pages<'_>,
    ) -> Step<Option<Bytes>> {
        self.tree.get(&numbered(column, kind, number), pages)
    }
}

impl Default for ColumnTreeView {
    /// The view of an empty tree.
    fn default() -> ColumnTreeView {
        ColumnTreeView {
            tree: TreeView::new(),
            flushed: Arc::default(),
        }
    }
}
