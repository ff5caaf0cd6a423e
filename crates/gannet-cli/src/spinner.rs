//! What a terminal shows while something takes long whose end is not known.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::ProgressBar;

/// A spinner for a terminal, and nothing in a pipe.
pub fn spinner() -> ProgressBar {
    let bar = match io::stderr().is_terminal() {
        true => ProgressBar::new_spinner(),
        false => ProgressBar::hidden(),
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
