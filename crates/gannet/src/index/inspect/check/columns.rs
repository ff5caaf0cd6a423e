//! The columns: pieces, what maps say of them, and the numbers of keywords.

use super::Check;
use crate::base::Result;
use crate::cache::Pages;
use crate::columns::check_columns;

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
}
