//! The queries of a file, or of a program that writes them to standard input. Each is answered as
//! it is read.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use gannet::Index;
use gannet_input::{Line, Lines, Source};

use super::{Opened, all_whole, ask, print, reused_of};
use crate::arguments::SearchArguments;
use crate::failure::{Failure, Outcome};
use crate::output::{Form, Output, harmless};

/// Bytes of the longest line; a query has at most 64 KiB.
const LINE_BYTES_MAX: usize = 1 << 20;

/// The interval of looks for the newest state of the index.
const REFRESH: Duration = Duration::from_secs(1);

/// Answers all lines but blank ones. The first query that fails ends it.
pub fn run(
    opened: &Opened,
    file: &Path,
    arguments: &SearchArguments,
    output: &mut Output,
) -> Outcome<()> {
    let source = Source::at(file)?;
    let unreadable = |error| Failure::caller(format!("{source}: {error}"));
    let taken = Arc::new(AtomicU64::new(0));
    let mut lines = source.lines(&taken, LINE_BYTES_MAX).map_err(unreadable)?;
    let (mut line, mut refreshed) = (Vec::new(), Instant::now());
    while !output.is_closed() {
        line.clear();
        let text = match lines.next(&mut line).map_err(unreadable)? {
            Line::End => break,
            Line::TooLong => Err("the line is longer than any query: expected at most 64 KiB"),
            Line::Whole => std::str::from_utf8(&line).map_err(|_| "the line is no UTF-8"),
        };
        let text = text.map_err(|reason| Failure::caller(at(&source, &lines, reason)))?;
        if text.trim().is_empty() {
            continue;
        }
        if refreshed.elapsed() >= REFRESH {
            opened.index.refresh()?;
            refreshed = Instant::now();
        }
        let answered = answer(opened, text, arguments, output);
        answered.map_err(|failure| failure.within(|reason| at(&source, &lines, reason)))?;
    }
    print_reused(&opened.index, arguments, output)
}

/// Tells people how many answers were reused.
fn print_reused(index: &Index, arguments: &SearchArguments, output: &mut Output) -> Outcome<()> {
    match index.result_cache() {
        Some(figures) if output.form() == Form::Text && !arguments.count => {
            let line = output.dim(&reused_of(&figures));
            output.line(line)
        }
        _ => Ok(()),
    }
}

fn answer(
    opened: &Opened,
    text: &str,
    arguments: &SearchArguments,
    output: &mut Output,
) -> Outcome<()> {
    let mut answer = ask(opened, text, arguments)?;
    if output.form() == Form::Text && !arguments.count {
        let heading = output.bold(&harmless(text));
        output.line(heading)?;
    }
    print(&mut answer, arguments, output)?;
    all_whole(answer)
}

fn at(source: &Source, lines: &Lines, reason: &str) -> String {
    format!("{source}, line {}: {reason}", lines.number())
}
