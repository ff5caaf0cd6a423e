//! One cache folder that several processes use while it is damaged, full or taken away: answers
//! stay those of the index.
//!
//! `GANNET_CACHE_DAMAGES` (30) and `GANNET_SEED`: how many damages, and by which numbers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::command::{Place, Ran};
use crate::flash_tier::place_of;

const CACHE: [&str; 6] = [
    "--cache-dir",
    "cache",
    "--cache-size",
    "16MiB",
    "--memory",
    "16MiB",
];

/// Bytes of a page, which damages swap.
const PAGE: usize = 4_096;

/// Numbers that a seed gives.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}

/// Writes some queries to a file.
fn draw_queries(place: &Place, random: &mut Rng) {
    let mut word = || format!("w{}", random.below(500));
    let lines = (0..8).map(|n| match n % 3 {
        0 => format!("{}\n", word()),
        1 => format!("{} {}\n", word(), word()),
        _ => format!("{} AND {}\n", word(), word()),
    });
    place.write("queries.txt", lines.collect::<String>());
}

fn asked(place: &Place, index: &str, more: &[&str]) -> Ran {
    let search = ["search", index, "--queries", "queries.txt", "--json"];
    place.run(&[&search[..], more].concat())
}

/// The hits and totals of all queries.
fn answers(ran: &Ran) -> Vec<(Value, Value)> {
    let lines = ran.out.lines().map(|line| {
        let mut answer: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{ran:?}"));
        assert!(!answer["hits"].is_null(), "{line}");
        (answer["hits"].take(), answer["total"].take())
    });
    lines.collect()
}

/// Asks with the cache, and expects what the index answers alone, and a sentence at most.
fn same(place: &Place, what: &str) {
    let plain = asked(place, "index", &[]);
    let cached = asked(place, "index", &CACHE);
    assert_eq!((plain.code, cached.code), (0, 0), "{what}: {cached:?}");
    assert_eq!(answers(&plain), answers(&cached), "{what}");
    assert_eq!(answers(&plain).len(), 8, "{what}: {plain:?}");
    assert!(cached.err.lines().count() <= 1, "{what}: {}", cached.err);
}

