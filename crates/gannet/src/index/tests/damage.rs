//! Bytes that are not what was written: flipped, moved, reverted, or forged with a checksum that
//! fits.
//!
//! Whatever is changed, an index opens and answers rightly, or says that it is damaged; it never
//! panics and never answers wrongly. The log behind the last checkpoint is the one place where
//! damage can look like the end of an unsynced log; there an older state may come back, whole.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::random::Random;
use super::workload::{self, Step};
use super::world::{World, open};
use crate::analysis::VERSION;
use crate::base::{Error, PAGE_PAYLOAD, PAGE_SIZE};
use crate::device::{Device, FileId, MemoryDevice};
use crate::documents::TableChange;
use crate::storage::{IndexIdentity, PageKind, SealAddress, seal};

pub(super) type Bytes = [u8; PAGE_SIZE];

/// A page of a file.
pub(super) type PageAt = (FileId, u32);

/// A healthy index, whose pages are to be changed.
pub(super) struct Victim {
    world: World,
    device: MemoryDevice,
    pub(super) pages: Vec<PageAt>,
}

/// The outcome of one damaged index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    Rejected,
}

impl Victim {
    /// An index of several flushes; with `tail`, a synced batch stands in the log behind the last
    /// checkpoint.
    fn new(seed: u64, tail: bool) -> Victim {
        let mut steps = workload::mixed(seed, 50, 30);
        steps.push(Step::Checkpoint);
        if tail {
            steps.extend(workload::short(seed + 1).into_iter().take(2));
        }
        Victim::of(&steps)
    }

    pub(super) fn of(steps: &[Step]) -> Victim {
        let world = World::of(steps);
        let end = world.device.events();
        let image = world
            .device
            .crash_images(end, 0, 0)
            .next()
            .expect("an image");
        let device = MemoryDevice::from_files(image.device.files());
        let pages = all_pages(&device);
        Victim {
            world,
            device,
            pages,
        }
    }

    pub(super) fn bytes(&self, at: PageAt) -> Bytes {
        let (file, page) = at;
        *self.device.page(file, page).expect("a page").bytes()
    }

    /// A copy of the device in which these pages have other bytes.
    pub(super) fn with(&self, changes: &[(PageAt, Bytes)]) -> Arc<MemoryDevice> {
        let copy = MemoryDevice::from_files(self.device.files());
        for ((file, page), bytes) in changes {
            let content = crate::device::MemoryPage::new(bytes);
            copy.store(*file, *page, content).expect("stored");
        }
        Arc::new(copy)
    }

    /// Opens a changed device. The answer must be the last state, or one from `first` on, or an
    /// error.
    fn outcome(&self, device: Arc<MemoryDevice>, first: usize) -> Result<Outcome, String> {
        let last = self.world.states.len() - 1;
        let open_and_judge = || {
            let index = match open(device as Arc<dyn Device>) {
                Ok(index) => index,
                Err(error) => return is_damage(&error),
            };
            match self.world.judge_index(&index, (first, last)) {
                Ok(_) => Ok(Outcome::Right),
                Err(reason) if reason.contains("damaged") => Ok(Outcome::Rejected),
                Err(reason) => Err(reason),
            }
        };
        catch_unwind(AssertUnwindSafe(open_and_judge)).unwrap_or_else(|_| Err("panics".to_owned()))
    }

    /// The kind that a page says it has.
    pub(super) fn kind(&self, page: PageAt) -> Option<PageKind> {
        PageKind::from_number(self.bytes(page)[PAGE_PAYLOAD])
    }

    /// The identity of the index, from a root slot.
    pub(super) fn identity(&self) -> IndexIdentity {
        let slot = self.bytes((FileId::Superblock, 0));
        u64::from_le_bytes(slot[12..20].try_into().expect("eight bytes"))
    }
}

fn all_pages(device: &MemoryDevice) -> Vec<PageAt> {
    let files = device.list().expect("a list");
    let mut pages: Vec<PageAt> = files
        .into_iter()
        .flat_map(|(file, pages)| (0..pages).map(move |page| (file, page)))
        .collect();
    pages.sort_unstable();
    pages
}

fn is_damage(error: &Error) -> Result<Outcome, String> {
    match error {
        Error::Damaged { .. } | Error::Format { .. } | Error::Device { .. } => {
            Ok(Outcome::Rejected)
        }
        other => Err(format!("fails with {other}")),
    }
}

