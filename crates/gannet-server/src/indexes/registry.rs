//! The indexes of a folder, opened when they are asked for, closed when others need their memory.
//!
//! An index is used through an `Arc`. It can be closed where the registry has the only one, which
//! nobody can change who does not hold the lock of its slot.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use gannet::Index;
use tracing::{info, warn};

use super::mapping::Mapping;
use super::metadata::{IndexSettings, Metadata, folder_uuid, random_name};
use super::names::check_index_name;
use super::open::OpenIndex;
use super::slot::{IndexSlot, take_unused, wait_for_users};
use crate::fault::{Fault, Outcome};
use crate::json::fits;

/// The folder of what is kept beside indexes; no index can have its name.
const KEPT: &str = "_server";

/// The file by which an index is known.
const SUPERBLOCK: &str = "superblock";

/// The indexes of a folder.
pub struct Indexes {
    folder: PathBuf,
    /// The memory budget of each.
    memory: usize,
    most: usize,
    /// The identifier of the folder.
    pub uuid: String,
    slots: Mutex<HashMap<String, Arc<IndexSlot>>>,
    /// Held by whoever opens one, so that no more than `most` are open.
    opening: Mutex<()>,
    uses: AtomicU64,
    /// Indexes that are open.
    open_now: AtomicUsize,
    is_closed: AtomicBool,
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
        };
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

    /// The names that an expression stands for: names with commas between them, `*` for any
    /// characters, `_all`. A name alone must be there, unless that is not needed.
    pub fn matching(&self, expression: &str, ignores_missing: bool) -> Outcome<Vec<String>> {
        let mut found: Vec<String> = Vec::new();
        let parts: Vec<&str> = match expression {
            "" | "_all" => vec!["*"],
            written => written.split(',').collect(),
        };
        for part in parts {
            if !part.contains('*') {
                if self.exists(part) {
                    found.push(part.to_owned());
                } else if !ignores_missing {
                    check_index_name(part)?;
                    return Err(Fault::no_index(part));
                }
                continue;
            }
            let is_meant = |name: &String| {
                fits(part, name) && (!name.starts_with('.') || part.starts_with('.'))
            };
            found.extend(self.names()?.into_iter().filter(is_meant));
        }
        let mut seen = std::collections::HashSet::new();
        found.retain(|name| seen.insert(name.clone()));
        Ok(found)
    }

    /// An index that is there.
    pub fn get(&self, name: &str) -> Outcome<Arc<OpenIndex>> {
        check_index_name(name)?;
        self.take(name, None)
    }

    /// Has a function look at an index. One that was closed is the first to be closed again, so that
    /// a look at all keeps those open that are used.
    pub fn look<T>(&self, name: &str, look: impl FnOnce(&OpenIndex) -> Outcome<T>) -> Outcome<T> {
        let was_open = self.slot(name).lock().is_some();
        let open = self.get(name)?;
        let seen = look(&open);
        drop(open);
        if !was_open {
            self.slot(name).used.store(0, Ordering::Relaxed);
        }
        seen
    }

    /// An index, which is made if it is missing.
    pub fn get_or_make(&self, name: &str) -> Outcome<Arc<OpenIndex>> {
        check_index_name(name)?;
        self.take(name, Some((IndexSettings::default(), Mapping::default())))
    }

    /// A new index.
    pub fn make(
        &self,
        name: &str,
        settings: IndexSettings,
        mapping: Mapping,
    ) -> Outcome<Arc<OpenIndex>> {
        check_index_name(name)?;
        let slot = self.slot(name);
        let place = slot.lock();
        if self.exists(name) {
            let uuid = Metadata::read(&self.file(name))?.map_or_else(String::new, |kept| kept.uuid);
            return Err(Fault::new(
                400,
                "resource_already_exists_exception",
                format!("index [{name}/{uuid}] already exists"),
            )
            .of_index(name));
        }
        self.open_in(name, &slot, place, Some((settings, mapping)))
    }

    /// Deletes an index, once nobody uses it.
    pub fn delete(&self, name: &str) -> Outcome<()> {
        check_index_name(name)?;
        if !self.exists(name) {
            return Err(Fault::no_index(name));
        }
        let slot = self.slot(name);
        let mut place = slot.lock();
        if !self.exists(name) {
            return Err(Fault::no_index(name));
        }
        if let Some(open) = wait_for_users(&mut place)? {
            self.close(open);
        }
        let trash = self
            .folder
            .join(KEPT)
            .join(format!("trash-{}", random_name()?));
        let folder = self.folder.join(name);
        fs::rename(&folder, &trash).map_err(|error| {
            Fault::internal(format!("{} cannot be deleted: {error}", folder.display()))
        })?;
        // What is left of these is removed when the server starts again.
        let _ = fs::remove_file(self.file(name));
        let _ = fs::remove_dir_all(&trash);
        Ok(())
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

    fn take(
        &self,
        name: &str,
        wanted: Option<(IndexSettings, Mapping)>,
    ) -> Outcome<Arc<OpenIndex>> {
        if wanted.is_none() && !self.exists(name) {
            return Err(Fault::no_index(name));
        }
        let slot = self.slot(name);
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
        wanted: Option<(IndexSettings, Mapping)>,
    ) -> Outcome<Arc<OpenIndex>> {
        let _gate = self
            .opening
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(Fault::new(503, "node_closed_exception", "the server ends"));
        }
        self.make_room()?;
        let is_new = !self.exists(name);
        let file = self.file(name);
        let kept = match (is_new, wanted) {
            (true, Some((settings, mapping))) => {
                let metadata = Metadata::new(settings, mapping)?;
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
        self.open_now.fetch_add(1, Ordering::SeqCst);
        let open = Arc::new(open);
        *place = Some(Arc::clone(&open));
        slot.used
            .store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
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

    fn close(&self, open: OpenIndex) {
        let OpenIndex { name, index, .. } = open;
        match index.close() {
            Ok(()) => info!(index = name, "closed"),
            // Everything acknowledged is in the log, from which the next opening goes on.
            Err(error) => warn!(index = name, %error, "closed without a checkpoint"),
        }
        self.open_now.fetch_sub(1, Ordering::SeqCst);
    }

    fn slot(&self, name: &str) -> Arc<IndexSlot> {
        Arc::clone(self.locked_slots().entry(name.to_owned()).or_default())
    }

    fn locked_slots(&self) -> MutexGuard<'_, HashMap<String, Arc<IndexSlot>>> {
        self.slots
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn file(&self, name: &str) -> PathBuf {
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
