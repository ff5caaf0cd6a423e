//! Counts the bytes that the process holds on its heap.
//!
//! The only unsafe code of the command. What C libraries allocate (the compressors' contexts) is not seen.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the process may hold beside the memory number: code's own tables, threads, compressors, lines that
/// are being read.
pub const BESIDE_THE_BUDGET: usize = 64 << 20;

/// The system's allocator with counts of the bytes held now and at most.
pub struct Counting {
    held: AtomicUsize,
    peak: AtomicUsize,
}

impl Counting {
    /// Counts from 0.
    pub const fn new() -> Counting {
        Counting {
            held: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        }
    }

    /// The most bytes that were held at once.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    fn grew(&self, bytes: usize) {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // Most allocations are below the peak: a load costs less than a write that others wait for.
        if held > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(held, Ordering::Relaxed);
        }
    }

    fn shrank(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged, and counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`, which is the same.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            self.grew(layout.size());
        }
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`, which is the same.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            self.grew(layout.size());
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from `System` with this layout, because all of ours does.
        unsafe { System.dealloc(memory, layout) };
        self.shrank(layout.size());
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: `memory` came from `System` with this layout, because all of ours does.
        let moved = unsafe { System.realloc(memory, layout, new_size) };
        if !moved.is_null() {
            self.grew(new_size);
            self.shrank(layout.size());
        }
        moved
    }
}
