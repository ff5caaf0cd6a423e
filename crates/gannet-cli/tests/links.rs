//! Folders that somebody else has prepared: links, pipes and folders in place of every file that
//! the program opens. What they lead to stays as it was, nothing waits, and each failure is one
//! sentence.

use std::cell::Cell;
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::Place;

/// No command takes as long, unless it waits for what never comes.
const LONGEST: Duration = Duration::from_secs(60);

const KEPT: &str = "what the user has written\n";

/// The kinds of files that stand in place of a regular one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trap {
    Link,
    Dangling,
    FolderLink,
    HardLink,
    Pipe,
    Folder,
}

const TRAPS: [Trap; 6] = [
    Trap::Link,
    Trap::Dangling,
    Trap::FolderLink,
    Trap::HardLink,
    Trap::Pipe,
    Trap::Folder,
];

/// The outcome of a run.
struct End {
    code: i32,
    out: String,
    err: String,
}

struct Attacked {
    place: Place,
    count: Cell<u32>,
}

impl Attacked {
    fn new() -> Attacked {
        let place = Place::new();
        let lines = |from: u32| {
            let line = |n| format!("{{\"id\":\"{n}\",\"body\":\"common w{}\"}}\n", n % 9);
            (from..from + 60).map(line).collect::<String>()
        };
        place.write("docs.jsonl", lines(0));
        place.write("more.jsonl", lines(40));
        place.done(&["index", "sound", "docs.jsonl"]);
        place.done(&["delete", "sound", "3"]);
        place.done(&["backup", "sound", "backup"]);
        Attacked {
            place,
            count: Cell::new(0),
        }
    }

    /// A copy of a folder under a name of its own.
    fn copy(&self, of: &str) -> String {
        let name = self.fresh();
        copy_all(&self.place.path(of), &self.place.path(&name));
        name
    }

    fn fresh(&self) -> String {
        self.count.set(self.count.get() + 1);
        format!("copy{}", self.count.get())
    }

    /// Puts a trap in place of the file `name` of a folder.
    fn plant(&self, folder: &str, name: &str, trap: Trap) {
        let path = self.place.path(folder).join(name);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        let victims = self.place.path("victims");
        let _ = fs::remove_dir_all(&victims);
        fs::create_dir_all(victims.join("folder")).unwrap();
        fs::write(victims.join("file"), KEPT).unwrap();
        fs::write(victims.join("folder/2-99-1"), "").unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match trap {
            Trap::Link => symlink(victims.join("file"), &path).unwrap(),
            Trap::Dangling => symlink(victims.join("new"), &path).unwrap(),
            Trap::FolderLink => symlink(victims.join("folder"), &path).unwrap(),
            Trap::HardLink => fs::hard_link(victims.join("file"), &path).unwrap(),
            Trap::Pipe => make_pipe(&path),
            Trap::Folder => fs::create_dir(&path).unwrap(),
        }
    }

    #[track_caller]
    fn expect_kept(&self, told: &str) {
        let victims = self.place.path("victims");
        let kept = fs::read_to_string(victims.join("file")).unwrap();
        assert_eq!(kept, KEPT, "{told}");
        assert!(!victims.join("new").exists(), "{told}");
        let mut folder = fs::read_dir(victims.join("folder")).unwrap();
        let only = folder.next().unwrap().unwrap().file_name();
        assert_eq!(only, "2-99-1", "{told}");
        assert!(folder.next().is_none(), "{told}");
    }

