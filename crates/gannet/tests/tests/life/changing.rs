//! Operations that change documents, with what they say that they did.

use std::cell::RefCell;

use super::history::{History, Judged};
use super::ledger::{describe, is_met};
use super::papers::{Paper, partial};
use gannet::Error;
use gannet::Expected;
use gannet::Query;
use gannet::{Durability, Written};
use gannet_testkit::random::KINDS;

/// Documents that `delete_matching` deletes in one batch.
const DELETED_AT_ONCE: usize = 1_000;

impl History {
    pub(super) fn add(&mut self) -> Judged<()> {
        let count = match self.rng.below(20) {
            0 => self.rng.between(2, 20),
            _ => 1,
        };
        let batch = (0..count).map(|_| self.new_paper()).collect();
        self.write("add", batch)
    }

    pub(super) fn add_many(&mut self) -> Judged<()> {
        let count = self.rng.between(20, 150).min(self.setup.documents.1 / 2);
        let batch = (0..count).map(|_| self.new_paper()).collect();
        self.write("add many", batch)
    }

    /// Replaces documents, some of which are not there, in a batch that may name one twice.
    pub(super) fn replace(&mut self) -> Judged<()> {
        let count = *self.rng.pick(&[1, 1, 1, 2, 5]);
        let mut batch: Vec<Paper> = (0..count).map(|_| self.paper_again()).collect();
        if self.rng.chance(10) {
            let id = batch[0].id().to_owned();
            let again = self.documents.document(&mut self.rng, id);
            batch.push(Paper::new(again));
        }
        self.write("replace", batch)
    }

    /// Writes documents that expect something, which is there or not.
    pub(super) fn replace_if_as_expected(&mut self) -> Judged<()> {
        let count = *self.rng.pick(&[1, 1, 1, 2, 3]);
        let mut batch = Vec::new();
        for _ in 0..count {
            let mut paper = if self.rng.chance(20) {
                self.new_paper()
            } else {
                self.paper_again()
            };
            let known = batch.iter().any(|other: &Paper| other.id() == paper.id());
            paper.expected = (!known).then(|| self.expectation(paper.id()));
            batch.push(paper);
        }
        self.write("replace if as expected", batch)
    }

    fn new_paper(&mut self) -> Paper {
        let id = self.new_id();
        Paper::new(self.documents.document(&mut self.rng, id))
    }

    fn paper_again(&mut self) -> Paper {
        let id = if self.rng.chance(85) {
            self.live_id()
        } else {
            self.any_id()
        };
        Paper::new(self.documents.document(&mut self.rng, id))
    }

    /// An expectation that is met in three of four cases.
    fn expectation(&mut self, id: &str) -> Expected {
        let found = self.ledger.get(id);
        let right = match (found, self.rng.chance(50)) {
            (None, _) => Expected::Absent,
            (Some(entry), true) => Expected::Version(entry.version),
            (Some(entry), false) => Expected::Sequence(entry.sequence),
        };
        if self.rng.chance(75) {
            return right;
        }
        let version = found.map_or(1, |entry| entry.version);
        let sequence = found.map_or(0, |entry| entry.sequence);
        let wrong = [
            Expected::Absent,
            Expected::Version(version + 1),
            Expected::Version(version.saturating_sub(1)),
            Expected::Sequence(sequence.saturating_sub(1)),
            Expected::Sequence(self.ledger.sequence() + 1),
        ];
        *self.rng.pick(&wrong)
    }

    /// Writes a batch, which is rejected if an expectation of it is not met.
    fn write(&mut self, kind: &'static str, batch: Vec<Paper>) -> Judged<()> {
        self.tally.operation(kind);
        let begun = self.device.events();
        let conflict = self.ledger.conflict(&batch);
        let documents = batch.iter().map(Paper::parsed).collect();
        let written = self.index().write(documents);
        if let Some((id, found)) = conflict {
            return self.expect_conflict(written, &id, &found);
        }
        let expected = self.written(&batch, begun);
        self.expect_written(written, expected)
    }

    /// Notes a batch as written; gives what the index must say.
    fn written(&mut self, batch: &[Paper], begun: usize) -> Written {
        let replaced = self.ledger.write(batch, begun);
        self.tally.count("documents written", batch.len() as u64);
        self.touched
            .extend(batch.iter().map(|paper| paper.id().to_owned()));
        self.acknowledge_change();
        Written {
            added: batch.len() as u64,
            replaced,
            deleted: 0,
            sequence: self.ledger.sequence(),
        }
    }

    fn acknowledge_change(&mut self) {
        if self.setup.durability == Durability::Sync {
            self.acknowledge();
        }
    }

    fn expect_conflict(
        &mut self,
        written: gannet::Result<Written>,
        expected: &str,
        found_there: &str,
    ) -> Judged<()> {
        self.tally.count("conflicts", 1);
        match &written {
            Err(Error::Conflict { id, found, .. }) if id == expected && found == found_there => {
                Ok(())
            }
            other => Err(format!(
                "a conflict with {found_there} at {expected} expected, got {other:?}"
            )),
        }
    }

