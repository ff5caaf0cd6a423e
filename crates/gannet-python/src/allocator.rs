//! The allocator of the engine inside a Python process: jemalloc, which gives memory back. The
//! allocator of the C library belongs to the process, whose settings are not ours to change.
//!
//! A query allocates many small pieces, which the allocator of the C library is slow at, and it
//! keeps what a flush has freed. Python's own objects stay with Python's allocator.

use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Read by jemalloc when it starts. Its names have a prefix here, so that `malloc` of the process
/// is left as it is.
#[used]
// SAFETY: the name is jemalloc's own for a pointer to a string that ends with a zero byte.
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONFIGURATION: &[u8; 57] = b"narenas:2,dirty_decay_ms:50,muzzy_decay_ms:0,tcache:true\0";
