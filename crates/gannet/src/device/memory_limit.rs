//! Finds the memory that this process may have: that of the machine, or less if a memory group
//! (cgroup) limits it, as in a container.
//!
//! Groups are nested, and the least limit of a group and those around it counts. Version 1 gives
//! that as `hierarchical_memory_limit`. Of version 2 the `memory.max` of each is read, up to where
//! the groups are mounted: what lies above cannot be seen from here. A file that is missing or has
//! something else in it is no limit, so nothing fails where a system has none of them.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// A limit of version 1 from here on is none: the kernel writes the largest number of whole pages.
const NONE_FROM: u64 = 1 << 60;

/// The memory that a process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes of it.
    pub bytes: u64,
    /// Set if the memory group of the process gives the limit, and not the machine.
    pub is_of_group: bool,
}

/// Returns the memory that this process may have; nothing where the system does not tell.
pub fn memory_limit() -> Option<MemoryLimit> {
    limit_below(Path::new("/"))
}

/// The same for a system whose files are in the folder `root`.
fn limit_below(root: &Path) -> Option<MemoryLimit> {
    let group = group_limit(root).map(|bytes| MemoryLimit {
        bytes,
        is_of_group: true,
    });
    let machine = machine_memory(root).map(|bytes| MemoryLimit {
        bytes,
        is_of_group: false,
    });
    let limits = [machine, group].into_iter().flatten();
    limits.min_by_key(|limit| limit.bytes)
}

fn machine_memory(root: &Path) -> Option<u64> {
    let text = read_to_string(root.join("proc/meminfo")).ok()?;
    let total = text.lines().find_map(|line| {
        let total = line.strip_prefix("MemTotal:")?;
        total.strip_suffix("kB")
    });
    let kilobytes: u64 = total?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// The least limit of all groups that the process is in.
fn group_limit(root: &Path) -> Option<u64> {
    let groups = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let limits = mounts.lines().filter_map(Mount::parse).filter_map(|mount| {
        let group = groups.lines().find_map(|line| mount.group(line))?;
        mount.limit(root, group)
    });
    limits.min()
}

/// A mount of memory groups.
struct Mount {
    is_first_version: bool,
    /// The group that is at the mount point.
    group: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// Takes a line of `mountinfo` apart; nothing if no memory groups are mounted there.
    fn parse(line: &str) -> Option<Mount> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (group, point) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let is_first_version = match kind.next()? {
            "cgroup" => true,
            "cgroup2" => false,
            _ => return None,
        };
        let mut options = kind.nth(1)?.split(',');
        if is_first_version && !options.any(|option| option == "memory") {
            return None;
        }
        Some(Mount {
            is_first_version,
            group: unescaped(group),
            point: unescaped(point),
        })
    }

    /// The group that a line of `/proc/self/cgroup` names, if it is one of this mount.
    fn group<'g>(&self, line: &'g str) -> Option<&'g str> {
        let (_, line) = line.split_once(':')?;
        let (controllers, group) = line.split_once(':')?;
        let is_of_mount = if self.is_first_version {
            controllers.split(',').any(|name| name == "memory")
        } else {
            controllers.is_empty()
        };
        is_of_mount.then_some(group)
    }

    /// The limit of a group, read from its folder and those above it.
    fn limit(&self, root: &Path, group: &str) -> Option<u64> {
        let folders = self.folders(group);
        let mut folders = folders
            .iter()
            .map(|folder| root.join(folder.strip_prefix("/").unwrap_or(folder)));
        if self.is_first_version {
            folders.find_map(|folder| hierarchical_limit(&folder))
        } else {
            folders.filter_map(|folder| most(&folder)).min()
        }
    }

    /// The folder of a group and those around it, up to the mount point. A group that lies outside
    /// of what is mounted has the mount point alone.
    fn folders(&self, group: &str) -> Vec<PathBuf> {
        let inside = Path::new(group).strip_prefix(&self.group);
        let inside = inside.ok().filter(|path| path.is_relative());
        let is_plain = |path: &&Path| !path.components().any(|part| part.as_os_str() == "..");
        let inside = inside.filter(is_plain).unwrap_or(Path::new(""));
        inside
            .ancestors()
            .map(|part| self.point.join(part))
            .collect()
    }
}

/// Returns the limit of a group of version 1 and of those around it.
fn hierarchical_limit(folder: &Path) -> Option<u64> {
    let text = read_to_string(folder.join("memory.stat")).ok()?;
    let limit = text
        .lines()
        .find_map(|line| line.strip_prefix("hierarchical_memory_limit "));
    let limit = limit?.trim().parse().ok();
    limit.filter(|limit| *limit < NONE_FROM)
}

