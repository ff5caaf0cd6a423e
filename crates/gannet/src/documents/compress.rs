//! Documents one by one with zstd and trained, versioned dictionaries.

use std::sync::Arc;

use super::record::DocumentRecord;
use crate::base::{Error, Result};

/// The number of a compression dictionary: ascending from 1; 0 means none.
pub type DictionaryVersion = u32;

/// Compresses documents; one for each thread that writes.
pub struct Compressor {}

/// All dictionaries of an index, for reading; a clone shares them.
#[derive(Clone, Default)]
pub struct Dictionaries {
    shared: Arc<()>,
}

/// Gathers sample documents and trains a dictionary.
pub struct Trainer {}

impl Compressor {
    /// A compressor with a dictionary of `dictionaries`; version 0 is none.
    pub fn new(dictionaries: &Dictionaries, version: DictionaryVersion) -> Result<Compressor> {
        let _ = (dictionaries, version);
        Err(Error::invalid("not written yet"))
    }

    /// The dictionary in use.
    pub fn version(&self) -> DictionaryVersion {
        0
    }

    /// Compresses the source of the document `id`. The result lives until the next call.
    pub fn compress(&mut self, id: &str, source: &[u8]) -> Result<&[u8]> {
        let _ = (id, source);
        Err(Error::invalid("not written yet"))
    }
}

impl Dictionaries {
    /// Adds a trained dictionary and gives its version.
    pub fn add(&mut self, bytes: Vec<u8>) -> Result<DictionaryVersion> {
        let _ = bytes;
        Err(Error::invalid("not written yet"))
    }

    /// The newest version; 0 if there is none.
    pub fn newest(&self) -> DictionaryVersion {
        0
    }

    /// The bytes of a dictionary.
    pub fn bytes(&self, version: DictionaryVersion) -> Option<&[u8]> {
        let _ = version;
        None
    }

    /// Bytes of memory that the dictionaries hold.
    pub fn memory_bytes(&self) -> usize {
        0
    }

    /// The source of a stored document.
    pub fn decompress(&self, record: &DocumentRecord<'_>) -> Result<Vec<u8>> {
        let _ = record;
        Err(Error::invalid("not written yet"))
    }
}

impl Trainer {
    /// A trainer without samples.
    pub fn new() -> Trainer {
        Trainer {}
    }

    /// Takes the source of the document `id` as a sample. Tells whether it can use more.
    pub fn offer(&mut self, id: &str, source: &[u8]) -> bool {
        let _ = (id, source);
        false
    }

    /// Trains a dictionary; nothing if the samples are too few to gain from one.
    pub fn train(self) -> Option<Vec<u8>> {
        None
    }
}
