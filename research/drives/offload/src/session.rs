//! A task in the drive, from OPEN to CLOSE.
//!
//! What always holds: whatever the drive answers, a task ends, with its documents or with an error,
//! after which the host does the work. A session that was opened is closed.

use gannet::device::{self, Offload, Poll, SessionId};
use gannet::offload::{OffloadFound, OffloadTask};
use gannet::{Error, Result};
use gannet_ssd::smart::{Limits, Report, SmartProfile, SmartSsd, Times, Work};

use crate::task::{PARAMETER_BYTES, Task};

/// The program, made of `programs/lists.c` by `programs/build.py`.
const PROGRAM: (&str, &[u8]) = ("lists", include_bytes!("../programs/lists.wasm"));

/// Bytes that a GET asks for.
const GET_BYTES: usize = 1 << 20;

/// A drive that tells what its sessions did.
pub trait Drive: Offload {
    /// What a session did so far.
    fn report(&self, session: SessionId) -> Result<Report>;
}

impl Drive for SmartSsd {
    fn report(&self, session: SessionId) -> Result<Report> {
        SmartSsd::report(self, session)
    }
}

/// A task that a drive carried out.
#[derive(Clone, Debug)]
pub struct DriveRun {
    /// What it found.
    pub found: OffloadFound,
    /// Counts.
    pub work: Work,
    /// Modelled times.
    pub times: Times,
}

/// Limits of a drive: those of its profile, and room for lists of many chunks and for the pages of
/// norms.
pub fn limits(profile: &SmartProfile) -> Limits {
    Limits {
        parameter_bytes: PARAMETER_BYTES,
        spans: 8192,
        ..Limits::of(profile)
    }
}

/// Loads the program.
pub fn load(drive: &SmartSsd) -> Result<()> {
    drive.load(PROGRAM.0, PROGRAM.1)
}

/// Carries a task out on the drive of a profile.
pub fn run(
    (drive, profile): (&dyn Drive, &SmartProfile),
    task: &Task,
    asked: &OffloadTask<'_>,
) -> Result<DriveRun> {
    let session = drive.open(&device::Task {
        program: PROGRAM.0,
        parameters: &task.parameters,
        spans: &task.spans,
    })?;
    let row = 4 * (1 + task.order.len());
    let most = asked.most_found.saturating_mul(row);
    let bytes = fetch(drive, session, most, most_polls(profile));
    let report = drive.report(session);
    drive.close(session)?;
    let (bytes, report) = (bytes?, report?);
    let mut times = report.times;
    times.sending += opening_nanos(&report.work, profile);
    Ok(DriveRun {
        found: decode(&bytes, task)?,
        work: report.work,
        times,
    })
}

/// Polls after which a program must have ended: it may take some time longer than its limit, since
/// a slice of it does.
fn most_polls(profile: &SmartProfile) -> u64 {
    2 * limits(profile).nanos / profile.poll_nanos() + 1
}

/// What parameters and spans take on the link.
pub fn opening_nanos(work: &Work, profile: &SmartProfile) -> u64 {
    let bytes = work.link_bytes.saturating_sub(work.result_bytes);
    (bytes as f64 * 1e3 / profile.link_mb_s) as u64
}

/// Fetches all results, which must not be more than was reserved for them.
fn fetch(drive: &dyn Drive, session: SessionId, most: usize, most_polls: u64) -> Result<Vec<u8>> {
    let (mut all, mut polls) = (Vec::new(), 0);
    loop {
        let Poll::Results { bytes, more } = drive.get(session, GET_BYTES)? else {
            polls += 1;
            if polls > most_polls {
                return Err(Error::invalid(format!(
                    "the program has not ended after {most_polls} polls"
                )));
            }
            continue;
        };
        if all.len() + bytes.len() > most {
            return Err(Error::invalid(format!(
                "the program has more than the {most} bytes of results that there can be"
            )));
        }
        if more && bytes.is_empty() {
            return Err(Error::invalid(
                "the drive has more results and gave none of them",
            ));
        }
        all.extend_from_slice(&bytes);
        if !more {
            return Ok(all);
        }
    }
}

/// The documents of an answer, which has a row of words for each, in their order.
fn decode(bytes: &[u8], task: &Task) -> Result<OffloadFound> {
    let count = task.order.len();
    let row = 4 * (1 + count);
    if !bytes.len().is_multiple_of(row) {
        return Err(Error::invalid(format!(
            "the program has {} bytes of results: expected rows of {row}",
            bytes.len()
        )));
    }
    let mut rows: Vec<&[u8]> = bytes.chunks_exact(row).collect();
    rows.sort_by_key(|row| word(row, 0));
    let mut found = OffloadFound {
        docs: rows.iter().map(|row| word(row, 0)).collect(),
        frequencies: vec![Vec::new(); count],
        is_ranked: task.is_ranked,
    };
    for (at, list) in task.order.iter().enumerate() {
        found.frequencies[*list] = rows.iter().map(|row| word(row, 1 + at)).collect();
    }
    Ok(found)
}

fn word(row: &[u8], at: usize) -> u32 {
    let bytes = row[4 * at..].first_chunk::<4>();
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
