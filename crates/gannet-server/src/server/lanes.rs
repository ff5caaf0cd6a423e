//! Queues in front of the engine, whose calls block: so many requests run at once, so many wait,
//! and the next one is told to come again, before any of its work begins.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fault::{Fault, Outcome};
use crate::routes::Lane;

/// Requests about the server itself, which no others keep waiting.
const STATUS_RUNNING: usize = 2;

/// Requests that write. Most of them wait for each other, or for a sync that they share.
const WRITES_RUNNING: usize = 16;

/// Requests that wait in each queue.
const WAITING: usize = 128;

/// The three queues.
#[derive(Clone)]
pub struct Lanes {
    status: LaneQueue,
    search: LaneQueue,
    write: LaneQueue,
}

#[derive(Clone)]
struct LaneQueue {
    name: &'static str,
    running: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

/// The place of a request in its queue.
pub struct Place {
    queue: LaneQueue,
    _admitted: OwnedSemaphorePermit,
}

impl Lanes {
    /// For a machine with so many cores.
    pub fn new(cores: usize) -> Lanes {
        Lanes {
            status: LaneQueue::new("status", STATUS_RUNNING),
            search: LaneQueue::new("search", searches(cores)),
            write: LaneQueue::new("write", WRITES_RUNNING),
        }
    }

    /// The threads that requests may block.
    pub fn threads(cores: usize) -> usize {
        STATUS_RUNNING + WRITES_RUNNING + searches(cores)
    }

    /// Takes a place.
    ///
    /// # Errors
    ///
    /// 429 if the queue is full.
    pub fn admit(&self, lane: Lane) -> Outcome<Place> {
        let queue = match lane {
            Lane::Status => &self.status,
            Lane::Search => &self.search,
            Lane::Write => &self.write,
        };
        let admitted = Arc::clone(&queue.admitted).try_acquire_owned();
        let admitted = admitted.map_err(|_| {
            Fault::busy(format!(
                "{WAITING} requests wait in the queue [{}] already: send it again later",
                queue.name
            ))
        })?;
        Ok(Place {
            queue: queue.clone(),
            _admitted: admitted,
        })
    }
}

fn searches(cores: usize) -> usize {
    2 * cores.clamp(1, 64)
}

impl LaneQueue {
    fn new(name: &'static str, running: usize) -> LaneQueue {
        LaneQueue {
            name,
            running: Arc::new(Semaphore::new(running)),
            admitted: Arc::new(Semaphore::new(running + WAITING)),
        }
    }
}

impl Place {
    /// Waits until the request may run.
    pub async fn turn(&self) -> Outcome<OwnedSemaphorePermit> {
        let running = Arc::clone(&self.queue.running).acquire_owned().await;
        running.map_err(|_| Fault::internal("the queue is closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_turns_requests_away_and_others_go_on() {
        let lanes = Lanes::new(1);
        let places: Vec<Place> = (0..WAITING + searches(1))
            .map(|_| lanes.admit(Lane::Search).unwrap())
            .collect();
        let fault = lanes.admit(Lane::Search).err().unwrap();
        assert_eq!(
            (fault.status, fault.kind),
            (429, "es_rejected_execution_exception")
        );
        assert!(lanes.admit(Lane::Status).is_ok() && lanes.admit(Lane::Write).is_ok());
        drop(places);
        assert!(lanes.admit(Lane::Search).is_ok());
    }
}
