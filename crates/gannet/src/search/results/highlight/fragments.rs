//! Chooses the pieces of a text to show and cuts them at sentences, else at words, else at
//! characters.

use std::cmp::Reverse;
use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::wanted::Mark;
use crate::base::{Result, Steps};

/// Bytes of a window while pieces are chosen, with the place of its mark.
pub(crate) const WINDOW_BYTES: usize = size_of::<MarkWindow>() + size_of::<Range<u32>>();

/// Up to `most` pieces of about `characters`, best first, none overlapping. `marks` is in order and
/// not empty.
pub(crate) fn best(
    text: &str,
    marks: &[Mark],
    characters: usize,
    most: usize,
    steps: &mut Steps<'_>,
) -> Result<Vec<Range<usize>>> {
    let mut windows = windows(text, marks, characters);
    // No two begin at the same place.
    windows.sort_unstable_by_key(|window| {
        (
            Reverse(window.distinct),
            Reverse(window.marks),
            window.core.start,
        )
    });
    let mut chosen: Vec<Range<usize>> = Vec::new();
    for window in windows {
        if chosen.len() == most {
            break;
        }
        steps.count(1 + chosen.len())?;
        let core = window.core.start as usize..window.core.end as usize;
        let overlaps = |other: &Range<usize>| core.start < other.end && other.start < core.end;
        if !chosen.iter().any(overlaps) {
            let piece = cut(text, &core, marks, characters);
            chosen.push(apart(text, piece, &core, &chosen));
        }
    }
    Ok(chosen)
}

/// `piece` without what the `others` show already; none of them overlaps its `core`.
fn apart(
    text: &str,
    piece: Range<usize>,
    core: &Range<usize>,
    others: &[Range<usize>],
) -> Range<usize> {
    let before = others.iter().filter(|other| other.end <= core.start);
    let after = others.iter().filter(|other| other.start >= core.end);
    let start = before.fold(piece.start, |start, other| start.max(other.end));
    let end = after.fold(piece.end, |end, other| end.min(other.start));
    let start = core.start - text[start..core.start].trim_start().len();
    start..trimmed_end(text, start, end).max(core.end)
}

/// The beginning of `text`, at most `characters` long.
pub(crate) fn beginning(text: &str, characters: usize) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..end_of(text, start, start, characters).max(start)
}

/// Neighbouring marks that fit into one piece, from the first byte of the first to the last of the
/// last.
struct MarkWindow {
    core: Range<u32>,
    marks: u32,
    distinct: u32,
}

/// For each mark the window that begins with it.
fn windows(text: &str, marks: &[Mark], characters: usize) -> Vec<MarkWindow> {
    let places = character_places(text, marks);
    let mut counts = WindowCounts::new(marks);
    let mut windows = Vec::with_capacity(marks.len());
    let mut next = 0;
    for first in 0..marks.len() {
        // A window has at least its first mark, however long that is.
        while next < marks.len()
            && (next == first || (places[next].end - places[first].start) as usize <= characters)
        {
            counts.add(marks[next].what as usize);
            next += 1;
        }
        windows.push(MarkWindow {
            core: marks[first].start..marks[next - 1].end,
            marks: (next - first) as u32,
            distinct: counts.distinct,
        });
        counts.remove(marks[first].what as usize);
    }
    windows
}

/// The places of the marks, counted in characters.
fn character_places(text: &str, marks: &[Mark]) -> Vec<Range<u32>> {
    let (mut byte, mut characters) = (0, 0);
    let mut count_to = |at: usize| {
        characters += text[byte..at].chars().count() as u32;
        byte = at;
        characters
    };
    let ranges = marks.iter().map(Mark::range);
    let places = ranges.map(|range| count_to(range.start)..count_to(range.end));
    places.collect()
}

/// Counts the different things in a sliding window.
struct WindowCounts {
    of: Vec<u32>,
    distinct: u32,
}

impl WindowCounts {
    fn new(marks: &[Mark]) -> WindowCounts {
        let greatest = marks.iter().map(|mark| mark.what as usize).max();
        WindowCounts {
            of: vec![0; greatest.map_or(0, |what| what + 1)],
            distinct: 0,
        }
    }

