//! A workload beside its oracle, and the judgement on an index that was opened again.
//!
//! The oracle is a list of states, one after each batch; a state maps external IDs to texts. Two
//! marks are kept against the device's log: from where on a state *may* be found after a crash,
//! since its batch had begun. And from where on it, or a later one, *must* be, since it was
//! acknowledged as durable.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::workload::Step;
use crate::base::{Error, Result};
use crate::device::{Device, RecordingDevice};
use crate::documents::{Document, Value};
use crate::index::{Index, Limits, MEMORY_MIN, Options};
use crate::search::{Operator, SearchOptions};

/// A state of the index: texts by external ID.
pub(super) type State = BTreeMap<String, String>;

/// The value of a judgement, or the fault.
pub(super) type Judged<T> = std::result::Result<T, String>;

/// The operations so far, and the states that may be found after a crash.
pub(super) struct World {
    pub(super) device: Arc<RecordingDevice>,
    pub(super) index: Option<Index>,
    pub(super) states: Vec<State>,
    /// For each state, the events before its batch began.
    begun: Vec<usize>,
    /// Pairs of events and the state that was durable after them, ascending.
    durable: Vec<(usize, usize)>,
    /// A canary: what was only written counts as durable.
    pub(super) trusts_writes: bool,
    options: Options,
}

/// Options under which little data makes many flushes and zones. Where flushes run beside writing,
/// each run is another.
fn options(beside: bool) -> Options {
    Options::default().memory(MEMORY_MIN).limits(Limits {
        buffer_bytes: Some(48 << 10),
        log_source_bytes: 12 << 10,
        zone_pages: Some(8),
        vacuum_bytes: Some(3 << 10),
        beside,
        ..Limits::default()
    })
}

/// Options under which a replay flushes nothing that was written with them.
fn roomy_options() -> Options {
    Options::default().memory(4 * MEMORY_MIN).limits(Limits {
        zone_pages: Some(8),
        beside: false,
        ..Limits::default()
    })
}

pub(super) fn open(device: Arc<dyn Device>) -> Result<Index> {
    Index::open_on(device, Path::new("test"), options(false))
}

impl World {
    pub(super) fn new(device: Arc<RecordingDevice>) -> World {
        World {
            device,
            index: None,
            states: vec![State::new()],
            begun: vec![0],
            durable: vec![(0, 0)],
            trusts_writes: false,
            options: options(false),
        }
    }

    /// The history of a workload on a device that does not fail.
    pub(super) fn of(steps: &[Step]) -> World {
        World::with(options(false), steps)
    }

    /// The same with flushes beside writing.
    pub(super) fn beside(steps: &[Step]) -> World {
        World::with(options(true), steps)
    }

    /// The same where all stays in the log that no checkpoint was asked for.
    pub(super) fn roomy(steps: &[Step]) -> World {
        World::with(roomy_options(), steps)
    }

    fn with(options: Options, steps: &[Step]) -> World {
        let mut world = World::new(Arc::default());
        world.options = options;
        world.run(steps).expect("nothing fails");
        world
    }

    /// Opens the index and takes the steps, up to the first failure.
    pub(super) fn run(&mut self, steps: &[Step]) -> Result<()> {
        if self.index.is_none() {
            self.index = Some(self.open()?);
        }
        steps.iter().try_for_each(|step| self.step(step))
    }

    /// Opens what a crash left of another world's states, of which those from `first` on may be
    /// there, and goes on from the one that is.
    pub(super) fn resume(&mut self, first: usize) -> Judged<usize> {
        let index = open(self.device()).map_err(|error| error.to_string())?;
        let found = self.judge_answers(&index, (first, self.states.len() - 1))?;
        self.states.truncate(found + 1);
        self.begun = vec![0; found + 1];
        self.durable = vec![(0, first), (self.device.events(), found)];
        self.index = Some(index);
        Ok(found)
    }

    pub(super) fn device(&self) -> Arc<dyn Device> {
        Arc::clone(&self.device) as Arc<dyn Device>
    }

