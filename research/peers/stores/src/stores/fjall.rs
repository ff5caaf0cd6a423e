//! fjall: an LSM-tree with a journal, and threads that flush and compact beside the operations.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{Index, Store, Work, bytes};
use peer::Failure;

/// Memtables that share half of the memory: the one written to, and three that wait to be flushed.
/// (With four waiting fjall stops the writer.)
const MEMTABLES: u64 = 4;
/// The default of fjall, and the most that it recommends.
const MEMTABLE_BYTES_MAX: u64 = 64 << 20;
/// Looks at the background that have to find it idle, one after the other, and the pause between
/// them.
const IDLE_LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

pub struct Fjall {
    records: Keyspace,
    database: Database,
}

impl Fjall {
    /// Opens the database or makes a new one.
    pub fn open(folder: &Path, cache_bytes: usize) -> Result<Self, Failure> {
        let memtable_bytes = (cache_bytes as u64 / 2 / MEMTABLES).min(MEMTABLE_BYTES_MAX);
        let database = Database::builder(folder)
            .cache_size(cache_bytes as u64 - MEMTABLES * memtable_bytes)
            .open()?;
        // A keyspace keeps the limit of its memtable that it was made with, so its name has it.
        let name = format!("records-{memtable_bytes}");
        if database.keyspace_count() > 0 && !database.keyspace_exists(&name) {
            return Err(format!(
                "expected memtables of {memtable_bytes} bytes, found {:?}: a keyspace keeps the \
                 limit that it was made with, give the --cache-bytes that load was given",
                database.list_keyspace_names()
            )
            .into());
        }
        let records = database.keyspace(&name, || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(memtable_bytes)
                .expect_point_read_hits(true)
                .manual_journal_persist(true)
        })?;
        Ok(Self { records, database })
    }
}

impl Store for Fjall {
    /// Each write is a commit; together they are given to the operating system here.
    fn batch(&mut self, work: Work) -> Result<(), Failure> {
        work(&mut self.records)?;
        Ok(self.database.persist(PersistMode::Buffer)?)
    }

    /// The figures it looks at may change with fjall's version: Cargo.toml names the exact one.
    fn settle(&mut self) -> Result<(), Failure> {
        let mut idle = 0;
        while idle < IDLE_LOOKS {
            let busy = self.database.outstanding_flushes() + self.database.active_compactions();
            idle = if busy == 0 { idle + 1 } else { 0 };
            sleep(PAUSE);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }
}

impl Index for Keyspace {
    fn insert(&mut self, key: u64, value: u64) -> Result<(), Failure> {
        Ok(Keyspace::insert(
            self,
            key.to_be_bytes(),
            value.to_le_bytes(),
        )?)
    }

    fn get(&self, key: u64) -> Result<Option<u64>, Failure> {
        let found = Keyspace::get(self, key.to_be_bytes())?;
        let value = found.map(|value| bytes(&value)).transpose()?;
        Ok(value.map(u64::from_le_bytes))
    }

    /// Leaves a tombstone without looking whether the key is there.
    fn delete(&mut self, key: u64) -> Result<bool, Failure> {
        self.remove(key.to_be_bytes())?;
        Ok(true)
    }

    fn range(&self, from: u64, most: usize, found: &mut Vec<(u64, u64)>) -> Result<(), Failure> {
        for entry in Keyspace::range(self, from.to_be_bytes()..).take(most) {
            let (key, value) = entry.into_inner()?;
            let key = u64::from_be_bytes(bytes(&key)?);
            found.push((key, u64::from_le_bytes(bytes(&value)?)));
        }
        Ok(())
    }
}
