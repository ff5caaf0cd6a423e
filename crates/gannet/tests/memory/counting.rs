//! The system's allocator, with a count of the bytes that are allocated and of the most there were.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static COUNTING: Counting = Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn add(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

fn take(bytes: usize) {
    LIVE.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: all that is asked is passed on to the system's allocator, and nothing is allocated here.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are those that `System` needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() {
            add(size - layout.size());
        } else {
            take(layout.size() - size);
        }
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// A turn of one test: while it lives no other counts.
pub struct Alone {
    _turn: MutexGuard<'static, ()>,
    before: usize,
}

/// Waits for the turn of this test.
pub fn alone() -> Alone {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Alone {
        _turn: turn,
        before: LIVE.load(Ordering::Relaxed),
    }
}

impl Alone {
    /// Counts from what is allocated now.
    pub fn begin(&mut self) {
        self.before = LIVE.load(Ordering::Relaxed);
        self.forget_peak();
    }

    /// [`Alone::peak`], and forgets it.
    pub fn next_peak(&self) -> usize {
        let peak = self.peak();
        self.forget_peak();
        peak
    }

    /// The most bytes that were allocated at once since [`Alone::begin`] or [`Alone::forget_peak`],
    /// more than at the beginning.
    pub fn peak(&self) -> usize {
        PEAK.load(Ordering::Relaxed).saturating_sub(self.before)
    }

    /// Looks at the most bytes from now on.
    pub fn forget_peak(&self) {
        PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
