//! Records what a run has used up to one moment: time, CPU, reads, requests.

use std::time::{Duration, Instant};

use gannet::Index;
use gannet::diagnostics::{CountersSnapshot, RequestCounts};

use crate::process;

/// The resources used up to one moment.
#[derive(Clone, Copy)]
pub struct Usage {
    pub at: Instant,
    pub cpu: Duration,
    pub device: CountersSnapshot,
    /// The requests to a store behind a network.
    pub requests: Option<RequestCounts>,
    pub system_bytes_read: Option<u64>,
}

impl Usage {
    /// Nothing is open yet where there is no index.
    pub fn now(index: Option<&Index>) -> Usage {
        Usage {
            at: Instant::now(),
            cpu: process::cpu_time(),
            device: index.map(Index::counters).unwrap_or_default(),
            requests: index.and_then(Index::requests),
            system_bytes_read: process::bytes_read(),
        }
    }
}
