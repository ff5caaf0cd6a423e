//! Text and Markdown files: each is a document with a title and a body. The ID is the path as it
//! was given.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::documents::{Documents, Found, append_json, too_long};
use crate::bytes::BYTE_ORDER_MARK;
use crate::compression::without_compression;
use crate::signature::foreign;
use crate::source::Source;

/// The endings of those that are Markdown.
const MARKDOWN: [&str; 2] = ["md", "markdown"];

/// The fences of a block of code.
const FENCES: [&str; 2] = ["```", "~~~"];

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

/// Appends the document of a file.
pub fn append(
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
    if let Some(found) = foreign(&bytes) {
        return Ok(Found::Rejected(format!("expected text, found {found}")));
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
    let heading = if is_markdown(&plain) {
        heading(text)
    } else {
        None
    };
    let name = plain.file_stem().unwrap_or_default();
    heading.unwrap_or_else(|| name.to_string_lossy().into_owned())
}

fn is_markdown(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| {
        MARKDOWN
            .iter()
            .any(|other| ending.eq_ignore_ascii_case(other))
    })
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
        let found = if fence.is_some() || mark.is_some() {
            None
        } else {
            marked(line).or_else(|| is_underline(line).then_some(before))
        };
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            return Some(found.to_owned());
        }
        before = line;
    }
    None
}

/// Returns the text behind settings between two lines `---` at the front.
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

/// Returns true if a line has nothing but `=`.
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