    /// A partial update, or what to write where nothing is.
    pub(super) fn merge(&mut self) -> Judged<()> {
        self.tally.operation("merge");
        let id = if self.rng.chance(80) {
            self.live_id()
        } else {
            self.any_id()
        };
        let partial = partial(&self.documents, &mut self.rng);
        let upsert = self.rng.chance(50).then(|| {
            let document = self.documents.document(&mut self.rng, id.clone());
            Paper::new(document)
        });
        let begun = self.device.events();
        let change = serde_json::Value::Object(partial.clone()).to_string();
        let parsed = upsert.as_ref().map(Paper::parsed);
        let merged = self.index().merge(&id, change.as_bytes(), parsed);
        let paper = match self.ledger.get(&id) {
            Some(entry) => Paper::merged(&id, &entry.source, &partial),
            None => match upsert {
                Some(upsert) => upsert,
                None => {
                    return match merged {
                        Err(Error::Invalid(reason)) if reason.contains("there is no") => Ok(()),
                        other => Err(format!("{id} is not there, got {other:?}")),
                    };
                }
            },
        };
        let expected = self.written(&[paper], begun);
        self.expect_written(merged, expected)
    }

    /// A change that looks at what is there, and sometimes leaves it.
    pub(super) fn update(&mut self) -> Judged<()> {
        self.tally.operation("update");
        let id = self.live_id();
        let paper = Paper::new(self.documents.document(&mut self.rng, id.clone()));
        let leaves = self.rng.chance(15);
        let begun = self.device.events();
        let seen = RefCell::new(Vec::new());
        let updated = self.index().update(&id, |found| {
            let found = found.map(|f| (f.version, f.sequence, f.source.clone()));
            seen.borrow_mut().push(found);
            Ok((!leaves).then(|| paper.parsed()))
        });
        let expected = self.ledger.get(&id).map(|entry| {
            let source = entry.source.clone().into_bytes();
            (entry.version, entry.sequence, source)
        });
        if seen.borrow().as_slice() != [expected] {
            return Err(format!("update of {id} saw {seen:?}"));
        }
        let expected = if leaves {
            Written::default()
        } else {
            self.written(&[paper], begun)
        };
        self.expect_written(updated, expected)
    }

    /// Deletes up to so many documents, some of which are not there or named twice.
    pub(super) fn delete(&mut self, most: usize) -> Judged<()> {
        self.tally.operation("delete");
        let count = self.rng.between(1, most);
        let mut ids: Vec<String> = (0..count).map(|_| self.live_id()).collect();
        if self.rng.chance(10) {
            ids.push("never".to_owned());
        }
        let begun = self.device.events();
        let named: Vec<&str> = ids.iter().map(String::as_str).collect();
        let deleted = self.index().delete(&named);
        let expected = self.deleted(named.into_iter(), begun);
        self.expect_written(deleted, expected)
    }

    /// Notes a batch as deleted; gives what the index must say.
    fn deleted<'i>(&mut self, ids: impl Iterator<Item = &'i str> + Clone, begun: usize) -> Written {
        let deleted = self.ledger.delete(ids.clone(), begun);
        self.touched.extend(ids.map(str::to_owned));
        self.tally.count("documents deleted", deleted);
        self.acknowledge_change();
        Written {
            deleted,
            sequence: self.ledger.sequence(),
            ..Written::default()
        }
    }

    pub(super) fn delete_if_as_expected(&mut self) -> Judged<()> {
        self.tally.operation("delete if as expected");
        let id = self.live_id();
        let expected = self.expectation(&id);
        let begun = self.device.events();
        let deleted = self.index().delete_expecting(&id, expected);
        let found = self.ledger.get(&id).map(|e| (e.version, e.sequence));
        if !is_met(expected, found) {
            return self.expect_conflict(deleted, &id, &describe(found));
        }
        let expected = self.deleted([id.as_str()].into_iter(), begun);
        self.expect_written(deleted, expected)
    }

    /// Deletes what a query finds, unless that is too much.
    pub(super) fn delete_matching(&mut self) -> Judged<()> {
        let most = if self.ledger.live() > self.setup.documents.1 / 2 {
            self.ledger.live()
        } else {
            self.ledger.live() / 4
        };
        let Some((query, found)) = (0..5).find_map(|_| self.query_of_few(most)) else {
            return Ok(());
        };
        self.tally.operation("delete matching");
        let begun = self.device.events();
        let written = self.index().delete_matching(&query, &|_| {});
        let mut expected = Written {
            sequence: self.ledger.sequence(),
            ..Written::default()
        };
        for batch in found.chunks(DELETED_AT_ONCE) {
            let ids = batch.iter().map(String::as_str);
            expected.deleted += self.deleted(ids, begun).deleted;
            expected.sequence = self.ledger.sequence();
        }
        self.expect_written(written, expected)
            .map_err(|reason| format!("{query}: {reason}"))
    }

    /// A query with the IDs of what it finds, the oldest first, if these are not more.
    fn query_of_few(&mut self, most: usize) -> Option<(Query, Vec<String>)> {
        let kind = *self.rng.pick(&KINDS);
        let query = self.queries.query(&mut self.rng, kind);
        let answer = self.ledger.view().answer(&query).ok()?;
        let mut found: Vec<usize> = answer.hits.iter().map(|(number, _)| *number).collect();
        found.sort_unstable();
        let ids = found
            .iter()
            .map(|number| self.ledger.entry(*number).id.clone());
        (found.len() <= most).then(|| (query.clone(), ids.collect()))
    }
}
