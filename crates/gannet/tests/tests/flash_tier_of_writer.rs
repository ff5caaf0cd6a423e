//! An index that is written with a flash tier answers like one without, also when its tier knows
//! more than a crash left of the index.
//!
//! `GANNET_TIER_CRASHES` (6) and `GANNET_SEED`: how many crashes, and by which numbers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gannet::device::Device;
use gannet::{Index, Limits, Options};
use gannet_testkit::devices::{MemoryDevice, RecordingDevice};
use gannet_testkit::random::Rng;

use super::environment::{number, open};
use super::flash_tier::{Place, copy_folder, figures, same, seeded, write};

const MIB: usize = 1 << 20;

fn options() -> Options {
    let limits = Limits {
        zone_pages: Some(64),
        maintain_after: None,
        visible_after: None,
        beside: false,
        ..Limits::default()
    };
    Index::options().memory(16 * MIB).limits(limits)
}

fn cached(tier: &Path) -> Options {
    options().cache(tier, 16 << 20)
}

/// Writes, commits and asks, the same with the same numbers.
fn round(index: &Index, random: &mut Rng) {
    let first = random.below(1_200) as u64;
    write(index, first..first + 300, random);
    match random.below(3) {
        0 => while index.vacuum().expect("a vacuum") {},
        1 => while index.clean().expect("a cleaning") {},
        _ => {}
    }
    index.checkpoint().expect("a checkpoint");
}

#[test]
fn a_writer_reads_from_its_tier_what_left_memory() {
    let (place, mut random) = (Place::new(), seeded());
    let index = open(cached(&place.path("tier")), &place.path("index")).expect("a writer");
    for _ in 0..4 {
        round(&index, &mut random);
        same(&place.reader("index"), &index, 60, &mut random);
    }
    index.close().expect("an end");
    let index = open(cached(&place.path("tier")), &place.path("index")).expect("a writer");
    round(&index, &mut random);
    same(&place.reader("index"), &index, 60, &mut random);
    let figures = figures(&index);
    assert!(
        figures.read_pages > 50 && figures.unproven_pages == 0,
        "{figures:?}"
    );
}

/// An index on a device whose power fails, with a tier in a folder that keeps what was written to
/// it since. Zone numbers behind the root that is left are given again.
#[test]
fn a_tier_that_knows_more_than_a_crash_left_gives_no_wrong_page() {
    let (place, mut random) = (Place::new(), seeded());
    let device = Arc::new(RecordingDevice::new());
    let index = on(device.clone(), cached(&place.path("tier")));
    let mut floor = 0;
    for _ in 0..4 {
        round(&index, &mut random);
        floor = if floor == 0 { device.events() } else { floor };
        ask(&index, &mut random);
    }
    drop(index);
    let (mut read, mut foreign) = (0, 0);
    for crash in 0..number("GANNET_TIER_CRASHES", 6) {
        // At the end the root is the one under which the tier was written last.
        let point = match crash % 2 {
            0 => device.events(),
            _ => random.between(floor, device.events()),
        };
        let image = device.crash_images(point, 0, 0).random(random.next());
        let tier: PathBuf = place.path(&format!("tier-{crash}"));
        copy_folder(&place.path("tier"), &tier);
        let with_tier = on(again(&image.device), cached(&tier));
        let without = on(again(&image.device), options());
        foreign += figures(&with_tier).foreign_regions;
        let seed = random.next();
        for index in [&with_tier, &without] {
            let mut random = Rng::new(seed);
            round(index, &mut random);
            round(index, &mut random);
        }
        same(&without, &with_tier, 60, &mut random);
        assert_eq!(figures(&with_tier).unproven_pages, 0, "{}", image.what);
        read += figures(&with_tier).read_pages;
    }
    assert!(read > 0 && foreign > 0, "{read} {foreign}");
}

fn again(image: &MemoryDevice) -> Arc<RecordingDevice> {
    Arc::new(RecordingDevice::from_image(image))
}

fn on(device: Arc<dyn Device>, options: Options) -> Index {
    options.open_on(device, "test").expect("a writer")
}

fn ask(index: &Index, random: &mut Rng) {
    same(index, index, 60, random);
}
