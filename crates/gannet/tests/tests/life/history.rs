//! One life of an index: operations drawn from a seed, each carried out on the index and on the
//! ledger.

use std::collections::VecDeque;
use std::sync::Arc;

use super::asking::HeldSnapshot;
use super::ledger::Ledger;
use super::mood::{Mood, Operation};
use super::reopening::Marks;
use super::setup::Setup;
use super::tally::Tally;
use gannet::device::Device;
use gannet::{Index, Snapshot, Written};
use gannet_testkit::devices::RecordingDevice;
use gannet_testkit::oracle::PlainDocument;
use gannet_testkit::random::{Documents, Queries, Rng};

/// The value, or the difference that was found.
pub(super) type Judged<T> = Result<T, String>;

/// The number of operations that are shown with a difference.
const SHOWN: usize = 40;

/// Documents that are changed while a few are hot.
const HOT: usize = 7;

pub(super) struct History {
    pub(super) setup: Setup,
    pub(super) rng: Rng,
    pub(super) device: Arc<RecordingDevice>,
    /// None only while it is opened anew.
    index: Option<Index>,
    pub(super) ledger: Ledger,
    pub(super) marks: Marks,
    pub(super) held: Vec<HeldSnapshot>,
    pub(super) documents: Documents,
    pub(super) queries: Queries,
    pub(super) tally: Tally,
    /// IDs of changes since the index was opened.
    pub(super) touched: Vec<String>,
    pub(super) mood: Mood,
    mood_lasts: usize,
    /// IDs were given up to this number.
    pub(super) ids: usize,
    recent: VecDeque<String>,
}

impl History {
    /// Lives a whole life. Gives what happened, and what differed from the ledger, if anything.
    pub(super) fn of(setup: Setup) -> (Tally, Option<String>) {
        let mut history = History::new(setup);
        let lived = history.live();
        let difference = lived.err().map(|difference| history.describe(&difference));
        if let Some(difference) = &difference {
            println!("{difference}");
        }
        (history.tally, difference)
    }

    fn new(setup: Setup) -> History {
        let mut rng = Rng::new(setup.seed);
        let documents = Documents::new(&mut rng, setup.words);
        let first: Vec<PlainDocument> = (0..50)
            .map(|id| documents.document(&mut rng, id.to_string()))
            .collect();
        History {
            device: Arc::default(),
            index: None,
            ledger: Ledger::new(),
            marks: Marks::default(),
            held: Vec::new(),
            queries: Queries::new(&first),
            documents,
            tally: Tally::new(),
            touched: Vec::new(),
            mood: Mood::Grow,
            mood_lasts: setup.operations as usize / 10,
            ids: 0,
            recent: VecDeque::new(),
            rng,
            setup,
        }
    }

    fn live(&mut self) -> Judged<()> {
        self.create()?;
        while self.tally.operations() < self.setup.operations {
            self.choose_mood();
            let crash = self.rng.below(self.setup.between_crashes) == 0;
            if crash {
                self.reopen()?
            } else {
                let operation = self.mood.operation(&mut self.rng);
                self.note(format!("{operation:?}"));
                self.operate(operation)?;
                self.follow_vacuum()?;
            }
        }
        self.end()
    }

    fn choose_mood(&mut self) {
        let (least, most) = self.setup.documents;
        let live = self.ledger.live();
        if self.mood_lasts == 0 {
            (self.mood, self.mood_lasts) = Mood::draw(&mut self.rng);
        }
        self.mood_lasts -= 1;
        if live > most {
            self.mood = Mood::Shrink;
        } else if live < least {
            self.mood = Mood::Grow;
        }
    }

    fn operate(&mut self, operation: Operation) -> Judged<()> {
        match operation {
            Operation::Add => self.add(),
            Operation::AddMany => self.add_many(),
            Operation::Replace => self.replace(),
            Operation::ReplaceIfAsExpected => self.replace_if_as_expected(),
            Operation::Merge => self.merge(),
            Operation::Update => self.update(),
            Operation::Delete => self.delete(3),
            Operation::DeleteMany => self.delete(120),
            Operation::DeleteIfAsExpected => self.delete_if_as_expected(),
            Operation::DeleteMatching => self.delete_matching(),
            Operation::Get => self.get(),
            Operation::Search => self.search(),
            Operation::SearchMany => self.search_many(),
            Operation::Count => self.count(),
            Operation::Hold => self.hold(),
            Operation::AskHeld => self.ask_held(),
            Operation::LetGo => self.let_go(),
            Operation::Sync => self.make_durable("sync", |index| index.sync()),
            Operation::Checkpoint => self.make_durable("checkpoint", |index| index.checkpoint()),
            Operation::Clean => self.make_durable("clean", |index| index.clean().map(drop)),
            Operation::Vacuum => self.make_durable("vacuum", |index| index.vacuum().map(drop)),
            Operation::VacuumAll => self.vacuum_all(),
            Operation::Maintain => self.maintain(),
            Operation::Check => self.check(),
        }
    }

    pub(super) fn index(&self) -> Index {
        self.index.clone().expect("an open index")
    }

    /// Opens what is on the device.
    pub(super) fn open(&mut self) -> Judged<()> {
        let device = Arc::clone(&self.device) as Arc<dyn Device>;
        let opened = self.setup.options().open_on(device, "test");
        self.index = Some(opened.map_err(|error| format!("it does not open: {error}"))?);
        Ok(())
    }

