//! The pieces of a column in the order of documents: maps say which there are, and those that are
//! wanted are read in batches.

use std::collections::VecDeque;
use std::ops::Range;

use super::column::ColumnId;
use super::entries::{EntryKind, EntryName, head, numbered, split};
use super::map::{MapEntry, SPAN, decode_map};
use super::tree::ColumnTreeView;
use crate::base::DocId;
use crate::btree::{NearNodes, Scan};
use crate::cache::{Bytes, Pages, Step, Stop, gather};

/// Pieces that are read at once, at most; a leaf has two of the longest.
const PIECES_AT_ONCE: usize = 32;

/// Pieces that are known at once, at most: those whose pages a round may ask for ahead of need.
const PIECES_KNOWN: usize = 1024;

/// The use that is made of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceUse {
    /// Nothing: it is not shown.
    Skip,
    /// It is shown without being read.
    Summary,
    /// It is read.
    Values,
}

/// Goes over the pieces of a column in the tree.
#[derive(Debug)]
pub struct PieceCursor {
    column: ColumnId,
    docs: Range<DocId>,
    /// Nothing once all maps were seen.
    maps: Option<Scan>,
    known: VecDeque<(MapEntry, PieceUse)>,
    read: VecDeque<(MapEntry, Option<Bytes>)>,
    near: NearNodes,
    near_ahead: NearNodes,
}

impl PieceCursor {
    /// Those that have documents of a range.
    pub fn new(column: ColumnId, docs: Range<DocId>) -> PieceCursor {
        let span = docs.start / SPAN * SPAN;
        let first = numbered(column, EntryKind::Map, span);
        let maps = (!docs.is_empty()).then(|| Scan::to_the_end(&first));
        PieceCursor {
            column,
            docs,
            maps,
            known: VecDeque::new(),
            read: VecDeque::new(),
            near: NearNodes::default(),
            near_ahead: NearNodes::default(),
        }
    }

    /// The next piece that begins below `end` and that `judge` does not skip, with its bytes if it
    /// wants them. `view` and `judge` are the same at each call.
    pub fn advance_below(
        &mut self,
        end: DocId,
        judge: &dyn Fn(&MapEntry) -> PieceUse,
        view: &ColumnTreeView,
        pages: &mut Pages<'_>,
    ) -> Step<Option<(MapEntry, Option<Bytes>)>> {
        loop {
            if let Some((next, _)) = self.read.front() {
                let is_below = next.first < end;
                return Ok(is_below.then(|| self.read.pop_front()).flatten());
            }
            while self.known.len() < PIECES_AT_ONCE && self.maps.is_some() {
                self.next_map(judge, view, pages)?;
            }
            match self.known.front() {
                Some((next, _)) if next.first < end => {}
                _ => return Ok(None),
            }
            match self.read_known(view, pages) {
                Err(Stop::Pages) => {
                    self.note_from(PIECES_AT_ONCE, judge, view, pages)?;
                    return Err(Stop::Pages);
                }
                read => read?,
            }
        }
    }

    /// Notes pages of the pieces that are wanted, as far as the round has room.
    pub fn note(
        mut self,
        judge: &dyn Fn(&MapEntry) -> PieceUse,
        view: &ColumnTreeView,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.note_from(0, judge, view, pages)
    }

    /// Notes pages of the known pieces from one on, and of those behind them.
    fn note_from(
        &mut self,
        mut at: usize,
        judge: &dyn Fn(&MapEntry) -> PieceUse,
        view: &ColumnTreeView,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        while pages.reads_ahead() && pages.has_room() {
            let noted = match self.known.get(at).copied() {
                Some((entry, used)) => {
                    at += 1;
                    self.note_piece(&entry, used, view, pages)
                }
                None if self.maps.is_none() || at >= PIECES_KNOWN => break,
                None => self.next_map(judge, view, pages),
            };
            match noted {
                Err(Stop::Pages) => break,
                noted => noted?,
            }
        }
        Ok(())
    }

    fn note_piece(
        &mut self,
        entry: &MapEntry,
        used: PieceUse,
        view: &ColumnTreeView,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if used != PieceUse::Values {
            return Ok(());
        }
        let key = numbered(self.column, EntryKind::Piece, entry.first);
        view.tree.want_near(&key, &mut self.near_ahead, pages)
    }

    fn read_known(&mut self, view: &ColumnTreeView, pages: &mut Pages<'_>) -> Step<()> {
        let count = self.known.len().min(PIECES_AT_ONCE);
        let some: Vec<(MapEntry, PieceUse)> = self.known.range(..count).copied().collect();
        let (column, near) = (self.column, &mut self.near);
        let read = gather(&some, |(entry, used)| match used {
            PieceUse::Values => {
                let bytes = view.piece(column, entry.first, near, pages)?;
                Ok((entry, Some(bytes)))
            }
            PieceUse::Skip | PieceUse::Summary => Ok((entry, None)),
        })?;
        self.known.drain(..count);
        self.read.extend(read);
        pages.trim();
        Ok(())
    }

    /// Takes the pieces of the next map.
    fn next_map(
        &mut self,
        judge: &dyn Fn(&MapEntry) -> PieceUse,
        view: &ColumnTreeView,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let end = numbered(self.column, EntryKind::Map, self.docs.end);
        let behind = head(self.column, EntryKind::Number);
        let end: &[u8] = if self.docs.end == DocId::MAX {
            &behind
        } else {
            &end
        };
        let Some(scan) = &mut self.maps else {
            return Ok(());
        };
        if !scan.advance_below(end, &view.tree, pages)? {
            self.maps = None;
            return Ok(());
        }
        let (_, name) = split(scan.key())?;
        let EntryName::Map(first) = name else {
            self.maps = None;
            return Ok(());
        };
        for entry in decode_map(scan.value(), first)? {
            if entry.end() <= self.docs.start || entry.first >= self.docs.end {
                continue;
            }
            match judge(&entry) {
                PieceUse::Skip => {}
                used => self.known.push_back((entry, used)),
            }
        }
        Ok(())
    }
}
