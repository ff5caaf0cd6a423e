//! The allocator of the command: jemalloc, or that of the C library in a build without the feature
//! `jemalloc`. Both are told to give memory back, and what is allocated is counted.
//!
//! Documents and lists are many small pieces, which one thread allocates and another frees. The
//! allocator of the C library takes a sixth of the processor time of indexing for them, jemalloc a
//! small part of that. It takes minutes to build, so `make demo` does without it.
//!
//! By themselves both keep 60 to 100 MB of what a flush and other threads have freed, more than a
//! small memory budget. With two arenas, and a limit of time or of size for what stays free,
//! resident memory follows what is allocated.
//!
//! Each thread counts by itself and adds its count to the total when it has changed by [`STEP`], so
//! that counting costs next to nothing. The C code of zstd takes its memory from the C library,
//! uncounted.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

#[cfg(not(feature = "jemalloc"))]
use std::alloc::System as Below;
#[cfg(feature = "jemalloc")]
use tikv_jemallocator::Jemalloc as Below;

/// A thread adds its count to the total when it has changed by so many bytes.
const STEP: i64 = 64 << 10;

static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static OWN: Cell<i64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Counting;

/// Read by jemalloc when it starts: memory that was freed goes back after 50 ms.
#[cfg(feature = "jemalloc")]
#[used]
// SAFETY: the name is jemalloc's own for a pointer to a string that ends with a zero byte.
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONFIGURATION: &[u8; 45] = b"narenas:2,dirty_decay_ms:50,muzzy_decay_ms:0\0";

/// Has the C library give freed memory back to the system. Called first of all, before there are
/// threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_memory_back() {
    /// Arenas: threads share them, so that each has less that is free.
    const ARENAS: libc::c_int = 2;
    /// Larger blocks are mapped by themselves and unmapped when they are freed. A limit that is not
    /// set rises to the largest block that was freed.
    const MAPPED_FROM: libc::c_int = 128 << 10;
    /// As much may stay free at the end of the heap.
    const KEPT_FREE: libc::c_int = 128 << 10;
    let settings = [
        (libc::M_ARENA_MAX, ARENAS),
        (libc::M_MMAP_THRESHOLD, MAPPED_FROM),
        (libc::M_TRIM_THRESHOLD, KEPT_FREE),
    ];
    for (setting, value) in settings {
        // SAFETY: mallopt takes two numbers, and no other thread allocates yet. A setting that it
        // rejects stays as it was.
        unsafe { libc::mallopt(setting, value) };
    }
}

/// Other C libraries have no such settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_memory_back() {}

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
        unsafe { Below.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as in `alloc`.
        unsafe { Below.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: as in `alloc`.
        unsafe { Below.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as in `alloc`.
        unsafe { Below.dealloc(memory, layout) }
    }
}
