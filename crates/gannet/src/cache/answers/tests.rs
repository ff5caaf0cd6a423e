//! The file of answers against a map, under damage, faults, crashes and other processes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::base::{Span, ZoneNumber};
use crate::device::BackendChoice;
use crate::device::{
    Fault, FaultKind, FileId, MemoryDevice, MemoryPage, RecordingDevice, open_answers,
};
use crate::storage::{History, Lineage, RootSlot, SlotKind};

const ANSWERS: FileId = FileId::Answers;

/// Eight blocks.
const BYTES: u64 = ANSWERS_BYTES_MIN;

/// A generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ (value >> 31)) % end.max(1) as u64) as usize
    }
}

fn seeded() -> Random {
    let seed = std::env::var("GANNET_SEED").map_or(1, |seed| seed.parse().unwrap());
    eprintln!("GANNET_SEED={seed}");
    Random(seed)
}

/// The state of a generation, of an index of this identity.
fn state(identity: u64, generation: u64) -> AnswerState {
    let nowhere: ZoneNumber = 0;
    let slot = RootSlot {
        identity,
        generation,
        root: Span {
            zone: nowhere,
            page: 0,
            offset: 0,
            length: 0,
        },
        kind: SlotKind::Index,
        history: History::default(),
    };
    AnswerState {
        root: Lineage::of(&slot),
        sequence: generation * 10,
    }
}

/// The only right answer to a question on a state: its length depends on both, too.
fn content(question: u64, generation: u64) -> Vec<u8> {
    let mut random = Random(question << 32 | generation);
    let length = match random.below(12) {
        0 => 20_000 + random.below(60_000),
        1..4 => 3_000 + random.below(8_000),
        _ => 50 + random.below(900),
    };
    let mut bytes = format!("{question} on {generation}: ").into_bytes();
    bytes.extend((0..length).map(|_| random.below(256) as u8));
    bytes
}

fn asked(question: u64) -> Vec<u8> {
    format!("question {question}").into_bytes()
}

/// A device with a lock that one file at a time has, if it is to be locked at all.
#[derive(Clone)]
struct Shelf {
    device: Arc<dyn Device>,
    is_locked: Arc<AtomicBool>,
}

impl Shelf {
    fn new(device: Arc<dyn Device>) -> Shelf {
        Shelf {
            device,
            is_locked: Arc::default(),
        }
    }

    fn open(&self) -> Result<AnswerFile> {
        self.open_with(BYTES)
    }

    fn open_with(&self, bytes: u64) -> Result<AnswerFile> {
        let shelf = self.clone();
        let open = move |access| match access {
            Access::Write if shelf.is_locked.load(Ordering::Relaxed) => Err(Error::Locked {
                path: "cache".into(),
                holder: "another".to_owned(),
            }),
            Access::Write | Access::Read => Ok(Arc::clone(&shelf.device)),
        };
        AnswerFile::open(Box::new(open), bytes, &Budget::new(64 << 20))
    }
}

fn store(file: &AnswerFile, question: u64, generation: u64) {
    file.store(&AnswerRecord {
        question: &asked(question),
        state: state(1, generation),
        at: generation,
        content: &content(question, generation),
    });
}

/// The answer that the file has to a question on a state; fails if it is a wrong one.
fn get(file: &AnswerFile, question: u64, generation: u64) -> bool {
    let (budget, wanted) = (Budget::new(16 << 20), state(1, generation));
    let found = file.get(&asked(question), &budget, &mut |answer| {
        if answer.state == wanted {
            AnswerFound::Given(answer.content.to_vec())
        } else {
            AnswerFound::Passed
        }
    });
    assert_eq!(budget.used(), 0);
    if let Some(found) = &found {
        assert!(
            *found == content(question, generation),
            "{question} {generation}"
        );
    }
    found.is_some()
}

fn memory() -> (Arc<MemoryDevice>, Shelf) {
    let device = Arc::new(MemoryDevice::new());
    (Arc::clone(&device), Shelf::new(device))
}

