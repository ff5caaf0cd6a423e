//! Checks the words of the project: short sentences, narrow comments, the field's words.

use std::fs;
use std::path::{Path, PathBuf};

/// Characters of the widest line of a comment.
const WIDTH: usize = 100;

/// Words of the longest sentence.
const SENTENCE: usize = 30;

/// Words that this project once used in place of the field's, with the field's.
const PRIVATE: [(&str, &str); 19] = [
    ("upkeep", "idle maintenance"),
    ("chore", "maintenance task"),
    ("chores", "maintenance tasks"),
    ("breathe", "back off"),
    ("breathes", "backs off"),
    ("manners", "foreground load"),
    ("crew", "worker slots"),
    ("hurries", "flushes early"),
    ("patience", "retention limits"),
    ("competitive pair", "impact"),
    ("frontier", "impacts"),
    ("tentatively", "by approximation"),
    ("recent postings", "delta postings"),
    ("poured", "compacted"),
    ("refuses", "rejects"),
    ("refused", "rejected"),
    ("refusal", "rejection"),
    ("memory number", "memory budget"),
    ("slowest hundredth", "p99"),
];

#[test]
fn lines_of_comments_are_narrow() {
    let mut wide = Vec::new();
    for (name, text) in files("rs") {
        for (number, line) in (1..).zip(text.lines()) {
            let code = line.trim_start();
            let is_comment = code.starts_with("//") && !code.contains(" | ");
            if is_comment && line.chars().count() > WIDTH {
                wide.push(format!("{name}:{number}"));
            }
        }
    }
    assert!(wide.is_empty(), "more than {WIDTH} columns:\n{wide:#?}");
}

#[test]
fn sentences_are_short() {
    let mut long = Vec::new();
    let mut look = |name: &str, prose: &str| {
        for sentence in sentences(prose) {
            let words = sentence.split_whitespace().count();
            if words > SENTENCE {
                long.push(format!("{name}: {words} words: {sentence}"));
            }
        }
    };
    for (name, text) in files("rs") {
        look(&name, &prose(&module_comment(&text)));
    }
    for name in ["README.md", "ARCHITECTURE.md", "docs/guide.md"] {
        let text = fs::read_to_string(root().join(name)).expect("the document is readable");
        look(name, &prose(&text));
    }
    assert!(long.is_empty(), "long sentences:\n{long:#?}");
}

#[test]
fn the_words_are_those_of_the_field() {
    let mut found = Vec::new();
    let texts = files("rs").into_iter().chain(files("md"));
    let history = |name: &str| name == "CHANGELOG.md" || name.ends_with("tests/words.rs");
    for (name, text) in texts.filter(|(name, _)| !history(name)) {
        for (number, line) in (1..).zip(text.lines()) {
            for (private, word) in PRIVATE {
                if has_word(&line.to_lowercase(), private) {
                    found.push(format!("{name}:{number}: {private}: say {word}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "private words:\n{found:#?}");
}

fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    })
}

fn module_comment(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.starts_with("//!"));
    lines.map(|line| format!("{}\n", &line[3..])).collect()
}

/// A text without code, tables and headings. A list item is a paragraph of its own.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        let fence = line.starts_with("```");
        is_code ^= fence;
        if is_code || fence || line.starts_with(['|', '#', '<']) || line.is_empty() {
            out.push('\n');
            continue;
        }
        if line.starts_with("- ") || line.starts_with("* ") || is_numbered(line) {
            out.push('\n');
        }
        out.push_str(line);
        out.push(' ');
    }
    out
}

fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(". ")
}

/// Code in backticks counts as a word.
fn sentences(prose: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in prose.lines() {
        let parts = paragraph.split('`').enumerate();
        let plain = parts.map(|(at, part)| if at % 2 == 1 { "x" } else { part });
        let plain: String = plain.collect();
        let mut rest = plain.as_str();
        while let Some(end) = sentence_end(rest) {
            found.push(rest[..end].trim().to_owned());
            rest = &rest[end..];
        }
        found.push(rest.trim().to_owned());
    }
    found
}

fn sentence_end(text: &str) -> Option<usize> {
    let ends = text.match_indices(['.', '!', '?', ':', ';']);
    let mut ends = ends.map(|(at, _)| at + 1);
    ends.find(|end| text[*end..].starts_with([' ', ')']))
}

/// All files of the project with this ending, and their texts.
fn files(ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root(), ending, &mut found);
    let texts = found.into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a file of the project is readable");
        let name = path.strip_prefix(root()).expect("it is below the root");
        (name.to_string_lossy().into_owned(), text)
    });
    texts.collect()
}

fn collect(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project is readable") {
        let path = entry.expect("an entry is readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            collect(&path, ending, found);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
