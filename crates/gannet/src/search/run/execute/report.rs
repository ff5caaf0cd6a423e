//! Reports on the terms and patterns that a query has looked up.

use super::QueryRun;
use crate::analysis::{FieldId, split_term_key};
use crate::base::Result;
use crate::search::lists::{OpenTerm, PatternDocuments};
use crate::search::results::{CutExpansion, PatternReport, TermReport};
use crate::search::run::expand::FUZZY_MAX;
use crate::search::run::frequent::FREQUENT_MAX;

/// The name of a field at most.
const NAME_BYTES: usize = 256;

impl QueryRun<'_> {
    /// Fuzzy terms, and patterns that end phrases, that stand for more than is searched.
    pub(super) fn report_cut(&self) -> Vec<CutExpansion> {
        let cut = self.lists.cut.iter().map(|cut| CutExpansion {
            field: self.name_of(cut.field),
            pattern: cut.written.clone(),
            by_similarity: cut.is_fuzzy,
            searched: if cut.is_fuzzy {
                FUZZY_MAX
            } else {
                FREQUENT_MAX
            },
        });
        cut.collect()
    }

    fn name_of(&self, field: FieldId) -> String {
        let field = self.view.schema.field(field);
        field.map_or(String::new(), |field| field.name.clone())
    }

    /// The terms.
    pub(super) fn report_terms(&mut self) -> Result<Vec<TermReport>> {
        let bytes = |open: &OpenTerm| size_of::<TermReport>() + NAME_BYTES + 3 * open.key.len();
        let bytes = self.lists.all().map(bytes).sum::<usize>();
        self.kept.grow_to(self.kept.bytes() + bytes)?;
        let report = |open: &OpenTerm| {
            let (field, term) = split_term_key(&open.key)?;
            Ok(TermReport {
                field: self.name_of(field),
                term: String::from_utf8_lossy(term).into_owned(),
                document_frequency: open.list.document_frequency(),
                chunks_in_list: open.chunks_in_list,
                pages_in_list: open.pages_in_list,
            })
        };
        self.lists.all().map(report).collect()
    }

    /// The patterns of many terms.
    pub(super) fn report_patterns(&mut self) -> Result<Vec<PatternReport>> {
        let many = || {
            self.lists
                .patterns
                .iter()
                .filter_map(|p| p.documents.as_ref())
        };
        let bytes =
            |many: &PatternDocuments| size_of::<PatternReport>() + NAME_BYTES + many.written.len();
        let bytes = many().map(bytes).sum::<usize>();
        self.kept.grow_to(self.kept.bytes() + bytes)?;
        let report = |many: &PatternDocuments| PatternReport {
            field: self.name_of(many.field),
            pattern: many.written.clone(),
            terms: many.sources.terms,
            documents: many.set.count(),
            lists: many.sources.lists,
            pages: many.sources.pages,
        };
        Ok(many().map(report).collect())
    }
}
