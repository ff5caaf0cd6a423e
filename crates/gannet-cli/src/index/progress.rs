//! Shows progress on a terminal while documents are indexed; nothing in a pipe.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use gannet_input::Input;
use indicatif::{ProgressBar, ProgressStyle};

use crate::size::{counted, grouped, human};

/// A bar with the remaining time where the end is known, or else a spinner.
pub struct Progress {
    bar: ProgressBar,
    taken: Arc<AtomicU64>,
    started: Instant,
}

impl Progress {
    /// Shows the way through `sources`, of whose bytes `taken` are read.
    pub fn new<'a>(sources: impl Iterator<Item = &'a Input>, taken: &Arc<AtomicU64>) -> Progress {
        let total: Option<u64> = sources.map(Input::bytes).sum();
        let bar = match (io::stderr().is_terminal(), total) {
            (false, _) => ProgressBar::hidden(),
            (true, Some(total)) => ProgressBar::new(total)
                .with_style(style("{wide_bar:.cyan} {percent}% {msg}, {eta} left")),
            (true, None) => ProgressBar::new_spinner().with_style(style("{spinner} {msg}")),
        };
        Progress {
            bar,
            taken: Arc::clone(taken),
            started: Instant::now(),
        }
    }

    /// Shows that so many documents with so many bytes are in the index.
    pub fn show(&self, documents: u64, bytes: u64) {
        if self.bar.is_hidden() {
            return;
        }
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        self.bar.set_position(self.taken.load(Ordering::Relaxed));
        self.bar.set_message(format!(
            "{}, {}/s, {}/s",
            counted(documents, "document"),
            grouped((documents as f64 / seconds) as u64),
            human((bytes as f64 / seconds) as u64),
        ));
    }

    /// Says something on standard error, above the bar if there is one.
    pub fn say(&self, sentence: &str) {
        self.bar.suspend(|| {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "{sentence}");
        });
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
