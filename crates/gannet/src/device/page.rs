//! Page buffers: 4 KiB, aligned as O_DIRECT wants, taken from pools of a fixed size.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::base::PAGE_SIZE;

/// A fixed number of page buffers in one allocation.
///
/// Clones share the pool. A pool allocates its address space at once; the operating system gives
/// memory as pages are first used, in the order of their use.
#[derive(Clone)]
pub struct PagePool {
    slab: Arc<Slab>,
}

/// One page of memory that belongs to a [`PagePool`]; it goes back when dropped.
pub struct PageBuffer {
    slab: Arc<Slab>,
    index: u32,
}

struct Slab {
    /// The memory that the allocator gave.
    memory: NonNull<u8>,
    /// Bytes from there to the first page: its address is a multiple of the page size.
    first: usize,
    pages: usize,
    free: Mutex<Free>,
    /// Told of pages that come back, if anybody waits for one.
    returned: Condvar,
}

/// Pages that came back are used before pages that were never used.
struct Free {
    returned: Vec<u32>,
    untouched: u32,
    /// Pages among those never used that are set aside, and whether any of them was missed.
    aside: usize,
    is_missed: bool,
    /// The number of threads that wait for a page to come back.
    waiting: usize,
    /// Pages that came back while somebody waited.
    told: u64,
}

// SAFETY: the slab's memory is reached only through `PageBuffer`s, each the sole owner of its page;
// the list of free pages is behind a mutex.
unsafe impl Send for Slab {}
// SAFETY: as above: sharing the slab itself gives no access to page memory.
unsafe impl Sync for Slab {}

impl PagePool {
    /// A pool of `pages` pages (at least one). A few: where there is no memory for them, the
    /// process ends.
    pub fn new(pages: usize) -> PagePool {
        PagePool::try_new(pages).unwrap_or_else(|| handle_alloc_error(Slab::layout(pages)))
    }

    /// A pool of `pages` pages (at least one), unless the system rejects so much memory.
    pub fn try_new(pages: usize) -> Option<PagePool> {
        let pages = pages.clamp(1, u32::MAX as usize);
        let layout = Slab::layout(pages);
        // SAFETY: the layout's size is not zero, since there is at least one page.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let first = memory.align_offset(PAGE_SIZE);
        let free = Mutex::new(Free {
            returned: Vec::new(),
            untouched: 0,
            aside: 0,
            is_missed: false,
            waiting: 0,
            told: 0,
        });
        Some(PagePool {
            slab: Arc::new(Slab {
                memory,
                first,
                pages,
                free,
                returned: Condvar::new(),
            }),
        })
    }

    /// The number of pages, free or taken.
    pub fn pages(&self) -> usize {
        self.slab.pages
    }

    /// Takes a page, or nothing when all are taken. Its content is whatever its last user left.
    pub fn take(&self) -> Option<PageBuffer> {
        let mut free = self.free();
        let index = match free.returned.pop() {
            Some(index) => index,
            None if (free.untouched as usize) < self.slab.pages - free.aside => {
                free.untouched += 1;
                free.untouched - 1
            }
            None => {
                free.is_missed = free.aside > 0;
                return None;
            }
        };
        Some(PageBuffer {
            slab: Arc::clone(&self.slab),
            index,
        })
    }
}

impl PagePool {
    /// Sets pages aside whose memory something else may take, if `left` pages that were never used
    /// are left beside them. The system has given no memory for such a page yet.
    pub fn set_aside(&self, pages: usize, left: usize) -> bool {
        let mut free = self.free();
        let untouched = self.slab.pages - free.untouched as usize - free.aside;
        let fits = pages.checked_add(left).is_some_and(|sum| sum <= untouched);
        free.aside += if fits { pages } else { 0 };
        fits
    }

    /// Takes pages back that were set aside.
    pub fn take_back(&self, pages: usize) {
        self.free().aside -= pages;
    }

    /// Tells if a page was missed, since this was asked before, that is set aside.
    pub fn was_missed(&self) -> bool {
        std::mem::take(&mut self.free().is_missed)
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.slab.free.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits until a page comes back, at most for so long.
    pub fn wait_for_return(&self, most: Duration) {
        let mut free = self.free();
        free.waiting += 1;
        let told = free.told;
        let is_same = |free: &mut Free| free.told == told;
        let waited = self.slab.returned.wait_timeout_while(free, most, is_same);
        waited.unwrap_or_else(|e| e.into_inner()).0.waiting -= 1;
    }
}

impl Slab {
    /// One page more than asked for, so that whole pages can be cut out. Asking the allocator for
    /// aligned memory instead would make it write zeros over all of it; this way the system gives
    /// zero pages as they are used.
    fn layout(pages: usize) -> Layout {
        Layout::array::<u8>((pages + 1) * PAGE_SIZE).expect("a pool fits the address space")
    }

    fn page(&self, index: u32) -> *mut u8 {
        debug_assert!((index as usize) < self.pages);
        // SAFETY: `first` is below the page size and `index < pages`, so the whole page lies inside
        // the allocation of `pages + 1` pages.
        unsafe {
            self.memory
                .as_ptr()
                .add(self.first + index as usize * PAGE_SIZE)
        }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this very layout, and no `PageBuffer` is left,
        // since each holds the slab alive.
        unsafe { dealloc(self.memory.as_ptr(), Slab::layout(self.pages)) }
    }
}

impl Deref for PageBuffer {
    type Target = [u8; PAGE_SIZE];

    fn deref(&self) -> &[u8; PAGE_SIZE] {
        // SAFETY: the page is inside the slab, initialised (zeroed at first), and this buffer is
        // its sole owner.
        unsafe { &*self.slab.page(self.index).cast() }
    }
}

impl DerefMut for PageBuffer {
    fn deref_mut(&mut self) -> &mut [u8; PAGE_SIZE] {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { &mut *self.slab.page(self.index).cast() }
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        let mut free = self.slab.free.lock().unwrap_or_else(|e| e.into_inner());
        free.returned.push(self.index);
        if free.waiting > 0 {
            free.told += 1;
            self.slab.returned.notify_all();
        }
    }
}

impl fmt::Debug for PageBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageBuffer({})", self.index)
    }
}

impl fmt::Debug for PagePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PagePool({} pages)", self.pages())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_never_used_can_be_set_aside() {
        let pool = PagePool::new(4);
        let first = pool.take().unwrap();
        drop(first);
        assert!(!pool.set_aside(3, 1) && !pool.set_aside(usize::MAX, 1));
        assert!(pool.set_aside(2, 1));
        let held: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(held.len(), 2);
        assert!(pool.was_missed() && !pool.was_missed());
        pool.take_back(2);
        assert!(pool.take().is_some() && !pool.was_missed());
    }

    #[test]
    fn a_pool_gives_each_page_once_and_takes_it_back() {
        let pool = PagePool::new(2);
        let mut first = pool.take().unwrap();
        let second = pool.take().unwrap();
        assert!(pool.take().is_none());
        first[0] = 7;
        assert_eq!(second[0], 0);
        drop(first);
        assert_eq!(pool.take().unwrap()[0], 7);
    }
}