#[test]
fn an_answer_is_found_before_it_is_written_and_after_the_file_is_opened_again() {
    let (device, shelf) = memory();
    let file = shelf.open().unwrap();
    (0..5).for_each(|question| store(&file, question, 1));
    assert!((0..5).all(|question| get(&file, question, 1)));
    assert!(!get(&file, 0, 2) && !get(&file, 7, 1));
    assert_eq!(device.counters().snapshot().writes, 0);
    drop(file);
    let file = shelf.open().unwrap();
    assert!((0..5).all(|question| get(&file, question, 1)));
    assert_eq!(file.figures().answers, 5);
    // An answer that is there is not written again, and the next one goes on in the block.
    let written = device.counters().snapshot().written_bytes;
    (0..5).for_each(|question| store(&file, question, 1));
    file.flush();
    assert_eq!(device.counters().snapshot().written_bytes, written);
    assert_eq!(file.figures().known_answers, 5);
    store(&file, 9, 1);
    drop(file);
    let blocks = device
        .files()
        .get(ANSWERS)
        .unwrap()
        .len()
        .div_ceil(BLOCK_PAGES);
    assert_eq!(blocks, 1);
    assert!(get(&shelf.open().unwrap(), 9, 1));
}

#[test]
fn the_oldest_block_is_overwritten_and_the_file_keeps_to_its_size() {
    let (device, shelf) = memory();
    let file = shelf.open().unwrap();
    (0..3_000).for_each(|question| store(&file, question, 1));
    file.flush();
    let pages = device.files().get(ANSWERS).unwrap().len();
    assert!(pages <= BYTES as usize / PAGE_SIZE, "{pages}");
    let found: Vec<u64> = (0..3_000)
        .filter(|question| get(&file, *question, 1))
        .collect();
    assert!((100..600).contains(&found.len()), "{}", found.len());
    // The newest are there, but for those that are longer than a block.
    assert!(found[0] > 2_000 && found.contains(&2_999), "{found:?}");
    drop(file);
    // A smaller file begins anew, a larger one goes on.
    let file = shelf.open_with(2 * BYTES).unwrap();
    assert!(found.iter().all(|question| get(&file, *question, 1)));
    (0..6_000).for_each(|question| store(&file, question, 2));
    drop(file);
    let file = shelf.open().unwrap();
    assert_eq!(file.figures().answers, 0);
    store(&file, 5, 3);
    assert!(get(&file, 5, 3));
}

/// Each answer mostly finds too little left of a block, and then begins another one.
#[test]
fn answers_that_are_written_one_by_one_are_all_kept() {
    for reopens in [false, true] {
        let (_, shelf) = memory();
        let mut file = shelf.open().unwrap();
        for question in 0..60 {
            store(&file, question, 1);
            file.flush();
            if reopens {
                file = {
                    drop(file);
                    shelf.open().unwrap()
                };
            }
            assert!(get(&file, question, 1), "{question} {reopens}");
        }
        assert_eq!(file.figures().passed_over_answers, 0);
    }
}

#[test]
fn a_later_answer_takes_the_place_of_an_earlier_one_to_the_same_question() {
    let (_, shelf) = memory();
    let file = shelf.open().unwrap();
    store(&file, 1, 1);
    file.flush();
    store(&file, 1, 2);
    file.flush();
    assert!(get(&file, 1, 2) && !get(&file, 1, 1));
    assert_eq!(file.figures().answers, 1);
}

#[test]
fn what_it_gives_is_what_a_map_has() {
    let (_, shelf) = memory();
    let mut random = seeded();
    let mut known = BTreeSet::new();
    let mut file = shelf.open().unwrap();
    shelf.is_locked.store(true, Ordering::Relaxed);
    let mut other = shelf.open().unwrap();
    let (mut found, mut found_by_other) = (0, 0);
    for turn in 0..12_000 {
        let (question, generation) = (random.below(300) as u64, random.below(3) as u64);
        match random.below(40) {
            0 => file.flush(),
            1 if turn % 7 == 0 => {
                drop(file);
                shelf.is_locked.store(false, Ordering::Relaxed);
                file = shelf.open().unwrap();
                shelf.is_locked.store(true, Ordering::Relaxed);
            }
            2 if turn % 7 == 0 => other = shelf.open().unwrap(),
            3..12 => {
                store(&file, question, generation);
                known.insert((question, generation));
            }
            12..16 => store(&other, question, generation),
            16..25 => found_by_other += u64::from(get(&other, question, generation)),
            _ => {
                let is_found = get(&file, question, generation);
                assert!(!is_found || known.contains(&(question, generation)));
                found += u64::from(is_found);
            }
        }
    }
    assert!(
        found > 500 && found_by_other > 150,
        "{found}, {found_by_other}"
    );
    assert!(!other.figures().writes && other.figures().written_answers == 0);
}

