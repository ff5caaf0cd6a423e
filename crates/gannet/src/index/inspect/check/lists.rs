//! The term dictionary and every list in it, and what the opening has replayed of lists.

use std::collections::HashMap;

use super::Check;
use super::contents::{DigestSums, ListPart};
use super::references::References;
use crate::analysis::{FieldId, split_term_key};
use crate::base::{DocId, Error, PhraseFilters, Result};
use crate::btree::check as check_tree;
use crate::cache::{Pages, finish};
use crate::documents::NormCursor;
use crate::index::state::Shared;
use crate::index::state::State;
use crate::postings::{
    DeadDocs, PostingVisitor, TermEntry, TermTree, Tokens, check as check_list, term_digest,
};
use crate::storage::PageKind;

/// The figures to compare with the postings of lists, and those gathered of them.
struct ListCheck<'c, 'z> {
    state: &'c State,
    shared: &'c Shared,
    dead: Option<&'c DeadDocs>,
    references: &'c mut References<'z>,
    contents: &'c mut DigestSums,
    tokens: &'c mut HashMap<FieldId, u64>,
}

/// Takes the postings of one list.
struct List<'c> {
    norms: NormCursor,
    pages: Pages<'c>,
    dead: Option<&'c DeadDocs>,
    contents: &'c mut DigestSums,
    part: ListPart,
}

impl PostingVisitor for List<'_> {
    fn norm(&mut self, doc: DocId) -> Result<u8> {
        self.pages.trim();
        match finish(&mut self.pages, |pages| self.norms.norm(doc, pages)) {
            // A page that is damaged is told once, and not of each list.
            Err(Error::Damaged { .. }) => Ok(0),
            norm => norm,
        }
    }

    fn visit(&mut self, doc: DocId, tokens: &Tokens) {
        if self.dead.is_some_and(|dead| !dead.has(doc)) {
            self.contents.add(&mut self.part, doc, tokens);
        }
    }
}

impl Check<'_> {
    /// The dictionary, and every list in it.
    pub(crate) fn terms(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        TermTree::ALL
            .into_iter()
            .try_for_each(|tree| self.tree(tree, progress))
    }

    /// One tree of the dictionary, and every list in it.
    fn tree(&mut self, which: TermTree, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let mut nodes = Pages::new(&self.shared.pool);
        let (mut terms, mut faults, mut failed) = (self.report.terms, Vec::new(), None);
        let tree = self.state.terms.tree(which);
        let mut lists = self.lists();
        let mut visit = |key: &[u8], value: &[u8]| {
            terms += 1;
            if terms % 10_000 == 0 {
                progress("terms", terms);
            }
            match lists.check(key, value, which) {
                Ok(found) => faults.extend(found.into_iter().map(|f| name_term(key, &f))),
                Err(error) => failed = Some(error),
            }
        };
        let found = check_tree(tree, &mut nodes, &mut visit)?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.report.terms = terms;
        self.find_all(found.into_iter().chain(faults));
        Ok(())
    }

    /// Checks the buffers that an opening for reading has replayed. A writer has flushed them.
    pub(crate) fn buffers(&mut self) -> Result<()> {
        if !self.shared.options.read_only {
            return Ok(());
        }
        let (state, mut faults) = (self.state, Vec::new());
        let buffer = state.buffers.filling().frozen();
        let (keys, order) = buffer.sorted();
        self.report.terms += keys.len() as u64;
        let mut lists = self.lists();
        for (key, slot) in keys.into_iter().zip(order) {
            let fragment = buffer.fragment(slot);
            let entry = TermEntry {
                tail: fragment,
                ..TermEntry::default()
            };
            let found = lists.check_list(key, &entry)?;
            faults.extend(found.into_iter().map(|fault| name_term(key, &fault)));
        }
        self.find_all(faults);
        Ok(())
    }
}

impl<'a> Check<'a> {
    fn lists(&mut self) -> ListCheck<'_, 'a> {
        ListCheck {
            state: self.state,
            shared: self.shared,
            dead: self.dead.as_ref(),
            references: &mut self.references,
            contents: &mut self.contents,
            tokens: &mut self.tokens,
        }
    }
}

fn name_term(key: &[u8], finding: &str) -> String {
    let term = String::from_utf8_lossy(key.get(2..).unwrap_or_default());
    format!("list of {term:?}: {finding}")
}

impl ListCheck<'_, '_> {
    /// Checks the entry of a term in a tree.
    fn check(&mut self, key: &[u8], value: &[u8], which: TermTree) -> Result<Vec<String>> {
        let entry = match TermEntry::decode(value) {
            Ok(entry) => entry,
            Err(error) => return Ok(vec![error.to_string()]),
        };
        let references = &mut self.references;
        let refer = |span| references.span(&[PageKind::Postings], span).err();
        let lost: Vec<Error> = entry.spans().filter_map(refer).collect();
        if !lost.is_empty() {
            return Ok(lost.iter().map(Error::to_string).collect());
        }
        let mut findings = self.check_list(key, &entry)?;
        let (terms, mut pages) = (&self.state.terms, Pages::new(&self.shared.pool));
        match finish(&mut pages, |pages| {
            terms.misplaced(key, value, which, pages)
        }) {
            // Damage of a node is told when its tree is gone through.
            Err(Error::Damaged { .. }) => {}
            other => findings.extend(other?.map(str::to_owned)),
        }
        Ok(findings)
    }

    /// Checks a list, and counts and compares its postings.
    fn check_list(&mut self, key: &[u8], entry: &TermEntry) -> Result<Vec<String>> {
        let field = match split_term_key(key) {
            Ok((field, _)) => field,
            Err(error) => return Ok(vec![error.to_string()]),
        };
        let known = self.state.schema.field(field);
        *self.tokens.entry(field).or_default() += entry.total_frequency();
        let filters = known.map_or(PhraseFilters::None, |known| known.options.phrase_filters());
        let mut list = List {
            norms: self.state.tables.norm_cursor(field),
            pages: Pages::new(&self.shared.pool),
            dead: self.dead,
            contents: self.contents,
            part: ListPart::new(term_digest(key), filters),
        };
        let mut findings = check_list(entry, &mut Pages::new(&self.shared.pool), &mut list)?;
        if known.is_none() {
            findings.push(format!("its field {field} does not exist"));
        }
        if entry.last().is_some_and(|last| last >= self.state.below) {
            let below = self.state.below;
            findings.push(format!(
                "names documents that do not exist: the index ends at {below}"
            ));
        }
        Ok(findings)
    }
}
