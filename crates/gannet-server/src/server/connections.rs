//! Open connections: so many at once. Where one more comes, the one that has waited longest for its
//! next request is closed.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::metrics::Metrics;
use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The time that a new connection waits for an idle one to be closed.
const ROOM_WAIT: Duration = Duration::from_millis(100);

/// Bytes of an answer that are given to its connection at once.
const PIECE_BYTES: usize = 64 << 10;

/// The places of connections.
#[derive(Clone)]
pub struct Connections {
    places: Arc<Semaphore>,
    total: u32,
    metrics: Arc<Metrics>,
    idle: Arc<Mutex<Idle>>,
}

/// Connections that wait for a request, the longest wait first.
#[derive(Default)]
struct Idle {
    waiting: BTreeMap<u64, Arc<Notify>>,
    next: u64,
}

/// The place of one connection.
pub struct Place {
    metrics: Arc<Metrics>,
    idle: Arc<Mutex<Idle>>,
    /// Its number among those that wait, while it does.
    number: Mutex<Option<u64>>,
    /// When the last request came.
    since: Mutex<Instant>,
    closing: Arc<Notify>,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    /// So many places.
    pub fn new(most: usize, metrics: Arc<Metrics>) -> Connections {
        let total = u32::try_from(most).unwrap_or(u32::MAX).max(1);
        Connections {
            places: Arc::new(Semaphore::new(total as usize)),
            total,
            metrics,
            idle: Arc::default(),
        }
    }

    /// Takes a place; none if all connections are in use.
    pub async fn admit(&self) -> Option<Place> {
        let mut permit = Arc::clone(&self.places).try_acquire_owned().ok();
        if permit.is_none() && self.close_one() {
            let freed = Arc::clone(&self.places).acquire_owned();
            let freed = tokio::time::timeout(ROOM_WAIT, freed).await;
            permit = freed.ok().and_then(Result::ok);
        }
        let permit = permit?;
        let place = Place {
            metrics: Arc::clone(&self.metrics),
            idle: Arc::clone(&self.idle),
            number: Mutex::default(),
            since: Mutex::new(Instant::now()),
            closing: Arc::default(),
            _permit: permit,
        };
        place.metrics.connections.fetch_add(1, Ordering::Relaxed);
        place.waits();
        Some(place)
    }

    /// Waits until all are closed.
    pub async fn closed(&self) {
        // It fails only where the semaphore is closed, which nobody does.
        let _ = self.places.acquire_many(self.total).await;
    }

    /// Closes the connection that has waited longest.
    fn close_one(&self) -> bool {
        let first = locked(&self.idle).waiting.pop_first();
        let found = first.is_some();
        if let Some((_, closing)) = first {
            closing.notify_one();
        }
        found
    }
}

impl Place {
    /// Notes that a request came.
    pub fn works(&self) {
        if let Some(number) = locked(&self.number).take() {
            *locked(&self.since) = Instant::now();
            locked(&self.idle).waiting.remove(&number);
        }
    }

    /// Notes that the connection waits for the next request.
    pub fn waits(&self) {
        let mut idle = locked(&self.idle);
        let number = idle.next;
        idle.next += 1;
        idle.waiting.insert(number, Arc::clone(&self.closing));
        *locked(&self.number) = Some(number);
    }

    /// Returns true if a request is being answered.
    pub fn is_working(&self) -> bool {
        locked(&self.number).is_none()
    }

    /// Waits until a request takes longer than `limit`, its answer included.
    pub async fn is_stuck(&self, limit: Duration) {
        loop {
            tokio::time::sleep(limit / 4).await;
            if self.is_working() && locked(&self.since).elapsed() > limit {
                return;
            }
        }
    }

    /// Waits until the place is needed for another connection.
    pub async fn is_needed(&self) {
        self.closing.notified().await;
    }
}

/// The body of an answer, behind which its connection waits for the next request.
///
/// It is given in pieces, of which few wait to be sent. So its end is about that of the sending.
pub struct AnswerBody {
    body: Body,
    /// The rest of a piece that was too long.
    rest: Bytes,
    place: Arc<Place>,
}

impl AnswerBody {
    /// Of a connection with this place.
    pub fn new(body: Body, place: Arc<Place>) -> AnswerBody {
        AnswerBody {
            body,
            rest: Bytes::new(),
            place,
        }
    }
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => frame,
                other => return other,
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(frame) => return Poll::Ready(Some(Ok(frame))),
            }
        }
        let length = self.rest.len().min(PIECE_BYTES);
        let piece = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let of_body = hyper::body::Body::size_hint(&self.body);
        let rest = self.rest.len() as u64;
        match of_body.exact() {
            Some(bytes) => SizeHint::with_exact(bytes + rest),
            None => of_body,
        }
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.place.waits();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        self.works();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
