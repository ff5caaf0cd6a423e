//! Ends of an opening, by close, kill or power loss, and what is there when the index is opened
//! again: all that was acknowledged as durable, and of what came later a prefix, to which the
//! ledger is wound back.

use std::sync::Arc;

use super::history::{History, Judged};
use gannet::device::Device;
use gannet_testkit::devices::{CrashImage, MemoryDevice, RecordingDevice};

/// Documents that are got by their IDs after a crash, beside those that were changed before.
const GOT: usize = 10;

/// The device's events, and what was durable after them.
#[derive(Default)]
pub(super) struct Marks {
    /// A power loss can be asked for from here on.
    floor: usize,
    durable: Vec<(usize, u64)>,
}

/// The states that may be found: these, and those between.
#[derive(Clone, Copy, Debug)]
struct Window {
    first: u64,
    last: u64,
}

impl Marks {
    pub(super) fn note_durable(&mut self, events: usize, sequence: u64) {
        self.durable.push((events, sequence));
    }
}

impl History {
    /// The first opening.
    pub(super) fn create(&mut self) -> Judged<()> {
        self.open()?;
        self.marks.floor = self.device.events();
        self.acknowledge();
        Ok(())
    }

    /// The index is opened anew after an end of some kind.
    pub(super) fn reopen(&mut self) -> Judged<()> {
        self.note(format!("reopen after operation {}", self.ledger.sequence()));
        match self.rng.below(10) {
            0 => self.close(),
            1 | 2 => self.kill(),
            _ => self.lose_power(),
        }
    }

    /// The end of the history.
    pub(super) fn end(&mut self) -> Judged<()> {
        self.lose_power()?;
        self.close()?;
        self.check_whole()
    }

    fn close(&mut self) -> Judged<()> {
        self.tally.operation("close and open");
        let index = self.drop_index().expect("an open index");
        index.close().map_err(|error| format!("close: {error}"))?;
        let sequence = self.ledger.sequence();
        let (first, last) = (sequence, sequence);
        self.reopen_device(Window { first, last }, "closed")
    }

    /// The process ends, and what it had not written is gone with it; power stays on.
    fn kill(&mut self) -> Judged<()> {
        self.tally.operation("kill and open");
        self.tally.count("kills", 1);
        self.drop_index();
        let window = self.window(self.device.events());
        self.reopen_device(window, "killed")
    }

    fn reopen_device(&mut self, window: Window, how: &str) -> Judged<()> {
        let floor = self.device.events();
        self.recover(window, floor)
            .map_err(|reason| format!("{how}, then {reason}"))
    }

    /// Power fails, now or a while ago; some recoveries are cut short likewise.
    fn lose_power(&mut self) -> Judged<()> {
        self.tally.operation("power loss and open");
        let mut point = self.point_of_crash();
        loop {
            self.tally.count("power losses", 1);
            let window = self.window(point);
            self.drop_index();
            let image = self.image(point);
            self.read_image(&image, window)
                .map_err(|reason| format!("{window:?}, {}, read only: {reason}", image.what))?;
            self.device = Arc::new(RecordingDevice::from_image(&image.device));
            self.recover(window, 0)
                .map_err(|reason| format!("{window:?}, {}: {reason}", image.what))?;
            if !self.rng.chance(12) {
                return Ok(());
            }
            self.tally.count("power losses in recovery", 1);
            point = self.rng.between(0, self.device.events());
        }
    }

    /// Mostly now or of late; what came after it is lost.
    fn point_of_crash(&mut self) -> usize {
        let (floor, now) = (self.marks.floor, self.device.events());
        let reach = match self.rng.below(10) {
            0..4 => 0,
            4..9 => (now - floor).min(60),
            _ => now - floor,
        };
        now - self.rng.between(0, reach)
    }

    /// Returns an image that a crash at this point may leave: one fate for all changes, one for one
    /// of them, or one for each.
    fn image(&mut self, point: usize) -> CrashImage {
        let mut images = self.device.crash_images(point, 0, 0);
        let changes = images.changes();
        let enumerated = match self.rng.below(10) {
            kind @ 0..3 => images.nth(kind),
            3..7 => images.nth(3 + self.rng.below(11 * changes + 1)),
            _ => None,
        };
        let seed = self.rng.next();
        let image = enumerated.unwrap_or_else(|| images.random(seed));
        let torn = changes > 0
            && ["Torn", "random"]
                .iter()
                .any(|word| image.what.contains(word));
        self.tally.count("torn images", u64::from(torn));
        image
    }

    fn window(&self, point: usize) -> Window {
        let durable = self.marks.durable.iter().rev().find(|(at, _)| *at <= point);
        let begun = self.ledger.moments.iter().rev().find(|m| m.begun <= point);
        let first = durable.map_or(0, |(_, sequence)| *sequence);
        Window {
            first,
            last: begun.map_or(first, |moment| moment.sequence.max(first)),
        }
    }

    /// Now and then, who only reads looks first.
    fn read_image(&mut self, image: &CrashImage, window: Window) -> Judged<()> {
        if !self.rng.chance(15) {
            return Ok(());
        }
        let device = MemoryDevice::from_files(image.device.files());
        let before = device.hash();
        let device = Arc::new(device);
        let options = self.setup.options().read_only();
        let same = Arc::clone(&device) as Arc<dyn Device>;
        let index = options.open_on(same, "test");
        let index = index.map_err(|error| error.to_string())?;
        let found = index.published_state().sequence;
        drop(index);
        self.tally.count("power losses looked at by readers", 1);
        if (window.first..=window.last).contains(&found) && device.hash() == before {
            Ok(())
        } else {
            Err(format!("it is at operation {found}, or has written"))
        }
    }

    /// Opens the index, winds the ledger back to what is there, and compares all of it.
    fn recover(&mut self, window: Window, floor: usize) -> Judged<()> {
        let before = self.ledger.sequence();
        self.open()?;
        let state = self.index().published_state();
        let found = state.sequence;
        let is_known = (window.first..=window.last).contains(&found) && self.ledger.rewind(found);
        if !is_known {
            return Err(format!("it is at operation {found}, not in {window:?}"));
        }
        self.tally
            .count("operations undone by crashes", before - found);
        self.settle(window, floor, state.dead_documents)?;
        self.compare_contents()?;
        for id in std::mem::take(&mut self.touched) {
            self.compare_stored(&id)?;
        }
        for _ in 0..GOT {
            let id = self.any_id();
            self.compare_stored(&id)?;
        }
        if self.rng.chance(30) {
            self.compare_some_answers()?;
        }
        if self.rng.chance(4) {
            self.check_whole()?;
            self.acknowledge();
        }
        Ok(())
    }

    /// The ledger goes on from what was found.
    fn settle(&mut self, window: Window, floor: usize, dead: u64) -> Judged<()> {
        let deaths = self.ledger.deaths();
        let Some(forgotten) = deaths.checked_sub(dead) else {
            return Err(format!("{dead} documents are dead, of {deaths}"));
        };
        if forgotten < self.ledger.forgotten_at_opening {
            return Err(format!(
                "{forgotten} documents are vacuumed, {} were before",
                self.ledger.forgotten_at_opening
            ));
        }
        self.ledger.settle(forgotten, window.first);
        for moment in &mut self.ledger.moments {
            moment.begun = 0;
        }
        let found = self.ledger.sequence();
        self.marks = Marks {
            floor,
            durable: vec![(0, window.first), (self.device.events(), found)],
        };
        Ok(())
    }
}
