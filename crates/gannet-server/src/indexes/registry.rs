//! The indexes of a folder, opened when they are asked for, closed when others need their memory.
//!
//! An index is used through an `Arc`. It can be closed where the registry has the only one, which
//! nobody can change who does not hold the lock of its slot.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use gannet::Index;
use serde_json::{Value, json};
use tracing::{info, warn};

use super::catalog::Catalog;
use super::mapping::Mapping;
use super::metadata::{IndexSettings, Metadata, folder_uuid};
use super::names::check_index_name;
use super::open::OpenIndex;
use super::plan::IndexPlan;
use super::slot::{IndexSlot, take_unused};
use crate::fault::{Fault, Outcome};
use crate::http::Caller;

/// The folder of what is kept beside indexes; no index can have its name.
pub(super) const KEPT: &str = "_server";

/// The type of the error for an index that is there already.
const ALREADY_THERE: &str = "resource_already_exists_exception";

/// The file by which an index is known.
const SUPERBLOCK: &str = "superblock";

/// The indexes of a folder.
pub struct Indexes {
    pub(super) folder: PathBuf,
    /// The memory budget of each.
    memory: usize,
    most: usize,
    /// The identifier of the folder.
    pub uuid: String,
    slots: Mutex<HashMap<String, Arc<IndexSlot>>>,
    /// Held by whoever has one more be open, so that no more than `most` are.
    opening: Mutex<()>,
    uses: AtomicU64,
    /// Indexes that are open.
    open_now: AtomicUsize,
    is_closed: AtomicBool,
    catalog: RwLock<Arc<Catalog>>,
    /// Held by whoever changes the catalog, or makes or deletes an index.
    changing: Mutex<()>,
}

impl Indexes {
    /// Takes a folder over, which is made if it is missing.
    pub fn new(folder: &Path, memory: usize, most: usize) -> Outcome<Indexes> {
        let kept = folder.join(KEPT);
        fs::create_dir_all(&kept).map_err(|error| {
            Fault::illegal(format!("{} cannot be made: {error}", kept.display()))
        })?;
        let indexes = Indexes {
            folder: folder.to_owned(),
            memory,
            most,
            uuid: folder_uuid(&kept.join("uuid"))?,
            slots: Mutex::default(),
            opening: Mutex::default(),
            uses: AtomicU64::new(0),
            open_now: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            catalog: RwLock::default(),
            changing: Mutex::default(),
        };
        indexes.publish(Catalog::read(&indexes.catalog_file())?);
        indexes.finish_deletions()?;
        indexes.remove_trash();
        Ok(indexes)
    }

    /// Returns true if a folder is that of an index.
    pub fn is_index(folder: &Path) -> bool {
        folder.join(SUPERBLOCK).is_file()
    }

    /// Returns true if there is an index of this name.
    pub fn exists(&self, name: &str) -> bool {
        check_index_name(name).is_ok() && Indexes::is_index(&self.folder.join(name))
    }

