//! Opening the files of a folder that somebody else may have prepared: one that was unpacked,
//! mounted or downloaded, or that lies where others can write.
//!
//! The folder that the user names may be reached through links. What always holds of the files in
//! it:
//!
//! 1. No link is followed, and only regular files are opened: what stands in the folder never leads
//!    out of it.
//! 2. Opening never waits, whatever stands there.
//! 3. A file that is to be written has one name: what else has its bytes would change with it.

use std::fs::{File, FileType};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl, openat, statat};
use rustix::io::Errno;

/// The mode of files, of which the process's umask takes away.
pub const SHARED_FILE: Mode = Mode::from_raw_mode(0o666);

/// The mode of files that are nobody else's.
pub const OWN_FILE: Mode = Mode::from_raw_mode(0o600);

/// The object that a name stands for if it is no file to be opened.
#[derive(Debug, thiserror::Error)]
#[error("expected {expected}, found {found}: {advice}")]
pub struct Irregular {
    expected: &'static str,
    found: &'static str,
    advice: &'static str,
}

impl Irregular {
    /// Returns the object that an error names, if it is such a one.
    pub fn of(error: &io::Error) -> Option<&Irregular> {
        error.get_ref()?.downcast_ref()
    }

    fn file(found: &'static str) -> io::Error {
        Irregular::error("a regular file", found)
    }

    fn error(expected: &'static str, found: &'static str) -> io::Error {
        io::Error::other(Irregular {
            expected,
            found,
            advice: "nothing was read or written through it; remove it, or copy the folder anew",
        })
    }
}

/// Opens the file `path`, of which no link is followed. `flags` say for what, and `mode` is that of
/// a file that is made.
pub fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
    let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(CWD, path, flags | safe, mode) {
        Ok(file) => File::from(file),
        Err(error) => return Err(rejection(path, error)),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Irregular::file(kind(metadata.file_type())));
    }
    let is_written = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
    if is_written && !flags.contains(OFlags::CREATE) && metadata.nlink() > 1 {
        return Err(shared_with_others());
    }
    // Transfers to a file that does not wait may be turned away where they would have to.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Opens the folder `path` in a folder, of which no link is followed.
pub fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(CWD, path, flags, Mode::empty()) {
        Ok(folder) => Ok(folder.into()),
        Err(Errno::LOOP | Errno::NOTDIR) => Err(Irregular::error("a folder", found(path))),
        Err(error) => Err(error.into()),
    }
}

/// Fails unless a file of this type is a regular one.
pub fn check_type(of: FileType) -> io::Result<()> {
    if of.is_file() {
        Ok(())
    } else {
        Err(Irregular::file(kind(of)))
    }
}

/// Returns the device and the number of a file, which tell two files apart.
pub fn identity(of: &std::fs::Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

/// Returns true if `name` in `folder` is an empty regular file.
pub fn is_empty_file(folder: &File, name: &str) -> io::Result<bool> {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_file = rustix::fs::FileType::from_raw_mode(found.st_mode).is_file();
    Ok(is_file && found.st_size == 0)
}

/// Why a name cannot be opened.
fn rejection(path: &Path, error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NXIO | Errno::ISDIR | Errno::OPNOTSUPP => match found(path) {
            "a regular file" => error.into(),
            other => Irregular::file(other),
        },
        error => error.into(),
    }
}

fn found(path: &Path) -> &'static str {
    let metadata = std::fs::symlink_metadata(path);
    metadata.map_or("something else", |metadata| kind(metadata.file_type()))
}

fn kind(of: FileType) -> &'static str {
    if of.is_file() {
        "a regular file"
    } else if of.is_symlink() {
        "a symbolic link"
    } else if of.is_dir() {
        "a folder"
    } else if of.is_fifo() {
        "a pipe"
    } else if of.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

fn shared_with_others() -> io::Error {
    io::Error::other(Irregular {
        expected: "a file with one name",
        found: "one that has another name too (a hard link)",
        advice: "writing would change both; copy the folder without links, and write to the copy",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const READ: OFlags = OFlags::RDONLY;
    const WRITE: OFlags = OFlags::RDWR;

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "kept").unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink(at("victim"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        symlink(at("folder"), at("way")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), rustix::fs::FileType::Fifo, OWN_FILE, 0).unwrap();
        for (name, found) in [
            ("folder", "a folder"),
            ("link", "a symbolic link"),
            ("dangling", "a symbolic link"),
            ("way", "a symbolic link"),
            ("pipe", "a pipe"),
        ] {
            for flags in [READ, WRITE, OFlags::WRONLY, WRITE | OFlags::CREATE] {
                let error = open(&at(name), flags, SHARED_FILE).unwrap_err();
                let said = Irregular::of(&error).map(ToString::to_string);
                assert!(
                    said.is_some_and(|said| said.contains(found)),
                    "{name}: {error}"
                );
            }
        }
        assert!(open_folder(&at("way")).is_err() && open_folder(&at("victim")).is_err());
        assert!(open_folder(&at("folder")).is_ok());
        assert!(!at("nowhere").exists());
        assert_eq!(fs::read_to_string(at("victim")).unwrap(), "kept");
    }

    #[test]
    fn a_file_that_has_another_name_is_read_and_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "kept").unwrap();
        fs::hard_link(at("victim"), at("linked")).unwrap();
        open(&at("linked"), READ, SHARED_FILE).unwrap();
        let error = open(&at("linked"), WRITE, SHARED_FILE).unwrap_err();
        assert!(error.to_string().contains("hard link"), "{error}");
    }
}
