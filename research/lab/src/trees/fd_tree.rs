//! A head in memory over sorted runs that are merged: the FD-tree.
//!
//! New records go to the head. When it is full it is merged with the runs below it, down to the
//! first level that has room for all of them; each level is `ratio` times larger than the one above
//! it. A run's pages are found by *fences*: for each page of a level the level above has an entry
//! with the page's first key (an external fence); and a page whose first entry would be a record
//! begins with an internal fence, which repeats the one before it. So in each page some fence says
//! where to go on. So a search reads one page a level. A deletion is a record that says so; it goes
//! away when it comes to the last level.
//!
//! Source: Li, He, Luo, Yi, "Tree Indexing on Flash Disks", ICDE 2009. Their head tree has pages on
//! flash too; here it lies in the memory that the comparison gives it, and is written by
//! [`OrderedIndex::settle`].

use std::collections::VecDeque;
use std::iter::Peekable;
use std::path::Path;
use std::rc::Rc;
use std::vec::IntoIter;

use gannet::{Error, Result};
use gannet_ssd::Work;

use super::cache::Cache;
use super::device::{NodeFile, Slot};
use super::node::{NODE_BYTES, Node};
use super::waiting::{Entries, Waiting, change_fits};
use super::{OrderedIndex, Settings, VALUE_END, Value};

/// Pages of one operation where runs are merged. Each run that is read or written has so many in
/// memory.
const RUN: usize = 8;

/// What an entry takes in a node besides its key, about.
const AROUND: usize = 12;

/// What stands at a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// The page of the next level that a search goes on with.
    Fence(Slot),
    Record(Value),
    Gone,
}

/// A sorted run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Level {
    first: Slot,
    pages: u32,
    /// Records, those that say that a key is gone too.
    records: u64,
}

/// The FD-tree.
pub struct FdTree {
    file: NodeFile,
    cache: Cache,
    /// The head.
    records: Waiting,
    fences: Waiting,
    head_most: usize,
    levels: Vec<Level>,
    ratio: usize,
    fan_out: usize,
    end: Slot,
    time: u64,
}

type Keyed<T> = (Vec<u8>, T);

