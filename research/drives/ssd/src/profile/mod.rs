//! What distinguishes one drive from another, as data.
//!
//! The constants are in `drives`, with their sources. What a source does not tell is calibrated on
//! something that it does tell, and the comment says on what.

mod drives;

use gannet::{Error, Result};

use crate::clock::Nanos;
use crate::collect::Collection;
use crate::request::PAGE_BYTES;

pub use drives::{DRIVES, HYBRID_CACHE_TABLE, HYBRID_CACHE_TEXT, PM9A3, SMART_SSD, X25_E, named};

/// Erased blocks that a plane keeps at least: one to go on with, one to move valid units to.
const FREE_BLOCKS_LEAST: u32 = 2;

/// A drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Its flash memory.
    pub geometry: Geometry,
    /// What the flash memory takes.
    pub timing: Timing,
    /// The connection to the host.
    pub link: Link,
    /// How written data gets to flash.
    pub buffer: Buffer,
    /// How blocks are made free.
    pub cleaning: Cleaning,
}

/// The parts of the flash memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Channels, which transfer data at the same time.
    pub channels: u32,
    /// Packages of a channel, which share it.
    pub packages: u32,
    /// Planes of a package, which work at the same time.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes of a unit of the mapping: a page, or a part of it.
    pub unit_bytes: u32,
    /// What the flash memory has beyond what the host sees, as a share of the latter.
    pub over_provisioning: f64,
}

/// What operations of the flash memory take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Reading a page into the register of its plane.
    pub read: Nanos,
    /// Programming a page from there.
    pub program: Nanos,
    /// Erasing a block.
    pub erase: Nanos,
    /// Bytes a second between a package and the controller; nothing where the times above have the
    /// transfer in them.
    pub channel_rate: Option<u64>,
}

/// The connection to the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes a second; nothing where the link costs nothing.
    pub rate: Option<u64>,
    /// Whether both directions transfer at the same time.
    pub full_duplex: bool,
    /// What a request takes of the link beside its data.
    pub command: Nanos,
    /// Requests that the drive takes at a time.
    pub queue_depth: usize,
}

/// How written data gets to flash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// Bytes of the write buffer. A write is complete when it is in there. Without one, a write is
    /// complete when its pages are programmed.
    pub bytes: u32,
    /// What a write takes beside this. It keeps no other request waiting.
    pub write_latency: Nanos,
    /// Whether the buffer outlives a power loss, so that a flush has nothing to do.
    pub is_durable: bool,
}

/// How blocks are made free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cleaning {
    /// Which block is taken.
    pub collection: Collection,
    /// Erased blocks that each plane keeps, at least two.
    pub free_blocks: u32,
    /// Whether moved units get blocks of their own, apart from what the host writes.
    pub separate_moves: bool,
}

impl Geometry {
    /// Planes of all packages of all channels.
    pub fn all_planes(&self) -> u32 {
        self.channels
            .saturating_mul(self.packages)
            .saturating_mul(self.planes)
    }

    /// Units of a page.
    pub fn units_per_page(&self) -> u32 {
        self.page_bytes / self.unit_bytes
    }

    /// Units of a block.
    pub fn units_per_block(&self) -> u32 {
        self.units_per_page().saturating_mul(self.pages)
    }

    /// Units of a page of the host.
    pub fn units_per_host_page(&self) -> u32 {
        PAGE_BYTES / self.unit_bytes
    }

    /// Units of the whole flash memory.
    pub fn physical_units(&self) -> u64 {
        let blocks = u64::from(self.all_planes()) * u64::from(self.blocks);
        blocks.saturating_mul(u64::from(self.units_per_block()))
    }
}

impl Profile {
    /// Pages of [`PAGE_BYTES`] that the host sees: what over-provisioning leaves, or less where the
    /// planes need more room for cleaning.
    pub fn host_pages(&self) -> u64 {
        let geometry = &self.geometry;
        let share = 1.0 + geometry.over_provisioning;
        let wanted = (geometry.physical_units() as f64 / share) as u64;
        let possible = u64::from(geometry.all_planes()).saturating_mul(self.valid_limit());
        wanted.min(possible) / u64::from(geometry.units_per_host_page())
    }

    /// Units of a plane that may be valid. The others are free blocks, two blocks that are being
    /// filled, and one that garbage collection gains from.
    pub fn valid_limit(&self) -> u64 {
        let kept = self.cleaning.free_blocks.saturating_add(3);
        let blocks = self.geometry.blocks.saturating_sub(kept);
        u64::from(blocks) * u64::from(self.geometry.units_per_block())
    }

