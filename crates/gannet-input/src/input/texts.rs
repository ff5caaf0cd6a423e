//! Text and Markdown files: each is a document with a title and a body.
//!
//! Of a folder all files are read whose names end so, in all folders below it, in the order of
//! their paths. Hidden files and folders are passed over, and symbolic links are not followed.
//! The ID is the path below the folder where nothing else is named. Of a single file, and where
//! several texts or folders are named, it is the path as it was given.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::documents::{Documents, FolderIds, Found, append_json, too_long};
use crate::source::{BYTE_ORDER_MARK, Source, without_compression};

/// The endings of text files.
pub const ENDINGS: [&str; 3] = ["txt", "md", "markdown"];

/// The endings of those that are Markdown.
const MARKDOWN: [&str; 2] = ["md", "markdown"];

/// What begins and ends a block of code.
const FENCES: [&str; 2] = ["```", "~~~"];

/// Whether a file is a text, by its name.
pub fn is_text(path: &Path) -> bool {
    has_ending(path, &ENDINGS)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| {
        endings
            .iter()
            .any(|other| ending.eq_ignore_ascii_case(other))
    })
}

/// One file, or standard input.
pub struct TextFile {
    source: Source,
    taken: Arc<AtomicU64>,
    limit: usize,
    is_read: bool,
}

impl TextFile {
    /// A document of at most `limit` bytes.
    pub fn new(source: &Source, taken: &Arc<AtomicU64>, limit: usize) -> TextFile {
        TextFile {
            source: source.clone(),
            taken: Arc::clone(taken),
            limit,
            is_read: false,
        }
    }
}

impl Documents for TextFile {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        if std::mem::replace(&mut self.is_read, true) {
            return Ok(Found::End);
        }
        let id = match &self.source {
            Source::Stdin => None,
            Source::File(path) => Some(path.as_path()),
        };
        append(&self.source, id, &self.taken, self.limit, buffer)
    }

    fn number(&self) -> u64 {
        1
    }

    fn file(&self) -> Option<Arc<str>> {
        Some(self.source.to_string().into())
    }
}

/// The text files of a folder.
pub struct Folder {
    root: PathBuf,
    ids: FolderIds,
    walk: Walk,
    taken: Arc<AtomicU64>,
    limit: usize,
    number: u64,
    file: Option<Arc<str>>,
}

impl Folder {
    /// Documents of at most `limit` bytes.
    pub fn new(root: &Path, ids: FolderIds, taken: &Arc<AtomicU64>, limit: usize) -> Folder {
        Folder {
            root: root.to_owned(),
            ids,
            walk: Walk::new(root),
            taken: Arc::clone(taken),
            limit,
            number: 0,
            file: None,
        }
    }
}

impl Folder {
    fn id(&self, path: &Path) -> PathBuf {
        match self.ids {
            FolderIds::Below => path.strip_prefix(&self.root).unwrap_or(path).to_owned(),
            // `notes//` and `notes` are one folder.
            FolderIds::WithFolder => path.components().collect(),
        }
    }
}

impl Documents for Folder {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        let Some(path) = self.walk.next() else {
            return Ok(Found::End);
        };
        self.number += 1;
        let (path, listed) = match path {
            Ok(path) => (path, Ok(())),
            Err((path, error)) => (path, Err(error)),
        };
        self.file = Some(path.display().to_string().into());
        let start = buffer.len();
        let id = self.id(&path);
        let source = Source::File(path);
        let read =
            listed.and_then(|()| append(&source, Some(&id), &self.taken, self.limit, buffer));
        // What one file is like must not keep the others out.
        read.or_else(|error| {
            buffer.truncate(start);
            Ok(Found::Rejected(error.to_string()))
        })
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn file(&self) -> Option<Arc<str>> {
        self.file.clone()
    }
}

/// The paths of the text files below a folder, in order; a folder that cannot be listed is told
/// with its error.
pub struct Walk {
    /// What is still to be looked at, the next one last.
    ahead: Vec<(PathBuf, bool)>,
}

impl Walk {
    /// All below `root`.
    pub fn new(root: &Path) -> Walk {
        Walk {
            ahead: vec![(root.to_owned(), true)],
        }
    }