    pub(super) fn step(&mut self, step: &Step) -> Result<()> {
        let index = self.index.clone().expect("an open index");
        match step {
            Step::Write(batch) => {
                self.begin(|state| state.extend(batch.iter().cloned()));
                index.write(documents(batch)?)?;
            }
            Step::Delete(ids) => {
                self.begin(|state| state.retain(|id, _| !ids.contains(id)));
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                index.delete(&ids)?;
            }
            Step::Sync => index.sync()?,
            Step::Checkpoint => index.checkpoint()?,
            Step::Clean => drop(index.clean()?),
            Step::Vacuum => drop(index.vacuum()?),
            Step::Rebuild => index.rebuild(&mut |_, _, _| {})?,
            Step::Restart => {
                drop(index);
                self.restart()?;
            }
        }
        if self.trusts_writes
            || matches!(
                step,
                Step::Sync
                    | Step::Checkpoint
                    | Step::Clean
                    | Step::Vacuum
                    | Step::Rebuild
                    | Step::Restart
            )
        {
            self.durable
                .push((self.device.events(), self.states.len() - 1));
        }
        Ok(())
    }

    /// The process ends, and another opens the index with little memory.
    pub(super) fn restart_in_little(&mut self) -> Result<()> {
        self.options = options(false);
        self.step(&Step::Restart)
    }

    /// Restarts the process. Unsynced writes may be gone with it; whatever is there now counts as
    /// durable.
    fn restart(&mut self) -> Result<()> {
        self.index = None;
        let events = self.device.events();
        let index = self.open()?;
        let found = self.judge_answers(&index, self.window(events));
        let found = found.map_err(|reason| Error::invalid(format!("restarted, it {reason}")))?;
        self.states.push(self.states[found].clone());
        self.begun.push(events);
        self.index = Some(index);
        Ok(())
    }

    fn open(&self) -> Result<Index> {
        Index::open_on(self.device(), Path::new("test"), self.options.clone())
    }

    fn begin(&mut self, change: impl FnOnce(&mut State)) {
        let mut state = self.states.last().cloned().unwrap_or_default();
        change(&mut state);
        self.states.push(state);
        self.begun.push(self.device.events());
    }

    /// The first and the last state that a crash after `events` may leave.
    pub(super) fn window(&self, events: usize) -> (usize, usize) {
        let durable = self.durable.iter().rev().find(|(at, _)| *at <= events);
        let last = self.begun.iter().rposition(|at| *at <= events);
        (durable.map_or(0, |(_, state)| *state), last.unwrap_or(0))
    }

    /// Opens what a crash left and tells what is wrong with it; otherwise which state it is.
    pub(super) fn judge(&self, device: Arc<dyn Device>, events: usize) -> Judged<usize> {
        let index = open(device).map_err(|error| format!("does not open: {error}"))?;
        self.judge_index(&index, self.window(events))
    }

    /// Judges the answers of the index, and its own check, which makes a checkpoint.
    pub(super) fn judge_index(&self, index: &Index, window: (usize, usize)) -> Judged<usize> {
        let state = self.judge_answers(index, window)?;
        check(index)?;
        Ok(state)
    }

    fn judge_answers(&self, index: &Index, window: (usize, usize)) -> Judged<usize> {
        let (first, last) = window;
        let found = contents(index).map_err(|error| format!("does not answer: {error}"))?;
        let fits = |number: &usize| self.states[*number] == found;
        let Some(number) = (first..=last).rev().find(fits) else {
            let known = (0..self.states.len()).rev().find(fits);
            return Err(format!(
                "is in state {known:?}, not in {first} to {last}: {:?}",
                found.keys()
            ));
        };
        self.judge_terms(index, number)?;
        Ok(number)
    }

    /// Each document that was ever written is found by its own word exactly when it is alive.
    fn judge_terms(&self, index: &Index, state: usize) -> Judged<()> {
        let live = &self.states[state];
        let tags: BTreeMap<&str, Option<&str>> = self.tags(live);
        let snapshot = index.snapshot();
        let parse = |tag: &&str| snapshot.parse(&format!("body:{tag}"), Operator::Or);
        let queries: Result<Vec<_>> = tags.keys().map(parse).collect();
        let queries = queries.map_err(|error| error.to_string())?;
        let results = snapshot.search_all(&queries, &SearchOptions::default());
        for ((tag, id), found) in tags.iter().zip(results) {
            let found = found.map_err(|error| format!("{tag} fails: {error}"))?;
            let ids: Vec<&str> = found.hits.iter().map(|hit| hit.id.as_str()).collect();
            if ids != id.iter().copied().collect::<Vec<_>>() {
                return Err(format!("{tag} finds {ids:?}, not {id:?} (state {state})"));
            }
        }
        judge_columns(index, live)?;
        judge_new_fields(index, live)
    }

    /// All words that only one document ever had, with the ID of that document if it is alive.
    fn tags<'a>(&'a self, live: &'a State) -> BTreeMap<&'a str, Option<&'a str>> {
        let texts = self.states.iter().flat_map(|state| state.values());
        let mut tags: BTreeMap<&str, Option<&str>> = texts.map(|text| (tag(text), None)).collect();
        tags.extend(live.iter().map(|(id, text)| (tag(text), Some(id.as_str()))));
        tags
    }
}

