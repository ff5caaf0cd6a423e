//! A flush and its end: what moves a full posting buffer to flash.
//!
//! ```text
//! begin_flush   the writer freezes buffers, IDs and requests; log position F
//!     ──▶ Flush::run, on a thread of its own beside writing:
//!         terms and IDs into the trees ──▶ a slice of vacuum ──▶ cleaning ──▶ sync
//!     ──▶ end_flush, by the next act of the writer or by idle maintenance:
//!         tables forget ──▶ documents and tables are cleaned ──▶ root R ──▶ the scheduler's
//!         tasks of the end: zones are removed
//! ```
//!
//! The root at R refers to trees that hold the documents before F, and to tables, live set and
//! statistics as of R. So a replay starts at F: records up to R's sequence number give only their
//! postings and IDs, for the root knows the rest of them; later ones take their full effect.
//!
//! 1. Nothing that a flush appends is seen before its root. What it changes is the [`Flusher`],
//!    which only it and `end_flush` touch.
//! 2. A root is written in this order: everything that it refers to is written and synced, the root
//!    record with it; the root slots are written and synced; readers get the new state; zones that
//!    nothing refers to any more are given up.
//! 3. Beside a flush, writes are slowed down by its progress ([`Backpressure`]). Who waits for its
//!    end waits without the writer lock.
//! 4. An index that nobody sees yet (see `rebuild`) has flushes that end without a root.

mod backpressure;
mod flusher;
mod progress;
mod run;
mod sweep;

pub(crate) use backpressure::{Backpressure, Pause};
pub(crate) use flusher::{Flusher, ListMerger, TableNorms, lock};
pub(crate) use progress::FlushProgress;
pub(crate) use run::Flush;
pub(crate) use sweep::{Sweep, Vacuum};
