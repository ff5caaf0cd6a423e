//! Advice to the kernel about the files that SeekStorm maps. It has no setting for that, so the
//! mappings are looked up in `/proc/self/maps`.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Tells the kernel that the mapped files below `folder` are read at random; gives how many
/// mappings there were.
pub fn read_at_random(folder: &Path) -> io::Result<usize> {
    let folder = fs::canonicalize(folder)?;
    let maps = fs::read_to_string("/proc/self/maps")?;
    let mappings: Vec<_> = maps
        .lines()
        .filter_map(|line| addresses(line, &folder))
        .collect();
    for mapping in &mappings {
        advise(mapping)?;
    }
    Ok(mappings.len())
}

/// The addresses of a line of `/proc/self/maps`, if they are of a file below `folder`.
fn addresses(line: &str, folder: &Path) -> Option<Range<usize>> {
    let path = &line[line.find('/')?..];
    if !Path::new(path).starts_with(folder) {
        return None;
    }
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let parsed = |address| usize::from_str_radix(address, 16).ok();
    Some(parsed(start)?..parsed(end)?)
}

fn advise(mapping: &Range<usize>) -> io::Result<()> {
    // SAFETY: the range is a mapping of this process, and this advice changes neither what it
    // holds nor whether it is mapped.
    let status = unsafe {
        libc::madvise(
            mapping.start as *mut libc::c_void,
            mapping.len(),
            libc::MADV_RANDOM,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
