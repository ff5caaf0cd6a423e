//! Folders of text files, in the order of their paths.
//!
//! Of a folder all files are read whose names have certain endings, in all folders below it. All
//! others are counted. Hidden files and folders are passed over, and symbolic links are not
//! followed. The ID of a file is its path below the folder, or, where several texts or folders are
//! named, its whole path.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::documents::{Documents, Found};
use super::heads::line_feeds;
use super::text_lines::TextLines;
use super::texts;
use crate::source::{Lines, Source};

/// The IDs of the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderIds {
    /// Their paths below the folder.
    Below,
    /// Their paths with that of the folder in front, as it was given.
    WithFolder,
}

/// The endings of text files.
pub const ENDINGS: [&str; 3] = ["txt", "md", "markdown"];

/// The number of endings of passed-over files that are named.
const NAMED_MAX: usize = 5;

/// The text files of a folder.
pub struct Folder {
    root: PathBuf,
    ids: FolderIds,
    walk: Walk,
    taken: Arc<AtomicU64>,
    limit: usize,
    number: u64,
    file: Option<Arc<str>>,
    /// Set if each line is a document; the documents of the file under way follow.
    by_line: bool,
    lines: Option<TextLines>,
    is_told: bool,
}

impl Folder {
    /// Documents of at most `limit` bytes, one a file.
    pub fn new(
        root: &Path,
        ids: FolderIds,
        walk: Walk,
        taken: &Arc<AtomicU64>,
        limit: usize,
    ) -> Folder {
        Folder {
            root: root.to_owned(),
            ids,
            walk,
            taken: Arc::clone(taken),
            limit,
            number: 0,
            file: None,
            by_line: false,
            lines: None,
            is_told: false,
        }
    }

    /// The same with one document a line.
    pub fn by_line(mut self) -> Folder {
        self.by_line = true;
        self
    }

    fn id(&self, path: &Path) -> PathBuf {
        match self.ids {
            FolderIds::Below => path.strip_prefix(&self.root).unwrap_or(path).to_owned(),
            // `notes//` and `notes` are one folder.
            FolderIds::WithFolder => path.components().collect(),
        }
    }

    /// The next line of the file under way.
    fn next_line(&mut self, buffer: &mut Vec<u8>) -> Option<Found> {
        let lines = self.lines.as_mut()?;
        let found = match lines.next(buffer) {
            Ok(Found::End) => {
                self.lines = None;
                return None;
            }
            Ok(Found::Rejected(reason)) => {
                Found::Rejected(format!("line {}: {reason}", lines.number()))
            }
            Ok(found) => found,
            Err(error) => {
                self.lines = None;
                Found::Rejected(error.to_string())
            }
        };
        self.number += 1;
        Some(found)
    }

    /// The document of a file, if it has one; with lines it is opened for them.
    fn open(&mut self, path: PathBuf, buffer: &mut Vec<u8>) -> io::Result<Option<Found>> {
        let id = self.id(&path);
        let source = Source::File(path);
        if self.by_line {
            let reader = line_feeds(source.reader(&self.taken)?)?;
            let lines = Lines::of(reader, self.limit);
            self.lines = Some(TextLines::new(lines, Some(&id), self.limit)?);
            return Ok(None);
        }
        texts::append(&source, Some(&id), &self.taken, self.limit, buffer).map(Some)
    }
}

impl Documents for Folder {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        loop {
            if let Some(found) = self.next_line(buffer) {
                return Ok(found);
            }
            let Some(path) = self.walk.next() else {
                return Ok(Found::End);
            };
            let (path, listed) = match path {
                Ok(path) => (path, Ok(())),
                Err((path, error)) => (path, Err(error)),
            };
            self.file = Some(path.display().to_string().into());
            let start = buffer.len();
            // What one file is like must not keep the others out.
            let found = match listed.and_then(|()| self.open(path, buffer)) {
                Ok(None) => continue,
                Ok(Some(found)) => found,
                Err(error) => {
                    buffer.truncate(start);
                    Found::Rejected(error.to_string())
                }
            };
            self.number += 1;
            return Ok(found);
        }
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn file(&self) -> Option<Arc<str>> {
        self.file.clone()
    }