    /// Runs a command against a trap.
    #[track_caller]
    fn run(&self, arguments: &[&str], told: &str) -> End {
        let told = format!("{arguments:?}: {told}");
        let mut command = self.place.command(arguments);
        let end = in_time(&mut command, &told);
        self.expect_kept(&told);
        assert!((0..=2).contains(&end.code), "{told}: {}", end.err);
        let lines = end.err.lines().count();
        assert!(end.code == 0 || lines == 1, "{told}: {}", end.err);
        assert!(
            lines == 0 || end.err.starts_with("gannet: "),
            "{told}: {}",
            end.err
        );
        end
    }
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[track_caller]
fn in_time(command: &mut Command, told: &str) -> End {
    let streams = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut process, started) = (streams.spawn().unwrap(), Instant::now());
    let status = loop {
        if let Some(status) = process.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > LONGEST {
            let _ = process.kill();
            panic!("it waits: {told}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (mut out, mut err) = (String::new(), String::new());
    process.stdout.unwrap().read_to_string(&mut out).unwrap();
    process.stderr.unwrap().read_to_string(&mut err).unwrap();
    End {
        code: status.code().unwrap_or(-1),
        out,
        err,
    }
}

/// The zones of a folder, in order.
fn zones(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut zones: Vec<String> = names.filter(|name| name.starts_with("zone-")).collect();
    zones.sort();
    zones
}

/// All that is opened in the folder of an index or a backup: the first zone and the last stand for
/// all, and the one that comes next is made.
fn names(folder: &Path) -> Vec<String> {
    let zones = zones(folder);
    let last = zones.last().unwrap();
    let number: u32 = last.trim_start_matches("zone-").parse().unwrap();
    let mut names = ["LOCK", "superblock", "readers"]
        .map(str::to_owned)
        .to_vec();
    names.extend([
        zones[0].clone(),
        last.clone(),
        format!("zone-{:08}", number + 1),
    ]);
    names
}

#[test]
fn traps_in_an_index_catch_nobody() {
    let attacked = Attacked::new();
    let count = ["search", "sound", "common", "--count"];
    let answer = attacked.place.done(&count);
    for name in names(&attacked.place.path("sound")) {
        for trap in TRAPS {
            let index = attacked.copy("sound");
            attacked.plant(&index, &name, trap);
            let (fresh, told) = (attacked.fresh(), format!("{trap:?} as {name}"));
            let url = format!(
                "file://{}",
                attacked.place.path(&attacked.fresh()).display()
            );
            let found = attacked.run(&["search", &index, "common", "--count"], &told);
            assert!(
                found.code != 0 || found.out == answer,
                "{told}: {}",
                found.out
            );
            for arguments in [
                &["check", &index][..],
                &["restore", &index, &attacked.fresh()],
                &["backup", &index, &fresh],
                #[cfg(feature = "remote")]
                &["publish", &index, &url],
                &["vacuum", &index],
                &["delete", &index, "5"],
                &["index", &index, "more.jsonl"],
                &["rebuild", &index],
            ] {
                let end = attacked.run(arguments, &told);
                let is_followed = matches!(trap, Trap::Link | Trap::Dangling | Trap::FolderLink);
                let is_index = ["superblock", "LOCK"].contains(&name.as_str());
                if is_followed && is_index {
                    assert!(end.err.contains("a symbolic link"), "{told}: {}", end.err);
                }
            }
            let _ = url;
        }
    }
}

#[test]
fn traps_in_a_backup_catch_nobody() {
    let attacked = Attacked::new();
    attacked.place.done(&["index", "sound", "more.jsonl"]);
    for name in names(&attacked.place.path("backup")) {
        for trap in TRAPS {
            let backup = attacked.copy("backup");
            attacked.plant(&backup, &name, trap);
            let told = format!("{trap:?} as {name} of a backup");
            attacked.run(&["search", &backup, "common", "--count"], &told);
            attacked.run(&["restore", &backup, &attacked.fresh()], &told);
            let end = attacked.run(&["backup", "sound", &backup], &told);
            if end.code == 0 {
                attacked.run(&["check", &backup], &told);
            }
        }
    }
    // Nor in a folder that is no backup yet.
    for name in ["LOCK", "superblock", "zone-00000001", "readers"] {
        for trap in TRAPS {
            let folder = attacked.fresh();
            fs::create_dir(attacked.place.path(&folder)).unwrap();
            attacked.plant(&folder, name, trap);
            let told = format!("{trap:?} as {name} of an empty folder");
            attacked.run(&["backup", "sound", &folder], &told);
            attacked.run(&["restore", "backup", &folder], &told);
            attacked.run(&["index", &folder, "docs.jsonl"], &told);
        }
    }
}

#[test]
fn a_search_with_a_trap_as_its_cache_is_answered_without() {
    let attacked = Attacked::new();
    let answer = attacked
        .place
        .done(&["search", "sound", "common", "--count"]);
    for name in ["LOCK", "flash-tier", "answers", "other"] {
        for trap in TRAPS {
            let cache = attacked.fresh();
            fs::create_dir(attacked.place.path(&cache)).unwrap();
            attacked.plant(&cache, name, trap);
            let told = format!("{trap:?} as {name} of a cache");
            let given = ["--cache-dir", &cache, "--cache-size", "16MiB"];
            let search = ["search", "sound", "common", "--count"];
            let end = attacked.run(&[&search[..], &given].concat(), &told);
            assert_eq!((end.code, &end.out), (0, &answer), "{told}: {}", end.err);
            // It is locked, or read, and not written.
            let is_used = match name {
                "answers" => trap == Trap::Folder,
                _ => name != "other" && trap == Trap::HardLink,
            };
            let note = match name {
                "answers" => "gannet: note: no answers are kept in the cache: ",
                _ => "gannet: note: the index is read past the cache: ",
            };
            assert!(is_used || end.err.starts_with(note), "{told}: {}", end.err);
        }
    }
}

#[cfg(feature = "remote")]
#[test]
fn traps_in_a_publication_catch_nobody() {
    let attacked = Attacked::new();
    let url = |place: &Place, name: &str| format!("file://{}", place.path(name).display());
    let published = url(&attacked.place, "published");
    attacked.place.done(&["publish", "sound", &published]);
    attacked.place.done(&["index", "sound", "more.jsonl"]);
    let first = |folder: &Path| {
        let entry = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
        entry.file_name().to_string_lossy().into_owned()
    };
    let folder = attacked.place.path("published");
    let zone = zones(&folder).remove(0);
    let object = format!("{zone}/{}", first(&folder.join(&zone)));
    let pack = format!("packs/{}", first(&folder.join("packs")));
    let next = "zone-00009999".to_owned();
    for name in [
        "superblock".to_owned(),
        "LOCK".to_owned(),
        zone,
        object,
        pack,
        next,
    ] {
        for trap in TRAPS {
            let copy = attacked.copy("published");
            attacked.plant(&copy, &name, trap);
            let (told, at) = (
                format!("{trap:?} as {name} of a publication"),
                url(&attacked.place, &copy),
            );
            let fresh = attacked.fresh();
            for arguments in [
                &["search", &at, "common", "--count"][..],
                &["check", &at],
                &["restore", &at, &fresh],
                &["publish", "sound", &at, "--keep", "1s"],
            ] {
                let soon = ["--remote-timeout", "2s"];
                attacked.run(&[arguments, &soon].concat(), &told);
            }
        }
    }
}

/// The paths that a command opens below the folder of the test, with the flags of each; nothing
/// where the system does not let one be traced.
fn opened(place: &Place, arguments: &[&str]) -> Option<Vec<(PathBuf, String)>> {
    let plain = place.command(arguments);
    let trace = place.path("trace");
    let mut traced = Command::new("strace");
    traced.args([
        "-f",
        "-qq",
        "-s",
        "4096",
        "-e",
        "trace=open,openat,openat2,creat",
        "-o",
    ]);
    traced
        .arg(&trace)
        .arg(plain.get_program())
        .args(plain.get_args());
    traced
        .current_dir(plain.get_current_dir().unwrap())
        .stdin(Stdio::null());
    let ran = traced.output().ok()?;
    let text = fs::read_to_string(trace).ok()?;
    assert!(
        ran.status.success() || text.is_empty(),
        "{arguments:?}: {ran:?}"
    );
    let lines = text.lines().filter_map(|line| {
        let (_, call) = line.split_once("open")?;
        let (_, rest) = call.split_once('"')?;
        let (path, flags) = rest.split_once('"')?;
        Some((PathBuf::from(path), flags.to_owned()))
    });
    Some(lines.collect())
}

#[test]
fn no_file_of_a_folder_is_opened_through_a_link() {
    let attacked = Attacked::new();
    let cache = ["--cache-dir", "cache", "--cache-size", "16MiB"];
    let expected = ["LOCK", "superblock", "readers", "flash-tier", "answers"];
    let mut names = 0;
    for arguments in [
        &[&["search", "sound", "common"][..], &cache].concat()[..],
        &["check", "sound"],
        &["backup", "sound", "again"],
        &["restore", "again", "restored"],
        &["index", "sound", "more.jsonl"],
        &["delete", "sound", "5"],
        &["vacuum", "sound"],
        &["rebuild", "sound"],
    ] {
        let Some(opened) = opened(&attacked.place, arguments).filter(|all| !all.is_empty()) else {
            eprintln!("skipped: strace does not run here");
            return;
        };
        for (path, flags) in opened {
            let text = path.to_string_lossy().into_owned();
            let folders = ["sound/", "again/", "restored/", "cache/"];
            if !folders.iter().any(|folder| text.starts_with(folder)) || text.ends_with('/') {
                continue;
            }
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_known = name.starts_with("zone-") || expected.contains(&name.as_str());
            assert!(
                is_known,
                "{arguments:?}: {text}, which no test has a trap for"
            );
            // A folder that was opened before without following a link is listed by its name.
            let is_listed = name == "answers" && flags.contains("O_DIRECTORY");
            let is_safe = is_listed || flags.contains("O_NOFOLLOW");
            assert!(is_safe, "{arguments:?}: {text}{flags}");
            names += 1;
        }
    }
    assert!(names > 20, "{names}");
}