impl FdTree {
    /// Opens or makes the tree in a folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<FdTree> {
        let mut tree = FdTree {
            file: NodeFile::open(folder, settings)?,
            cache: Cache::new(settings.cache),
            records: Waiting::default(),
            fences: Waiting::default(),
            head_most: settings.head.max(1) * NODE_BYTES,
            levels: Vec::new(),
            ratio: settings.ratio.max(2),
            fan_out: settings.fan_out.max(4),
            end: 0,
            time: 0,
        };
        tree.recover()?;
        Ok(tree)
    }

    fn put(&mut self, key: &[u8], entry: Entry) -> Result<()> {
        self.records.put(key, entry.code());
        if self.records.bytes() + self.fences.bytes() > self.head_most {
            self.merge()
        } else {
            Ok(())
        }
    }

    /// Merges the head and the first levels into the first of them that has room for all.
    fn merge(&mut self) -> Result<()> {
        let mut all = self.records.len() as u64;
        let mut most = (self.head_most / (8 + AROUND) * self.ratio) as u64;
        let mut target = 0;
        while let Some(level) = self.levels.get(target) {
            all += level.records;
            if all <= most {
                break;
            }
            most = most.saturating_mul(self.ratio as u64);
            target += 1;
        }
        let is_last = target + 1 >= self.levels.len();
        self.levels
            .resize(self.levels.len().max(target + 1), Level::default());
        let mut sources = vec![Source::of(self.records.take_blocks())];
        sources.extend(
            self.levels[..=target]
                .iter()
                .map(|level| Source::of_level(*level)),
        );
        let fences = self.write_merged(target, sources, is_last)?;
        self.write_fences(target, fences)?;
        self.write_manifest(Level::default())?;
        self.remove_old()
    }

    /// Writes the records of some sources, the newest first, as a level; gives the fences for the
    /// level above it.
    fn write_merged(
        &mut self,
        target: usize,
        mut sources: Vec<Source>,
        is_last: bool,
    ) -> Result<Vec<Keyed<Slot>>> {
        let below = self.levels.get(target + 1).copied().unwrap_or_default();
        // Only the last source has fences to the level below the target.
        let keeps = sources.len() - 1;
        for source in &mut sources {
            source.fill(&mut self.file)?;
        }
        let mut writer = Writer::new(self.end, self.fan_out, below);
        while let Some(key) = least(&mut sources) {
            let mut newest = None;
            for (at, source) in sources.iter_mut().enumerate() {
                while let Some(entry) = source.next_if(&key, &mut self.file)? {
                    match entry {
                        Entry::Fence(page) if at == keeps => {
                            writer.put(&key, Entry::Fence(page), &mut self.file)?
                        }
                        Entry::Fence(_) => {}
                        record => newest = newest.or(Some(record)),
                    }
                }
            }
            match newest {
                Some(Entry::Gone) if is_last => {}
                Some(record) => writer.put(&key, record, &mut self.file)?,
                None => {}
            }
        }
        let (level, fences) = writer.end(&mut self.file)?;
        self.end = level.first + level.pages;
        self.levels[target] = level;
        Ok(fences)
    }

    /// Makes the levels above `target` anew, of fences alone.
    fn write_fences(&mut self, target: usize, fences: Vec<Keyed<Slot>>) -> Result<()> {
        let mut fences = fences;
        for level in (0..target).rev() {
            let below = self.levels[level + 1];
            let mut writer = Writer::new(self.end, self.fan_out, below);
            for (key, page) in &fences {
                writer.put(key, Entry::Fence(*page), &mut self.file)?;
            }
            let (written, above) = writer.end(&mut self.file)?;
            self.end = written.first + written.pages;
            self.levels[level] = written;
            fences = above;
        }
        self.fences = Waiting::default();
        for (key, page) in &fences {
            self.fences.put(key, u64::from(*page));
        }
        self.make_room_for_records();
        Ok(())
    }

    /// A head of fences alone takes records again.
    fn make_room_for_records(&mut self) {
        self.head_most = self.head_most.max(2 * self.fences.bytes());
    }

    fn page(&mut self, slot: Slot) -> Result<Rc<Node>> {
        if let Some(page) = self.cache.get(slot) {
            return Ok(page);
        }
        let page = Rc::new(Node::from_bytes(self.file.read(slot)?)?);
        self.cache.put(slot, Rc::clone(&page));
        Ok(page)
    }

    /// The page of the first level that a key belongs to.
    fn first_page(&self, key: &[u8]) -> Option<Slot> {
        self.fences.floor(key).map(|page| page as Slot)
    }

    /// Writes which runs there are, and where the head was written, if it was.
    fn write_manifest(&mut self, head: Level) -> Result<()> {
        self.time += 1;
        let mut manifest = Node::new(0);
        let levels: Vec<Level> = std::iter::once(head)
            .chain(self.levels.iter().copied())
            .collect();
        for (at, level) in levels.iter().enumerate() {
            for (part, number) in [level.first as u64, level.pages as u64, level.records]
                .into_iter()
                .enumerate()
            {
                manifest.insert(manifest.len(), &[at as u8, part as u8], number);
            }
        }
        manifest.stamp(0, self.time);
        let slot = (self.time % 2) as Slot;
        self.file.write_run(slot, &[manifest.bytes()])
    }

    fn recover(&mut self) -> Result<()> {
        self.end = self.file.subfile();
        let slots = self
            .file
            .subfiles()
            .find(|(first, _)| *first == 0)
            .map_or(0, |(_, slots)| slots);
        let mut newest: Option<Node> = None;
        for slot in 0..slots.min(2) {
            let node = Node::from_bytes(self.file.read(slot)?)?;
            if newest
                .as_ref()
                .is_none_or(|newest| newest.stamped().1 < node.stamped().1)
            {
                newest = Some(node);
            }
        }
        let Some(manifest) = newest.filter(|manifest| manifest.len() > 0) else {
            return Ok(());
        };
        self.time = manifest.stamped().1;
        let level = |at: usize| Level {
            first: manifest.value(3 * at) as Slot,
            pages: manifest.value(3 * at + 1) as u32,
            records: manifest.value(3 * at + 2),
        };
        let levels: Vec<Level> = (0..manifest.len() / 3).map(level).collect();
        let ends = levels.iter().map(|level| level.first + level.pages);
        self.end = ends.max().unwrap_or(0).max(self.end);
        self.levels = levels[1..].to_vec();
        self.recover_head(levels[0])
    }

    /// Reads the head where it was written; else makes its fences of the first keys of the first
    /// level.
    fn recover_head(&mut self, head: Level) -> Result<()> {
        let mut source = Source::of_level(head);
        source.fill(&mut self.file)?;
        while let Some((key, entry)) = source.take(&mut self.file)? {
            match entry {
                Entry::Fence(page) => self.fences.put(&key, u64::from(page)),
                record => self.records.put(&key, record.code()),
            }
        }
        if let (0, Some(first)) = (head.pages, self.levels.first().copied()) {
            for slot in first.first..first.first + first.pages {
                let page = Node::from_bytes(self.file.read(slot)?)?;
                self.fences.put(page.key(0), u64::from(slot));
            }
        }
        self.make_room_for_records();
        Ok(())
    }

    /// Removes subfiles in which no run lies any more.
    fn remove_old(&mut self) -> Result<()> {
        let subfile = self.file.subfile();
        let subfiles: Vec<(Slot, u32)> = self.file.subfiles().collect();
        for (first, slots) in subfiles {
            let in_use =
                |level: &Level| level.first < first + slots && first < level.first + level.pages;
            if first > 0
                && first + slots <= self.end / subfile * subfile
                && !self.levels.iter().any(in_use)
            {
                self.file.remove(first / subfile)?;
            }
        }
        Ok(())
    }
}

