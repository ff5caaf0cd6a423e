//! Settings of the tests by the environment, and the place of their figures.
//!
//! `GANNET_BACKEND`: `auto`, `uring` or `pread`; any other is rejected, and the one that is asked
//! for must be the one that works. `GANNET_BACKENDS`: a file that gets a line for each index that
//! is opened: program, test, backend. `GANNET_JSON`: a file for the figures of one test.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use gannet::{Backend, BackendChoice, Index, Options};
use serde_json::{Value, json};

/// A number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")),
        Err(_) => default,
    }
}

/// Opens an index with the backend that the environment asks for, makes sure that it is the one
/// that works, and reports it.
pub fn open(options: Options, path: &Path) -> gannet::Result<Index> {
    let (choice, wanted) = backend();
    let index = options.backend(choice).open(path)?;
    let active = index.backend();
    assert!(
        wanted.is_none_or(|wanted| wanted == active),
        "{active} is active"
    );
    if let Some(has_ring) = has_ring() {
        assert_eq!(has_ring, active == Backend::Uring, "{active} is active");
    }
    note_backend(active);
    Ok(index)
}

/// Writes the figures of a test where they are wanted.
pub fn report(figures: &Value) {
    if let Ok(path) = std::env::var("GANNET_JSON") {
        std::fs::write(path, format!("{figures}\n")).expect("the figures are written");
    }
}

fn backend() -> (BackendChoice, Option<Backend>) {
    match std::env::var("GANNET_BACKEND").as_deref() {
        Ok("uring") => (BackendChoice::Uring, Some(Backend::Uring)),
        Ok("pread") => (BackendChoice::Pread, Some(Backend::Pread)),
        Ok("auto") | Err(_) => (BackendChoice::Auto, None),
        Ok(other) => panic!("GANNET_BACKEND is auto, uring or pread, not {other:?}"),
    }
}

/// Reports whether the system knows of an io_uring of this process, in which all indexes have the
/// same backend.
fn has_ring() -> Option<bool> {
    let files = std::fs::read_dir("/proc/self/fd").ok()?.flatten();
    let mut names = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    Some(names.any(|name| name.to_string_lossy() == "anon_inode:[io_uring]"))
}

fn note_backend(active: Backend) {
    let Ok(path) = std::env::var("GANNET_BACKENDS") else {
        return;
    };
    let thread = std::thread::current();
    let line = json!({
        "program": "gannet",
        "test": thread.name(),
        "backend": active.to_string(),
    });
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
        .expect("the backend is reported");
}
