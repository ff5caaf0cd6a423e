//! redb: a copy-on-write B-tree in one file, with a cache of its own.

use std::path::Path;

use redb::{Database, Durability, ReadableTable, Table, TableDefinition};

use super::{Index, Store, Work};
use peer::Failure;

/// The file in the folder.
pub const FILE: &str = "records.redb";

type Bytes = &'static [u8; 8];
const RECORDS: TableDefinition<Bytes, Bytes> = TableDefinition::new("records");

pub struct Redb(Database);

impl Redb {
    /// Opens the database or makes a new one.
    pub fn open(folder: &Path, cache_bytes: usize) -> Result<Self, Failure> {
        let mut builder = Database::builder();
        let database = builder
            .set_cache_size(cache_bytes)
            .create(folder.join(FILE))?;
        Ok(Self(database))
    }

    /// Closes the database; unlike dropping it, this tells of errors.
    pub fn close(self) -> Result<(), Failure> {
        Ok(self.0.close()?)
    }
}

impl Store for Redb {
    fn batch(&mut self, work: Work) -> Result<(), Failure> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(Durability::None)?;
        work(&mut transaction.open_table(RECORDS)?)?;
        Ok(transaction.commit()?)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        Ok(transaction.commit()?)
    }
}

impl Index for Table<'_, Bytes, Bytes> {
    fn insert(&mut self, key: u64, value: u64) -> Result<(), Failure> {
        Table::insert(self, &key.to_be_bytes(), &value.to_le_bytes())?;
        Ok(())
    }

    fn get(&self, key: u64) -> Result<Option<u64>, Failure> {
        let found = ReadableTable::get(self, &key.to_be_bytes())?;
        Ok(found.map(|value| u64::from_le_bytes(*value.value())))
    }

    fn delete(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.remove(&key.to_be_bytes())?.is_some())
    }

    fn range(&self, from: u64, most: usize, found: &mut Vec<(u64, u64)>) -> Result<(), Failure> {
        let from = from.to_be_bytes();
        for entry in ReadableTable::range::<&[u8; 8]>(self, &from..)?.take(most) {
            let (key, value) = entry?;
            let key = u64::from_be_bytes(*key.value());
            found.push((key, u64::from_le_bytes(*value.value())));
        }
        Ok(())
    }
}
