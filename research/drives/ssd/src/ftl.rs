//! The flash translation layer: where each unit stands, page-mapped, with garbage collection.
//!
//! It is logic without time. Each call gives the operations of the flash memory that it takes, in
//! order and by plane; who drives it gives them to the planes, which do them one after the other.
//! So the mapping is always that of the newest request, and a plane never reads what it has not
//! programmed before.
//!
//! Host writes are dealt to the planes page by page, round and round. A plane fills one block with
//! them, and a second one with what garbage collection moves if the profile separates them. It
//! collects when fewer than its share of blocks are free.
//!
//! Invariants: a unit that has a slot owns it in `flash`, and each valid slot belongs to the unit
//! that is mapped to it; a plane has at most `valid_limit` valid units, so collecting always gains.

use gannet::{Error, Result};

use crate::blocks::PlaneBlocks;
use crate::counts::Counts;
use crate::flash::{Flash, Slot};
use crate::profile::Profile;

/// What the flash memory does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashKind {
    /// Reads a page.
    Read,
    /// Programs a page.
    Program,
    /// Erases a block.
    Erase,
}

/// One operation of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashOperation {
    /// What it does.
    pub kind: FlashKind,
    /// The block, which tells the plane.
    pub block: u32,
    /// Bytes that the channel transfers.
    pub bytes: u32,
    /// Units of the host's that leave the write buffer when it is done.
    pub host_units: u32,
}

/// Whose units a impacts takes.
const HOST: usize = 0;

/// The translation layer of a drive.
#[derive(Debug)]
pub struct Ftl {
    profile: Profile,
    /// The slot of each unit, plus one; 0 where it has no content.
    map: Vec<u32>,
    flash: Flash,
    planes: Vec<PlaneBlocks>,
    /// The plane that takes the next unit of the host's.
    turn: usize,
    counts: Counts,
    /// Units of the block that is being collected, to move.
    moving: Vec<(Slot, u32)>,
}

impl Ftl {
    /// The layer of an empty drive, of a profile that was checked.
    pub fn new(profile: &Profile) -> Ftl {
        let geometry = &profile.geometry;
        let units = profile.host_pages() * u64::from(geometry.units_per_host_page());
        let planes = (0..geometry.all_planes()).map(|plane| PlaneBlocks::new(plane, profile));
        Ftl {
            profile: *profile,
            map: vec![0; units as usize],
            flash: Flash::new(
                geometry.all_planes() * geometry.blocks,
                geometry.units_per_block(),
            ),
            planes: planes.collect(),
            turn: 0,
            counts: Counts::default(),
            moving: Vec::new(),
        }
    }

    /// Units that the host sees.
    pub fn units(&self) -> u32 {
        self.map.len() as u32
    }

    /// Where a unit stands; nothing if it was never written, or was trimmed.
    pub fn find(&self, unit: u32) -> Option<Slot> {
        self.map[unit as usize].checked_sub(1)
    }

    /// The flash memory.
    pub fn flash(&self) -> &Flash {
        &self.flash
    }

    /// What was done.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Counts what the host read: units that have content, units that have none, pages of flash.
    pub fn count_read(&mut self, units: u64, unmapped: u64, pages: u64) {
        self.counts.host_read_units += units;
        self.counts.unmapped_read_units += unmapped;
        self.counts.read_pages += pages;
    }

    /// Begins to count anew. Erases of blocks stay.
    pub fn reset_counts(&mut self) {
        self.counts = Counts::default();
    }

    /// Writes a unit.
    pub fn write(&mut self, unit: u32, operations: &mut Vec<FlashOperation>) -> Result<()> {
        self.counts.host_written_units += 1;
        self.release(unit);
        let plane = self.plane_for_host();
        self.make_room(plane, operations)?;
        self.planes[plane].frontiers[HOST].host_units += 1;
        self.place(plane, HOST, unit, operations)?;
        if !self.has_begun_page(plane) {
            self.next_turn();
        }
        Ok(())
    }

    /// Forgets the content of a unit.
    pub fn trim(&mut self, unit: u32) {
        self.counts.trimmed_units += u64::from(self.release(unit));
    }

    /// Leaves the rest of the page empty that takes the host's units now, so that it is programmed.
    pub fn pad(&mut self, operations: &mut Vec<FlashOperation>) {
        let (plane, per_page) = (self.turn, self.profile.geometry.units_per_page());
        let Some(block) = self.planes[plane].frontiers[HOST].block else {
            return;
        };
        let begun = self.flash.filled(block) % per_page;
        if begun > 0 {
            self.flash.skip(block, per_page - begun);
            self.counts.padded_units += u64::from(per_page - begun);
            self.program(plane, HOST, block, operations);
            self.next_turn();
        }
    }

    fn next_turn(&mut self) {
        self.turn = (self.turn + 1) % self.planes.len();
    }

    /// What a unit had is valid no more; tells whether it had anything.
    fn release(&mut self, unit: u32) -> bool {
        let Some(slot) = self.find(unit) else {
            return false;
        };
        self.map[unit as usize] = 0;
        self.invalidate(slot);
        true
    }

