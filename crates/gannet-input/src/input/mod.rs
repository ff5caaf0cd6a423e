//! Sources of documents: JSON, actions in bulk, rows of CSV or TSV, text files, folders of these.
//!
//! Each kind is a reader of its own, which gives one document after the other as JSON (`lines`,
//! `values`, `bulk`, `rows`, `texts`, `text_lines`). So the code behind it sees lines only. The
//! first bytes of a file tell its kind beside its name.

mod action;
mod bulk;
mod cells;
mod dialect;
mod documents;
mod folder;
mod heads;
mod identified;
mod lines;
mod members;
mod options;
mod rows;
mod text_lines;
mod texts;
mod values;

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use gannet::{Error, FieldMapping, Result};

use self::action::is_action;
use self::bulk::Bulk;
pub use self::documents::{DocumentStart, Documents, Found};
use self::folder::{Folder, FolderIds, Walk};
use self::heads::{JSON_BYTES, is_array, line_feeds, without_mark};
use self::identified::Identified;
use self::lines::{JsonLines, is_printed};
use self::members::members_of;
pub use self::members::without_id;
pub use self::options::InputOptions;
use self::rows::Rows;
use self::text_lines::TextLines;
use self::texts::TextFile;
use self::values::Values;
use crate::bytes::Bytes;
use crate::format::InputFormat;
use crate::rejection::Origin;
use crate::signature::{SIGNATURE_BYTES, foreign, is_binary, markup};
use crate::source::{Lines, Source};

/// A file, standard input or a folder, and how it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    from: From,
    options: Arc<InputOptions>,
}

/// The kinds of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
enum From {
    /// One after the other, or one that is a text. Where nothing says the format, JSON, if it
    /// begins so.
    File(Source, Option<InputFormat>),
    /// Text files.
    Folder(PathBuf, FolderIds),
}

/// The most bytes that are shown of a file that is no JSON.
const BEGINNING_SHOWN: usize = 40;

impl Input {
    /// Returns the source at a path of the command line, in the given format or in the one that its
    /// name says. Fails at once, before any work, if it cannot be read.
    fn at(path: &Path, options: &Arc<InputOptions>) -> Result<Input> {
        let options = Arc::clone(options);
        if path.is_dir() {
            let from = Input::folder(path, &options)?;
            return Ok(Input { from, options });
        }
        let source = Source::at(path)?;
        let format = options.format_of(path);
        // Of a pipe nothing is taken before its turn.
        if source.bytes().is_some()
            && let Ok(mut reader) = source.reader(&Arc::default())
            && let Ok(Some(reason)) = mistaken(&mut reader, format)
        {
            return Err(Error::invalid(format!("{source}: {reason}")));
        }
        options.check(&source.to_string(), format)?;
        let from = From::File(source, format);
        Ok(Input { from, options })
    }

    /// Returns the sources at all paths of a command line. With several of them, two folders may
    /// have text files of the same name, so the path of the folder becomes part of their IDs.
    pub fn all(paths: &[PathBuf], options: InputOptions) -> Result<Vec<Input>> {
        let options = Arc::new(options);
        let inputs = paths.iter().map(|path| Input::at(path, &options));
        let mut inputs: Vec<Input> = inputs.collect::<Result<_>>()?;
        let folders = inputs
            .iter()
            .filter(|input| matches!(input.from, From::Folder(..)));
        if folders.count() == 0 && !options.endings.is_empty() {
            return Err(Error::invalid(
                "--ext says which files of a folder are read, and no folder was given: leave it out, or name a folder",
            ));
        }
        if inputs.iter().filter(|input| input.is_text()).count() > 1 {
            for input in &mut inputs {
                if let From::Folder(_, ids) = &mut input.from {
                    *ids = FolderIds::WithFolder;
                }
            }
        }
        Ok(inputs)
    }

    fn is_text(&self) -> bool {
        matches!(
            self.from,
            From::Folder(..) | From::File(_, Some(InputFormat::Text | InputFormat::TextLines))
        )
    }

    fn folder(path: &Path, options: &InputOptions) -> Result<From> {
        let name = path.display();
        match options.format {
            None | Some(InputFormat::Text | InputFormat::TextLines) => {}
            Some(other) => {
                return Err(Error::invalid(format!(
                    "{name} is a folder, of which only text files are read, not {other}: name the files one by one"
                )));
            }
        }
        options.check(
            &name.to_string(),
            Some(options.format.unwrap_or(InputFormat::Text)),
        )?;
        let mut walk = Walk::new(path, &options.endings);
        if walk.next().is_some() {
            return Ok(From::Folder(path.to_owned(), FolderIds::Below));
        }
        let endings = if options.endings.is_empty() {
            folder::ENDINGS.map(str::to_owned).to_vec()
        } else {
            options.endings.clone()
        };
        let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
        let found = walk.passed_over().sentence();
        Err(Error::invalid(format!(
            "{name} is a folder without text files ({}): name files of other formats one by one{}",
            endings.join(", "),
            found.map_or_else(String::new, |found| format!("; {found}"))
        )))
    }

    /// Bytes that are read, compressed as they are; nothing where they are not known before.
    pub fn bytes(&self) -> Option<u64> {
        match &self.from {
            From::File(source, _) => source.bytes(),
            From::Folder(..) => None,
        }
    }

    /// Returns the name of the source for messages.
    pub fn origin(&self) -> Origin {
        Origin {
            name: self.to_string().into(),
            unit: "line",
        }
    }

