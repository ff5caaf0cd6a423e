//! What a plan did, as counts, and what a profile makes of them: modelled times and energy.

use super::profile::SmartProfile;
use crate::clock::Nanos;

/// What was executed, accessed and moved. All of it is counted, but for the two times of flash,
/// which the model of drives gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Operators that a program executed.
    pub operators: u64,
    /// Loads and stores of DRAM, and bursts of 32 bytes of what is sent.
    pub dram_accesses: u64,
    /// Loads and stores of SRAM.
    pub sram_accesses: u64,
    /// Pages that were read from flash.
    pub flash_pages: u64,
    /// Requests for them, as many pages each as the profile says.
    pub flash_requests: u64,
    /// What the model of the drive takes for them.
    pub flash_nanos: Nanos,
    /// Bytes of results.
    pub result_bytes: u64,
    /// Bytes over the link: parameters, spans and results, or pages.
    pub link_bytes: u64,
    /// Polls that found the program running.
    pub polls: u64,
}

/// Modelled times of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Flash, channels, and what requests take beside; on the host also the link.
    pub io: Nanos,
    /// Operators; on the host also what a byte that comes in takes.
    pub cpu: Nanos,
    /// Memory.
    pub memory: Nanos,
    /// Waiting for the next poll.
    pub waiting: Nanos,
    /// Results over the link.
    pub sending: Nanos,
    /// Ranking on the host, and what a query takes there anyhow.
    pub host: Nanos,
}

impl Times {
    /// All of it: nothing overlaps, as in the paper.
    pub fn total(&self) -> Nanos {
        self.io + self.cpu + self.memory + self.waiting + self.sending + self.host
    }
}

impl Work {
    /// What a program takes until its results are there, without polls.
    pub fn running(&self, profile: &SmartProfile) -> Nanos {
        let times = self.in_device(profile);
        times.io + times.cpu + times.memory
    }

    /// The times of a session: of its program, polls and sending.
    pub fn in_device(&self, profile: &SmartProfile) -> Times {
        let device = &profile.device;
        let mut times = Times {
            io: self.flash_nanos + nanos(self.flash_requests, device.request_us * 1e3),
            cpu: nanos(
                self.operators,
                device.cycles_per_operator * 1e3 / device.mhz,
            ),
            memory: nanos(self.dram_accesses, device.dram_ns)
                + nanos(self.sram_accesses, device.sram_ns),
            sending: nanos(self.result_bytes, 1e3 / profile.get_mb_s),
            ..Times::default()
        };
        let running = times.io + times.cpu + times.memory;
        times.waiting = (self.polls * profile.poll_nanos()).saturating_sub(running);
        times
    }

    /// The times of the same on the host, to which `bytes` came.
    pub fn on_host(&self, profile: &SmartProfile) -> Times {
        let host = &profile.host;
        let bytes = self.link_bytes;
        Times {
            io: self.flash_nanos + nanos(self.flash_requests, host.request_us * 1e3),
            cpu: nanos(self.operators, host.cycles_per_operator * 1e3 / host.mhz)
                + nanos(bytes, host.byte_ns),
            memory: nanos(self.dram_accesses, host.access_ns),
            ..Times::default()
        }
    }
}

impl Work {
    /// Modelled millijoules by counts, in the drive: operators and accesses at its power, pages of
    /// flash and bytes on the link at what each takes. Waiting takes nothing.
    pub fn mj_in_device(&self, profile: &SmartProfile) -> f64 {
        let times = self.in_device(profile);
        millijoules(times.cpu + times.memory, profile.device.watts) + self.moved_mj(profile)
    }

    /// The same on the host.
    pub fn mj_on_host(&self, profile: &SmartProfile) -> f64 {
        let times = self.on_host(profile);
        millijoules(times.cpu + times.memory, profile.host.watts) + self.moved_mj(profile)
    }

    fn moved_mj(&self, profile: &SmartProfile) -> f64 {
        self.flash_pages as f64 * profile.page_uj / 1e3
            + self.link_bytes as f64 * profile.link_nj / 1e6
    }
}

fn millijoules(nanos: Nanos, watts: f64) -> f64 {
    nanos as f64 / 1e6 * watts
}

/// `count` times `each` nanoseconds.
fn nanos(count: u64, each: f64) -> Nanos {
    (count as f64 * each).round() as Nanos
}
