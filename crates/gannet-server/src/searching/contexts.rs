//! States of indexes that are kept between requests: scrolls and points in time.
//!
//! Each keeps its indexes open. So only so many are kept, of so many indexes, and each for a time.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use gannet::Reservation;

use super::order::DocumentPlace;
use super::request::SearchRequest;
use super::run::SearchedIndex;
use crate::fault::{Fault, Outcome};
use crate::http::Caller;
use crate::indexes::random_name;

/// Scrolls and points in time that are kept, as many as Elasticsearch keeps scrolls.
const CONTEXTS_MAX: usize = 500;

/// The longest time between two requests of one, as Elasticsearch has it.
const KEEP_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Scrolls and points in time.
pub struct Contexts {
    all: Mutex<HashMap<String, Entry>>,
    /// Indexes that they may keep open.
    indexes_max: usize,
}

struct Entry {
    /// The key that made it, which alone may use it.
    key: Option<String>,
    keep: Duration,
    until: Instant,
    context: Arc<Context>,
}

/// One of them.
pub struct Context {
    /// The states of its indexes.
    pub searched: Vec<SearchedIndex>,
    /// The progress of a scroll; nothing if it is a point in time.
    pub scroll: Option<Mutex<Scroll>>,
    /// The memory of the search that a scroll goes on with, as long as it is kept.
    pub _memory: Option<Reservation>,
}

/// The progress of a scroll.
pub struct Scroll {
    /// The search of its next page.
    pub request: SearchRequest,
    /// The total of the first page, and whether that is exact.
    pub total: Option<(u64, bool)>,
    /// Set if there is no other page.
    pub is_done: bool,
}

/// Figures of all contexts.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContextFigures {
    /// Scrolls and points in time.
    pub count: usize,
    /// The indexes that they keep open.
    pub indexes: usize,
}

/// The letters and digits of the name of a context.
const NAME_LENGTH: usize = 22;

impl Scroll {
    /// Moves to the page behind one.
    pub fn pass(&mut self, asked: usize, hits: usize, last: Option<DocumentPlace>) {
        self.is_done = hits < asked;
        if !self.request.is_by_place {
            self.request.from += hits;
        } else if let Some(last) = last {
            self.request.after = Some(last.next());
        }
        self.request.counts = false;
    }
}

impl Contexts {
    /// For a server that has at most so many indexes open.
    pub fn new(open_max: usize) -> Contexts {
        Contexts {
            all: Mutex::default(),
            // One place is left for all other indexes.
            indexes_max: open_max.saturating_sub(1).max(1),
        }
    }

    /// Keeps a context for a time; gives its name.
    pub fn add(&self, context: Context, keep: Duration, caller: &Caller) -> Outcome<String> {
        let keep = checked(keep)?;
        let mut all = self.lock();
        purge(&mut all);
        if all.len() >= CONTEXTS_MAX {
            return Err(Fault::busy(format!(
                "{CONTEXTS_MAX} scrolls and points in time are open, as many as may be: close those that are not needed"
            )));
        }
        let open = all.values().flat_map(|entry| names(&entry.context));
        let open: BTreeSet<&str> = open.chain(names(&context)).collect();
        if open.len() > self.indexes_max {
            return Err(Fault::busy(format!(
                "scrolls and points in time may keep {} indexes open (--max-open), and this would make {}: close others",
                self.indexes_max,
                open.len()
            )));
        }
        let name = random_name()?;
        let entry = Entry {
            key: caller.key().map(str::to_owned),
            keep,
            until: Instant::now() + keep,
            context: Arc::new(context),
        };
        all.insert(name.clone(), entry);
        Ok(name)
    }

    /// The context of a name, which is kept for a time from now on.
    pub fn get(
        &self,
        name: &str,
        keep: Option<Duration>,
        caller: &Caller,
    ) -> Outcome<Arc<Context>> {
        let keep = keep.map(checked).transpose()?;
        if name.len() != NAME_LENGTH || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let shown: String = name.chars().take(64).collect();
            return Err(Fault::illegal(format!(
                "Cannot parse scroll id or point in time [{shown}]: it is none that an answer told"
            )));
        }
        let mut all = self.lock();
        purge(&mut all);
        let entry = all.get_mut(name).filter(|entry| is_of(entry, caller));
        let entry = entry.ok_or_else(|| missing(name))?;
        entry.keep = keep.unwrap_or(entry.keep);
        entry.until = Instant::now() + entry.keep;
        Ok(Arc::clone(&entry.context))
    }

    /// Gives contexts up; all of the caller if there is no list. Returns how many there were.
    pub fn remove(&self, wanted: Option<&[&str]>, caller: &Caller) -> usize {
        let mut all = self.lock();
        purge(&mut all);
        let before = all.len();
        all.retain(|name, entry| {
            let is_wanted = wanted.is_none_or(|wanted| wanted.contains(&name.as_str()));
            !(is_wanted && is_of(entry, caller))
        });
        before - all.len()
    }

    /// Gives those up that keep an index open.
    pub fn forget(&self, index: &str) {
        let mut all = self.lock();
        all.retain(|_, entry| !names(&entry.context).any(|name| name == index));
    }

    /// Gives those up whose time is over.
    pub fn purge(&self) {
        purge(&mut self.lock());
    }

    /// Gives all up.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// The figures of all.
    pub fn figures(&self) -> ContextFigures {
        let all = self.lock();
        let indexes = all.values().flat_map(|entry| names(&entry.context));
        let indexes: BTreeSet<&str> = indexes.collect();
        ContextFigures {
            count: all.len(),
            indexes: indexes.len(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.all
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn names(context: &Context) -> impl Iterator<Item = &str> {
    let searched = context.searched.iter();
    searched.map(|searched| searched.open.name.as_str())
}

fn is_of(entry: &Entry, caller: &Caller) -> bool {
    entry.key.as_deref() == caller.key()
}

fn purge(all: &mut HashMap<String, Entry>) {
    let now = Instant::now();
    all.retain(|_, entry| entry.until > now);
}

fn checked(keep: Duration) -> Outcome<Duration> {
    if keep <= KEEP_MAX {
        return Ok(keep);
    }
    Err(Fault::illegal(format!(
        "Keep alive for request ({}s) is too large. It must be less than (1d).",
        keep.as_secs()
    )))
}

fn missing(name: &str) -> Fault {
    let shown: String = name.chars().take(64).collect();
    Fault::new(
        404,
        "search_context_missing_exception",
        format!("No search context found for id [{shown}]: its time is over, or it was closed"),
    )
}
