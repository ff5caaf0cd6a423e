//! The strings of a keyword column in their order.

use super::entries::{EntryKind, HEAD_BYTES, decode_number, head};
use super::view::ColumnReader;
use crate::btree::Scan;
use crate::cache::{Pages, Step};

/// Goes over the strings of a column that are in the tree, in the order of their bytes. Some may be
/// those of no document any more.
#[derive(Debug)]
pub struct OrderedTerms {
    reader: ColumnReader,
    /// Nothing once it has ended.
    scan: Option<Scan>,
}

impl OrderedTerms {
    /// Begins before the first.
    pub fn new(reader: ColumnReader) -> OrderedTerms {
        let scan = Some(Scan::new(&head(reader.id, EntryKind::Number)));
        OrderedTerms { reader, scan }
    }

    /// Goes on to the next string, and gives its number.
    pub fn advance(&mut self, pages: &mut Pages<'_>) -> Step<Option<u32>> {
        let end = head(self.reader.id, EntryKind::Term);
        let Some(scan) = &mut self.scan else {
            return Ok(None);
        };
        let tree = &self.reader.view.tree.tree;
        if !scan.advance_below(&end, tree, pages)? {
            self.scan = None;
            return Ok(None);
        }
        Ok(Some(decode_number(scan.value())?))
    }

    /// The string that it stands on.
    pub fn term(&self) -> &[u8] {
        let key = self.scan.as_ref().map_or(&[][..], Scan::key);
        key.get(HEAD_BYTES..).unwrap_or_default()
    }
}
