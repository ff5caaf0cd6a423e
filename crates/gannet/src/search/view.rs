//! The parts of a snapshot of the index that a search needs.
//!
//! Everything in it belongs to one moment: the dictionary's and the tables' state of that moment,
//! and of the memory buffer the documents below the high-water mark.

use std::sync::Arc;

use crate::analysis::Schema;
use crate::base::{DocId, Result};
use crate::cache::{Pages, Step};
use crate::columns::ColumnsView;
use crate::documents::{Dictionaries, DocumentTables};
use crate::postings::{Fragment, Reach, TermView, TermVisitor};
use crate::search::scoring::bm25::Statistics;

/// Postings that are still in memory, by the keys of their terms.
pub trait MemoryTerms: Send + Sync {
    /// The postings of a term in documents below `below`, each fragment behind the one before, with
    /// positions if `reach` goes so far. Before they are copied, `reserve` is told how many bytes
    /// more they take.
    fn term(
        &self,
        key: &[u8],
        below: DocId,
        reach: Reach,
        reserve: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Vec<Fragment>>;

    /// Shows `visitor` all terms that have a document below `below`, and the documents below of
    /// those that it wants, until it fails. Terms come in any order, some maybe twice.
    fn visit_terms(&self, below: DocId, visitor: &mut dyn TermVisitor) -> Result<()>;
}

/// Documents by their external IDs.
pub trait ExternalIds: Send + Sync {
    /// The newest document below `below` with this ID; it may be deleted.
    fn document(&self, id: &str, below: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>>;

    /// Goes over the IDs that were flushed, in the order of their bytes, from the first that is not
    /// below `from` on.
    fn walk(&self, from: &[u8]) -> Box<dyn IdWalk>;

    /// Shows all IDs that are not flushed, in any order, each with its documents. Some documents
    /// may be deleted, or newer than the snapshot.
    fn visit_new(&self, visit: &mut dyn FnMut(&str, DocId));
}

/// A walk over external IDs.
pub trait IdWalk: Send {
    /// The next ID with the newest document that was flushed with it, which may be deleted.
    fn advance(&mut self, pages: &mut Pages<'_>) -> Step<Option<(&str, DocId)>>;
}

/// A snapshot as a search sees it.
pub struct SearchView {
    /// The fields.
    pub schema: Arc<Schema>,
    /// The dictionary: term keys and their coded entries.
    pub terms: TermView,
    /// Postings in memory.
    pub buffer: Arc<dyn MemoryTerms>,
    /// External IDs.
    pub ids: Arc<dyn ExternalIds>,
    /// One past the last doc ID of the snapshot.
    pub below: DocId,
    /// The number of its state: states of different numbers may have different lists.
    pub state: u64,
    /// The number of times that documents got other numbers since the index was opened.
    pub renumbered: u64,
    /// Deleted documents of which lists still have postings.
    pub dead_documents: u64,
    /// The values of documents.
    pub columns: ColumnsView,
    /// Norms, deletions and addresses of the documents.
    pub tables: DocumentTables,
    /// The dictionaries that stored documents are decompressed with.
    pub dictionaries: Dictionaries,
    /// Statistics of each field; deleted documents count until a vacuum.
    pub statistics: Statistics,
}