    fn list(&mut self, folder: &Path) -> io::Result<()> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !is_hidden && (kind.is_dir() || kind.is_file() && is_text(&path)) {
                found.push((path, kind.is_dir()));
            }
        }
        found.sort_by(|(one, _), (other, _)| other.cmp(one));
        self.ahead.append(&mut found);
        Ok(())
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

/// Appends the document of a file.
fn append(
    source: &Source,
    id: Option<&Path>,
    taken: &Arc<AtomicU64>,
    limit: usize,
    buffer: &mut Vec<u8>,
) -> io::Result<Found> {
    let mut bytes = Vec::new();
    let most = limit as u64 + 1;
    source.reader(taken)?.take(most).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Ok(Found::Rejected(too_long("file", limit)));
    }
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            return Ok(Found::Rejected(format!(
                "expected UTF-8, found something else at byte {}: convert the file, for example with iconv",
                error.valid_up_to()
            )));
        }
    };
    let start = buffer.len();
    buffer.push(b'{');
    if let Some(path) = id {
        let Some(id) = path.to_str() else {
            buffer.truncate(start);
            let reason = "the name of the file is not UTF-8: rename it";
            return Ok(Found::Rejected(reason.to_owned()));
        };
        append_member("id", id.strip_prefix("./").unwrap_or(id), buffer)?;
        append_member("title", &title(path, text), buffer)?;
    }
    append_member("body", text, buffer)?;
    // The comma behind the last member.
    buffer.pop();
    buffer.push(b'}');
    if buffer.len() - start > limit {
        buffer.truncate(start);
        return Ok(Found::Rejected(too_long("file", limit)));
    }
    Ok(Found::Document)
}

fn append_member(name: &str, text: &str, buffer: &mut Vec<u8>) -> io::Result<()> {
    append_json(name, buffer)?;
    buffer.push(b':');
    append_json(text, buffer)?;
    buffer.push(b',');
    Ok(())
}

/// The first heading of Markdown, or the name of the file without its endings.
fn title(path: &Path, text: &str) -> String {
    let plain = without_compression(path);
    let heading = match has_ending(&plain, &MARKDOWN) {
        true => heading(text),
        false => None,
    };
    let name = plain.file_stem().unwrap_or_default();
    heading.unwrap_or_else(|| name.to_string_lossy().into_owned())
}

/// The first heading behind the front matter that stands in no block of code: `# Title`, or a line
/// underlined with `=`.
fn heading(text: &str) -> Option<String> {
    let (mut fence, mut before) = (None, "");
    for line in without_front_matter(text).lines() {
        let line = line.trim();
        let mark = FENCES.into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let found = match fence.is_some() || mark.is_some() {
            true => None,
            false => marked(line).or_else(|| is_underline(line).then_some(before)),
        };
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            return Some(found.to_owned());
        }
        before = line;
    }
    None
}

/// What stands behind settings between two lines `---` at the front.
fn without_front_matter(text: &str) -> &str {
    let settings = text.strip_prefix("---\n");
    let behind = settings.and_then(|settings| settings.split_once("\n---\n"));
    behind.map_or(text, |(_, behind)| behind)
}

/// The text of a line like `## Title ##`.
fn marked(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let marks = line.len() - rest.len();
    let is_heading = (1..=6).contains(&marks) && rest.starts_with([' ', '\t']);
    is_heading.then(|| rest.trim_end_matches('#').trim())
}

/// Whether a line has nothing but `=`.
fn is_underline(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|byte| byte == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_of_markdown_is_its_first_heading() {
        for (text, expected) in [
            ("# One\n## Two", Some("One")),
            ("text\n\n## Two ##\n", Some("Two")),
            ("#hashtag\n#######\n# \n", None),
            ("```sh\n# a comment\n```\n# Title", Some("Title")),
            ("Title\n=====\ntext", Some("Title")),
            ("---\n# x\nname: x\n---\n\n# Title", Some("Title")),
            ("# Title\r\ntext", Some("Title")),
            ("plain\ntext", None),
        ] {
            assert_eq!(heading(text).as_deref(), expected, "{text}");
        }
        assert_eq!(title(Path::new("a/b c.TXT"), "# no heading"), "b c");
        assert_eq!(title(Path::new("b.md.gz"), "none"), "b");
    }
}
