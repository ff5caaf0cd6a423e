//! What documents are read from, and how: JSON lines, rows of CSV or TSV, text files, folders of
//! these.
//!
//! Each kind is a reader of its own, which gives one document after the other as a line of JSON
//! (`lines`, `rows`, `texts`). So all that comes behind sees lines only.

mod documents;
mod lines;
mod rows;
mod texts;

use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use gannet::{Error, Result};

pub use self::documents::{Documents, FolderIds, Found};
use self::lines::JsonLines;
use self::rows::Rows;
use self::texts::{Folder, TextFile, Walk};
use crate::format::InputFormat;
use crate::rejection::Origin;
use crate::source::{BYTE_ORDER_MARK, Lines, Source};

/// A file with its format, standard input, or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Documents one after the other, or one that is a text. Where nothing says the format, JSON
    /// lines, if it begins so.
    File(Source, Option<InputFormat>),
    /// Text and Markdown files.
    Folder(PathBuf, FolderIds),
}

/// The most bytes that are shown of a file that is no JSON.
const BEGINNING_SHOWN: usize = 40;

impl Input {
    /// What a path on the command line means, in this format or in the one that its name says. What
    /// cannot be read is told at once, before any work.
    fn at(path: &Path, format: Option<InputFormat>) -> Result<Input> {
        if path.is_dir() {
            return Input::folder(path, format);
        }
        let source = Source::at(path)?;
        let format = format.or_else(|| InputFormat::of(path));
        // Of a pipe nothing is taken before its turn.
        if format.is_none()
            && source.bytes().is_some()
            && let Ok(mut reader) = source.reader(&Arc::default())
            && let Ok(Some(reason)) = no_json_lines(&mut reader)
        {
            return Err(Error::invalid(format!("{source}: {reason}")));
        }
        Ok(Input::File(source, format))
    }

    /// What all paths of a command line mean. Where several of them are texts, two folders may have
    /// files of the same name, so that the path of the folder is part of their IDs.
    pub fn all(paths: &[PathBuf], format: Option<InputFormat>) -> Result<Vec<Input>> {
        let inputs = paths.iter().map(|path| Input::at(path, format));
        let mut inputs: Vec<Input> = inputs.collect::<Result<_>>()?;
        if inputs.iter().filter(|input| input.is_text()).count() > 1 {
            for input in &mut inputs {
                if let Input::Folder(_, ids) = input {
                    *ids = FolderIds::WithFolder;
                }
            }
        }
        Ok(inputs)
    }

    fn is_text(&self) -> bool {
        matches!(
            self,
            Input::Folder(..) | Input::File(_, Some(InputFormat::Text))
        )
    }

    fn folder(path: &Path, format: Option<InputFormat>) -> Result<Input> {
        let name = path.display();
        match format {
            None | Some(InputFormat::Text) => {}
            Some(other) => {
                return Err(Error::invalid(format!(
                    "{name} is a folder, of which only text files are read, not {other}: name the files one by one"
                )));
            }
        }
        match Walk::new(path).next() {
            Some(_) => Ok(Input::Folder(path.to_owned(), FolderIds::Below)),
            None => Err(Error::invalid(format!(
                "{name} is a folder without text files ({}): name files of other formats one by one",
                texts::ENDINGS.map(|ending| format!(".{ending}")).join(", ")
            ))),
        }
    }

    /// Bytes that are read, compressed as they are; nothing where they are not known before.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Input::File(source, _) => source.bytes(),
            Input::Folder(..) => None,
        }
    }

    /// What its documents are said to be from.
    pub fn origin(&self) -> Origin {
        Origin {
            name: self.to_string().into(),
            unit: "line",
        }
    }

    /// Opens it. The bytes taken from files are added to `taken`; a document has at most `limit`
    /// bytes.
    pub(crate) fn open(
        &self,
        taken: &Arc<AtomicU64>,
        limit: usize,
    ) -> io::Result<Box<dyn Documents + Send>> {
        Ok(match self {
            Input::Folder(path, ids) => Box::new(Folder::new(path, *ids, taken, limit)),
            Input::File(source, None) => {
                let mut reader = source.reader(taken)?;
                if let Some(reason) = no_json_lines(&mut reader)? {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
                Box::new(JsonLines::new(Lines::of(reader, limit), limit))
            }
            Input::File(source, Some(InputFormat::Jsonl)) => {
                Box::new(JsonLines::new(source.lines(taken, limit)?, limit))
            }
            Input::File(source, Some(InputFormat::Text)) => {
                Box::new(TextFile::new(source, taken, limit))
            }
            Input::File(source, Some(format)) => {
                Box::new(Rows::new(source.reader(taken)?, *format, limit)?)
            }
        })
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::File(source, _) => source.fmt(f),
            Input::Folder(path, _) => path.display().fmt(f),
        }
    }
}

/// What is wrong with a file that is to be JSON lines, by its first bytes. An array is told by the
/// line. Nothing is taken of what is JSON.
fn no_json_lines(reader: &mut dyn BufRead) -> io::Result<Option<String>> {
    let begins = reader.fill_buf()?;
    let begins = begins.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begins);
    let first = begins.trim_ascii_start().first();
    if matches!(first, None | Some(b'{' | b'[')) {
        return Ok(None);
    }
    let mut line = Vec::new();
    let most = BEGINNING_SHOWN as u64;
    reader.take(most).read_until(b'\n', &mut line)?;
    let found = String::from_utf8_lossy(line.trim_ascii());
    Ok(Some(format!(
        "expected JSON lines, as the name says no other format, found {found:?}: give --format jsonl, \
         csv, tsv or text"
    )))
}
