//! The thread that maintains an index while nobody writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::lock::WriterLock;
use super::turn::MaintenanceTurn;
use super::writer::Writer;

/// The thread that sees to an index. It ends when this goes.
pub(crate) struct IdleMaintenance {
    writer: Arc<WriterLock>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl IdleMaintenance {
    /// Has a thread see to the index after nobody has written for so long, and to what flushes
    /// leave where it does not say. Without a thread to be had, the next write sees to it.
    pub(crate) fn begin(
        writer: &Arc<WriterLock>,
        after: Option<Duration>,
    ) -> Option<IdleMaintenance> {
        let (writer, is_over) = (Arc::clone(writer), Arc::new(AtomicBool::new(false)));
        let (own, over) = (Arc::clone(&writer), Arc::clone(&is_over));
        let name = "gannet-idle".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || {
            // Looked at behind the count of events, which whoever ends it raises: else it could go
            // to sleep just then.
            let watch = |writer: &mut Writer| {
                if over.load(Ordering::Relaxed) {
                    Some(Duration::ZERO)
                } else {
                    MaintenanceTurn::of(writer).keep_up(after)
                }
            };
            while !over.load(Ordering::Relaxed) && own.watch(watch) {}
        });
        Some(IdleMaintenance {
            writer,
            is_over,
            thread: Some(thread.ok()?),
        })
    }
}

impl Drop for IdleMaintenance {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.writer.wake();
        // A panic of it has been told of.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
