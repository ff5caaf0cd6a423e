//! Changes of the catalog, and the deletion of indexes, which is a part of some.
//!
//! Whoever changes the catalog, or makes or deletes an index, holds one lock, and only then locks
//! slots of indexes. A deletion waits without it until nobody uses the index.

use std::fs;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::catalog::Catalog;
use super::metadata::random_name;
use super::names::check_index_name;
use super::open::OpenIndex;
use super::registry::{Indexes, KEPT};
use super::slot::{IndexSlot, take_unused};
use crate::fault::{Fault, Outcome};
use crate::http::Caller;

/// The time that a deletion waits for those who still use the index.
const DELETION_WAIT: Duration = Duration::from_secs(30);

/// The time between two looks at whether somebody still uses it.
const DELETION_PAUSE: Duration = Duration::from_millis(5);

type Places<'s> = Vec<MutexGuard<'s, Option<Arc<OpenIndex>>>>;

impl Indexes {
    /// Changes the catalog, durably once this returns.
    pub fn change(&self, change: impl FnOnce(&mut Catalog) -> Outcome<()>) -> Outcome<()> {
        let _changing = self.lock_changes();
        let before = self.catalog();
        let mut after = Catalog::clone(&before);
        change(&mut after)?;
        self.replace_catalog(&before, after)
    }

    /// Puts a catalog in the place of another. The caller has the lock of changes.
    pub fn replace_catalog(&self, before: &Catalog, after: Catalog) -> Outcome<()> {
        if *before == after {
            return Ok(());
        }
        after.aliases.check()?;
        after.write(&self.catalog_file())?;
        self.publish(after);
        Ok(())
    }

    /// Deletes an index, once nobody uses it, with its aliases.
    pub fn delete(&self, name: &str, caller: &Caller) -> Outcome<()> {
        check_index_name(name)?;
        caller.check(name)?;
        self.change_and_delete(&[name.to_owned()], |_| Ok(()))
    }

    /// Deletes indexes, once nobody uses them, and changes the catalog at the same moment.
    pub fn change_and_delete(
        &self,
        names: &[String],
        change: impl FnOnce(&mut Catalog) -> Outcome<()>,
    ) -> Outcome<()> {
        let mut names = names.to_vec();
        names.sort();
        names.dedup();
        if let Some(missing) = names.iter().find(|name| !self.exists(name)) {
            return Err(Fault::no_index(missing));
        }
        let slots: Vec<Arc<IndexSlot>> = names.iter().map(|name| self.slot(name)).collect();
        let going = Going::begin(&slots)?;
        let start = Instant::now();
        loop {
            let changing = self.lock_changes();
            let mut places: Places<'_> = slots.iter().map(|slot| slot.lock()).collect();
            let is_used = |open: &Arc<OpenIndex>| Arc::strong_count(open) > 1;
            if !places
                .iter()
                .any(|place| place.as_ref().is_some_and(is_used))
            {
                return self.delete_unused(&names, &mut places, change);
            }
            drop((places, changing));
            if start.elapsed() > DELETION_WAIT {
                drop(going);
                return Err(Fault::busy(format!(
                    "requests still use [{}]: send it again later",
                    names.join(",")
                )));
            }
            thread::sleep(DELETION_PAUSE);
        }
    }

    fn delete_unused(
        &self,
        names: &[String],
        places: &mut Places<'_>,
        change: impl FnOnce(&mut Catalog) -> Outcome<()>,
    ) -> Outcome<()> {
        if let Some(missing) = names.iter().find(|name| !self.exists(name)) {
            return Err(Fault::no_index(missing));
        }
        let before = self.catalog();
        let mut after = Catalog::clone(&before);
        for name in names {
            after.aliases.remove_index(name);
        }
        change(&mut after)?;
        for place in places {
            if let Some(open) = take_unused(place) {
                self.close(open);
            }
        }
        let is_changed = after != *before;
        if is_changed {
            after.deleting = names.to_vec();
            self.replace_catalog(&before, after.clone())?;
        }
        for name in names {
            self.remove(name)?;
        }
        if is_changed {
            let marked = after.clone();
            after.deleting.clear();
            self.replace_catalog(&marked, after)?;
        }
        Ok(())
    }

    /// Removes what was being deleted when the server ended.
    pub fn finish_deletions(&self) -> Outcome<()> {
        let before = self.catalog();
        for name in before.deleting.iter().filter(|name| self.exists(name)) {
            self.remove(name)?;
        }
        let mut after = Catalog::clone(&before);
        after.deleting.clear();
        self.replace_catalog(&before, after)
    }

    /// Removes the folder of an index that is not open.
    fn remove(&self, name: &str) -> Outcome<()> {
        let trash = self
            .folder
            .join(KEPT)
            .join(format!("trash-{}", random_name()?));
        let folder = self.folder.join(name);
        fs::rename(&folder, &trash).map_err(|error| {
            Fault::internal(format!("{} cannot be deleted: {error}", folder.display()))
        })?;
        // The rest of these is removed when the server starts again.
        let _ = fs::remove_file(self.file(name));
        let _ = fs::remove_dir_all(&trash);
        Ok(())
    }
}

/// Indexes that are being deleted, which nobody begins to use.
struct Going<'s>(&'s [Arc<IndexSlot>]);

impl<'s> Going<'s> {
    fn begin(slots: &'s [Arc<IndexSlot>]) -> Outcome<Going<'s>> {
        for (at, slot) in slots.iter().enumerate() {
            if slot.is_going.swap(true, Ordering::SeqCst) {
                drop(Going(&slots[..at]));
                return Err(Fault::busy("the index is being deleted already"));
            }
        }
        Ok(Going(slots))
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        for slot in self.0 {
            slot.is_going.store(false, Ordering::SeqCst);
        }
    }
}
