//! Settles a range by the terms of a field: its least and its greatest are read, and if these are
//! numbers, the terms that the range depends on are looked at.
//!
//! The rules are in `query::ranges`. Only ranges read anything here. A step that stops for pages is
//! called again and goes on.

use std::ops::Bound;

use crate::analysis::{FieldId, split_term_key, term_key};
use crate::base::{DocId, Result, Steps};
use crate::btree::{Scan, TreeView};
use crate::cache::{Pages, Step, gather};
use crate::postings::{TermTree, TermVisitor};
use crate::search::matching::matcher::for_all;
use crate::search::query::pattern::{Pattern, Verdict};
use crate::search::query::ranges::{Ends, SettledRange, ShapeCheck, settle};
use crate::search::view::SearchView;

/// A range being looked at.
pub struct RangeTerms {
    field: FieldId,
    ends: Ends,
    walk: Option<Walk>,
}

/// A walk over terms that are to have one shape.
struct Walk {
    check: ShapeCheck,
    /// The terms that are looked at.
    within: Pattern,
    /// Through each of the dictionary's trees; nothing when it has ended.
    scans: [Option<Scan>; TermTree::ALL.len()],
}

/// The least and the greatest of some keys.
#[derive(Default)]
struct Extremes(Option<(Vec<u8>, Vec<u8>)>);

impl RangeTerms {
    /// Will look at a range of a field.
    pub fn new(field: FieldId, ends: Ends) -> RangeTerms {
        let walk = None;
        RangeTerms { field, ends, walk }
    }

    /// The ends of the terms that the range stands for. Fails if it stands for nothing there.
    pub fn step(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<Ends> {
        if self.walk.is_none() {
            let settled = self.settle(view, pages)?;
            self.ends = settled.ends;
            self.walk = settled.check.map(|check| self.walk(check));
        }
        if let Some(walk) = &mut self.walk {
            walk.step(self.field, view, pages)?;
        }
        Ok(self.ends.clone())
    }

    fn settle(&self, view: &SearchView, pages: &mut Pages<'_>) -> Step<SettledRange> {
        let Some((least, greatest)) = extremes(self.field, view, pages)? else {
            let ends = self.ends.clone();
            return Ok(SettledRange { ends, check: None });
        };
        let text = |key: &[u8]| -> Result<String> {
            Ok(String::from_utf8_lossy(split_term_key(key)?.1).into_owned())
        };
        let name = view
            .schema
            .field(self.field)
            .map_or("", |field| &field.name);
        Ok(settle(&self.ends, name, &text(&least)?, &text(&greatest)?)?)
    }

    fn walk(&self, check: ShapeCheck) -> Walk {
        let (from, to) = if check.is_of_field {
            (Bound::Unbounded, Bound::Unbounded)
        } else {
            self.ends.clone()
        };
        let within = Pattern::Range(from, to);
        let mut start = Vec::new();
        term_key(self.field, within.start(), &mut start);
        Walk {
            check,
            within,
            scans: TermTree::ALL.map(|_| Some(Scan::new(&start))),
        }
    }
}

impl Walk {
    fn step(&mut self, field: FieldId, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        for_all((0..).zip(TermTree::ALL), |(at, which)| {
            let Some(mut scan) = self.scans[at].take() else {
                return Ok(());
            };
            let ended = self.go_through(field, view.terms.tree(which), &mut scan, pages);
            self.scans[at] = ended.is_err().then_some(scan);
            ended
        })?;
        let mut checker = Checker {
            walk: self,
            field,
            steps: pages.steps(),
        };
        Ok(view.buffer.visit_terms(view.below, &mut checker)?)
    }

    fn go_through(
        &self,
        field: FieldId,
        tree: &TreeView,
        scan: &mut Scan,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        while scan.advance(tree, pages)? {
            pages.count_steps(1)?;
            if !self.look_at(field, scan.key())? {
                break;
            }
        }
        Ok(())
    }

    /// Looks at a key; tells whether others follow that matter.
    fn look_at(&self, field: FieldId, key: &[u8]) -> Result<bool> {
        let Some(term) = key.strip_prefix(&field.to_be_bytes()) else {
            return Ok(false);
        };
        let verdict = self.within.judge(term);
        if let Verdict::Match(_) = verdict {
            self.check.check(term)?;
        }
        Ok(verdict != Verdict::End)
    }
}

/// Looks at the terms in memory.
struct Checker<'a, 's> {
    walk: &'a Walk,
    field: FieldId,
    steps: &'a mut Steps<'s>,
}

impl TermVisitor for Checker<'_, '_> {
    fn wants(&mut self, key: &[u8]) -> Result<bool> {
        self.steps.count(1)?;
        self.walk.look_at(self.field, key)?;
        Ok(false)
    }

    fn doc(&mut self, _: DocId) -> Result<()> {
        Ok(())
    }
}

/// The keys of the least and the greatest term of a field, if it has terms.
fn extremes(
    field: FieldId,
    view: &SearchView,
    pages: &mut Pages<'_>,
) -> Step<Option<(Vec<u8>, Vec<u8>)>> {
    let (start, end) = (field.to_be_bytes(), (field + 1).to_be_bytes());
    let found = gather(&TermTree::ALL, |which| {
        let tree = view.terms.tree(which);
        let mut scan = tree.scan(&start);
        let is_first = |from: &[u8], _: Option<&[u8]>| from <= start.as_slice();
        let least = scan.advance_where(&is_first, tree, pages);
        let least = least.map(|_| scan.key().to_vec());
        let greatest = tree.last_below(&end, pages);
        Ok((least?, greatest?))
    })?;
    let mut extremes = Extremes::default();
    let (leasts, greatests): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    for key in leasts.iter().chain(greatests.iter().flatten()) {
        extremes.take(key, &start);
    }
    let mut memory = InMemory {
        extremes,
        start,
        steps: pages.steps(),
    };
    view.buffer.visit_terms(view.below, &mut memory)?;
    Ok(memory.extremes.0)
}

impl Extremes {
    /// Takes a key into account if it begins so.
    fn take(&mut self, key: &[u8], start: &[u8]) {
        if !key.starts_with(start) {
            return;
        }
        let (least, greatest) = self.0.get_or_insert_with(|| (key.to_vec(), key.to_vec()));
        if key < least.as_slice() {
            *least = key.to_vec();
        }
        if key > greatest.as_slice() {
            *greatest = key.to_vec();
        }
    }
}

/// Finds the least and the greatest of the terms in memory too.
struct InMemory<'a, 's> {
    extremes: Extremes,
    start: [u8; size_of::<FieldId>()],
    steps: &'a mut Steps<'s>,
}

impl TermVisitor for InMemory<'_, '_> {
    fn wants(&mut self, key: &[u8]) -> Result<bool> {
        self.steps.count(1)?;
        self.extremes.take(key, &self.start);
        Ok(false)
    }

    fn doc(&mut self, _: DocId) -> Result<()> {
        Ok(())
    }
}
