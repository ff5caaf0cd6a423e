//! The link that a server stands for: delay, bandwidth, faults, and what went over it.
//!
//! The bandwidth is of all connections together: each chunk takes its time on one line, behind
//! those that came before it.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Status(u16),
    Stall,
    Short,
    Wrong,
}

impl Fault {
    pub fn named(name: &str) -> Option<Fault> {
        match name {
            "stall" => Some(Fault::Stall),
            "short" => Some(Fault::Short),
            "wrong" => Some(Fault::Wrong),
            code => code.parse().ok().map(Fault::Status),
        }
    }
}

pub struct Link {
    state: Mutex<State>,
}

struct State {
    delay: Duration,
    bandwidth: u64,
    free_at: Instant,
    requests: u64,
    /// From which request on, up to which, and what.
    order: Option<(u64, u64, Fault)>,
    counts: Counts,
    /// The pages of each object that were sent since they were last forgotten.
    sent: HashMap<String, HashSet<u64>>,
    /// The same in their order, with the number of the object.
    in_order: Vec<(usize, u64)>,
    numbers: HashMap<String, usize>,
}

#[derive(Default)]
struct Counts {
    gets: u64,
    /// Of these, of pages of zones.
    page_gets: u64,
    /// Pages of zones that were sent, and that were sent before.
    pages: u64,
    repeated_pages: u64,
    puts: u64,
    others: u64,
    received: u64,
    sent: u64,
}

impl Link {
    pub fn new(delay_ms: u64, bandwidth: u64) -> Link {
        Link {
            state: Mutex::new(State {
                delay: Duration::from_millis(delay_ms),
                bandwidth: bandwidth.max(1),
                free_at: Instant::now(),
                requests: 0,
                order: None,
                counts: Counts::default(),
                sent: HashMap::new(),
                in_order: Vec::new(),
                numbers: HashMap::new(),
            }),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn set(&self, delay_ms: Option<u64>, bandwidth: Option<u64>) {
        let mut state = self.state();
        if let Some(delay_ms) = delay_ms {
            state.delay = Duration::from_millis(delay_ms);
        }
        state.bandwidth = bandwidth.unwrap_or(state.bandwidth).max(1);
    }

    /// Counts a request, and says what happens to it.
    pub fn ask(&self, method: &str) -> Option<Fault> {
        let mut state = self.state();
        let number = state.requests;
        state.requests += 1;
        let count = match method {
            "GET" => &mut state.counts.gets,
            "PUT" | "POST" => &mut state.counts.puts,
            _ => &mut state.counts.others,
        };
        *count += 1;
        let met = state
            .order
            .filter(|(from, to, _)| (*from..*to).contains(&number));
        met.map(|(_, _, fault)| fault)
    }

    pub fn harm(&self, fault: Fault, after: u64, count: u64) {
        let mut state = self.state();
        let from = state.requests + after;
        state.order = Some((from, from.saturating_add(count), fault));
    }

    pub fn heal(&self) {
        self.state().order = None;
    }

    pub async fn delay(&self) {
        let delay = self.state().delay;
        tokio::time::sleep(delay).await;
    }

    /// Waits until so many bytes have passed.
    pub async fn pass(&self, bytes: u64) {
        let end = {
            let mut state = self.state();
            let time = Duration::from_secs_f64(bytes as f64 / state.bandwidth as f64);
            state.free_at = state.free_at.max(Instant::now()) + time;
            state.free_at
        };
        tokio::time::sleep_until(end.into()).await;
    }

    /// Counts the pages of a zone that are sent, those apart that were sent before.
    pub fn count_pages(&self, object: &str, pages: std::ops::Range<u64>) {
        let mut state = self.state();
        let next = state.numbers.len();
        let number = *state.numbers.entry(object.to_owned()).or_insert(next);
        state.in_order.extend(pages.clone().map(|page| (number, page)));
        let sent = state.sent.entry(object.to_owned()).or_default();
        let count = pages.end - pages.start;
        let fresh = pages.filter(|page| sent.insert(*page)).count() as u64;
        state.counts.page_gets += 1;
        state.counts.pages += count;
        state.counts.repeated_pages += count - fresh;
    }

    /// Forgets which pages were sent, and their order.
    pub fn forget_pages(&self) {
        let mut state = self.state();
        state.sent.clear();
        state.in_order.clear();
    }

    /// The pages that were sent, in their order: number of the object and of the page.
    pub fn pages(&self) -> Value {
        json!(self.state().in_order)
    }

    pub fn count_sent(&self, bytes: u64) {
        self.state().counts.sent += bytes;
    }

    pub fn count_received(&self, bytes: u64) {
        self.state().counts.received += bytes;
    }

    /// The counts since they were last taken.
    pub fn take_counts(&self) -> Value {
        let counts = std::mem::take(&mut self.state().counts);
        json!({
            "gets": counts.gets,
            "page_gets": counts.page_gets,
            "pages": counts.pages,
            "repeated_pages": counts.repeated_pages,
            "puts": counts.puts,
            "others": counts.others,
            "received_bytes": counts.received,
            "sent_bytes": counts.sent,
        })
    }
}
