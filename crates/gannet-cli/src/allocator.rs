//! The allocator of the command: jemalloc, which gives memory back, and a count of what is
//! allocated.
//!
//! The allocator of the C library keeps 60 to 100 MB of what a flush and other threads have freed,
//! more than a small memory budget. With two arenas whose pages go back to the system after a short
//! while, resident memory follows what is allocated.
//!
//! Each thread counts by itself and adds its count to the total when it has changed by [`STEP`], so
//! that counting costs next to nothing. The C code of zstd takes its memory from jemalloc too,
//! uncounted.
//!
//! jemalloc takes minutes to build, so a build without the feature `jemalloc`, such as that of
//! `make demo`, has the allocator of the C library.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

#[cfg(not(feature = "jemalloc"))]
use std::alloc::System as Heap;
#[cfg(feature = "jemalloc")]
use tikv_jemallocator::Jemalloc as Heap;

/// A thread adds its count to the total when it has changed by so many bytes.
const STEP: i64 = 64 << 10;

static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static OWN: Cell<i64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(Heap);

/// Read by jemalloc when it starts.
#[cfg(feature = "jemalloc")]
#[used]
// SAFETY: the name is jemalloc's own for a pointer to a string that ends with a zero byte.
#[unsafe(export_name = "malloc_conf")]
static CONFIGURATION: &[u8; 57] = b"narenas:2,dirty_decay_ms:50,muzzy_decay_ms:0,tcache:true\0";

struct Counting(Heap);

/// The most bytes that were allocated at once, to [`STEP`] bytes a thread.
pub fn peak() -> u64 {
    PEAK.load(Ordering::Relaxed).try_into().unwrap_or(0)
}

fn count(bytes: i64) {
    // A thread that ends may free after its own count is gone.
    let counted = OWN.try_with(|own| {
        let sum = own.get() + bytes;
        own.set(if sum.abs() < STEP { sum } else { 0 });
        if sum.abs() < STEP { 0 } else { sum }
    });
    let sum = counted.unwrap_or(bytes);
    if sum != 0 {
        let live = LIVE.fetch_add(sum, Ordering::Relaxed) + sum;
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
}

// SAFETY: everything is handed on to the allocator below; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promises are those that the allocator below asks for.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as in `alloc`.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: as in `alloc`.
        unsafe { self.0.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as in `alloc`.
        unsafe { self.0.dealloc(memory, layout) }
    }
}
