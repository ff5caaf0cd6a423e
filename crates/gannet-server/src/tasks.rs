//! Tasks: changes by query that go on behind the request that began them.
//!
//! A task runs on a thread of its own, and ends between two batches once it is cancelled or the
//! server ends. What ended tasks answered is kept in memory, of the last hundred.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::fault::{Fault, Outcome};
use crate::http::Caller;

/// Tasks that run at once, each with a thread.
const RUNNING_MAX: usize = 8;

/// Ended tasks that are kept.
const KEPT_MAX: usize = 100;

/// All tasks.
#[derive(Default)]
pub struct Tasks {
    all: Mutex<TaskList>,
    /// Told of each end.
    ended: Condvar,
}

#[derive(Default)]
struct TaskList {
    last: u64,
    tasks: BTreeMap<u64, Arc<Task>>,
}

/// A task, as those see it who carry it out.
pub struct Task {
    number: u64,
    action: &'static str,
    description: String,
    /// The key of the caller who began it, and who alone may look at it.
    key: Option<String>,
    start: Instant,
    start_ms: u64,
    is_cancelled: AtomicBool,
    state: Mutex<TaskState>,
}

#[derive(Default)]
struct TaskState {
    /// The figures so far.
    status: Value,
    end: Option<TaskEnd>,
}

struct TaskEnd {
    after: Duration,
    outcome: Outcome<Value>,
}

/// Ends a task, also where its thread panics.
struct Ending {
    tasks: Arc<Tasks>,
    task: Arc<Task>,
}

