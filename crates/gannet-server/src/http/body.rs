//! Bodies within a budget: memory is taken before a body grows, and where there is none the request
//! is answered with 429 before work begins.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use bytes::BytesMut;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::fault::{Fault, Outcome};

/// Memory is counted in pieces of so many bytes.
const PIECE: usize = 4 << 10;

/// Bytes that a value of a tree of JSON takes beside its text: its place in an array or a map.
const NODE_BYTES: usize = 96;

/// Bytes of a body that are read and dropped.
const DRAINED_MAX: usize = 64 << 20;

/// Memory for the bodies of all requests.
#[derive(Clone)]
pub struct BodyMemory {
    pieces: Arc<Semaphore>,
    total: usize,
    most: usize,
    pause: Duration,
}

impl BodyMemory {
    /// So many bytes in all, and at most so many for one body, of which more must come after
    /// `pause` at the latest.
    pub fn new(total: usize, most: usize, pause: Duration) -> BodyMemory {
        let total = total.clamp(PIECE, Semaphore::MAX_PERMITS / 2);
        BodyMemory {
            pieces: Arc::new(Semaphore::new(total / PIECE)),
            total,
            most: most.min(total),
            pause,
        }
    }

    /// Takes the memory that a text of JSON takes as a tree.
    pub fn take_tree(&self, json: &[u8]) -> Outcome<OwnedSemaphorePermit> {
        let bytes = tree_bytes(json);
        if bytes > self.total {
            return Err(Fault::new(
                413,
                "content_too_long_exception",
                format!(
                    "the body takes {bytes} bytes once it is read, of {} that there are: send less at once",
                    self.total
                ),
            ));
        }
        self.take(bytes)
    }

    fn take(&self, bytes: usize) -> Outcome<OwnedSemaphorePermit> {
        let pieces = u32::try_from(bytes.div_ceil(PIECE)).unwrap_or(u32::MAX);
        let pieces = Arc::clone(&self.pieces).try_acquire_many_owned(pieces);
        pieces.map_err(|_| {
            Fault::busy(format!(
                "bodies of other requests take the {} bytes that there are for all: send it again later, or give the server \
                 more memory",
                self.total
            ))
        })
    }
}

/// The bytes that a text of JSON takes as a tree.
pub fn tree_bytes(json: &[u8]) -> usize {
    let marks = json
        .iter()
        .filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':'));
    let nodes = NODE_BYTES.saturating_mul(marks.count());
    json.len().saturating_add(nodes)
}

/// Reads a body whole. Its memory is taken until what is given beside it is dropped.
pub async fn read_body(
    body: Body,
    memory: &BodyMemory,
) -> Outcome<(Bytes, Vec<OwnedSemaphorePermit>)> {
    let mut body = body;
    let mut read = BytesMut::new();
    let mut held = Vec::new();
    let mut reserved = 0;
    while let Some(frame) = timeout(memory.pause, body.frame())
        .await
        .map_err(|_| too_slow(memory.pause))?
    {
        let frame = frame
            .map_err(|error| Fault::parsing(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let length = read.len() + data.len();
        if length > memory.most {
            drain(&mut body).await;
            return Err(too_large(memory.most));
        }
        if length > reserved {
            // As the buffer doubles.
            let wanted = length.next_power_of_two().min(memory.most).max(length);
            held.push(memory.take(wanted - reserved)?);
            reserved = wanted;
            read.reserve(wanted - read.len());
        }
        read.extend_from_slice(&data);
    }
    Ok((read.freeze(), held))
}

/// Reads on for a while, so that a client which sends a body that is turned away finds the answer.
async fn drain(body: &mut Body) {
    let mut drained = 0;
    while let Some(Ok(frame)) = body.frame().await {
        drained += frame.data_ref().map_or(0, Bytes::len);
        if drained > DRAINED_MAX {
            return;
        }
    }
}

fn too_slow(pause: Duration) -> Fault {
    Fault::new(
        408,
        "timeout_exception",
        format!(
            "nothing more of the body came for {} ms: send it again",
            pause.as_millis()
        ),
    )
}

fn too_large(most: usize) -> Fault {
    Fault::new(
        413,
        "content_too_long_exception",
        format!("the body has more than {most} bytes: send less at once"),
    )
}
