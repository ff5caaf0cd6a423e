//! The columns: pieces, what maps say of them, the numbers of keywords, and whether documents have
//! the values that their sources give.

use super::Check;
use crate::base::{DocId, Error, Result};
use crate::cache::Pages;
use crate::columns::{ComparedDocuments, FoundValues, check_columns, compare_values};

impl Check<'_> {
    /// Goes over all columns.
    pub(crate) fn columns(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let state = self.state;
        let pool = &self.shared.pool;
        let (mut pages, mut others) = (Pages::new(pool), Pages::new(pool));
        let (tree, columns) = (&state.column_tree, &state.columns);
        let checked = check_columns(tree, columns, state.below, &mut pages, &mut others)?;
        let (found, faults) = checked;
        self.report.values = found.values;
        progress("values", found.values);
        let faults = faults.into_iter().map(|fault| format!("columns: {fault}"));
        self.find_all(faults);
        Ok(())
    }

    /// Compares the values that sources of documents give with those of the columns. What cannot be
    /// read was told before.
    pub(super) fn compare_values(
        &self,
        values: &FoundValues,
        docs: &[DocId],
    ) -> Result<Vec<String>> {
        let newest = self.shared.preparation.columns_version();
        let documents = ComparedDocuments {
            values,
            docs,
            of_same_columns: newest == self.state.columns.version(),
        };
        let view = self.state.columns_view();
        let mut pages = Pages::new(&self.shared.pool);
        match compare_values(&view, &documents, &self.shared.budget, &mut pages) {
            Err(Error::Damaged { .. }) => Ok(Vec::new()),
            compared => compared,
        }
    }
}
