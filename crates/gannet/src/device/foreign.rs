//! Finds files in a folder that belong to no index: nothing is made among other files.

use std::path::Path;

use super::FileId;
use super::lease::READERS_NAME;
use super::lock::LOCK_NAME;

/// The folder of answers in that of a flash tier.
pub const ANSWERS_NAME: &str = "answers";

/// The folder that some file systems keep at their root: an index may have a file system of its
/// own.
const LOST_AND_FOUND: &str = "lost+found";

/// The name of something in the folder that belongs to no index, the first in order of names. A
/// folder that cannot be listed has none: whoever opens it says why.
pub fn foreign_entry(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let foreign = names.filter(|name| !name.to_str().is_some_and(is_expected));
    foreign
        .min()
        .map(|name| name.to_string_lossy().into_owned())
}

/// Returns true if the folder of a flash tier may have something of this name.
pub fn is_of_tier(name: &str) -> bool {
    [LOCK_NAME, LOST_AND_FOUND, ANSWERS_NAME].contains(&name) || name == FileId::Tier.name()
}

fn is_expected(name: &str) -> bool {
    [LOCK_NAME, READERS_NAME, LOST_AND_FOUND].contains(&name) || FileId::from_name(name).is_some()
}
