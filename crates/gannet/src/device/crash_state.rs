//! The durable state at a point of a device's log, and the effects of a crash on the rest.
//!
//! The model is harsher than most file systems. At the crash, every change that no sync has made
//! durable is kept, lost or kept in part, independently of all others and of their order:
//!
//! - a written page may be lost, torn at any sector, or lost although the file has grown (zeros);
//! - a file's creation or removal may be undone until the directory is synced, even if the file
//!   itself was synced;
//! - writes that stood before a *failed* sync of their file are never durable: the operating system
//!   has dropped them, and a later sync that succeeds does not cover them.
//!
//! Invariant: the durable state with all changes applied in order is what the device shows.

use std::collections::{BTreeMap, HashSet};

use super::FileId;
use super::memory::{Files, Page, store_page};
use crate::base::PAGE_SIZE;

/// Bytes that a device writes wholly or not at all.
const SECTOR: usize = 512;

/// Sectors of a page.
pub const SECTORS: usize = PAGE_SIZE / SECTOR;

/// One entry of a device's log.
#[derive(Clone, Debug)]
pub enum Event {
    /// A page was written.
    Write(FileId, u32, Page),
    /// A file was made.
    Create(FileId),
    /// A file was removed.
    Remove(FileId),
    /// A file was synced.
    Sync(FileId),
    /// Syncing a file failed.
    FailedSync(FileId),
    /// The directory was synced.
    SyncDirectory,
}

/// The durable state at one point, and the changes on top of it.
#[derive(Clone, Debug, Default)]
pub struct DurableState {
    names: BTreeMap<FileId, usize>,
    inodes: Vec<Vec<Page>>,
    changes: Vec<FileChange>,
    /// The files that the names stand for now, durable or not.
    current: BTreeMap<FileId, usize>,
}

#[derive(Clone, Debug)]
enum FileChange {
    Link(FileId, usize),
    Unlink(FileId),
    Write(Write),
}

#[derive(Clone, Debug)]
struct Write {
    file: FileId,
    inode: usize,
    page: u32,
    content: Page,
    /// A sync of the file has failed since.
    abandoned: bool,
}

/// The fate of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It never happened.
    Lost,
    /// It happened.
    Kept,
    /// The sectors whose bits are set are stored, the others keep their old bytes.
    Torn(u8),
}

impl DurableState {
    /// The state of a device that holds `start`, all durable.
    pub fn new(start: &Files) -> DurableState {
        let mut state = DurableState::default();
        for (file, pages) in start.iter() {
            state.names.insert(file, state.inodes.len());
            state.inodes.push(pages.to_vec());
        }
        state.current = state.names.clone();
        state
    }

    /// Goes on by one event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Create(file) => self.create(*file),
            Event::Remove(file) => {
                self.current.remove(file);
                self.changes.push(FileChange::Unlink(*file));
            }
            Event::Write(file, page, content) => self.write(*file, *page, content),
            Event::Sync(file) => self.sync(*file),
            Event::FailedSync(file) => self.abandon(*file),
            Event::SyncDirectory => self.sync_directory(),
        }
    }

    fn create(&mut self, file: FileId) {
        let inode = self.inodes.len();
        self.inodes.push(Vec::new());
        self.current.insert(file, inode);
        self.changes.push(FileChange::Link(file, inode));
    }

    fn write(&mut self, file: FileId, page: u32, content: &Page) {
        let Some(inode) = self.current.get(&file) else {
            return;
        };
        self.changes.push(FileChange::Write(Write {
            file,
            inode: *inode,
            page,
            content: content.clone(),
            abandoned: false,
        }));
    }

    fn sync(&mut self, file: FileId) {
        let synced = self.current.get(&file).copied();
        let inodes = &mut self.inodes;
        let mut durable = HashSet::new();
        self.changes.retain(|change| match change {
            FileChange::Write(write) if Some(write.inode) == synced && !write.abandoned => {
                store_page(&mut inodes[write.inode], write.page, write.content.clone());
                durable.insert(write.page);
                false
            }
            _ => true,
        });
        // An abandoned write is older than what is durable now, so it cannot come up over it.
        self.changes.retain(|change| match change {
            FileChange::Write(write) => {
                Some(write.inode) != synced || !durable.contains(&write.page)
            }
            _ => true,
        });
    }

    fn abandon(&mut self, file: FileId) {
        let failed = self.current.get(&file).copied();
        for change in &mut self.changes {
            if let FileChange::Write(write) = change {
                write.abandoned |= Some(write.inode) == failed;
            }
        }
    }

    fn sync_directory(&mut self) {
        let names = &mut self.names;
        self.changes.retain(|change| !rename(names, change));
    }

    /// Returns the number of changes that are not durable.
    pub fn changes(&self) -> usize {
        self.changes.len()
    }

    /// A change in words.
    pub fn describe(&self, change: usize) -> String {
        match &self.changes[change] {
            FileChange::Link(file, _) => format!("creation of {file}"),
            FileChange::Unlink(file) => format!("removal of {file}"),
            FileChange::Write(write) => format!("write of {} page {}", write.file, write.page),
        }
    }

    /// Returns true if a change can be torn; names cannot.
    pub fn is_write(&self, change: usize) -> bool {
        matches!(self.changes[change], FileChange::Write(_))
    }

    /// The files after a crash in which each change meets the fate that `fate` gives for its
    /// number.
    pub fn files_after(&self, fate: impl Fn(usize) -> Fate) -> Files {
        let (mut names, mut inodes) = (self.names.clone(), self.inodes.clone());
        for (index, change) in self.changes.iter().enumerate() {
            match (change, fate(index)) {
                (_, Fate::Lost) => {}
                (FileChange::Write(write), fate) => write.store(&mut inodes[write.inode], fate),
                (change, _) => {
                    rename(&mut names, change);
                }
            }
        }
        let mut files = Files::default();
        for (file, inode) in names {
            files.insert(file, std::mem::take(&mut inodes[inode]));
        }
        files
    }
}

impl Write {
    fn store(&self, pages: &mut Vec<Page>, fate: Fate) {
        let content = match fate {
            Fate::Torn(sectors) => {
                let old = pages.get(self.page as usize).cloned();
                tear(&old.unwrap_or_else(Page::zero), &self.content, sectors)
            }
            _ => self.content.clone(),
        };
        store_page(pages, self.page, content);
    }
}

/// Applies a change of names; false if it is none.
fn rename(names: &mut BTreeMap<FileId, usize>, change: &FileChange) -> bool {
    match change {
        FileChange::Link(file, inode) => {
            names.insert(*file, *inode);
            true
        }
        FileChange::Unlink(file) => {
            names.remove(file);
            true
        }
        FileChange::Write(_) => false,
    }
}

/// The page that is left when only the sectors with set bits of `new` were stored over `old`.
pub fn tear(old: &Page, new: &Page, sectors: u8) -> Page {
    let mut bytes = *old.bytes();
    for sector in (0..SECTORS).filter(|sector| sectors >> sector & 1 == 1) {
        let range = sector * SECTOR..(sector + 1) * SECTOR;
        bytes[range.clone()].copy_from_slice(&new.bytes()[range]);
    }
    Page::new(&bytes)
}