impl OrderedIndex for FdTree {
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()> {
        change_fits(key, Some(value))?;
        self.put(key, Entry::Record(value))
    }

    fn search(&mut self, key: &[u8]) -> Result<Option<Value>> {
        match self.records.get(key).map(Entry::of) {
            Some(Entry::Record(value)) => return Ok(Some(value)),
            Some(_) => return Ok(None),
            None => {}
        }
        let mut next = self.first_page(key);
        while let Some(slot) = next {
            let page = self.page(slot)?;
            let (found, fence) = look(&page, key);
            match found {
                Some(Entry::Record(value)) => return Ok(Some(value)),
                Some(_) => return Ok(None),
                None => next = fence,
            }
        }
        Ok(None)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        if key.len() > super::KEY_MAX {
            Ok(())
        } else {
            self.put(key, Entry::Gone)
        }
    }

    fn range(&mut self, from: &[u8], most: usize) -> Result<Vec<Keyed<Value>>> {
        let head = self.records.from(from);
        let head = head.map(|(key, code)| (key.to_vec(), Entry::of(code)));
        let mut sources = vec![Source::at_hand(head.collect())];
        let mut next = self.first_page(from);
        for level in &self.levels {
            let Some(slot) = next else { break };
            let page = Node::from_bytes(self.file.read(slot)?)?;
            next = look(&page, from).1;
            sources.push(Source::of_level(Level {
                first: slot,
                pages: level.first + level.pages - slot,
                records: 0,
            }));
        }
        for source in &mut sources {
            source.skip_to(from, &mut self.file)?;
        }
        let mut found = Vec::new();
        while found.len() < most {
            let Some(key) = least(&mut sources) else {
                break;
            };
            let mut newest = None;
            for source in &mut sources {
                while let Some(entry) = source.next_if(&key, &mut self.file)? {
                    if !matches!(entry, Entry::Fence(_)) {
                        newest = newest.or(Some(entry));
                    }
                }
            }
            if let Some(Entry::Record(value)) = newest {
                found.push((key, value));
            }
        }
        Ok(found)
    }

    fn settle(&mut self) -> Result<()> {
        let fences = self.fences.from(&[]);
        let fences = fences.map(|(key, page)| (key.to_vec(), Entry::Fence(page as Slot)));
        let records = self.records.from(&[]);
        let records = records.map(|(key, code)| (key.to_vec(), Entry::of(code)));
        let mut all: Vec<Keyed<Entry>> = fences.chain(records).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let mut writer = Writer::new(self.end, self.fan_out, Level::default());
        for (key, entry) in all {
            writer.put(&key, entry, &mut self.file)?;
        }
        let (head, _) = writer.end(&mut self.file)?;
        self.write_manifest(head)?;
        self.end = head.first + head.pages;
        self.file.sync()
    }

