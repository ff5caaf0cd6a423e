//! What is modelled: a drive or a disk.

use gannet::Result;

use crate::clock::Nanos;
use crate::counts::Counts;
use crate::drive::Drive;
use crate::hdd::Disk;
use crate::request::Request;

/// A device on a virtual clock.
#[derive(Debug)]
pub enum Medium {
    /// A solid-state drive.
    Drive(Box<Drive>),
    /// A disk.
    Disk(Disk),
}

impl Medium {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Medium::Drive(drive) => drive.profile().name,
            Medium::Disk(disk) => disk.profile().name,
        }
    }

    /// Pages that it has; a disk is as large as it takes.
    pub fn pages(&self) -> u64 {
        match self {
            Medium::Drive(drive) => drive.pages(),
            Medium::Disk(_) => u64::MAX,
        }
    }

    /// Carries out requests that are given at once; gives the time until all are done.
    pub fn serve(&mut self, batch: &[Request]) -> Result<Nanos> {
        match self {
            Medium::Drive(drive) => drive.serve(batch),
            Medium::Disk(disk) => disk.serve(batch),
        }
    }

    /// Gives pages content without any time.
    pub fn preload(&mut self, page: u64, pages: u32) -> Result<()> {
        match self {
            Medium::Drive(drive) => drive.preload(page, pages),
            Medium::Disk(_) => Ok(()),
        }
    }

    /// What a drive did.
    pub fn counts(&self) -> Option<&Counts> {
        match self {
            Medium::Drive(drive) => Some(drive.counts()),
            Medium::Disk(_) => None,
        }
    }
}

impl From<Drive> for Medium {
    fn from(drive: Drive) -> Medium {
        Medium::Drive(Box::new(drive))
    }
}

impl From<Disk> for Medium {
    fn from(disk: Disk) -> Medium {
        Medium::Disk(disk)
    }
}