    /// Opens it. The bytes taken from files are added to `taken`; a document has at most `limit`
    /// bytes, and its fields the types of `mapping` where that has them.
    pub(crate) fn open(
        &self,
        taken: &Arc<AtomicU64>,
        limit: usize,
        mapping: &FieldMapping,
    ) -> io::Result<Box<dyn Documents + Send>> {
        match &self.from {
            From::Folder(path, ids) => {
                let walk = Walk::new(path, &self.options.endings);
                let folder = Folder::new(path, *ids, walk, taken, limit);
                Ok(match self.options.format {
                    Some(InputFormat::TextLines) => Box::new(folder.by_line()),
                    _ => Box::new(folder),
                })
            }
            From::File(source, Some(InputFormat::Text)) => {
                Ok(Box::new(TextFile::new(source, taken, limit)))
            }
            From::File(source, format) => {
                let mut reader = source.reader(taken)?;
                if let Some(reason) = mistaken(&mut reader, *format)? {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
                match format {
                    Some(format @ (InputFormat::Csv | InputFormat::Tsv)) => {
                        let rows = Rows::new(reader, *format, &self.options, limit)?;
                        Ok(Box::new(rows.of_types(mapping)))
                    }
                    _ => self.open_lines(source, *format, reader, limit),
                }
            }
        }
    }

    /// Opens a source whose documents are no rows.
    fn open_lines(
        &self,
        source: &Source,
        format: Option<InputFormat>,
        reader: Bytes,
        limit: usize,
    ) -> io::Result<Box<dyn Documents + Send>> {
        let options = &*self.options;
        Ok(match format {
            Some(InputFormat::TextLines) => {
                let path = match source {
                    Source::Stdin => None,
                    Source::File(path) => Some(path.as_path()),
                };
                let lines = Lines::of(line_feeds(reader)?, limit);
                Box::new(TextLines::new(lines, path, limit)?)
            }
            Some(InputFormat::Bulk) => bulk(line_feeds(reader)?, options, limit)?,
            _ => json(line_feeds(reader)?, options, limit)?,
        })
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.from {
            From::File(source, _) => source.fmt(f),
            From::Folder(path, _) => path.display().fmt(f),
        }
    }
}

/// Returns true if a JSON object names its external ID.
pub fn brings_id(document: &[u8]) -> bool {
    let members = members_of(document.trim_ascii());
    members.is_ok_and(|members| members.value("id").is_some())
}

/// JSON as its first bytes are: lines, an array or objects over several lines, or actions.
fn json(
    mut reader: Bytes,
    options: &InputOptions,
    limit: usize,
) -> io::Result<Box<dyn Documents + Send>> {
    let head = reader.peek(JSON_BYTES, |head| head.contains(&b'\n') || is_array(head))?;
    let mark = head.len() - without_mark(&head).len();
    let head = without_mark(&head);
    let first = head.trim_ascii_start().split(|byte| *byte == b'\n').next();
    let documents: Box<dyn Documents + Send> = if is_array(head) || is_printed(head) {
        reader.read_exact(&mut vec![0; mark])?;
        Box::new(Values::new(reader, limit))
    } else if first.is_some_and(is_action) {
        return bulk(reader, options, limit);
    } else {
        Box::new(JsonLines::new(Lines::of(reader, limit), limit))
    };
    Ok(match &options.id {
        None => documents,
        Some(id) => Box::new(Identified::new(documents, id)),
    })
}

/// Actions in bulk, which say themselves what is done with which ID.
fn bulk(
    reader: Bytes,
    options: &InputOptions,
    limit: usize,
) -> io::Result<Box<dyn Documents + Send>> {
    let reason = match (options.is_change, &options.id) {
        (true, _) => {
            "it is a bulk file, whose actions say what changes: `gannet index` carries them out"
        }
        (false, Some(_)) => {
            "--id names a field of documents, but this is a bulk file, whose actions have the IDs: leave it out"
        }
        (false, None) => return Ok(Box::new(Bulk::new(Lines::of(reader, limit), limit))),
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, reason))
}

/// Returns the mismatch between a file and its format by its first bytes, of which none is
/// consumed.
fn mistaken(reader: &mut Bytes, format: Option<InputFormat>) -> io::Result<Option<String>> {
    let head = reader.peek(SIGNATURE_BYTES, |_| true)?;
    let is_text = matches!(format, Some(InputFormat::Text | InputFormat::TextLines));
    let marked = if is_text { None } else { markup(&head) };
    if let Some(found) = foreign(&head).or(marked) {
        let file = if is_text { "text" } else { "documents" };
        return Ok(Some(format!("expected {file}, found {found}")));
    }
    let begins = without_mark(&head);
    let first = begins.trim_ascii_start();
    if format.is_some() || matches!(first.first(), None | Some(b'{' | b'[')) {
        return Ok(None);
    }
    let found = if is_binary(&head) {
        "binary data".to_owned()
    } else {
        let line = first.split(|byte| matches!(byte, b'\n' | b'\r')).next();
        let shown: String = String::from_utf8_lossy(line.unwrap_or_default())
            .trim_end()
            .chars()
            .take(BEGINNING_SHOWN)
            .collect();
        format!("{shown:?}")
    };
    Ok(Some(format!(
        "expected JSON lines, as the name says no other format, found {found}: give --format jsonl, csv, tsv or text, or \
         --text-lines where each line is a document"
    )))
}