    fn invalidate(&mut self, slot: Slot) {
        self.flash.invalidate(slot);
        let plane = self.flash.block_of(slot) / self.profile.geometry.blocks;
        self.planes[plane as usize].valid -= 1;
    }

    /// The plane whose page is not full, or the next one that has room. There is one, as the host
    /// sees no more units than all planes together may have.
    fn plane_for_host(&mut self) -> usize {
        let limit = self.profile.valid_limit();
        while !self.has_begun_page(self.turn) && u64::from(self.planes[self.turn].valid) >= limit {
            self.next_turn();
        }
        self.turn
    }

    fn has_begun_page(&self, plane: usize) -> bool {
        let per_page = self.profile.geometry.units_per_page();
        let block = self.planes[plane].frontiers[HOST].block;
        block.is_some_and(|block| !self.flash.filled(block).is_multiple_of(per_page))
    }

    /// Gives the host's impacts room, and collects when too few blocks are free.
    fn make_room(&mut self, plane: usize, operations: &mut Vec<FlashOperation>) -> Result<()> {
        while self.planes[plane].frontiers[HOST].block.is_none() {
            self.open(plane, HOST)?;
            while self.planes[plane].free() < self.profile.cleaning.free_blocks {
                let Some(victim) = self.planes[plane].full.take_victim(&self.flash) else {
                    break;
                };
                self.collect(plane, victim, operations)?;
            }
        }
        Ok(())
    }

    /// Moves the valid units of a block and erases it.
    fn collect(
        &mut self,
        plane: usize,
        victim: u32,
        operations: &mut Vec<FlashOperation>,
    ) -> Result<()> {
        let mut moving = std::mem::take(&mut self.moving);
        moving.extend(self.flash.contents(victim));
        self.read_pages(victim, &moving, operations);
        let impacts = usize::from(self.profile.cleaning.separate_moves);
        for (slot, unit) in moving.drain(..) {
            self.invalidate(slot);
            self.place(plane, impacts, unit, operations)?;
            self.counts.moved_units += 1;
        }
        self.moving = moving;
        self.flash.erase(victim);
        self.planes[plane].push_erased(victim);
        self.counts.erased_blocks += 1;
        operations.push(FlashOperation::new(FlashKind::Erase, victim));
        Ok(())
    }

    /// Reads the pages of some units of a block, which are in order.
    fn read_pages(
        &mut self,
        block: u32,
        units: &[(Slot, u32)],
        operations: &mut Vec<FlashOperation>,
    ) {
        let (per_page, unit_bytes) = self.unit_shape();
        for page in units.chunk_by(|(left, _), (right, _)| left / per_page == right / per_page) {
            self.counts.read_pages += 1;
            operations.push(FlashOperation {
                bytes: page.len() as u32 * unit_bytes,
                ..FlashOperation::new(FlashKind::Read, block)
            });
        }
    }

    fn unit_shape(&self) -> (u32, u32) {
        let geometry = &self.profile.geometry;
        (geometry.units_per_page(), geometry.unit_bytes)
    }

    /// Gives a impacts an erased block. There is one: two are kept at least, and collecting a
    /// block takes one at most before it gives one back.
    fn open(&mut self, plane: usize, impacts: usize) -> Result<u32> {
        let block = self.planes[plane].take_free();
        let block = block.ok_or_else(|| Error::internal(format!("plane {plane} is full")))?;
        self.planes[plane].frontiers[impacts].block = Some(block);
        Ok(block)
    }

    /// Puts a unit at a impacts. A page is programmed when it is full.
    fn place(
        &mut self,
        plane: usize,
        impacts: usize,
        unit: u32,
        operations: &mut Vec<FlashOperation>,
    ) -> Result<()> {
        let block = match self.planes[plane].frontiers[impacts].block {
            Some(block) => block,
            None => self.open(plane, impacts)?,
        };
        self.map[unit as usize] = self.flash.fill(block, unit) + 1;
        self.planes[plane].valid += 1;
        let (per_page, _) = self.unit_shape();
        if self.flash.filled(block).is_multiple_of(per_page) {
            self.program(plane, impacts, block, operations);
        }
        Ok(())
    }

    /// Programs the page of a impacts, and closes its block if that was the last one.
    fn program(
        &mut self,
        plane: usize,
        impacts: usize,
        block: u32,
        operations: &mut Vec<FlashOperation>,
    ) {
        let host_units = &mut self.planes[plane].frontiers[impacts].host_units;
        operations.push(FlashOperation {
            bytes: self.profile.geometry.page_bytes,
            host_units: std::mem::take(host_units),
            ..FlashOperation::new(FlashKind::Program, block)
        });
        self.counts.programmed_pages += 1;
        if self.flash.is_full(block) {
            self.planes[plane].frontiers[impacts].block = None;
            self.planes[plane].full.push(block);
        }
    }
}

impl FlashOperation {
    fn new(kind: FlashKind, block: u32) -> FlashOperation {
        FlashOperation {
            kind,
            block,
            bytes: 0,
            host_units: 0,
        }
    }
}

#[cfg(test)]
mod tests;
