//! Ctrl-C and cancelled tasks: when work in the engine is to be given up.
//!
//! The engine runs without the interpreter's lock and asks often whether it should stop. Only the
//! thread that called it can notice a signal, and looks for one every few milliseconds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The interval of looks for signals.
const LOOK_UP: Duration = Duration::from_millis(10);

/// Lets another thread give up a search; see `search_async`.
#[pyclass(frozen, module = "gannet._native")]
#[derive(Default)]
pub struct CancelToken(Arc<AtomicBool>);

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Asks for the end.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Decides whether one call is to be given up, and keeps the reason.
pub struct Interrupts {
    caller: ThreadId,
    token: Option<Arc<AtomicBool>>,
    came: AtomicBool,
    looked: Mutex<Looked>,
}

struct Looked {
    last: Instant,
    raised: Option<PyErr>,
}

impl Interrupts {
    /// Of a call on this thread that `token` may end, too.
    pub fn new(token: Option<&CancelToken>) -> Arc<Interrupts> {
        Arc::new(Interrupts {
            caller: thread::current().id(),
            token: token.map(|token| Arc::clone(&token.0)),
            came: AtomicBool::new(false),
            looked: Mutex::new(Looked {
                last: Instant::now(),
                raised: None,
            }),
        })
    }

    /// Returns true if the call is to stop. May take the interpreter's lock for a moment.
    pub fn asked(&self) -> bool {
        let cancelled = self.token.as_ref();
        if self.came.load(Ordering::Relaxed)
            || cancelled.is_some_and(|token| token.load(Ordering::Relaxed))
        {
            return true;
        }
        thread::current().id() == self.caller && self.look()
    }

    /// Looks for signals, unless that was done just before.
    fn look(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(|e| e.into_inner());
        if looked.last.elapsed() < LOOK_UP {
            return false;
        }
        looked.raised = Python::attach(|py| py.check_signals()).err();
        looked.last = Instant::now();
        let came = looked.raised.is_some();
        self.came.store(came, Ordering::Relaxed);
        came
    }

    /// Has the work end, since an exception does that. Whoever calls this raises the exception.
    pub fn stop(&self) {
        self.came.store(true, Ordering::Relaxed);
    }

    /// The exception of the signal, if one came.
    pub fn raised(&self) -> Option<PyErr> {
        let mut looked = self.looked.lock().unwrap_or_else(|e| e.into_inner());
        looked.raised.take()
    }

    /// The exception of the signal in place of what the engine says of being stopped; `note` tells
    /// how far the work came.
    pub fn instead(&self, py: Python<'_>, error: PyErr, note: &str) -> PyErr {
        match self.raised() {
            None => error,
            Some(raised) => {
                // Without the note, the exception still says what happened.
                let _ = raised.value(py).call_method1("add_note", (note,));
                raised
            }
        }
    }
}
