//! Drives.

use gannet::{Error, Result};

use super::{Buffer, Cleaning, Geometry, Link, Profile, Timing};
use crate::clock::Nanos;
use crate::collect::Collection;

/// Nanoseconds of a microsecond.
const US: Nanos = 1_000;

/// All drives.
pub const DRIVES: [&Profile; 5] = [
    &X25_E,
    &PM9A3,
    &SMART_SSD,
    &HYBRID_CACHE_TABLE,
    &HYBRID_CACHE_TEXT,
];

/// The drive of a name.
pub fn named(name: &str) -> Result<&'static Profile> {
    let found = DRIVES.into_iter().find(|profile| profile.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = DRIVES.iter().map(|profile| profile.name).collect();
        let names = names.join(", ");
        Error::invalid(format!(
            "no drive is called {name}: expected one of {names}"
        ))
    })
}

/// Cleaning as most of the literature has it.
const GREEDY: Cleaning = Cleaning {
    collection: Collection::Greedy,
    free_blocks: 2,
    separate_moves: false,
};

/// Table III of the hybrid cache paper (Li et al., 2012), which are FlashSim's: one page-mapped
/// package, the transfer is part of the times, nothing is buffered. The paper names no capacity of
/// the simulated drive and no over-provisioning: the capacity is its Intel 320's (40 GB), the share
/// is that of 40 GiB of flash.
pub const HYBRID_CACHE_TABLE: Profile = Profile {
    name: "hybrid-cache-table",
    geometry: Geometry {
        channels: 1,
        packages: 1,
        planes: 1,
        blocks: 327_680,
        pages: 64,
        page_bytes: 2 << 10,
        unit_bytes: 2 << 10,
        over_provisioning: 0.0737,
    },
    timing: Timing {
        read: 32_725,
        program: 101_475,
        erase: 1_500 * US,
        channel_rate: None,
    },
    link: Link {
        rate: None,
        full_duplex: false,
        command: 0,
        queue_depth: 32,
    },
    buffer: Buffer {
        bytes: 0,
        write_latency: 0,
        is_durable: true,
    },
    cleaning: GREEDY,
};

/// Section VI of the same paper, which assumes other times.
pub const HYBRID_CACHE_TEXT: Profile = Profile {
    name: "hybrid-cache-text",
    timing: Timing {
        read: 20 * US,
        program: 250 * US,
        ..HYBRID_CACHE_TABLE.timing
    },
    ..HYBRID_CACHE_TABLE
};

/// Intel X25-E of 64 GB, the drive of the AS B-tree's paper (Kim et al., 2014).
///
/// - Ten channels (Tom's Hardware, 2009) with two packages each.
/// - 50 nm SLC: pages of 4,096 bytes, 25 us to read, 300 us to program, 2 ms to erase, and 25 ns
///   for a byte (40 MB/s), as data sheets of such flash have it. SLC of the time has 64 pages a
///   block.
/// - The link's rate and cost of a request are fitted on the random reads of the paper's table 1,
///   32 at a time: 12.5 us and a byte at 283 MB/s. They meet all four of them within 3 %.
/// - A write of 4 KiB takes 85 us, and the buffer is the controller's 256 KiB. Both are unverified:
///   Intel's data sheet was not at hand.
/// - The drive's mapping is not published. Over-provisioning is fitted on the random writes of 4
///   KiB of table 1: its 80 GB of flash would give 36 MB/s where the table has 21.
///
/// Held out: sequential reads and writes of table 1, its longer random writes, and table 2. A read
/// of 4 KiB, said to take 75 us, takes longer: a byte of 25 ns alone makes 102 us of it.
pub const X25_E: Profile = Profile {
    name: "x25-e",
    geometry: Geometry {
        channels: 10,
        packages: 2,
        planes: 1,
        blocks: 13_600,
        pages: 64,
        page_bytes: 4 << 10,
        unit_bytes: 4 << 10,
        over_provisioning: 0.11,
    },
    timing: Timing {
        read: 25 * US,
        program: 300 * US,
        erase: 2_000 * US,
        channel_rate: Some(40_000_000),
    },
    link: Link {
        rate: Some(283_000_000),
        full_duplex: false,
        command: 12_500,
        queue_depth: 32,
    },
    buffer: Buffer {
        bytes: 256 << 10,
        write_latency: 58 * US,
        is_durable: false,
    },
    cleaning: GREEDY,
};

/// Samsung PM9A3, a data centre drive of 2020 (PCIe 4.0), with 960 GB, its least capacity.
///
/// - Announced are 6.5 GB/s and 900,000 requests a second for reads of the U.2 model, from which
///   the link is; 3.5 GB/s for sequential writes, from which the time to program is.
/// - Eight channels, TLC with pages of 16 KiB; mapped by 4 KiB. What the parts of the controller
///   and the flash take is not published: usual values of the time. A block has fewer pages than a
///   real one, so that a drive of some GB has enough blocks.
/// - The flash memory is binary (1 TiB for 960 GB).
///
/// Held out: 200,000 random writes of 4 KiB a second (U.2, 7.68 TB), of which a full modelled drive
/// does two thirds.
pub const PM9A3: Profile = Profile {
    name: "pm9a3",
    geometry: Geometry {
        channels: 8,
        packages: 8,
        planes: 2,
        blocks: 2_048,
        pages: 256,
        page_bytes: 16 << 10,
        unit_bytes: 4 << 10,
        over_provisioning: 0.145,
    },
    timing: Timing {
        read: 45 * US,
        program: 585 * US,
        erase: 3_500 * US,
        channel_rate: Some(1_200_000_000),
    },
    link: Link {
        rate: Some(6_500_000_000),
        full_duplex: true,
        command: 1_100,
        queue_depth: 1_024,
    },
    buffer: Buffer {
        bytes: 16 << 20,
        write_latency: 10 * US,
        is_durable: true,
    },
    cleaning: Cleaning {
        separate_moves: true,
        ..GREEDY
    },
};

/// The Smart SSD of Wang, Park et al.
///
/// - SAS of 6 Gb/s, of which the paper gets 550 MB/s; inside it has 2.2 GB/s, here by eight
///   channels.
/// - The flash is not published: times and pages of a data sheet of the time (Micron MLC, pages of
///   8 KiB, 50 us, 1,300 us, 3 ms). The paper reads only, so the writes matter little.
pub const SMART_SSD: Profile = Profile {
    name: "smart-ssd",
    geometry: Geometry {
        channels: 8,
        packages: 4,
        planes: 2,
        blocks: 3_400,
        pages: 256,
        page_bytes: 8 << 10,
        unit_bytes: 4 << 10,
        over_provisioning: 0.0737,
    },
    timing: Timing {
        read: 50 * US,
        program: 1_300 * US,
        erase: 3_000 * US,
        channel_rate: Some(275_000_000),
    },
    link: Link {
        rate: Some(550_000_000),
        full_duplex: true,
        command: 5 * US,
        queue_depth: 32,
    },
    buffer: Buffer {
        bytes: 8 << 20,
        write_latency: 20 * US,
        is_durable: true,
    },
    cleaning: GREEDY,
};
