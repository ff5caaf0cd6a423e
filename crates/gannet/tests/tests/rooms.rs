//! The table of allowed imports between rooms: an arrow may only point down the list.

use std::fs;
use std::path::{Path, PathBuf};

/// From top to bottom, as in ARCHITECTURE.md.
const ROOMS: [&str; 10] = [
    "index",
    "search",
    "documents",
    "postings",
    "dictionary",
    "cache",
    "storage",
    "device",
    "analysis",
    "base",
];

#[test]
fn arrows_point_down() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (height, room) in ROOMS.iter().enumerate() {
        for file in rust_files(&source.join(room)) {
            let text = fs::read_to_string(&file).expect("a source file is readable");
            for above in ROOMS[..height]
                .iter()
                .filter(|above| names_room(&text, above))
            {
                wrong.push(format!("{} imports {above}", file.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "arrows that point up:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_folder_is_a_room() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(source).expect("the source folder is readable") {
        let path = entry.expect("an entry is readable").path();
        if path.is_dir() {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            assert!(
                ROOMS.contains(&name.as_str()),
                "{name} is not in the table of rooms"
            );
        }
    }
}

fn names_room(text: &str, room: &str) -> bool {
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with("//"));
    let path = format!("crate::{room}");
    lines.into_iter().any(|line| {
        line.match_indices(&path).any(|(at, _)| {
            let next = line[at + path.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    })
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a room is readable") {
        let path = entry.expect("an entry is readable").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}