    /// The same drive with as many blocks as it takes for the host to see at least `bytes`.
    ///
    /// Amplification depends on utilization and on pages per block, hardly on the number of blocks.
    pub fn with_capacity(mut self, bytes: u64) -> Result<Profile> {
        let (mut low, mut high) = (1, u32::MAX / self.geometry.units_per_block().max(1));
        let pages = bytes.div_ceil(u64::from(PAGE_BYTES));
        while low < high {
            self.geometry.blocks = low + (high - low) / 2;
            if self.host_pages() < pages {
                low = self.geometry.blocks + 1
            } else {
                high = self.geometry.blocks
            }
        }
        self.geometry.blocks = low;
        self.check()?;
        Ok(self)
    }

    /// Fails unless a drive can be made of it.
    pub fn check(&self) -> Result<()> {
        let geometry = &self.geometry;
        let parts = [
            geometry.channels,
            geometry.packages,
            geometry.planes,
            geometry.blocks,
            geometry.pages,
            geometry.page_bytes,
            geometry.unit_bytes,
        ];
        if parts.contains(&0) {
            return Err(self.wrong("it has parts of which there are none"));
        }
        self.check_units()?;
        self.check_buffer()?;
        if self.cleaning.free_blocks < FREE_BLOCKS_LEAST {
            return Err(self.wrong("a plane needs at least two free blocks"));
        }
        if !(0.0..=100.0).contains(&geometry.over_provisioning) {
            return Err(self.wrong("over-provisioning must be from 0 to 100"));
        }
        match (self.host_pages(), geometry.physical_units()) {
            (0, _) => Err(self.wrong("too small: give it more blocks, or a larger capacity")),
            (_, units) if units >= u64::from(u32::MAX) => {
                Err(self.wrong("too large: give it a smaller capacity"))
            }
            _ => Ok(()),
        }
    }

    fn check_units(&self) -> Result<()> {
        let (page, unit) = (self.geometry.page_bytes, self.geometry.unit_bytes);
        if page.is_multiple_of(unit) && PAGE_BYTES.is_multiple_of(unit) {
            Ok(())
        } else {
            Err(self.wrong("pages of flash and of the host must be whole units"))
        }
    }

    fn check_buffer(&self) -> Result<()> {
        let (buffer, geometry) = (self.buffer.bytes, &self.geometry);
        if buffer == 0 && geometry.units_per_page() > 1 {
            return Err(self.wrong("without a write buffer a unit must be a page"));
        }
        if buffer > 0 && buffer < 2 * geometry.page_bytes {
            return Err(self.wrong("the write buffer must have room for two pages"));
        }
        Ok(())
    }

    fn wrong(&self, problem: &str) -> Error {
        Error::invalid(format!(
            "no drive can be made of profile {}: {problem}",
            self.name
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_makes_a_drive() {
        for profile in DRIVES {
            profile.check().unwrap();
            assert_eq!(named(profile.name).unwrap(), profile);
        }
    }

    #[test]
    fn a_capacity_is_what_the_host_sees() {
        for profile in DRIVES {
            let small = profile.with_capacity(1 << 30).unwrap();
            let bytes = small.host_pages() * u64::from(PAGE_BYTES);
            let row = u64::from(small.geometry.all_planes())
                * u64::from(small.geometry.units_per_block())
                * u64::from(small.geometry.unit_bytes);
            assert!(
                (1 << 30..(1 << 30) + row).contains(&bytes),
                "{}: {bytes}",
                profile.name
            );
        }
    }

    #[test]
    fn what_cannot_be_made_says_why() {
        let expect = |change: fn(&mut Profile), reason: &str| {
            let mut profile = X25_E;
            change(&mut profile);
            let message = profile.check().unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        };
        expect(|profile| profile.geometry.channels = 0, "parts");
        expect(|profile| profile.geometry.unit_bytes = 3_000, "whole units");
        expect(|profile| profile.geometry.blocks = 5, "too small");
        expect(|profile| profile.geometry.blocks = 1 << 30, "too large");
        expect(
            |profile| profile.geometry.over_provisioning = f64::NAN,
            "over-provisioning",
        );
        expect(|profile| profile.cleaning.free_blocks = 1, "free blocks");
        expect(|profile| profile.buffer.bytes = 1, "two pages");
    }
}
