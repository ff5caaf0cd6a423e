//! The numbers of the profile `smart-ssd-2016` that the paper does not give, from what it gives of
//! one query: section 6.2, figures 7 and 8, the cost of 30,000 results, and the watts of table 3.
//!
//! Nothing else of the paper is looked at, so all else is held out. The number of requests behind
//! figure 7 is not told: a request has one page of 4 KiB, so what it takes is near what a read of
//! such a drive takes. Other sizes change the price of a request and hardly any result.

use gannet::Result;
use gannet_ssd::smart::{Limits, SmartProfile};
use serde_json::{Value as Json, json};

use super::cases;
use super::lists::{POSTING_BYTES, lists};
use super::session::Bench;

/// Nanoseconds of a millisecond.
const MS: f64 = 1e6;

/// Figure 7 and the shares of figure 8.
const DEVICE_IO: f64 = 14.5 * MS;
const DEVICE_CPU: f64 = 16.6 * MS;
const HOST_IO: f64 = 54.8 * MS;
const HOST_CPU: f64 = 8.0 * MS;
const FLASH_SHARE: f64 = 0.48;
const MEMORY_SHARE: f64 = 0.28;
const CPU_SHARE: f64 = 0.22;

/// What 30,000 results take: to be sent, and to be ranked by the host.
const RESULTS: f64 = 30_000.0;
const SENT: f64 = 12.0 * MS;
const RANKED: f64 = 5.0 * MS;

/// Table 3: milliseconds and millijoules.
const DEVICE_TABLE: (f64, f64) = (97.0, 204.0);
const HOST_TABLE: (f64, f64) = (210.0, 1_365.0);

/// The calibrated numbers as keys of a profile. `assumed` has all others.
pub fn calibrated(assumed: &SmartProfile, seed: u64) -> Result<Json> {
    let case = cases::typical();
    let made = lists(&case.sizes, case.common, seed);
    let bench = Bench::new(assumed, Limits::of(assumed), made)?;
    let device = bench.in_device(&case.query)?.work;
    let host = bench.on_host(&case.query)?.work;

    let inside = DEVICE_IO / FLASH_SHARE;
    let (memory, cpu) = (inside * MEMORY_SHARE, inside * CPU_SHARE);
    let sram = device.sram_accesses as f64 * assumed.device.sram_ns;
    let running = DEVICE_IO + memory + cpu;
    let poll = assumed.poll_us * 1e3;
    let waiting = (running / poll).ceil() * poll - running;
    let sending = device.result_bytes as f64 / POSTING_BYTES as f64 * SENT / RESULTS;
    let ranking = case.common as f64 * RANKED / RESULTS;
    let query = DEVICE_CPU - memory - cpu - waiting - sending - ranking;
    let operators =
        host.operators as f64 * assumed.host.cycles_per_operator * 1e3 / assumed.host.mhz;
    let accesses = host.dram_accesses as f64 * assumed.host.access_ns;
    let bytes = HOST_CPU - query - ranking - operators - accesses;
    let device_requests = (DEVICE_IO - device.flash_nanos as f64) / device.flash_requests as f64;
    let host_requests = (HOST_IO - host.flash_nanos as f64) / host.flash_requests as f64;
    Ok(json!({
        "request_pages": assumed.request_pages,
        "device_request_us": device_requests / 1e3,
        "device_dram_ns": (memory - sram) / device.dram_accesses as f64,
        "device_cycles_per_operator": cpu * assumed.device.mhz / 1e3 / device.operators as f64,
        "device_watts": DEVICE_TABLE.1 / DEVICE_TABLE.0,
        "host_request_us": host_requests / 1e3,
        "host_query_us": query / 1e3,
        "host_byte_ns": bytes / host.link_bytes as f64,
        "host_rank_ns": RANKED / RESULTS,
        "host_watts": HOST_TABLE.1 / HOST_TABLE.0,
        "get_mb_s": RESULTS * POSTING_BYTES as f64 / SENT * 1e3,
        "counts": {
            "device_operators": device.operators, "device_dram_accesses": device.dram_accesses,
            "device_sram_accesses": device.sram_accesses, "host_operators": host.operators,
            "host_accesses": host.dram_accesses, "requests": device.flash_requests,
        },
    }))
}