    fn work(&self) -> Work {
        self.file.work()
    }

    fn file_bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// A merge has pages of each run that it reads, and of the one that it writes.
    fn memory(&self) -> usize {
        let merging = (self.levels.len() + 1) * RUN * NODE_BYTES;
        self.records.bytes() + self.fences.bytes() + self.cache.memory() + merging
    }

    fn waiting(&self) -> usize {
        self.records.len()
    }
}

/// What a page has of a key, and the fence that a search goes on with.
fn look(page: &Node, key: &[u8]) -> (Option<Entry>, Option<Slot>) {
    let (mut found, mut fence) = (None, None);
    let end = (page.find(key).unwrap_or_else(|at| at)..page.len()).find(|at| page.key(*at) > key);
    for at in (0..end.unwrap_or(page.len())).rev() {
        match Entry::of(page.value(at)) {
            Entry::Fence(slot) => {
                // Records of the same key stand behind it.
                fence = Some(slot);
                break;
            }
            record if page.key(at) == key => found = Some(record),
            _ => {}
        }
    }
    // Before the first key of a level the first page is the one.
    let first = (0..page.len()).map(|at| Entry::of(page.value(at)));
    let first = first.take(1).find_map(|entry| match entry {
        Entry::Fence(slot) => Some(slot),
        _ => None,
    });
    (found, fence.or(first))
}

impl Entry {
    fn code(self) -> u64 {
        match self {
            Entry::Record(value) => value,
            Entry::Fence(slot) => VALUE_END | u64::from(slot),
            Entry::Gone => VALUE_END << 1,
        }
    }

    fn of(code: u64) -> Entry {
        match code / VALUE_END {
            0 => Entry::Record(code),
            1 => Entry::Fence(code as Slot),
            _ => Entry::Gone,
        }
    }
}

/// Entries in ascending order: those of the head, or of a run that is read piece by piece.
struct Source {
    next: Slot,
    end: Slot,
    blocks: IntoIter<Vec<u8>>,
    pages: VecDeque<Node>,
    at_hand: Peekable<IntoIter<Keyed<Entry>>>,
}

impl Source {
    fn of(blocks: Vec<Vec<u8>>) -> Source {
        Source {
            next: 0,
            end: 0,
            blocks: blocks.into_iter(),
            pages: VecDeque::new(),
            at_hand: Vec::new().into_iter().peekable(),
        }
    }

    fn at_hand(entries: Vec<Keyed<Entry>>) -> Source {
        Source {
            at_hand: entries.into_iter().peekable(),
            ..Source::of(Vec::new())
        }
    }

    fn of_level(level: Level) -> Source {
        Source {
            next: level.first,
            end: level.first + level.pages,
            ..Source::of(Vec::new())
        }
    }

    /// Reads on if nothing is at hand.
    fn fill(&mut self, file: &mut NodeFile) -> Result<()> {
        while self.at_hand.peek().is_none() {
            let entries: Vec<_> = if let Some(block) = self.blocks.next() {
                let entries = Entries::of(&block);
                entries
                    .map(|(key, code)| (key.to_vec(), Entry::of(code)))
                    .collect()
            } else if let Some(page) = self.pages.pop_front() {
                let entries = (0..page.len()).map(|at| (page.key(at), page.value(at)));
                entries
                    .map(|(key, code)| (key.to_vec(), Entry::of(code)))
                    .collect()
            } else if self.next < self.end {
                self.read(file)?;
                continue;
            } else {
                break;
            };
            self.at_hand = entries.into_iter().peekable();
        }
        Ok(())
    }

    fn read(&mut self, file: &mut NodeFile) -> Result<()> {
        let count = RUN.min((self.end - self.next) as usize);
        for bytes in file.read_run(self.next, count)? {
            self.pages.push_back(Node::from_bytes(bytes)?);
        }
        self.next += count as Slot;
        Ok(())
    }

