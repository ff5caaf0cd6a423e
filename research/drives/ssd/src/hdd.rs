//! A disk: an arm that seeks, a platter that turns, and a rate.
//!
//! A request that begins where the one before it ended costs its transfer alone; any other costs an
//! average seek and half a turn before it. Requests are served one after the other, in order.

use gannet::Result;

use crate::clock::{Nanos, transfer};
use crate::request::{Operation, Request};

/// Nanoseconds of a microsecond.
const US: Nanos = 1_000;

/// What distinguishes one disk from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskProfile {
    /// What it is called.
    pub name: &'static str,
    /// An average seek before a read.
    pub seek_read: Nanos,
    /// An average seek before a write.
    pub seek_write: Nanos,
    /// One turn of the platter.
    pub rotation: Nanos,
    /// Bytes a second behind the head.
    pub rate: u64,
}

/// Hitachi Deskstar 7K1000.D, the disk of the paper of MFIS (Jung et al., 2014). Its table 1 has
/// accesses of 12.37 ms for reads and 13.37 ms for writes, and 189 MB/s. At 7,200 turns a minute
/// half a turn is 4.17 ms of an access, and the rest its seek.
pub const DESKSTAR: DiskProfile = DiskProfile {
    name: "Hitachi Deskstar 7K1000.D",
    seek_read: 8_200 * US,
    seek_write: 9_200 * US,
    rotation: 8_340 * US,
    rate: 189_000_000,
};

/// WD3200AAJS, the disk of the hybrid cache paper, which names the model alone: 7,200 turns a
/// minute. Its seek and rate are those that disks of its class had in 2008.
pub const WD3200AAJS: DiskProfile = DiskProfile {
    name: "Western Digital WD3200AAJS",
    seek_read: 8_900 * US,
    seek_write: 10_900 * US,
    rotation: 8_340 * US,
    rate: 100_000_000,
};

/// A disk on a virtual clock.
#[derive(Clone, Debug)]
pub struct Disk {
    profile: DiskProfile,
    now: Nanos,
    /// The page behind the last one that was read or written.
    head: Option<u64>,
    seeks: u64,
}

impl DiskProfile {
    /// Seek and half a turn.
    fn access(&self, operation: Operation) -> Nanos {
        let seek = match operation {
            Operation::Write => self.seek_write,
            _ => self.seek_read,
        };
        seek + self.rotation / 2
    }
}

impl Disk {
    /// A disk whose arm is nowhere yet.
    pub fn new(profile: DiskProfile) -> Disk {
        Disk {
            profile,
            now: 0,
            head: None,
            seeks: 0,
        }
    }

    /// What it was made of.
    pub fn profile(&self) -> &DiskProfile {
        &self.profile
    }

    /// The time on its clock.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// How often the arm moved.
    pub fn seeks(&self) -> u64 {
        self.seeks
    }

    /// Carries out requests in order; gives the time until all are done. Trims and flushes cost
    /// nothing: a disk has no use for the former, and writes are done when they are answered.
    pub fn serve(&mut self, batch: &[Request]) -> Result<Nanos> {
        let started = self.now;
        for request in batch {
            if matches!(request.operation, Operation::Read | Operation::Write) {
                self.transfer(request);
            }
        }
        Ok(self.now - started)
    }

    fn transfer(&mut self, request: &Request) {
        if self.head != Some(request.page) {
            self.now += self.profile.access(request.operation);
            self.seeks += 1;
        }
        self.now += transfer(request.bytes(), Some(self.profile.rate));
        self.head = Some(request.page.saturating_add(u64::from(request.pages)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_a_seek_and_half_a_turn_where_the_head_is_elsewhere() {
        let mut disk = Disk::new(DESKSTAR);
        let read = 12_370 * US + transfer(8192, Some(189_000_000));
        assert_eq!(disk.serve(&[Request::read(10, 2)]).unwrap(), read);
        let write = transfer(4096, Some(189_000_000));
        assert_eq!(
            disk.serve(&[Request::write(12, 1)]).unwrap(),
            write,
            "the head is there"
        );
        assert_eq!(
            disk.serve(&[Request::write(12, 1)]).unwrap(),
            13_370 * US + write
        );
        assert_eq!(disk.seeks(), 2);
    }

    #[test]
    fn trims_and_flushes_leave_the_head() {
        let mut disk = Disk::new(DESKSTAR);
        disk.serve(&[Request::read(0, 1)]).unwrap();
        assert_eq!(
            disk.serve(&[Request::trim(7, 1), Request::flush()])
                .unwrap(),
            0
        );
        let transfer = transfer(4096, Some(189_000_000));
        assert_eq!(disk.serve(&[Request::read(1, 1)]).unwrap(), transfer);
    }
}