#[test]
fn who_only_reads_finds_later_blocks_and_takes_over_when_the_writer_has_ended() {
    let (_, shelf) = memory();
    let writer = shelf.open().unwrap();
    shelf.is_locked.store(true, Ordering::Relaxed);
    let reader = shelf.open().unwrap();
    let found_soon = |question| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while std::time::Instant::now() < end {
            if get(&reader, question, 1) {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        false
    };
    for question in 0..500 {
        store(&writer, question, 1);
        if question % 50 == 49 {
            writer.flush();
            assert!(found_soon(question), "{question}");
        }
    }
    store(&reader, 1_000, 1);
    assert!(!get(&reader, 1_000, 1));
    drop(writer);
    shelf.is_locked.store(false, Ordering::Relaxed);
    std::thread::sleep(std::time::Duration::from_millis(110));
    store(&reader, 1_000, 1);
    assert!(get(&reader, 1_000, 1) && reader.figures().writes);
    assert!(get(&reader, 499, 1));
    drop(reader);
    assert!(get(&shelf.open().unwrap(), 1_000, 1));
}

/// The answers that are found, of those that were stored; none is a wrong one.
fn count(file: &AnswerFile, questions: u64) -> u64 {
    let found = (0..questions).filter(|question| get(file, *question, 1));
    found.count() as u64
}

fn filled(questions: u64) -> MemoryDevice {
    let (device, shelf) = memory();
    let file = shelf.open().unwrap();
    (0..questions).for_each(|question| store(&file, question, 1));
    drop(file);
    MemoryDevice::from_files(device.files())
}

/// Damages the file: flips, zeros, swaps of pages and of blocks, truncation, pages of another one.
fn damage(device: &MemoryDevice, other: &MemoryDevice, random: &mut Random) {
    let mut files = device.files();
    let mut pages = files.get(ANSWERS).unwrap_or_default().to_vec();
    for _ in 0..=random.below(4) {
        if pages.is_empty() {
            break;
        }
        let (at, to) = (random.below(pages.len()), random.below(pages.len()));
        match random.below(7) {
            0 => pages.truncate(at),
            1 => pages.swap(at, to),
            2 => {
                let (at, to) = (
                    at / BLOCK_PAGES * BLOCK_PAGES,
                    to / BLOCK_PAGES * BLOCK_PAGES,
                );
                for page in 0..BLOCK_PAGES {
                    if (at.max(to) + page) < pages.len() {
                        pages.swap(at + page, to + page);
                    }
                }
            }
            3 => pages[at] = MemoryPage::zero(),
            4 => {
                let foreign = other.page(ANSWERS, at as u32);
                pages[at] = foreign.unwrap_or_else(MemoryPage::zero);
            }
            _ => {
                // Headers have the most to tell.
                let at = if random.below(2) == 0 {
                    at / BLOCK_PAGES * BLOCK_PAGES
                } else {
                    at
                };
                let mut bytes = *pages[at].bytes();
                bytes[random.below(PAGE_SIZE)] ^= 1 << random.below(8);
                pages[at] = MemoryPage::new(&bytes);
            }
        }
    }
    files.insert(ANSWERS, pages.clone());
    device.remove(ANSWERS).unwrap();
    device.create(ANSWERS).unwrap();
    for (number, page) in (0..).zip(pages) {
        device.store(ANSWERS, number, page).unwrap();
    }
}

#[test]
fn a_thousand_damages_cost_answers_and_give_no_wrong_one() {
    let (sound, other, mut random) = (filled(60), filled(200), seeded());
    let (mut found, mut unproven) = (0, 0);
    for _ in 0..1_000 {
        let device = Arc::new(MemoryDevice::from_files(sound.files()));
        let is_open = random.below(2) == 0;
        let shelf = Shelf::new(device.clone());
        let open = is_open.then(|| shelf.open().unwrap());
        damage(&device, &other, &mut random);
        let file = open.unwrap_or_else(|| shelf.open().unwrap());
        found += count(&file, 60);
        unproven += file.figures().unproven_answers;
        // No other file has it.
        store(&file, 700, 1);
        drop(file);
        assert!(get(&shelf.open().unwrap(), 700, 1));
    }
    eprintln!("{found} answers were found, {unproven} did not prove themselves");
    assert!(found > 20_000 && unproven > 2_000, "{found} {unproven}");
}

#[test]
fn a_device_that_fails_at_any_change_costs_answers_and_says_so() {
    for kind in [
        FaultKind::Io,
        FaultKind::Full,
        FaultKind::ShortWrite { sectors: 13 },
        FaultKind::ShortWrite { sectors: 1 },
    ] {
        for at in 0..24 {
            let device = Arc::new(RecordingDevice::new());
            let shelf = Shelf::new(device.clone());
            device.fail(Fault {
                at,
                kind,
                sticky: false,
            });
            let Ok(file) = shelf.open() else {
                assert_eq!(device.faults_met(), 1);
                continue;
            };
            for question in 0..40 {
                store(&file, question, 1);
                if question % 4 == 3 {
                    file.flush();
                }
                assert!(get(&file, question, 1) || file.figures().stopped.is_some());
            }
            let is_stopped = file.figures().stopped.is_some();
            assert_eq!(is_stopped, device.faults_met() > 0, "{kind:?} {at}");
            count(&file, 40);
            drop(file);
            let again = shelf.open().unwrap();
            count(&again, 40);
            store(&again, 50, 1);
            assert!(get(&again, 50, 1));
        }
    }
    // Reads that fail are misses.
    let device = Arc::new(RecordingDevice::from_image(&filled(40)));
    let file = Shelf::new(device.clone()).open().unwrap();
    device.fail(Fault {
        at: 0,
        kind: FaultKind::Read,
        sticky: true,
    });
    assert_eq!(count(&file, 40), 0);
}

#[test]
fn what_a_power_loss_leaves_at_any_write_gives_no_wrong_answer() {
    let device = Arc::new(RecordingDevice::new());
    let file = Shelf::new(device.clone()).open().unwrap();
    for question in 0..90 {
        store(&file, question % 30, 1 + question / 30);
        if question % 5 == 4 {
            file.flush();
        }
    }
    drop(file);
    let (mut images, mut found) = (0, 0);
    for point in (0..device.events()).step_by(3) {
        for image in device.crash_images(point, 2, point as u64).take(6) {
            let shelf = Shelf::new(image.device);
            let file = shelf.open().unwrap();
            for question in 0..30 {
                let all = (1..4).filter(|generation| get(&file, question, *generation));
                found += all.count();
            }
            store(&file, 100, 1);
            drop(file);
            assert!(get(&shelf.open().unwrap(), 100, 1));
            images += 1;
        }
    }
    eprintln!("{images} images, {found} answers");
    assert!(images > 50 && found > 100);
}

#[test]
fn a_folder_is_this_users_and_its_files_nobody_else_may_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("deep/cache");
    let open = |folder: &std::path::Path| {
        let folder = folder.to_owned();
        let open = move |access| open_answers(&folder, BackendChoice::Auto, access);
        AnswerFile::open(Box::new(open), BYTES, &Budget::new(64 << 20))
    };
    let (first, second) = (open(&folder).unwrap(), open(&folder).unwrap());
    assert!(first.figures().writes && !second.figures().writes);
    store(&first, 1, 1);
    first.flush();
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert!(get(&second, 1, 1));
    for (name, mode) in [("", 0o700), ("answers", 0o700), ("answers/answers", 0o600)] {
        let found = std::fs::metadata(folder.join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, mode, "{name}");
    }
    // A folder that vanishes ends the writing, and nothing else.
    std::fs::remove_dir_all(&folder).unwrap();
    store(&first, 2, 1);
    first.flush();
    let stopped = first.figures().stopped.unwrap();
    assert!(
        stopped.contains("answers") || stopped.contains("list"),
        "{stopped}"
    );
    drop((first, second));

    let link = root.path().join("link");
    std::fs::create_dir_all(link.join("elsewhere")).unwrap();
    symlink(link.join("elsewhere"), link.join("answers")).unwrap();
    std::fs::rename(link.join("elsewhere"), root.path().join("elsewhere")).unwrap();
    let error = open(&link).err().unwrap().to_string();
    assert!(error.contains("a symbolic link"), "{error}");
}
