//! Idle maintenance: what an index that is open for writing does by itself while nobody writes.
//!
//! ```text
//! a write ──▶ a flush under way ends ──▶ nobody writes for a second
//!     ──▶ vacuum ──▶ cleaning at rest ──▶ the next write
//! ```
//!
//! The thread sleeps until something happens: a flush ends, a reader lets go, memory comes back, a
//! deadline passes. Only what other processes read and what is free on the device it looks at.
//!
//! While documents come, each flush does its share (see `clean`, `vacuum`), and leaves what the
//! next would undo: delta postings, small chunks at the ends of lists, zones that more will soon
//! be dead of. An index that is searched and not written is better off without. It is done in steps
//! of a flush each, beside which others read and write, and only if enough has come together: so a
//! document now and then does not have the lists rewritten each time.

use std::time::Duration;

use crate::base::Result;
use crate::index::write::MaintenanceTurn;

/// The interval of looks for other processes that read, and at the free space of the device: nobody
/// tells of these.
const LOOK: Duration = Duration::from_millis(200);

impl MaintenanceTurn<'_> {
    /// Does what is to be done while nobody writes. Tells when to look again if nothing happens
    /// before: a flush ends, readers let go, or memory that was wanted is free.
    pub(crate) fn keep_up(&mut self, after: Option<Duration>) -> Option<Duration> {
        // What has failed is said to whoever writes next.
        self.poll_flush().ok()?;
        let held = self.see_to_readers().ok()?;
        if self.is_flushing() {
            return held;
        }
        let idle = self.idle_for();
        let left = after.map(|after| after.saturating_sub(idle));
        if left.is_none_or(|left| !left.is_zero()) {
            return left.into_iter().chain(held).min();
        }
        let Some(task) = self.next_idle() else {
            return held;
        };
        if !self.take_flush_memory() {
            return held;
        }
        match self.carry_out(task) {
            Ok(()) => held,
            Err(_) => {
                self.give_back_flush_memory();
                self.check_running().ok().map(|()| LOOK)
            }
        }
    }

    /// Does what readers wait for or hold up. Tells when to look again.
    fn see_to_readers(&mut self) -> Result<Option<Duration>> {
        let unseen = self.unseen_left();
        let is_unseen = unseen == Some(Duration::ZERO) && self.can_show();
        self.serve_readers(is_unseen)?;
        let unseen = unseen.map(|left| match left {
            Duration::ZERO => self.visible_after().max(LOOK),
            left => left,
        });
        let held = self.next_removal();
        Ok(unseen.into_iter().chain(held).min())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::device::MemoryDevice;
    use crate::documents::Document;
    use crate::index::{Index, Limits, MEMORY_MIN, Options};

    const TIME_MAX: Duration = Duration::from_secs(60);

    fn open(maintain_after: Option<Duration>) -> Index {
        let limits = Limits {
            maintain_after,
            ..Limits::default()
        };
        let options = Options::default().memory(MEMORY_MIN).limits(limits);
        let device = Arc::new(MemoryDevice::new());
        Index::open_on(device, Path::new("test"), options).unwrap()
    }

    /// Documents with words of their own and with shared ones, a flush after each hundred.
    fn write(index: &Index, ids: std::ops::Range<u64>) {
        let ids: Vec<u64> = ids.collect();
        for ids in ids.chunks(100) {
            let document = |id: &u64| {
                let words = (0..30).map(|n| format!("w{} ", id * 7919 % (40 * (n + 1))));
                let text = words.collect::<String>() + &format!("own{id}");
                Document::new(id.to_string(), [("body", text.as_str())])
            };
            let documents = ids.iter().map(document).collect::<Result<_>>();
            index.write(documents.unwrap()).unwrap();
            index.checkpoint().unwrap();
        }
    }

    fn has_recent(index: &Index) -> bool {
        let stats = index.stats().unwrap();
        stats.delta_postings.iter().any(|level| level.entries > 0)
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < TIME_MAX);
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn an_index_that_nobody_writes_sees_to_itself() {
        // Where writing pauses for longer, the rest may be too little to be worth anything.
        let index = open(Some(Duration::from_secs(1)));
        write(&index, 0..3000);
        write(&index, 0..1000);
        wait_until(|| index.stats().unwrap().dead_documents == 0 && !has_recent(&index));
        assert_eq!(index.stats().unwrap().documents, 3000);
        let report = index.check(&|_, _| ()).unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }

    #[test]
    fn maintenance_ends_and_a_document_more_is_not_worth_another() {
        let index = open(None);
        write(&index, 0..2000);
        assert!(has_recent(&index));
        let steps = (0..100).find(|_| !index.maintain().unwrap());
        assert!(steps.is_some_and(|steps| steps > 0), "{steps:?}");
        assert!(!has_recent(&index));
        write(&index, 5000..5001);
        let written = index.counters().written_bytes;
        assert!(!index.maintain().unwrap());
        assert_eq!(index.counters().written_bytes, written);
        assert!(has_recent(&index));
        // Postings join their lists at once where they are many.
        write(&index, 5001..5500);
        while index.maintain().unwrap() {}
        assert!(!has_recent(&index));
    }

    #[test]
    fn what_is_written_between_the_steps_is_seen_to_as_well() {
        let index = open(None);
        write(&index, 0..2000);
        assert!(index.maintain().unwrap());
        write(&index, 0..1000);
        while index.maintain().unwrap() {}
        assert_eq!(index.stats().unwrap().dead_documents, 0);
        assert!(!has_recent(&index));
    }

    #[test]
    fn what_there_is_no_memory_for_is_done_once_there_is_some() {
        let index = open(Some(Duration::from_millis(500)));
        write(&index, 0..600);
        write(&index, 0..100);
        let budget = &index.shared.budget;
        let mut held = Vec::new();
        let mut bytes = budget.total();
        while bytes >= 4096 {
            match budget.reserve("a test", bytes) {
                Ok(reservation) => held.push(reservation),
                Err(_) => bytes /= 2,
            }
        }
        thread::sleep(Duration::from_secs(1));
        held.clear();
        wait_until(|| index.stats().unwrap().dead_documents == 0);
    }

    #[test]
    fn an_index_can_be_closed_at_any_moment_of_its_maintenance() {
        for round in 0..20 {
            let index = open(Some(Duration::from_millis(1)));
            write(&index, 0..600);
            thread::sleep(Duration::from_micros(300 * round));
            match round % 2 {
                0 => index.close().unwrap(),
                _ => drop(index),
            }
        }
        // The thread may be about to go to sleep.
        (0..200).for_each(|_| drop(open(None)));
    }
}