/// A process that asks much, and has the cache meanwhile.
fn busy(place: &Place) -> Child {
    place.write(
        "busy.tsv",
        (0..400)
            .map(|n| format!("or\tw{n} w{}\n", n * 7 % 500))
            .collect::<String>(),
    );
    let bench = ["bench", "index", "busy.tsv", "--fetch", "--seconds", "60"];
    let mut command = place.command(&[&bench[..], &CACHE].concat());
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ended(mut process: Child, what: &str) {
    assert!(
        process.try_wait().unwrap().is_none(),
        "{what}: it has ended"
    );
    process.kill().unwrap();
    let said = process.wait_with_output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains("panicked"), "{what}: {said}");
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.append(&mut files_of(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

/// Damages a file of the cache in one of the ways in which files are damaged. `earlier` is a copy
/// of another time.
fn damage(folder: &Path, earlier: &mut Vec<u8>, random: &mut Rng) -> String {
    let files = files_of(folder);
    let large = files
        .iter()
        .filter(|file| fs::metadata(file).unwrap().len() > 0);
    let large: Vec<&PathBuf> = large.collect();
    if large.is_empty() {
        return "nothing there".to_owned();
    }
    let file = large[random.below(large.len())];
    let mut bytes = fs::read(file).unwrap();
    let (at, end) = (random.below(bytes.len()), bytes.len());
    let page = |random: &mut Rng| random.below(end.div_ceil(PAGE)) * PAGE;
    let what = match random.below(7) {
        0 => {
            bytes[at] ^= 1 << random.below(8);
            "a flipped bit"
        }
        1 => {
            (0..200).for_each(|_| bytes[random.below(end)] ^= 1 << random.below(8));
            "many flipped bits"
        }
        2 => {
            bytes.truncate(at);
            "a cut file"
        }
        3 => {
            bytes[at..(at + 100_000).min(end)].fill(0);
            "zeros"
        }
        4 => {
            fs::remove_file(file).unwrap();
            return format!("no {}", file.display());
        }
        5 => {
            let (one, other) = (page(random), page(random));
            let count = PAGE.min(end - one.max(other));
            (0..count).for_each(|n| bytes.swap(one + n, other + n));
            "swapped pages"
        }
        _ => {
            std::mem::swap(&mut bytes, earlier);
            "another file, or one of another time"
        }
    };
    fs::write(file, &bytes).unwrap();
    format!("{what} in {}", file.display())
}

#[test]
fn damages_of_a_cache_cost_reads_and_no_answer() {
    let (place, mut random) = (place_of(6_000), Rng(number("GANNET_SEED", 1)));
    let (folder, mut earlier) = (place.path("cache"), vec![7; 10_000]);
    let count = number("GANNET_CACHE_DAMAGES", 30);
    for at in 0..count {
        draw_queries(&place, &mut random);
        let what = if at % 10 == 9 {
            let process = busy(&place);
            std::thread::sleep(std::time::Duration::from_millis(200));
            let what = format!(
                "{at}: {}, in use",
                damage(&folder, &mut earlier, &mut random)
            );
            same(&place, &what);
            ended(process, &what);
            what
        } else {
            format!("{at}: {}", damage(&folder, &mut earlier, &mut random))
        };
        same(&place, &what);
    }
    eprintln!("{count} damages: all answers right");
}

#[test]
fn a_cache_that_vanishes_during_use_costs_no_answer() {
    let (place, mut random) = (place_of(6_000), Rng(7));
    for at in 0..4 {
        draw_queries(&place, &mut random);
        let process = busy(&place);
        std::thread::sleep(std::time::Duration::from_millis(300));
        match at % 2 {
            0 => fs::remove_dir_all(place.path("cache")).unwrap(),
            _ => fs::rename(place.path("cache"), place.path(&format!("away{at}"))).unwrap(),
        }
        same(&place, "it is gone");
        ended(process, "it is gone");
        same(&place, "it is there again");
    }
}

/// A file system of a few MiB; nothing where this user may mount none.
struct Small(PathBuf);

impl Small {
    fn new(folder: PathBuf) -> Option<Small> {
        fs::create_dir(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"])
            .arg(&folder);
        let mounted = mount.stderr(Stdio::null()).status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(Small(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_stops_the_cache_and_no_search() {
    let (place, mut random) = (place_of(6_000), Rng(11));
    let Some(_small) = Small::new(place.path("cache")) else {
        eprintln!("skipped: this user may mount no file system");
        return;
    };
    for _ in 0..20 {
        draw_queries(&place, &mut random);
        same(&place, "a full disk");
    }
    let stats = place.run(&[&["stats", "index", "--json"][..], &CACHE].concat());
    assert_eq!(stats.code, 0, "{stats:?}");
    // Nothing at all can be made there.
    for file in files_of(&place.path("cache")) {
        fs::remove_file(file).unwrap();
    }
    let fill = |n: u32| fs::write(place.path(&format!("cache/rest{n}")), vec![1; 256 << 10]);
    assert!((0..100).any(|n| fill(n).is_err()), "the disk is not full");
    same(&place, "no space for a file");
}

#[cfg(feature = "remote")]
#[test]
fn a_page_that_one_process_has_kept_is_not_asked_of_the_store_by_another() {
    let (place, mut random) = (place_of(6_000), Rng(3));
    let url = format!("file://{}", place.path("published").display());
    place.done(&["publish", "index", &url]);
    let pages = [&CACHE[..], &["--result-cache", "0"]].concat();
    draw_queries(&place, &mut random);
    let plain = asked(&place, "index", &[]);
    let first = asked(&place, &url, &pages);
    assert_eq!(answers(&first), answers(&plain), "{first:?}");
    // No page can be had from the store any more.
    for entry in fs::read_dir(place.path("published")).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("zone-") {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    }
    let second = asked(&place, &url, &pages);
    assert_eq!(second.code, 0, "{second:?}");
    assert_eq!(answers(&second), answers(&plain));
    let alone = asked(&place, &url, &[]);
    assert_ne!(alone.code, 0, "{alone:?}");
}
