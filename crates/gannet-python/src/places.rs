//! The places of indexes: a folder, or a URL at which one is published.

use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

use gannet::{Error, Index, Options, Result};
use gannet_remote::RemoteOptions;

/// Returns true if it is a URL and not the path of a folder.
pub fn is_url(path: &Path) -> bool {
    path.to_string_lossy().contains("://")
}

/// The same place whatever the working directory is: a handle may outlive it.
pub fn fixed(path: &Path) -> Result<PathBuf> {
    check(path)?;
    if is_url(path) {
        Ok(path.to_owned())
    } else {
        absolute(path).map_err(|error| Error::invalid(format!("{}: {error}", path.display())))
    }
}

/// Fails for what `pathlib` makes of a URL, `s3:/bucket/wiki`, which would be a folder.
fn check(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let scheme = text.split_once(":/").map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| ["s3", "file"].contains(&scheme)) && !is_url(path) {
        Err(Error::invalid(format!(
            "{text} has one slash behind the scheme: give a URL as a string, and not as a Path"
        )))
    } else {
        Ok(())
    }
}

/// Opens the index in a folder or at a URL.
pub fn open(options: Options, path: &Path) -> Result<Index> {
    if is_url(path) {
        open_remote(options, path)
    } else {
        options.open(path)
    }
}

/// Makes an index in a folder of a backup, or of what is published at a URL.
pub fn restore(options: Options, backup: &Path, path: &Path) -> Result<()> {
    check(backup)?;
    let source = open(options.clone().read_only(), backup)?;
    let restored = options.restore_from(source, path, &mut |_, _| ())?;
    match restored.checked.findings.first() {
        None => Ok(()),
        Some(found) => Err(Error::damaged(path.display().to_string(), found)),
    }
}

fn open_remote(options: Options, url: &Path) -> Result<Index> {
    let remote = RemoteOptions {
        index: options,
        // `refresh` is called by the program, and looks each time.
        refresh: Duration::ZERO,
        ..RemoteOptions::default()
    };
    Ok(gannet_remote::open(&url.to_string_lossy(), remote)?.0)
}
