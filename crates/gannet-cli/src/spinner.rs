//! Shows a spinner on a terminal during long work whose end is not known.

use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, WeakProgressBar};

/// The interval between two frames of the spinner.
const TURN: Duration = Duration::from_millis(200);

/// A spinner for a terminal, and nothing in a pipe.
pub fn spinner() -> ProgressBar {
    if io::stderr().is_terminal() {
        turning(ProgressBar::new_spinner())
    } else {
        ProgressBar::hidden()
    }
}

/// Lets a spinner turn by itself; it stands still where there is no thread for that.
fn turning(bar: ProgressBar) -> ProgressBar {
    let weak = bar.downgrade();
    let thread = thread::Builder::new().name("gannet-spinner".to_owned());
    drop(thread.spawn(move || while turns(&weak) {}));
    bar
}

/// Waits and turns it. Tells whether it goes on.
fn turns(bar: &WeakProgressBar) -> bool {
    thread::sleep(TURN);
    let bar = bar.upgrade().filter(|bar| !bar.is_finished());
    bar.inspect(ProgressBar::tick).is_some()
}