impl Task {
    fn new(
        number: u64,
        action: &'static str,
        description: String,
        caller: Option<&Caller>,
    ) -> Task {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Task {
            number,
            action,
            description,
            key: caller.and_then(Caller::key).map(str::to_owned),
            start: Instant::now(),
            start_ms: now.map_or(0, |now| now.as_millis() as u64),
            is_cancelled: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// A task that is carried out within its request.
    pub fn of_request() -> Task {
        Task::new(0, "", String::new(), None)
    }

    /// The time at which it began.
    pub fn start(&self) -> Instant {
        self.start
    }

    /// Returns true if it is to end.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Tells its figures so far.
    pub fn report(&self, status: Value) {
        self.lock().status = status;
    }

    fn is_running(&self) -> bool {
        self.lock().end.is_none()
    }

    fn lock(&self) -> MutexGuard<'_, TaskState> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns what lists tell of it.
    fn json(&self, node: &str) -> Value {
        let state = self.lock();
        let end = state.end.as_ref();
        let running = end.map_or_else(|| self.start.elapsed(), |end| end.after);
        json!({
            "node": node,
            "id": self.number,
            "type": "transport",
            "action": self.action,
            "description": self.description,
            "status": state.status,
            "start_time_in_millis": self.start_ms,
            "running_time_in_nanos": running.as_nanos() as u64,
            "cancellable": true,
            "cancelled": self.is_cancelled(),
            "headers": {},
        })
    }

    /// The answer to a question about it.
    fn answer(&self, node: &str) -> Value {
        let task = self.json(node);
        let state = self.lock();
        let mut answer = json!({ "completed": state.end.is_some(), "task": task });
        match state.end.as_ref().map(|end| &end.outcome) {
            None => {}
            Some(Ok(response)) => answer["response"] = response.clone(),
            Some(Err(fault)) => answer["error"] = json!(fault.item_json()),
        }
        answer
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let bug = "the task failed in a way that is a bug of gannet: please report it";
        self.end(Err(Fault::internal(bug)));
    }
}

impl Ending {
    fn end(&self, outcome: Outcome<Value>) {
        {
            let mut state = self.task.lock();
            if state.end.is_some() {
                return;
            }
            let after = self.task.start.elapsed();
            state.end = Some(TaskEnd { after, outcome });
        }
        let tasks = &self.tasks;
        tasks.lock().forget_oldest();
        tasks.ended.notify_all();
    }
}

impl TaskList {
    fn running(&self) -> usize {
        self.tasks.values().filter(|task| task.is_running()).count()
    }

    fn forget_oldest(&mut self) {
        let ended = self.tasks.iter().filter(|(_, task)| !task.is_running());
        let ended: Vec<u64> = ended.map(|(number, _)| *number).collect();
        let over = ended.len().saturating_sub(KEPT_MAX);
        for number in &ended[..over] {
            self.tasks.remove(number);
        }
    }
}

impl Tasks {
    /// Begins a task; gives its name.
    pub fn begin(
        self: &Arc<Tasks>,
        (action, description): (&'static str, String),
        node: &str,
        caller: &Caller,
        work: impl FnOnce(&Task) -> Outcome<Value> + Send + 'static,
    ) -> Outcome<String> {
        let mut all = self.lock();
        if all.running() >= RUNNING_MAX {
            return Err(Fault::busy(format!(
                "{RUNNING_MAX} tasks run, as many as may: send it again once one has ended"
            )));
        }
        all.last += 1;
        let task = Arc::new(Task::new(all.last, action, description, Some(caller)));
        let name = format!("{node}:{}", task.number);
        let ending = Ending {
            tasks: Arc::clone(self),
            task: Arc::clone(&task),
        };
        all.tasks.insert(task.number, task);
        drop(all);
        let run = move || {
            let outcome = work(&ending.task);
            ending.end(outcome);
        };
        let thread = thread::Builder::new().name("gannet-task".to_owned());
        thread
            .spawn(run)
            .map_err(|error| Fault::internal(format!("a thread cannot be started: {error}")))?;
        Ok(name)
    }

    /// Returns what is known of a task, once it has ended or so much time has passed.
    pub fn wait(
        &self,
        name: &str,
        limit: Option<Duration>,
        node: &str,
        caller: &Caller,
    ) -> Outcome<Value> {
        let task = self.find(name, node, caller)?;
        let end = limit.map(|limit| Instant::now() + limit);
        let mut all = self.lock();
        while task.is_running()
            && let Some(left) = end.map(|end| end.saturating_duration_since(Instant::now()))
            && !left.is_zero()
        {
            let waited = self.ended.wait_timeout(all, left);
            all = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        drop(all);
        Ok(task.answer(node))
    }

    /// The running tasks of a caller, or one of them; all of these are cancelled first if they are
    /// to be.
    pub fn list(
        &self,
        name: Option<&str>,
        cancels: bool,
        node: &str,
        caller: &Caller,
    ) -> Outcome<Value> {
        let tasks: Vec<Arc<Task>> = match name {
            Some(name) => vec![self.find(name, node, caller)?],
            None => {
                let all = self.lock();
                let own = all.tasks.values();
                let own = own.filter(|task| task.is_running() && is_of(task, caller));
                own.cloned().collect()
            }
        };
        let mut told = serde_json::Map::new();
        for task in tasks.iter().filter(|task| task.is_running()) {
            if cancels {
                task.is_cancelled.store(true, Ordering::Relaxed);
            }
            let name = format!("{node}:{}", task.number);
            told.insert(name, task.json(node));
        }
        let mut nodes = serde_json::Map::new();
        if !told.is_empty() {
            let tasks = json!({ "name": "gannet", "tasks": told });
            nodes.insert(node.to_owned(), tasks);
        }
        Ok(json!({ "nodes": nodes }))
    }

    /// Has all end.
    pub fn cancel_all(&self) {
        for task in self.lock().tasks.values() {
            task.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn find(&self, name: &str, node: &str, caller: &Caller) -> Outcome<Arc<Task>> {
        let missing = || {
            Fault::new(
                404,
                "resource_not_found_exception",
                format!("task [{name}] isn't running and hasn't stored its results"),
            )
        };
        let (of_node, number) = name
            .split_once(':')
            .ok_or_else(|| Fault::illegal(format!("malformed task id {name}")))?;
        let number: u64 = number.parse().map_err(|_| missing())?;
        let all = self.lock();
        let task = all.tasks.get(&number).filter(|task| is_of(task, caller));
        let task = task.filter(|_| of_node == node);
        task.cloned().ok_or_else(missing)
    }

    fn lock(&self) -> MutexGuard<'_, TaskList> {
        self.all
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn is_of(task: &Task, caller: &Caller) -> bool {
    task.key.as_deref() == caller.key()
}
