//! Where offload stops paying: the link, the width of a posting and the cores are varied, and what
//! was counted once is priced anew.
//!
//! Pages are those that the lists would have if a posting had this width, as far as they are read.
//! So the program's operators stay those of Gannet's blocks. Cores share a query without any loss,
//! which favours the drive; the host has one thread.

use gannet_offload::{Tried, Way};
use gannet_ssd::smart::SmartProfile;
use serde_json::{Value as Json, json};

use super::Asked;
use crate::Outcome;

/// Bytes of a page.
const PAGE_BYTES: f64 = 4096.0;

const LINKS: [f64; 6] = [500.0, 1e3, 2e3, 4e3, 8e3, 14e3];
const WIDTHS: [f64; 6] = [32.0, 16.0, 8.0, 4.0, 2.0, 1.0];
const CORES: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

/// A point for each link, width and number of cores, with bounds and without where queries rank.
pub fn rows(asked: &[Asked<'_>], profile: &SmartProfile) -> Outcome<Vec<Json>> {
    let mut rows = Vec::new();
    for link in LINKS {
        for cores in CORES {
            let profile = with(profile, link, cores)?;
            for width in WIDTHS {
                for (way, prunes) in [(Way::All, false), (Way::Best, false), (Way::Best, true)] {
                    let point = Point::of(asked, way, prunes, width, &profile);
                    rows.extend(point.map(|point| {
                        json!({"link_mb_s": link, "cores": cores, "width": width,
                               "early": prunes, "queries": point.queries, "host_ms": point.host_ms,
                               "drive_ms": point.drive_ms, "drive_faster": point.drive_faster})
                    }));
                }
            }
        }
    }
    Ok(rows)
}

fn with(profile: &SmartProfile, link: f64, cores: f64) -> Outcome<SmartProfile> {
    let device = &profile.device;
    let changes = [
        ("link_mb_s", link),
        ("device_mhz", device.mhz * cores),
        ("device_dram_ns", device.dram_ns / cores),
        ("device_sram_ns", device.sram_ns / cores),
    ];
    let mut changed = profile.clone();
    for (key, value) in changes {
        changed = changed.with(&format!("{key}={value}"))?;
    }
    Ok(changed)
}

#[derive(Default)]
struct Point {
    queries: u64,
    host_ms: f64,
    drive_ms: f64,
    drive_faster: u64,
}

impl Point {
    /// The sums; nothing if no query ranks in this way, or if all rank and this way does not.
    fn of(
        asked: &[Asked<'_>],
        way: Way,
        prunes: bool,
        width: f64,
        profile: &SmartProfile,
    ) -> Option<Point> {
        let mut point = Point::default();
        for asked in asked {
            if let Some(run) = asked.trial.tried(way, prunes)
                && asked.is_ranked() == (way == Way::Best)
            {
                point.add(asked, run, width, profile);
            }
        }
        (point.queries > 0).then_some(point)
    }

    fn add(&mut self, asked: &Asked<'_>, run: &Tried, width: f64, profile: &SmartProfile) {
        let all = f64::from(asked.list_pages());
        let lists = asked.trial.lists.iter();
        let wide = lists.map(|list| (list.0 as f64 * width / PAGE_BYTES).ceil());
        let factor = wide.sum::<f64>() / all.max(1.0);
        let used = asked.cold_pages(run.way, run.prunes) as f64;
        // The others are pages of norms.
        let in_drive = used.min(run.work.flash_pages as f64);
        let rounds = f64::from(asked.read.cold_rounds);
        let host = run.on_host((used * factor).ceil(), rounds, profile).cost.ms;
        let wide = run.with_pages(in_drive * (factor - 1.0), profile);
        let drive = wide.in_drive(profile).ms;
        self.queries += 1;
        self.host_ms += host;
        self.drive_ms += drive;
        self.drive_faster += u64::from(drive < host);
    }
}
