//! Takes documents that a program makes.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::Asked;
use crate::batches::{RawBatch, Sizes};
use crate::gate::Gate;
use crate::rejection::Origin;

/// Takes documents as lines of JSON, on the thread of the program that makes them.
pub struct Feeder {
    origin: Origin,
    sizes: Sizes,
    gate: Arc<Gate>,
    batches: Sender<RawBatch>,
    asked: Asked,
    /// The number of the next batch, and of the document that came last.
    next: u64,
    document: u64,
    batch: RawBatch,
}

impl Feeder {
    pub(crate) fn new(
        origin: Origin,
        sizes: Sizes,
        gate: Arc<Gate>,
        batches: Sender<RawBatch>,
        asked: Asked,
    ) -> Feeder {
        Feeder {
            batch: RawBatch::new(0, &origin),
            origin,
            sizes,
            gate,
            batches,
            asked,
            next: 0,
            document: 0,
        }
    }

    /// Takes one document.
    pub fn add(&mut self, line: &[u8]) {
        self.document += 1;
        self.batch.add_line(self.document, line);
    }

    /// Notes one that could not be made into a line.
    pub fn reject(&mut self, reason: String) {
        self.document += 1;
        let rejection = self.batch.rejection(self.document, reason);
        self.batch.rejected.push(rejection);
    }

    /// Returns true if it is time to [`Feeder::send`].
    pub fn is_full(&self) -> bool {
        self.batch.is_full(&self.sizes)
    }

    /// Hands over what came since the last call, and waits where much is under way. Whether anybody
    /// wants more.
    pub fn send(&mut self) -> bool {
        if self.batch.says_nothing() {
            return !(self.asked)();
        }
        self.next += 1;
        let fresh = RawBatch::new(self.next, &self.origin);
        let mut batch = std::mem::replace(&mut self.batch, fresh);
        batch.enter(&self.gate, &self.asked);
        !(self.asked)() && self.batches.send(batch).is_ok()
    }

    pub(crate) fn end(mut self) {
        self.send();
    }
}