    fn add(&mut self, what: usize) {
        self.of[what] += 1;
        self.distinct += u32::from(self.of[what] == 1);
    }

    fn remove(&mut self, what: usize) {
        self.of[what] -= 1;
        self.distinct -= u32::from(self.of[what] == 0);
    }
}

/// The piece around `core`: from a sentence's start before it if that is near, to a good end after
/// it.
fn cut(text: &str, core: &Range<usize>, marks: &[Mark], characters: usize) -> Range<usize> {
    let spare = characters.saturating_sub(text[core.clone()].chars().count());
    let start = start_of(text, core.start, spare);
    // Marks ascend, so the only one that can be cut is the last that begins before the cut.
    let before = marks.partition_point(|mark| mark.range().start < start);
    let start = before
        .checked_sub(1)
        .map_or(start, |at| start.max(marks[at].range().end));
    let end = end_of(text, start, core.end, characters);
    let before = marks.partition_point(|mark| mark.range().start < end);
    match before.checked_sub(1).map(|at| marks[at].range()) {
        Some(mark) if mark.end > end => start..trimmed_end(text, start, mark.start).max(core.end),
        _ => start..end,
    }
}

/// The start of a piece that has `spare` characters for the surroundings of the mark at `at`.
fn start_of(text: &str, at: usize, spare: usize) -> usize {
    let earliest = back(text, at, spare);
    let before = &text[earliest..at];
    if let Some(start) = last_sentence_start(before) {
        return earliest + start;
    }
    if earliest == 0 {
        return at - before.trim_start().len();
    }
    // In the middle of a long sentence, a third of the room goes to what was before.
    let from = back(text, at, spare / 3);
    match text[from..at].find(char::is_whitespace) {
        Some(space) => at - text[from + space..at].trim_start().len(),
        None => character_start(text, from).max(earliest),
    }
}

/// The end of a piece from `start` that has at most `characters` but goes at least to `least`.
fn end_of(text: &str, start: usize, least: usize, characters: usize) -> usize {
    let latest = forward(text, start, characters).max(least);
    if latest == text.len() {
        return trimmed_end(text, start, latest).max(least);
    }
    let after = &text[least..latest];
    let half = after.len() / 2;
    let end = match (last_sentence_start(after), after.rfind(char::is_whitespace)) {
        (Some(sentence), _) if sentence > half => least + sentence,
        (_, Some(space)) => least + space,
        _ => character_start(text, latest),
    };
    trimmed_end(text, start, end).max(least)
}

fn trimmed_end(text: &str, start: usize, end: usize) -> usize {
    start + text[start..end.max(start)].trim_end().len()
}

/// The last place in `text` where a sentence starts: after a line break, after a full stop and
/// white space, or after one of the full stops of scripts that put no white space there.
fn last_sentence_start(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().rev().peekable();
    while let Some((at, character)) = characters.next() {
        let ends_here = match character {
            '\n' | '。' | '！' | '？' | '।' => true,
            space if space.is_whitespace() => {
                let before = characters.peek();
                before.is_some_and(|(_, before)| matches!(before, '.' | '!' | '?' | '…'))
            }
            _ => false,
        };
        if ends_here {
            let rest = &text[at + character.len_utf8()..];
            return Some(text.len() - rest.trim_start().len());
        }
    }
    None
}

/// The start of what readers see as the character at `at`.
fn character_start(text: &str, at: usize) -> usize {
    let mut at = at;
    while !is_character_start(text, at) {
        at -= 1;
    }
    at
}

fn is_character_start(text: &str, at: usize) -> bool {
    let boundary = || GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0);
    at == 0 || (text.is_char_boundary(at) && boundary().unwrap_or(true))
}

/// The byte `characters` characters before `at`, or the beginning.
fn back(text: &str, at: usize, characters: usize) -> usize {
    match characters.checked_sub(1) {
        None => at,
        Some(skipped) => {
            let mut before = text[..at].char_indices().rev();
            before.nth(skipped).map_or(0, |(start, _)| start)
        }
    }
}

/// The byte `characters` characters after `at`, or the end.
fn forward(text: &str, at: usize, characters: usize) -> usize {
    let mut after = text[at..].char_indices();
    after
        .nth(characters)
        .map_or(text.len(), |(length, _)| at + length)
}