    fn notes(&mut self) -> Vec<String> {
        let is_end = self.walk.ahead.is_empty();
        if is_end && !std::mem::replace(&mut self.is_told, is_end) {
            self.walk.passed_over.sentence().into_iter().collect()
        } else {
            Vec::new()
        }
    }
}

/// The paths of the text files below a folder, in order; a folder that cannot be listed is told
/// with its error.
pub struct Walk {
    /// The paths that are still to be visited, the next one last.
    ahead: Vec<(PathBuf, bool)>,
    endings: Vec<String>,
    passed_over: PassedOver,
}

impl Walk {
    /// All below `root` with one of these endings; with those of text files if there are none.
    pub fn new(root: &Path, endings: &[String]) -> Walk {
        let usual = || ENDINGS.map(str::to_owned).to_vec();
        Walk {
            ahead: vec![(root.to_owned(), true)],
            endings: if endings.is_empty() {
                usual()
            } else {
                endings.to_vec()
            },
            passed_over: PassedOver::default(),
        }
    }

    /// Returns the files that were passed over so far.
    pub fn passed_over(&self) -> &PassedOver {
        &self.passed_over
    }

    fn list(&mut self, folder: &Path) -> io::Result<()> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                self.passed_over.hidden += 1;
            } else if kind.is_dir() || kind.is_file() && self.is_wanted(&path) {
                found.push((path, kind.is_dir()));
            } else if kind.is_symlink() {
                self.passed_over.links += 1;
            } else {
                let ending = path.extension().map(OsStr::to_string_lossy);
                let ending = ending.unwrap_or_default().to_lowercase();
                *self.passed_over.others.entry(ending).or_default() += 1;
            }
        }
        found.sort_by(|(one, _), (other, _)| other.cmp(one));
        self.ahead.append(&mut found);
        Ok(())
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let ending = path.extension().and_then(OsStr::to_str);
        let mut endings = self.endings.iter();
        ending.is_some_and(|ending| endings.any(|other| ending.eq_ignore_ascii_case(other)))
    }
}

impl Iterator for Walk {
    type Item = Result<PathBuf, (PathBuf, io::Error)>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((path, is_folder)) = self.ahead.pop() {
            if !is_folder {
                return Some(Ok(path));
            }
            if let Err(error) = self.list(&path) {
                return Some(Err((path, error)));
            }
        }
        None
    }
}

/// The files of a folder that are not read.
#[derive(Default)]
pub struct PassedOver {
    /// Files by their endings.
    others: BTreeMap<String, u64>,
    links: u64,
    hidden: u64,
}

impl PassedOver {
    /// Returns their number and kinds in words; `None` if there are none.
    pub fn sentence(&self) -> Option<String> {
        let mut endings: Vec<(&String, &u64)> = self.others.iter().collect();
        endings.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let named = |(ending, count): &(&String, &u64)| {
            if ending.is_empty() {
                format!("{count} without an ending")
            } else {
                format!("{count} .{ending}")
            }
        };
        let mut kinds: Vec<String> = endings.iter().take(NAMED_MAX).map(named).collect();
        let more = endings.iter().skip(NAMED_MAX).map(|(_, count)| **count);
        for (count, kind) in [
            (more.sum(), "with other endings"),
            (self.links, "symbolic links"),
            (self.hidden, "hidden"),
        ] {
            if count > 0 {
                kinds.push(format!("{count} {kind}"));
            }
        }
        let all = self.others.values().sum::<u64>() + self.links + self.hidden;
        let advice = match endings.iter().find(|(ending, _)| !ending.is_empty()) {
            Some((ending, _)) => format!("; --ext {ending} reads those with this ending"),
            None => String::new(),
        };
        let were = if all == 1 {
            "entry was"
        } else {
            "entries were"
        };
        (all > 0).then(|| format!("{all} {were} passed over ({}){advice}", kinds.join(", ")))
    }
}
