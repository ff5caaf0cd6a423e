//! A deterministic discrete-event model of solid-state drives, and of disks beside them.
//!
//! The model answers what a structure would cost on another device: how long its requests would
//! take, how many bytes the drive would program for each byte that the host writes, and how many
//! blocks it would erase. All times are *modelled*, on a virtual clock, and never measured. The
//! same requests and the same seed give the same result on every machine.
//!
//! ```
//! use gannet_ssd::{Drive, Operation, Request, profile};
//!
//! let profile = profile::X25_E.with_capacity(256 << 20)?;
//! let mut drive = Drive::new(&profile)?;
//! let write = Request { operation: Operation::Write, page: 0, pages: 2 };
//! let read = Request { operation: Operation::Read, ..write };
//! drive.serve(&[write, Request::flush()])?;
//! let nanos = drive.serve(&[read])?;
//! assert!(nanos > 100_000, "a read of 8 KiB takes {nanos} ns");
//! assert_eq!(drive.counts().device_write_amplification(), Some(1.0));
//! # Ok::<(), gannet::Error>(())
//! ```
//!
//! From top to bottom: `device` wraps a device of the engine, and `replay` plays a recorded
//! `trace`; both put files on a medium by a `layout`. The medium is a `drive` or a disk (`hdd`). A
//! drive has a host `queue`, a `link`, a write `buffer`, and an `array` of planes and channels;
//! each server is a `line`. Its translation layer (`ftl`) maps units to `flash`, with the `blocks`
//! of each plane and garbage collection (`collect`). The `clock` is virtual, and the `profile` is
//! data. `closed_forms` are what the literature says about amplification, and `workload` makes the
//! streams of requests that the model is compared with it by. `smart` is a drive that runs
//! programs.

mod array;
mod blocks;
mod buffer;
mod clock;
pub mod closed_forms;
mod collect;
mod counts;
mod device;
mod drive;
mod event;
mod flash;
mod ftl;
pub mod hdd;
mod layout;
mod line;
mod link;
mod medium;
pub mod profile;
mod queue;
pub mod random;
mod reading;
mod replay;
mod request;
pub mod smart;
mod trace;
pub mod workload;

pub use clock::Nanos;
pub use collect::Collection;
pub use counts::Counts;
pub use device::Modelled;
pub use drive::{Completion, Drive};
pub use hdd::{Disk, DiskProfile};
pub use medium::Medium;
pub use profile::Profile;
pub use replay::{Player, Work};
pub use request::{Operation, PAGE_BYTES, Request};
pub use trace::{Action, Entry, TRACE_FILE, entries};
