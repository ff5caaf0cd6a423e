//! The objects below a URL, for programs that publish several indexes and name those that count in
//! an object of their own, which they replace by compare-and-swap.

use std::collections::BTreeSet;
use std::time::Duration;

use gannet::Result;

use crate::fault::Fault;
use crate::link::Wanted;
use crate::objects::Objects;
use crate::place::Place;
use crate::publication::SUPERBLOCK;

/// The most bytes of an object that is read whole.
const MOST: u64 = 64 << 20;

/// The objects below a URL.
pub struct ObjectFolder {
    objects: Objects,
}

/// An object that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedObject {
    /// All of it.
    pub bytes: Vec<u8>,
    /// The version by which [`ObjectFolder::replace`] knows it.
    pub version: Option<String>,
}

impl ObjectFolder {
    /// Opens the objects below `url`. All attempts of a request together have the time `timeout`.
    ///
    /// # Errors
    ///
    /// [`gannet::Error::Invalid`] if the URL or the credentials are wrong.
    pub fn at(url: &str, timeout: Duration) -> Result<ObjectFolder> {
        let place = Place::of(url, timeout, true)?;
        Ok(ObjectFolder {
            objects: Objects::new(place, timeout)?,
        })
    }

    #[cfg(test)]
    pub(crate) fn of(objects: Objects) -> ObjectFolder {
        ObjectFolder { objects }
    }

    /// An object of at most 64 MiB; nothing if there is none of that name.
    ///
    /// # Errors
    ///
    /// [`gannet::Error::Device`] if the store cannot be reached in time, or rejects the request.
    pub fn read(&self, name: &str) -> Result<Option<NamedObject>> {
        let got = self.objects.get(Wanted {
            name: name.to_owned(),
            range: None,
            most: MOST,
            known: None,
        });
        match got {
            Ok(got) => Ok(Some(NamedObject {
                bytes: got.bytes.to_vec(),
                version: got.version,
            })),
            Err(Fault::Missing) => Ok(None),
            Err(fault) => Err(fault.error("read", self.objects.url_of(name))),
        }
    }

    /// Replaces an object if it is still of the version `known`, or makes it if there was none;
    /// whether it did. What replaces it must be told from what anybody else writes: where an answer
    /// was lost, it is found by its bytes.
    ///
    /// # Errors
    ///
    /// The same as of [`ObjectFolder::read`]. After an error, the object may be replaced or not.
    pub fn replace(&self, name: &str, known: Option<String>, bytes: Vec<u8>) -> Result<bool> {
        let fault = match self.objects.replace(name, known, bytes.clone()) {
            Ok(()) => return Ok(true),
            Err(fault) => fault,
        };
        let is_there = self.read(name)?.is_some_and(|found| found.bytes == bytes);
        match fault {
            _ if is_there => Ok(true),
            Fault::Changed => Ok(false),
            fault => Err(fault.error("write", self.objects.url_of(name))),
        }
    }

    /// The names of all objects, without the URL.
    ///
    /// # Errors
    ///
    /// The same as of [`ObjectFolder::read`].
    pub fn names(&self) -> Result<Vec<String>> {
        let listed = self.objects.list()?.into_iter();
        Ok(listed.map(|object| object.name).collect())
    }

    /// Returns true if an index is published here.
    ///
    /// # Errors
    ///
    /// The same as of [`ObjectFolder::read`].
    pub fn has_index(&self) -> Result<bool> {
        Ok(self.read(SUPERBLOCK)?.is_some())
    }

    /// Removes all objects, and says how many there were. Of an index that is published here the
    /// superblock goes first, so that readers are told that it was removed.
    ///
    /// # Errors
    ///
    /// The same as of [`ObjectFolder::read`].
    pub fn remove_all(&self) -> Result<u64> {
        let mut names: BTreeSet<String> = self.names()?.into_iter().collect();
        let mut removed = 0;
        if let Some(first) = names.take(SUPERBLOCK) {
            removed += self.objects.remove(vec![first])?;
        }
        if !names.is_empty() {
            removed += self.objects.remove(names.into_iter().collect())?;
        }
        Ok(removed)
    }
}