    /// The end of an opening: without a word to the index.
    pub(super) fn drop_index(&mut self) -> Option<Index> {
        self.held.clear();
        self.index.take()
    }

    /// Everything up to now is durable.
    fn make_durable(
        &mut self,
        kind: &'static str,
        act: impl Fn(&Index) -> gannet::Result<()>,
    ) -> Judged<()> {
        act(&self.index()).map_err(|error| format!("{kind}: {error}"))?;
        self.tally.operation(kind);
        self.acknowledge();
        Ok(())
    }

    /// Marks all writes so far as durable.
    pub(super) fn acknowledge(&mut self) {
        self.marks
            .note_durable(self.device.events(), self.ledger.sequence());
    }

    /// Nothing of what is dead now is left behind it.
    fn vacuum_all(&mut self) -> Judged<()> {
        let deaths = self.ledger.deaths();
        // The first calls may join a vacuum that was asked for before and never called to its end.
        for _ in 0..2 {
            while self.index().vacuum().map_err(|e| format!("vacuum: {e}"))? {}
        }
        self.acknowledge();
        self.tally.operation("vacuum to its end");
        self.follow_vacuum()?;
        if self.ledger.forgotten == deaths {
            Ok(())
        } else {
            Err(format!(
                "of {deaths} dead documents, {} are vacuumed",
                self.ledger.forgotten
            ))
        }
    }

    /// A step of idle maintenance. What it does is durable; where nothing is worth it, nothing
    /// becomes so.
    fn maintain(&mut self) -> Judged<()> {
        let any = self
            .index()
            .maintain()
            .map_err(|e| format!("maintenance: {e}"))?;
        self.tally.operation("maintenance");
        if any {
            self.acknowledge();
        }
        Ok(())
    }

    fn check(&mut self) -> Judged<()> {
        self.tally.operation("check");
        self.check_whole()?;
        self.acknowledge();
        Ok(())
    }

    pub(super) fn check_whole(&mut self) -> Judged<()> {
        let report = self.index().check(&|_, _| ());
        let report = report.map_err(|error| format!("check: {error}"))?;
        if report.findings.is_empty() {
            self.follow_vacuum()
        } else {
            Err(format!("check: {:?}", report.findings))
        }
    }

    /// Tells the ledger which of the dead documents a vacuum has taken out.
    pub(super) fn follow_vacuum(&mut self) -> Judged<()> {
        self.snapshot().map(drop)
    }

    /// A snapshot of now, and whether lists were swept in it whose documents still count in the
    /// statistics. The ledger is told which of the dead documents are out of it: where flushes run
    /// beside, a sweep may end at any time.
    pub(super) fn snapshot(&mut self) -> Judged<(Snapshot, bool)> {
        let index = self.index();
        loop {
            let before = index.published_state();
            let (snapshot, state) = (index.snapshot(), index.published_state());
            if before.generation == state.generation {
                self.follow(state.dead_documents)?;
                return Ok((snapshot, state.in_part));
            }
        }
    }

    fn follow(&mut self, dead: u64) -> Judged<()> {
        let forgotten = self.ledger.deaths().checked_sub(dead);
        match forgotten {
            Some(forgotten) if forgotten >= self.ledger.forgotten => {
                if forgotten > self.ledger.forgotten {
                    self.tally.count("sweeps ended", 1);
                    self.ledger.forget(forgotten);
                }
                Ok(())
            }
            _ => Err(format!(
                "{dead} documents are dead, at most {} can be",
                self.ledger.dead()
            )),
        }
    }

    /// An ID that was given before, of a document that may be there or not; one of a few while
    /// those are hot.
    pub(super) fn any_id(&mut self) -> String {
        let ids = self.ids.max(1);
        let number = match self.mood {
            Mood::Hot => self.rng.below(HOT.min(ids)),
            // Mostly a young one, for the old ones are mostly gone.
            _ if self.rng.chance(80) => {
                let young = ids.min(2 * self.setup.documents.1);
                ids - 1 - self.rng.below(young)
            }
            _ => self.rng.below(ids),
        };
        format!("id{number}")
    }

    /// An ID of a document that is there, if one is found soon.
    pub(super) fn live_id(&mut self) -> String {
        for _ in 0..8 {
            let id = self.any_id();
            if self.ledger.get(&id).is_some() {
                return id;
            }
        }
        self.any_id()
    }

    pub(super) fn new_id(&mut self) -> String {
        self.ids += 1;
        format!("id{}", self.ids - 1)
    }

    /// Compares what a write says that it did.
    pub(super) fn expect_written(
        &mut self,
        written: gannet::Result<Written>,
        expected: Written,
    ) -> Judged<()> {
        match written {
            Ok(written) if written == expected => Ok(()),
            other => Err(format!("{expected:?} expected, got {other:?}")),
        }
    }

    /// Remembers what is done, to show it if something differs.
    pub(super) fn note(&mut self, what: String) {
        self.recent.push_back(what);
        if self.recent.len() > SHOWN {
            self.recent.pop_front();
        }
    }

    fn describe(&self, difference: &str) -> String {
        let recent: Vec<&str> = self.recent.iter().map(String::as_str).collect();
        format!(
            "seed {}, operation {}, {} documents: {difference}\n{:?}\nbefore: {}",
            self.setup.seed,
            self.tally.operations(),
            self.ledger.live(),
            self.setup,
            recent.join("; ")
        )
    }
}
