//! Holds a part of the engine for a Python object until that is closed.
//!
//! The engine has threads and rings that a forked child does not have. So nothing of it may be used
//! or even dropped in another process than the one that opened it.

use std::process;
use std::sync::RwLock;

use pyo3::prelude::*;

use crate::errors::{Kind, fault};

/// A handle of the engine, of one process.
pub struct Held<T> {
    process: u32,
    /// Its name in sentences.
    what: String,
    /// The advice once it is closed.
    remedy: &'static str,
    value: RwLock<Option<T>>,
}

impl<T: Clone> Held<T> {
    /// Holds `value`.
    pub fn new(value: T, what: String, remedy: &'static str) -> Held<T> {
        Held {
            process: process::id(),
            what,
            remedy,
            value: RwLock::new(Some(value)),
        }
    }

    /// Returns the value, unless it was closed or is from before a fork.
    pub fn get(&self) -> PyResult<T> {
        self.check_process()?;
        // An exception is made without the lock, since that may wait for another thread.
        let value = self.value.read().unwrap_or_else(|e| e.into_inner()).clone();
        value.ok_or_else(|| {
            fault(
                Kind::Closed,
                format!("{} was closed: {}", self.what, self.remedy),
            )
        })
    }

    /// Takes what is held; nothing if it was closed before.
    pub fn take(&self) -> PyResult<Option<T>> {
        self.check_process()?;
        let mut value = self.value.write().unwrap_or_else(|e| e.into_inner());
        Ok(value.take())
    }

    /// Returns true if it was closed.
    pub fn is_closed(&self) -> bool {
        // The lock may be held for ever in a forked child.
        let value = self.value.try_read();
        value.is_ok_and(|value| value.is_none())
    }

    fn check_process(&self) -> PyResult<()> {
        let process = process::id();
        if process == self.process {
            return Ok(());
        }
        Err(fault(
            Kind::Fork,
            format!(
                "{} was opened by process {}, and this is process {process}, which was forked from it: \
                 open the index again in this process",
                self.what, self.process
            ),
        ))
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        if process::id() != self.process {
            let value = self.value.get_mut().unwrap_or_else(|e| e.into_inner());
            std::mem::forget(value.take());
        }
    }
}
