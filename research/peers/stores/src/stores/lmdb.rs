//! LMDB by the crate heed: a copy-on-write B+-tree in a mapped file. Its cache is the page cache of
//! the operating system.

use std::convert::Infallible;
use std::path::Path;

use heed::byteorder::{BigEndian, LittleEndian};
use heed::types::U64;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, RwTxn};

use super::{Index, Store, Work};
use peer::Failure;

/// The most that the file can have; the map takes addresses, not memory.
const MAP_BYTES: usize = 1 << 40;

type Records<'e> = Database<'e, U64<BigEndian>, U64<LittleEndian>>;

pub struct Lmdb<'e> {
    environment: &'e Env,
    records: Records<'e>,
}

/// The records within a transaction.
struct Open<'e> {
    records: Records<'e>,
    transaction: RwTxn<'e>,
}

/// Opens the environment in the folder or makes a new one.
pub fn environment(folder: &Path) -> Result<Env, Failure> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES);
    // Safety: without syncs a crash of the system can damage the file, which is loaded anew then;
    // memory that is not initialised is only written to the file's unused bytes. No other process
    // uses the folder.
    unsafe {
        options.flags(EnvFlags::NO_SYNC | EnvFlags::NO_READ_AHEAD | EnvFlags::NO_MEM_INIT);
        Ok(options.open(folder)?)
    }
}

impl<'e> Lmdb<'e> {
    pub fn of(environment: &'e Env) -> Result<Self, Failure> {
        let transaction = environment.write_txn()?;
        let CommitOrAbort::Commit(records) =
            environment.create_databases_and_commit(transaction, |opener, transaction| {
                let records = opener.create_database(transaction, None);
                records.map(CommitOrAbort::<_, Infallible>::Commit)
            })?;
        Ok(Self {
            environment,
            records,
        })
    }
}

impl Store for Lmdb<'_> {
    fn batch(&mut self, work: Work) -> Result<(), Failure> {
        let mut open = Open {
            records: self.records,
            transaction: self.environment.write_txn()?,
        };
        work(&mut open)?;
        Ok(open.transaction.commit()?)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.environment.force_sync()?)
    }
}

impl Index for Open<'_> {
    fn insert(&mut self, key: u64, value: u64) -> Result<(), Failure> {
        Ok(self.records.put(&mut self.transaction, &key, &value)?)
    }

    fn get(&self, key: u64) -> Result<Option<u64>, Failure> {
        Ok(self.records.get(&self.transaction, &key)?)
    }

    fn delete(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.records.delete(&mut self.transaction, &key)?)
    }

    fn range(&self, from: u64, most: usize, found: &mut Vec<(u64, u64)>) -> Result<(), Failure> {
        for entry in self.records.range(&self.transaction, &(from..))?.take(most) {
            found.push(entry?);
        }
        Ok(())
    }
}