fn expect_none(what: &str, wrong: &[String], tally: &BTreeMap<Outcome, usize>) {
    println!("{what}: {tally:?}, {} wrong", wrong.len());
    let first: Vec<&String> = wrong.iter().take(5).collect();
    assert!(wrong.is_empty(), "{what}: {first:#?}");
}

/// Judges many changed devices and asserts that none of them answers wrongly.
fn judge_all(
    what: &str,
    victim: &Victim,
    first: usize,
    devices: impl Iterator<Item = (String, Arc<MemoryDevice>)>,
) -> BTreeMap<Outcome, usize> {
    let (mut tally, mut wrong) = (BTreeMap::new(), Vec::new());
    for (name, device) in devices {
        match victim.outcome(device, first) {
            Ok(outcome) => *tally.entry(outcome).or_default() += 1,
            Err(reason) => wrong.push(format!("{name}: {reason}")),
        }
    }
    expect_none(what, &wrong, &tally);
    tally
}

#[test]
fn a_flipped_bit_never_gives_a_wrong_answer() {
    for seed in 21..=22 {
        let victim = Victim::new(seed, false);
        let mut random = Random::new(seed);
        let flips = victim.pages.iter().flat_map(|page| [*page; 3]);
        let devices = flips.map(|page| {
            let mut bytes = victim.bytes(page);
            let bit = random.below(PAGE_SIZE * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            let name = format!(
                "bit {bit} of page {} of {} ({:?})",
                page.1,
                page.0,
                victim.kind(page)
            );
            (name, victim.with(&[(page, bytes)]))
        });
        let last = victim.world.states.len() - 1;
        judge_all(&format!("flips, seed {seed}"), &victim, last, devices);
    }
}

/// Every byte of the root slots, for they are what everything hangs on.
#[test]
fn a_damaged_root_slot_never_brings_an_old_root_back() {
    let victim = Victim::new(23, true);
    let last = victim.world.states.len() - 1;
    let places = (0..2).flat_map(|slot| (0..64).chain(4080..PAGE_SIZE).map(move |at| (slot, at)));
    let devices = places.map(|(slot, at)| {
        let page = (FileId::Superblock, slot);
        let mut bytes = victim.bytes(page);
        bytes[at] ^= 0x41;
        (
            format!("byte {at} of slot {slot}"),
            victim.with(&[(page, bytes)]),
        )
    });
    judge_all("root slots", &victim, last, devices);
    let zeros = [0, 1].map(|slot| {
        let page = (FileId::Superblock, slot);
        (
            format!("slot {slot} is gone"),
            victim.with(&[(page, [0; PAGE_SIZE])]),
        )
    });
    judge_all("root slots gone", &victim, last, zeros.into_iter());
}

#[test]
fn pages_that_were_swapped_copied_or_reverted_are_found() {
    let victim = Victim::new(24, false);
    let mut random = Random::new(24);
    let mut devices = Vec::new();
    for number in 0..300 {
        let page = victim.pages[random.below(victim.pages.len())];
        let other = victim.pages[random.below(victim.pages.len())];
        let (bytes, others) = (victim.bytes(page), victim.bytes(other));
        let (what, changes) = match number % 3 {
            0 => ("swapped with", vec![(page, others), (other, bytes)]),
            1 => ("overwritten by", vec![(page, others)]),
            _ => ("reverted, not", vec![(page, [0; PAGE_SIZE])]),
        };
        devices.push((format!("{page:?} {what} {other:?}"), victim.with(&changes)));
    }
    let last = victim.world.states.len() - 1;
    judge_all("moved pages", &victim, last, devices.into_iter());
}

/// Damage to the log behind the last checkpoint may look like its end, but gives a whole older
/// state.
#[test]
fn a_damaged_log_gives_a_whole_state() {
    let victim = Victim::new(25, true);
    let log = victim
        .pages
        .iter()
        .filter(|page| victim.kind(**page) == Some(PageKind::Log));
    let devices = log.map(|page| {
        let mut bytes = victim.bytes(*page);
        bytes[17] ^= 4;
        (format!("{page:?}"), victim.with(&[(*page, bytes)]))
    });
    let last = victim.world.states.len() - 1;
    judge_all("log", &victim, last.saturating_sub(2), devices);
}

/// Forged pages: random changes with a checksum that fits. Answers may be wrong then, but nothing
/// panics.
#[test]
fn forged_pages_make_errors_and_no_panics() {
    let (mut panics, mut tried) = (Vec::new(), 0);
    for seed in 31..=33 {
        let victim = Victim::new(seed, true);
        let mut random = Random::new(seed);
        for round in 0..400 {
            let page = victim.pages[random.below(victim.pages.len())];
            let bytes = forged(&victim, page, &mut random);
            tried += 1;
            let device = victim.with(&[(page, bytes)]);
            let outcome = victim.outcome(device, 0);
            if outcome.as_ref().is_err_and(|reason| reason == "panics") {
                let kind = victim.kind(page);
                panics.push(format!("seed {seed}, round {round}, {page:?} {kind:?}"));
            }
        }
    }
    println!("forged: {tried} pages, {} panics", panics.len());
    assert!(panics.is_empty(), "{panics:#?}");
}

/// Whatever a page of addresses says, no other document is taken for the one that is wanted.
#[test]
fn forged_addresses_never_lead_to_another_document() {
    let victim = Victim::of(&workload::many(35));
    let at = {
        // In an index that was opened just now, no page is in memory.
        let index = open(victim.with(&[])).expect("an index");
        let tables = &index.shared().published.get().tables;
        let missing = tables.missing(&[TableChange::SetAddress(200)]);
        let address = missing.first().expect("a page on the device").address;
        (FileId::Zone(address.zone), address.page)
    };
    let whole = victim.bytes(at);
    let used = whole[..PAGE_PAYLOAD].iter().rposition(|byte| *byte != 0);
    let used = used.expect("a page that is not empty");
    let mut random = Random::new(35);
    let devices = (0..used + 8).step_by(3).map(|byte| {
        let mut bytes = whole;
        bytes[byte] ^= 1 << random.below(8);
        let place = SealAddress {
            file: at.0,
            page: at.1,
        };
        seal(&mut bytes, victim.identity(), place, PageKind::Table);
        (format!("byte {byte}"), victim.with(&[(at, bytes)]))
    });
    let last = victim.world.states.len() - 1;
    let (mut wrong, mut rejected) = (Vec::new(), 0);
    for (name, device) in devices {
        match victim.outcome(device, last) {
            Ok(Outcome::Right) => {}
            Ok(Outcome::Rejected) => rejected += 1,
            // Forged with its checksum, an address may name a page that is not there.
            Err(reason) if reason.contains("read of zone") => rejected += 1,
            Err(reason) => wrong.push(format!("{name}: {reason}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rejected > 40, "{rejected}");
}

#[test]
fn an_index_with_words_of_another_analysis_is_rejected_and_the_way_is_named() {
    let victim = Victim::new(11, false);
    let roots = victim.pages.iter().copied();
    let roots = roots.filter(|at| victim.kind(*at) == Some(PageKind::Root));
    let changed = roots.filter_map(|(file, page)| {
        let mut bytes = victim.bytes((file, page));
        let mut versions = bytes.windows(VERSION.len());
        let at = versions.position(|text| text == VERSION.as_bytes())?;
        bytes[at] = b'0';
        seal(
            &mut bytes,
            victim.identity(),
            SealAddress { file, page },
            PageKind::Root,
        );
        Some(((file, page), bytes))
    });
    let changed: Vec<(PageAt, Bytes)> = changed.collect();
    let error = open(victim.with(&changed)).err().expect("an error");
    assert!(matches!(error, Error::Format { .. }), "{error}");
    let (told, found) = (error.to_string(), format!("0{}", &VERSION[1..]));
    for part in [VERSION, &found, "gannet export INDEX > FILE"] {
        assert!(told.contains(part), "{told}");
    }
}

/// A page with a few bytes changed, mostly near its front where headers are, and sealed again.
fn forged(victim: &Victim, at: PageAt, random: &mut Random) -> Bytes {
    let (file, page) = at;
    let mut bytes = victim.bytes(at);
    let used = bytes[..PAGE_PAYLOAD]
        .iter()
        .rposition(|byte| *byte != 0)
        .unwrap_or(0)
        + 1;
    for _ in 0..1 + random.below(4) {
        let reach = if random.one_in(2) { used.min(48) } else { used };
        let at = random.below(reach);
        bytes[at] = match random.below(4) {
            0 => 0xff,
            1 => 0,
            2 => bytes[at].wrapping_add(1),
            _ => random.next() as u8,
        };
    }
    let kind = victim.kind((file, page)).unwrap_or(PageKind::Log);
    seal(
        &mut bytes,
        victim.identity(),
        SealAddress { file, page },
        kind,
    );
    bytes
}
