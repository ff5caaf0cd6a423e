//! The folder in which an index is made.

use std::io;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

/// Makes the folders above `index`, unless they are there. Gives the uppermost that was made: its
/// name may be misspelt.
pub fn make_parents(index: &Path) -> Outcome<Option<PathBuf>> {
    let Some(parent) = index
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Ok(None);
    };
    let missing = parent
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && is_missing(folder));
    let missing = missing.last().map(Path::to_owned);
    let made = match &missing {
        Some(_) => std::fs::create_dir_all(parent),
        None => std::fs::metadata(parent).map(drop),
    };
    made.map_err(|error| unusable(index, missing.as_deref().unwrap_or(parent), &error))?;
    if parent.is_dir() {
        Ok(missing)
    } else {
        Err(Failure::caller(format!(
            "no index can be made at {}: {} is a file, not a folder; check the path",
            index.display(),
            parent.display()
        )))
    }
}

fn is_missing(folder: &Path) -> bool {
    let there = std::fs::symlink_metadata(folder);
    there.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn unusable(index: &Path, folder: &Path, error: &io::Error) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::NotADirectory => "a file stands where a folder is needed",
        io::ErrorKind::NotFound => "it does not exist",
        io::ErrorKind::PermissionDenied => "this user may not make it, or not look into it",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        _ => return Failure::file(folder, error),
    };
    Failure::caller(format!(
        "no index can be made at {}: of the folder {}, {why}; check the path",
        index.display(),
        folder.display()
    ))
}
