//! What programs and sessions may use.

use super::profile::SmartProfile;
use crate::clock::Nanos;

/// What the programs of a drive may use. All but `programs` and `sessions` are for a session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of DRAM.
    pub dram_bytes: u32,
    /// Operators.
    pub operators: u64,
    /// Modelled nanoseconds.
    pub nanos: Nanos,
    /// Bytes of results.
    pub result_bytes: usize,
    /// Bytes of parameters.
    pub parameter_bytes: usize,
    /// Spans.
    pub spans: usize,
    /// Sessions that are open at a time.
    pub sessions: usize,
    /// Programs that are loaded.
    pub programs: usize,
    /// Bytes of a program.
    pub program_bytes: usize,
}

impl Limits {
    /// Those of a profile: its DRAM, a session for each core, and ample room for all else.
    pub fn of(profile: &SmartProfile) -> Limits {
        let dram_bytes = profile.device.dram_mib as u32 * (1 << 20);
        Limits {
            dram_bytes,
            operators: 20_000_000_000,
            nanos: 100_000_000_000,
            result_bytes: dram_bytes as usize,
            parameter_bytes: 4096,
            spans: 64,
            sessions: profile.device.cores as usize,
            programs: 32,
            program_bytes: 64 << 10,
        }
    }
}