/// Everything in the index, by the word that all documents share.
pub(super) fn contents(index: &Index) -> Result<State> {
    let snapshot = index.snapshot();
    let query = snapshot.parse("body:all", Operator::Or)?;
    let results = snapshot.search(&query).top(10_000).count(true).run()?;
    let hits = results.hits.into_iter().map(|hit| {
        let source = hit.source.unwrap_or_default();
        Ok((hit.id, text_of(&source)?))
    });
    let found: State = hits.collect::<Result<_>>()?;
    let counts = [results.total, snapshot.documents()];
    if counts != [found.len() as u64; 2] {
        let reason = format!("{} documents, but counted {counts:?}", found.len());
        return Err(Error::invalid(reason));
    }
    Ok(found)
}

/// Returns the faults that the index itself finds.
fn check(index: &Index) -> Judged<()> {
    let report = index
        .check(&|_, _| ())
        .map_err(|error| format!("is not checked: {error}"))?;
    if report.findings.is_empty() {
        Ok(())
    } else {
        Err(format!("is found damaged: {:?}", report.findings))
    }
}

/// The columns have what the texts of the live documents give.
fn judge_columns(index: &Index, live: &State) -> Judged<()> {
    let ids: Vec<&str> = live.keys().map(String::as_str).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let snapshot = index.snapshot();
    for (place, column) in ["n", "x", "kind.keyword", "day.keyword"]
        .into_iter()
        .enumerate()
    {
        let found = snapshot.values(&ids, column);
        let found = found.map_err(|error| format!("{column} is not read: {error}"))?;
        for ((id, text), found) in live.iter().zip(found) {
            let (Value::Text(expected) | Value::Exact(expected)) = &values(text)[place].1;
            let found: Vec<String> = found.iter().map(|value| value.to_string()).collect();
            let same = |found: &String| found.trim_end_matches(".0") == expected;
            if found.len() != 1 || !found.iter().all(same) {
                return Err(format!("{column} of {id} is {found:?}, not {expected}"));
            }
        }
    }
    Ok(())
}

/// Each live document that has a field of its text's choice is found in it.
fn judge_new_fields(index: &Index, live: &State) -> Judged<()> {
    let snapshot = index.snapshot();
    for (id, text) in live {
        let Some(field) = new_field(text) else {
            continue;
        };
        let find = || {
            let query = snapshot.parse(&format!("{field}:{}", tag(text)), Operator::Or)?;
            snapshot.search(&query).run()
        };
        let found = find().map_err(|error| format!("{field} fails: {error}"))?;
        if !found.hits.iter().map(|hit| &hit.id).eq([id]) {
            return Err(format!("{field} does not find {id}"));
        }
    }
    Ok(())
}

fn documents(batch: &[(String, String)]) -> Result<Vec<Document>> {
    let one = |(id, text): &(String, String)| {
        let new = new_field(text).map(|field| (field, tag(text)));
        let texts = [("body", text.as_str())].into_iter().chain(new);
        let texts = texts.map(|(name, text)| (name, Value::from(text)));
        Document::new(id.as_str(), texts.chain(values(text)))
    };
    batch.iter().map(one).collect()
}

/// A number that follows from a text, and what columns get by it.
fn number(text: &str) -> u64 {
    tag(text)
        .bytes()
        .fold(7, |sum, byte| (sum * 31 + byte as u64) % 100_003)
}

/// The values of the columns of a document with this text.
fn values(text: &str) -> [(&'static str, Value); 4] {
    let n = number(text);
    let fraction = if n.is_multiple_of(5) { 0.5 } else { 0.0 };
    [
        ("n", Value::from(n as i64)),
        ("x", Value::from(n as f64 + fraction)),
        ("kind", Value::from(format!("kind {}", n % 7))),
        ("day", Value::from(format!("2024-02-{:02}", 1 + n % 29))),
    ]
}

/// The field that a text asks for beside the one that it stands in.
fn new_field(text: &str) -> Option<&str> {
    text.split(' ').find(|word| word.starts_with("new"))
}

fn text_of(source: &[u8]) -> Result<String> {
    let document = Document::parse(source)?;
    Ok(match document.fields.into_iter().next() {
        Some((_, Value::Text(text))) => text,
        _ => String::new(),
    })
}

/// The word that only this text has.
fn tag(text: &str) -> &str {
    text.split(' ').nth(1).unwrap_or_default()
}