    fn peek(&mut self) -> Option<&Keyed<Entry>> {
        self.at_hand.peek()
    }

    fn take(&mut self, file: &mut NodeFile) -> Result<Option<Keyed<Entry>>> {
        let taken = self.at_hand.next();
        self.fill(file)?;
        Ok(taken)
    }

    fn next_if(&mut self, key: &[u8], file: &mut NodeFile) -> Result<Option<Entry>> {
        match self.at_hand.next_if(|(at_hand, _)| at_hand == key) {
            Some((_, entry)) => {
                self.fill(file)?;
                Ok(Some(entry))
            }
            None => Ok(None),
        }
    }

    fn skip_to(&mut self, key: &[u8], file: &mut NodeFile) -> Result<()> {
        self.fill(file)?;
        while self
            .at_hand
            .next_if(|(at_hand, _)| &at_hand[..] < key)
            .is_some()
        {
            self.fill(file)?;
        }
        Ok(())
    }
}

/// The least key at hand; sources read on by themselves.
fn least(sources: &mut [Source]) -> Option<Vec<u8>> {
    let keys = sources.iter_mut().filter_map(Source::peek);
    keys.map(|(key, _)| key).min().cloned()
}

/// Writes a run.
struct Writer {
    first: Slot,
    fan_out: usize,
    /// Full pages that were not written yet, and the page that is being filled.
    full: Vec<Node>,
    page: Node,
    written: u32,
    records: u64,
    /// The last fence, and the first page of the level below, if there is one.
    fence: Option<Slot>,
    below: Option<Slot>,
    fences: Vec<Keyed<Slot>>,
}

impl Writer {
    fn new(first: Slot, fan_out: usize, below: Level) -> Writer {
        Writer {
            first,
            fan_out,
            full: Vec::new(),
            page: Node::new(0),
            written: 0,
            records: 0,
            fence: None,
            below: Some(below.first).filter(|_| below.pages > 0),
            fences: Vec::new(),
        }
    }

    fn put(&mut self, key: &[u8], entry: Entry, file: &mut NodeFile) -> Result<()> {
        if entry == Entry::Fence(self.fence.unwrap_or(Slot::MAX)) {
            // An internal fence of the run before.
            return Ok(());
        }
        if self.page.len() >= self.fan_out || !self.page.fits(key.len()) {
            self.turn(file)?;
        }
        match entry {
            Entry::Fence(page) => self.fence = Some(page),
            _ => {
                self.records += 1;
                if let (0, Some(page)) = (self.page.len(), self.fence.or(self.below)) {
                    self.append(key, Entry::Fence(page));
                }
            }
        }
        self.append(key, entry);
        Ok(())
    }

    fn append(&mut self, key: &[u8], entry: Entry) {
        if self.page.len() == 0 {
            let slot = self.first + self.written + self.full.len() as u32;
            self.fences.push((key.to_vec(), slot));
        }
        self.page.insert(self.page.len(), key, entry.code());
    }

    fn turn(&mut self, file: &mut NodeFile) -> Result<()> {
        let page = std::mem::replace(&mut self.page, Node::new(0));
        if page.len() > 0 {
            self.full.push(page);
        }
        if self.full.len() >= RUN {
            self.write(file)
        } else {
            Ok(())
        }
    }

    fn write(&mut self, file: &mut NodeFile) -> Result<()> {
        let pages: Vec<_> = self.full.iter().map(Node::bytes).collect();
        file.write_run(self.first + self.written, &pages)?;
        self.written += self.full.len() as u32;
        self.full.clear();
        Ok(())
    }

    /// Writes what is left; gives the level and the fences for the one above it.
    fn end(mut self, file: &mut NodeFile) -> Result<(Level, Vec<Keyed<Slot>>)> {
        self.turn(file)?;
        self.write(file)?;
        let level = Level {
            first: self.first,
            pages: self.written,
            records: self.records,
        };
        match self.first.checked_add(self.written) {
            Some(_) => Ok((level, self.fences)),
            None => Err(Error::invalid("the lab's nodes are all used up")),
        }
    }
}
