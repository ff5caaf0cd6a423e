//! The stores behind one interface.
//!
//! Operations are run inside a batch, because a table of redb and a transaction of LMDB borrow what
//! they belong to: each is opened once for a batch, not for each operation.

mod fjall;
mod lmdb;
mod redb;

use std::fs;

use crate::options::Options;
use peer::Failure;

/// An open store.
pub trait Store {
    /// Runs operations on the index, and commits what they wrote the cheapest way that the store
    /// has.
    fn batch(&mut self, work: Work) -> Result<(), Failure>;

    /// Waits for what goes on in the background.
    fn settle(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Makes all that was committed durable.
    fn finish(&mut self) -> Result<(), Failure>;
}

/// The operations of a batch.
pub type Work<'a> = &'a mut dyn FnMut(&mut dyn Index) -> Result<(), Failure>;

/// The records of a store within a batch, which sees its own writes.
pub trait Index {
    /// Adds a key, or gives one that is there another value.
    fn insert(&mut self, key: u64, value: u64) -> Result<(), Failure>;

    /// The value of a key.
    fn get(&self, key: u64) -> Result<Option<u64>, Failure>;

    /// Removes a key; says whether it was there, as far as the store knows.
    fn delete(&mut self, key: u64) -> Result<bool, Failure>;

    /// Appends up to `most` keys from `from` on, ascending, with their values.
    fn range(&self, from: u64, most: usize, found: &mut Vec<(u64, u64)>) -> Result<(), Failure>;
}

/// Opens the store that the options name, for `load` in a new folder, gives it to `work`, and
/// closes it.
pub fn with<T>(
    options: &Options,
    work: impl FnOnce(&mut dyn Store) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let file = match options.store.as_str() {
        "redb" => redb::FILE,
        "fjall" => "keyspaces",
        "lmdb" => "data.mdb",
        other => return Err(format!("expected redb, fjall or lmdb, found {other:?}").into()),
    };
    let (folder, cache_bytes) = (&options.folder, options.cache_bytes);
    if options.command == "load" {
        fs::create_dir(folder).map_err(|error| {
            format!("expected to make the folder, found {error}: name one that is not there")
        })?;
    } else if !folder.join(file).exists() {
        return Err(format!("expected {file} in the folder, found none: load it first").into());
    }
    match options.store.as_str() {
        "redb" => {
            let mut store = redb::Redb::open(folder, cache_bytes)?;
            let done = work(&mut store)?;
            store.close().map(|()| done)
        }
        "fjall" => work(&mut fjall::Fjall::open(folder, cache_bytes)?),
        _ => {
            let environment = lmdb::environment(folder)?;
            work(&mut lmdb::Lmdb::of(&environment)?)
        }
    }
}

/// The version of a store's crate.
pub fn version(store: &str) -> Option<&'static str> {
    let package = if store == "lmdb" { "heed" } else { store };
    let named = format!("name = \"{package}\"\nversion = \"");
    let (_, rest) = include_str!("../../Cargo.lock").split_once(&named)?;
    rest.split('"').next()
}

/// A value of 8 bytes as a store gives it back.
fn bytes(found: &[u8]) -> Result<[u8; 8], Failure> {
    found
        .try_into()
        .map_err(|_| format!("expected 8 bytes, found {}: load anew", found.len()).into())
}