/// Returns the limit of a group of version 2.
fn most(folder: &Path) -> Option<u64> {
    let text = read_to_string(folder.join("memory.max")).ok()?;
    text.trim().parse().ok()
}

/// A path of `mountinfo`, where spaces and the like are written as octal numbers.
fn unescaped(path: &str) -> PathBuf {
    let escapes = [
        (r"\040", " "),
        (r"\011", "\t"),
        (r"\012", "\n"),
        (r"\134", r"\"),
    ];
    let unescape = |path: String, (escape, plain): &(&str, &str)| path.replace(escape, plain);
    PathBuf::from(escapes.iter().fold(path.to_owned(), unescape))
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use tempfile::TempDir;

    use super::*;

    const FIRST: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory";
    const SECOND: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";

    /// A system with these files.
    fn system(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, content).unwrap();
        }
        folder
    }

    fn limit_of(files: &[(&str, &str)]) -> Option<u64> {
        group_limit(system(files).path())
    }

    #[test]
    fn the_first_version_tells_the_least_limit_of_all_groups_around() {
        let stat = "cache 0\nhierarchical_memory_limit 134217728\ntotal_cache 4096\n";
        let limit = limit_of(&[
            (
                "proc/self/cgroup",
                "5:cpu:/other\n4:hugetlb,memory:/jobs/one\n0::/\n",
            ),
            ("proc/self/mountinfo", &format!("{SECOND}\n{FIRST}\n")),
            ("sys/fs/cgroup/memory/jobs/one/memory.stat", stat),
        ]);
        assert_eq!(limit, Some(128 << 20));
    }

    #[test]
    fn the_second_version_has_a_limit_for_each_group_up_to_the_mount() {
        let files = |own: &'static str| {
            [
                ("proc/self/cgroup", "0::/jobs/one\n"),
                ("proc/self/mountinfo", SECOND),
                ("sys/fs/cgroup/jobs/one/memory.max", own),
                ("sys/fs/cgroup/jobs/memory.max", "268435456\n"),
                ("sys/fs/cgroup/memory.max", "max\n"),
            ]
        };
        assert_eq!(limit_of(&files("max\n")), Some(256 << 20));
        assert_eq!(limit_of(&files("1048576\n")), Some(1 << 20));
        assert_eq!(limit_of(&files("536870912\n")), Some(256 << 20));
    }

    #[test]
    fn a_container_that_sees_its_own_group_alone_finds_it_at_the_mount_point() {
        let mount =
            r"35 31 0:32 /docker/a\040b /sys/fs/my\040groups rw master:3 - cgroup cgroup rw,memory";
        let stat = "hierarchical_memory_limit 67108864\n";
        for group in ["/docker/a b", "/../elsewhere", "/"] {
            let limit = limit_of(&[
                ("proc/self/cgroup", &format!("4:memory:{group}\n")),
                ("proc/self/mountinfo", mount),
                ("sys/fs/my groups/memory.stat", stat),
            ]);
            assert_eq!(limit, Some(64 << 20), "{group}");
        }
    }

    #[test]
    fn files_that_are_missing_or_say_something_else_are_no_limit() {
        let endless = "hierarchical_memory_limit 9223372036854771712\n";
        for stat in [
            endless,
            "",
            "hierarchical_memory_limit much\n",
            "\0\u{fffd}",
        ] {
            let limit = limit_of(&[
                ("proc/self/cgroup", "4:memory:/\n:\n\nx\n"),
                ("proc/self/mountinfo", &format!("broken - \n- \n{FIRST}\n")),
                ("sys/fs/cgroup/memory/memory.stat", stat),
            ]);
            assert_eq!(limit, None, "{stat:?}");
        }
        assert_eq!(limit_of(&[]), None);
        assert_eq!(
            limit_of(&[
                ("proc/self/cgroup", "4:memory:/\n"),
                ("proc/self/mountinfo", FIRST)
            ]),
            None
        );
    }

    #[test]
    fn the_machine_counts_where_it_has_less_than_the_group() {
        for (group, is_of_group) in [("4194304", true), ("17179869184", false), ("max", false)] {
            let folder = system(&[
                ("proc/meminfo", "MemFree: 1 kB\nMemTotal:        8192 kB\n"),
                ("proc/self/cgroup", "0::/\n"),
                ("proc/self/mountinfo", SECOND),
                ("sys/fs/cgroup/memory.max", group),
            ]);
            let bytes = if is_of_group { 4 << 20 } else { 8 << 20 };
            let expected = MemoryLimit { bytes, is_of_group };
            assert_eq!(limit_below(folder.path()), Some(expected), "{group}");
        }
        assert_eq!(limit_below(system(&[]).path()), None);
    }
}
