//! The write buffer: writes that wait for room in it, and flushes that wait until it is empty.

use std::collections::VecDeque;

/// Units in the buffer, and the places of requests that wait for it.
#[derive(Debug)]
pub struct WriteBuffer {
    /// Units that fit; 0 where there is no buffer.
    capacity: u32,
    units: u32,
    writes: VecDeque<usize>,
    flushes: Vec<usize>,
}

impl WriteBuffer {
    /// An empty buffer of this many units. Without any, everything passes through it.
    pub fn new(capacity: u32) -> WriteBuffer {
        WriteBuffer {
            capacity,
            units: 0,
            writes: VecDeque::new(),
            flushes: Vec::new(),
        }
    }

    /// Whether a write is done when it is in here.
    pub fn keeps_writes(&self) -> bool {
        self.capacity > 0
    }

    /// Whether another unit fits.
    pub fn has_room(&self) -> bool {
        !self.keeps_writes() || self.units < self.capacity
    }

    /// Whether all units have left it.
    pub fn is_empty(&self) -> bool {
        self.units == 0
    }

    /// A unit goes in.
    pub fn put(&mut self) {
        self.units += 1;
    }

    /// Units leave it. What a run began with was programmed with them and never was in here.
    pub fn take(&mut self, units: u32) {
        self.units = self.units.saturating_sub(units);
    }

    /// A write waits for its turn.
    pub fn push_write(&mut self, place: usize) {
        self.writes.push_back(place);
    }

    /// The write whose turn it is.
    pub fn first_write(&self) -> Option<usize> {
        self.writes.front().copied()
    }

    /// All of the first write is in.
    pub fn pop_write(&mut self) {
        self.writes.pop_front();
    }

    /// A flush waits until the buffer is empty.
    pub fn push_flush(&mut self, place: usize) {
        self.flushes.push(place);
    }

    /// The flushes that need not wait any longer.
    pub fn take_flushes(&mut self) -> Vec<usize> {
        if self.is_empty() {
            std::mem::take(&mut self.flushes)
        } else {
            Vec::new()
        }
    }
}