    /// The names of all indexes, in order.
    pub fn names(&self) -> Outcome<Vec<String>> {
        let entries = fs::read_dir(&self.folder).map_err(|error| {
            Fault::internal(format!("{} cannot be read: {error}", self.folder.display()))
        })?;
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| self.exists(name)).collect();
        names.sort();
        Ok(names)
    }

    /// An index that is there, by its name or an alias of it alone.
    pub fn get(&self, name: &str, caller: &Caller) -> Outcome<Arc<OpenIndex>> {
        let name = self.single(name)?;
        caller.check(&name)?;
        self.take(&name, None)
    }

    /// Has a function look at an index. One that was closed is the first to be closed again, so
    /// that a look at all keeps those open that are used.
    pub fn look<T>(
        &self,
        name: &str,
        caller: &Caller,
        look: impl FnOnce(&OpenIndex) -> Outcome<T>,
    ) -> Outcome<T> {
        let was_open = self.slot(name).lock().is_some();
        let open = self.get(name, caller)?;
        let seen = look(&open);
        drop(open);
        if !was_open {
            self.slot(name).used.store(0, Ordering::Relaxed);
        }
        seen
    }

    /// The index that writes to a name go to, which is made if it is missing.
    pub fn get_or_make(&self, name: &str, caller: &Caller) -> Outcome<Arc<OpenIndex>> {
        let name = self.write_target(name)?;
        caller.check(&name)?;
        if self.exists(&name) {
            return self.take(&name, None);
        }
        match self.make(&name, &json!({}), caller) {
            Err(fault) if fault.kind == ALREADY_THERE => self.take(&name, None),
            made => made,
        }
    }

    /// The index that writes to a name go to, which must be there.
    pub fn get_to_write(&self, name: &str, caller: &Caller) -> Outcome<Arc<OpenIndex>> {
        let name = self.write_target(name)?;
        caller.check(&name)?;
        self.take(&name, None)
    }

    /// A new index, of which a request says what is in `body`: settings, mappings and aliases.
    pub fn make(&self, name: &str, body: &Value, caller: &Caller) -> Outcome<Arc<OpenIndex>> {
        check_index_name(name)?;
        caller.check(name)?;
        let _changing = self.lock_changes();
        if self.has_alias(name) {
            let reason = format!("Invalid index name [{name}], already exists as alias");
            let fault = Fault::new(400, "invalid_index_name_exception", reason);
            return Err(fault.of_index(name));
        }
        let before = self.catalog();
        let plan = IndexPlan::new(&before, name, body)?;
        let slot = self.slot(name);
        let place = slot.lock();
        if self.exists(name) {
            let uuid = Metadata::read(&self.file(name))?.map_or_else(String::new, |kept| kept.uuid);
            let reason = format!("index [{name}/{uuid}] already exists");
            return Err(Fault::new(400, ALREADY_THERE, reason).of_index(name));
        }
        let given = body.get("aliases").and_then(Value::as_object);
        for (alias, _) in given.into_iter().flatten() {
            caller.check(alias)?;
        }
        let mut after = Catalog::clone(&before);
        // Those that an index of this name had, and those of this name, whose indexes somebody has
        // removed.
        after.aliases.remove_index(name);
        after.aliases.remove_alias(name);
        for (alias, options) in &plan.aliases {
            self.check_alias(alias)?;
            after.aliases.add(alias, name, options.clone())?;
        }
        self.replace_catalog(&before, after.clone())?;
        let made = self.open_in(name, &slot, place, Some(plan));
        if made.is_err() && !self.exists(name) {
            self.replace_catalog(&after, Catalog::clone(&before))?;
        }
        made
    }

    /// Fails if an alias has the name of an index.
    pub fn check_alias(&self, alias: &str) -> Outcome<()> {
        if !self.exists(alias) {
            return Ok(());
        }
        let reason = format!(
            "Invalid alias name [{alias}]: an index or data stream exists with the same name as the alias"
        );
        Err(Fault::new(400, "invalid_alias_name_exception", reason).of_index(alias))
    }

    /// The catalog as it is now.
    pub fn catalog(&self) -> Arc<Catalog> {
        let catalog = self.catalog.read();
        Arc::clone(&catalog.unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Has all see another catalog.
    pub(super) fn publish(&self, catalog: Catalog) {
        let mut place = self
            .catalog
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *place = Arc::new(catalog);
    }

    /// Locks the catalog, and which indexes there are.
    pub(super) fn lock_changes(&self) -> MutexGuard<'_, ()> {
        let locked = self.changing.lock();
        locked.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The file of the catalog. No index can have its name.
    pub(super) fn catalog_file(&self) -> PathBuf {
        self.folder.join(KEPT).join("_catalog")
    }

    /// The most indexes that are open at once.
    pub fn open_most(&self) -> usize {
        self.most
    }

    /// The indexes that are open now, and not being opened or closed.
    pub fn open_now(&self) -> Vec<Arc<OpenIndex>> {
        let slots: Vec<Arc<IndexSlot>> = self.locked_slots().values().cloned().collect();
        let open = slots.iter().filter_map(|slot| {
            let place = slot.open.try_lock().ok()?;
            place.as_ref().map(Arc::clone)
        });
        open.collect()
    }

    /// Closes all indexes with a checkpoint, those that are used once their users are done, until
    /// `deadline`. Returns the number of those that were left.
    pub fn close_all(&self, deadline: Instant) -> usize {
        self.is_closed.store(true, Ordering::SeqCst);
        let slots: Vec<Arc<IndexSlot>> = self.locked_slots().values().cloned().collect();
        let mut left = 0;
        for slot in slots {
            let mut open = None;
            loop {
                if let Ok(mut place) = slot.open.try_lock() {
                    open = take_unused(&mut place);
                    if open.is_some() || place.is_none() {
                        break;
                    }
                }
                if Instant::now() >= deadline {
                    left += 1;
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
            if let Some(open) = open {
                self.close(open);
            }
        }
        left
    }

    /// The number of indexes that are open.
    pub fn open_count(&self) -> usize {
        self.open_now.load(Ordering::SeqCst)
    }

    fn take(&self, name: &str, wanted: Option<IndexPlan>) -> Outcome<Arc<OpenIndex>> {
        if wanted.is_none() && !self.exists(name) {
            return Err(Fault::no_index(name));
        }
        let slot = self.slot(name);
        if slot.is_going.load(Ordering::SeqCst) {
            return Err(Fault::busy("the index is being deleted").of_index(name));
        }
        slot.used
            .store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let place = slot.lock();
        if let Some(open) = &*place {
            return Ok(Arc::clone(open));
        }
        if wanted.is_none() && !self.exists(name) {
            return Err(Fault::no_index(name));
        }
        self.open_in(name, &slot, place, wanted)
    }

    /// Opens an index whose slot the caller has locked.
    fn open_in(
        &self,
        name: &str,
        slot: &IndexSlot,
        mut place: MutexGuard<'_, Option<Arc<OpenIndex>>>,
        wanted: Option<IndexPlan>,
    ) -> Outcome<Arc<OpenIndex>> {
        let counted = self.count_in()?;
        let open = self.open_counted(name, wanted)?;
        counted.keep();
        let open = Arc::new(open);
        *place = Some(Arc::clone(&open));
        slot.used
            .store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Ok(open)
    }

    /// Has an index that is being opened count among those that are open. Several may be opened at
    /// once.
    fn count_in(&self) -> Outcome<Counted<'_>> {
        let _gate = self
            .opening
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(Fault::new(503, "node_closed_exception", "the server ends"));
        }
        self.make_room()?;
        self.open_now.fetch_add(1, Ordering::SeqCst);
        Ok(Counted(Some(&self.open_now)))
    }

    fn open_counted(&self, name: &str, wanted: Option<IndexPlan>) -> Outcome<OpenIndex> {
        let is_new = !self.exists(name);
        let file = self.file(name);
        let kept = match (is_new, wanted) {
            (true, Some(plan)) => {
                let metadata = Metadata::new(plan.settings, plan.mapping)?;
                metadata.write(&file)?;
                Some(metadata)
            }
            _ => Metadata::read(&file)?,
        };
        let is_kept = kept.is_some();
        let metadata = match kept {
            Some(metadata) => metadata,
            None => Metadata::new(IndexSettings::default(), Mapping::default())?,
        };
        let options = Index::options()
            .memory(self.memory)
            .create(is_new)
            .analyzer(metadata.settings.default_analyzer());
        let index = options
            .open(self.folder.join(name))
            .map_err(|error| Fault::from(error).of_index(name))?;
        let open = OpenIndex::new(name.to_owned(), index, metadata, file, is_kept)?;
        info!(index = name, is_new, "opened");
        Ok(open)
    }

    /// Closes the indexes that were not used for the longest time, until one more may be open.
    fn make_room(&self) -> Outcome<()> {
        while self.open_count() >= self.most {
            let mut slots: Vec<Arc<IndexSlot>> = self.locked_slots().values().cloned().collect();
            slots.sort_by_key(|slot| slot.used.load(Ordering::Relaxed));
            let unused = slots.iter().find_map(|slot| {
                let mut place = slot.open.try_lock().ok()?;
                take_unused(&mut place)
            });
            match unused {
                Some(open) => self.close(open),
                None => {
                    return Err(Fault::busy(format!(
                        "{} indexes are open and in use, as many as may be (--max-open): send it again later",
                        self.most
                    )));
                }
            }
        }
        Ok(())
    }

    pub(super) fn close(&self, open: OpenIndex) {
        let OpenIndex { name, index, .. } = open;
        match index.close() {
            Ok(()) => info!(index = name, "closed"),
            // Everything acknowledged is in the log, from which the next opening goes on.
            Err(error) => warn!(index = name, %error, "closed without a checkpoint"),
        }
        self.open_now.fetch_sub(1, Ordering::SeqCst);
    }

    pub(super) fn slot(&self, name: &str) -> Arc<IndexSlot> {
        Arc::clone(self.locked_slots().entry(name.to_owned()).or_default())
    }

    fn locked_slots(&self) -> MutexGuard<'_, HashMap<String, Arc<IndexSlot>>> {
        self.slots
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(KEPT).join(format!("{name}.json"))
    }

    fn remove_trash(&self) {
        let entries = fs::read_dir(self.folder.join(KEPT));
        for entry in entries.into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("trash-") {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// The place of an index among those that are open, given up if it is not opened.
struct Counted<'a>(Option<&'a AtomicUsize>);

impl Counted<'_> {
    /// The index is open.
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if let Some(open_now) = self.0 {
            open_now.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
