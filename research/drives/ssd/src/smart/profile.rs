//! Profiles of drives that run programs, as text files.
//!
//! A line is `key = number`; `#` begins a comment. Every key must stand there once. What is wrong
//! is rejected with file, line and what is allowed. The shipped profiles are in `profiles/`; each
//! says of its numbers what they are: taken from the paper, calibrated on it, or assumed.

use std::path::Path;

use gannet::{Error, Result};

use crate::clock::Nanos;
use crate::profile::{Profile, SMART_SSD};

/// The profiles that are shipped.
const SHIPPED: [(&str, &str); 4] = [
    (
        "smart-ssd-2016",
        include_str!("../../profiles/smart-ssd-2016.profile"),
    ),
    (
        "smart-pcie4",
        include_str!("../../profiles/smart-pcie4.profile"),
    ),
    (
        "smart-pcie5",
        include_str!("../../profiles/smart-pcie5.profile"),
    ),
    (
        "smart-fast",
        include_str!("../../profiles/smart-fast.profile"),
    ),
];

/// A drive that runs programs, and its host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmartProfile {
    /// What it is called.
    pub name: String,
    /// The processor and memory in the drive.
    pub device: DeviceSide,
    /// The host's.
    pub host: HostSide,
    /// Channels of the flash.
    pub channels: f64,
    /// MB/s of a channel.
    pub channel_mb_s: f64,
    /// Microseconds to read a flash page into its register.
    pub page_us: f64,
    /// MB/s of the link to the host.
    pub link_mb_s: f64,
    /// MB/s of results through GET.
    pub get_mb_s: f64,
    /// Microseconds between two polls.
    pub poll_us: f64,
    /// Pages of 4 KiB of a request of flash.
    pub request_pages: f64,
    /// Microjoules to read a page of 4 KiB of flash.
    pub page_uj: f64,
    /// Nanojoules of a byte on the link.
    pub link_nj: f64,
}

/// The drive's own side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceSide {
    /// Cores; a session holds one, so it is also the number of sessions.
    pub cores: f64,
    /// MHz of a core.
    pub mhz: f64,
    /// Cycles of a WebAssembly operator.
    pub cycles_per_operator: f64,
    /// Nanoseconds of an access to DRAM.
    pub dram_ns: f64,
    /// Nanoseconds of an access to SRAM.
    pub sram_ns: f64,
    /// MiB of DRAM of a session.
    pub dram_mib: f64,
    /// KiB of SRAM of a session.
    pub sram_kib: f64,
    /// Microseconds of a request of flash from inside.
    pub request_us: f64,
    /// Watts above idle while the drive works.
    pub watts: f64,
}

/// The host's side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSide {
    /// MHz of a core.
    pub mhz: f64,
    /// Cycles of an operator.
    pub cycles_per_operator: f64,
    /// Nanoseconds of an access to memory.
    pub access_ns: f64,
    /// Nanoseconds of a byte that comes in.
    pub byte_ns: f64,
    /// Microseconds of a request to the drive.
    pub request_us: f64,
    /// Microseconds that a query takes beside its operation.
    pub query_us: f64,
    /// Nanoseconds to rank a result.
    pub rank_ns: f64,
    /// Watts above idle while the host works.
    pub watts: f64,
}

/// A key of a profile: its name, where its number goes, the least and the most it can be.
type Key = (&'static str, fn(&mut SmartProfile) -> &mut f64, f64, f64);

const KEYS: [Key; 26] = [
    ("device_cores", |p| &mut p.device.cores, 1.0, 1024.0),
    ("device_mhz", |p| &mut p.device.mhz, 1.0, 1e5),
    (
        "device_cycles_per_operator",
        |p| &mut p.device.cycles_per_operator,
        1e-3,
        1e3,
    ),
    ("device_dram_ns", |p| &mut p.device.dram_ns, 0.0, 1e5),
    ("device_sram_ns", |p| &mut p.device.sram_ns, 0.0, 1e5),
    ("device_dram_mib", |p| &mut p.device.dram_mib, 1.0, 2048.0),
    ("device_sram_kib", |p| &mut p.device.sram_kib, 4.0, 1024.0),
    ("device_request_us", |p| &mut p.device.request_us, 0.0, 1e6),
    ("device_watts", |p| &mut p.device.watts, 1e-3, 1e4),
    ("host_mhz", |p| &mut p.host.mhz, 1.0, 1e5),
    (
        "host_cycles_per_operator",
        |p| &mut p.host.cycles_per_operator,
        1e-3,
        1e3,
    ),
    ("host_access_ns", |p| &mut p.host.access_ns, 0.0, 1e5),
    ("host_byte_ns", |p| &mut p.host.byte_ns, 0.0, 1e5),
    ("host_request_us", |p| &mut p.host.request_us, 0.0, 1e6),
    ("host_query_us", |p| &mut p.host.query_us, 0.0, 1e6),
    ("host_rank_ns", |p| &mut p.host.rank_ns, 0.0, 1e6),
    ("host_watts", |p| &mut p.host.watts, 1e-3, 1e4),
    ("channels", |p| &mut p.channels, 1.0, 64.0),
    ("channel_mb_s", |p| &mut p.channel_mb_s, 1.0, 1e5),
    ("page_us", |p| &mut p.page_us, 0.0, 1e4),
    ("link_mb_s", |p| &mut p.link_mb_s, 1.0, 1e5),
    ("get_mb_s", |p| &mut p.get_mb_s, 1.0, 1e5),
    ("poll_us", |p| &mut p.poll_us, 1.0, 1e6),
    ("request_pages", |p| &mut p.request_pages, 1.0, 256.0),
    ("page_uj", |p| &mut p.page_uj, 0.0, 1e6),
    ("link_nj", |p| &mut p.link_nj, 0.0, 1e6),
];

/// Keys whose numbers must be whole.
const WHOLE: [&str; 5] = [
    "device_cores",
    "device_dram_mib",
    "device_sram_kib",
    "channels",
    "request_pages",
];

impl SmartProfile {
    /// The shipped profile of a name.
    pub fn named(name: &str) -> Result<SmartProfile> {
        let found = SHIPPED.iter().find(|(shipped, _)| *shipped == name);
        let (name, text) = found.ok_or_else(|| {
            let names = SHIPPED.map(|(name, _)| name).join(", ");
            Error::invalid(format!(
                "no profile is called {name}: expected one of {names}, or a file that ends with .profile"
            ))
        })?;
        SmartProfile::parse(name, text)
    }

    /// The shipped profile of a name, or that of a file if the name ends with `.profile`.
    pub fn find(name: &str) -> Result<SmartProfile> {
        if !name.ends_with(".profile") {
            return SmartProfile::named(name);
        }
        let text = std::fs::read_to_string(Path::new(name))
            .map_err(|error| Error::invalid(format!("{name} cannot be read: {error}")))?;
        SmartProfile::parse(name, &text)
    }

    /// The profile in a text; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<SmartProfile> {
        let mut profile = SmartProfile {
            name: name.to_owned(),
            ..SmartProfile::default()
        };
        let mut seen = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong =
                |problem: String| Error::invalid(format!("{name}, line {}: {problem}", number + 1));
            let key = profile.set(line).map_err(wrong)?;
            if seen.contains(&key) {
                return Err(wrong(format!("{key} stands twice: expected it once")));
            }
            seen.push(key);
        }
        match KEYS.iter().find(|key| !seen.contains(&key.0)) {
            Some((key, ..)) => Err(Error::invalid(format!(
                "{name}: {key} is missing: expected a line `{key} = number`"
            ))),
            None => Ok(profile),
        }
    }

    /// Takes a line; gives its key.
    fn set(&mut self, line: &str) -> std::result::Result<&'static str, String> {
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| format!("expected `key = number`, found {line:?}"))?;
        let (name, value) = (name.trim(), value.trim());
        let (key, place, least, most) = KEYS.iter().find(|key| key.0 == name).ok_or_else(|| {
            let known = KEYS.map(|key| key.0).join(", ");
            format!("no key is called {name:?}: expected one of {known}")
        })?;
        let number: f64 = value
            .parse()
            .map_err(|_| format!("{key} is {value:?}: expected a number"))?;
        if !(*least..=*most).contains(&number) {
            return Err(format!("{key} is {value}: expected {least} to {most}"));
        }
        if WHOLE.contains(key) && number.fract() != 0.0 {
            return Err(format!("{key} is {value}: expected a whole number"));
        }
        *place(self) = number;
        Ok(key)
    }

    /// The same with one number replaced, as a line of a file would.
    pub fn with(&self, line: &str) -> Result<SmartProfile> {
        let mut changed = self.clone();
        changed.set(line).map_err(Error::invalid)?;
        Ok(changed)
    }

    /// All its numbers by their keys.
    pub fn numbers(&self) -> Vec<(&'static str, f64)> {
        let mut copy = self.clone();
        let each = KEYS.map(|(key, place, ..)| (key, *place(&mut copy)));
        each.to_vec()
    }

    /// The drive of the model. Its flash beyond the numbers above is that of the paper's.
    pub fn drive(&self) -> Result<Profile> {
        let mut drive = SMART_SSD;
        drive.geometry.channels = self.channels as u32;
        drive.timing.channel_rate = Some((self.channel_mb_s * 1e6) as u64);
        drive.timing.read = (self.page_us * 1e3) as Nanos;
        drive.link.rate = Some((self.link_mb_s * 1e6) as u64);
        drive.link.command = 0;
        drive.with_capacity(4 << 30)
    }

    /// Nanoseconds between two polls.
    pub fn poll_nanos(&self) -> Nanos {
        (self.poll_us * 1e3) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_profile_makes_a_drive() {
        for (name, _) in SHIPPED {
            let profile = SmartProfile::named(name).unwrap();
            profile.drive().unwrap();
        }
    }

    #[test]
    fn a_bad_profile_is_rejected_with_its_line_and_what_is_allowed() {
        let good = SHIPPED[0].1;
        let expect = |text: &str, reasons: &[&str]| {
            let error = SmartProfile::parse("x.profile", text)
                .unwrap_err()
                .to_string();
            for reason in reasons {
                assert!(error.contains(reason), "{error}: no {reason}");
            }
        };
        let bad = |line: &str| format!("{line}\n{good}");
        expect(
            &bad("device_cores = 0"),
            &["x.profile, line 1", "expected 1 to 1024"],
        );
        expect(&bad("device_cores = 1.5"), &["line 1", "whole number"]);
        expect(&bad("link_mb_s = -5"), &["line 1", "expected 1 to"]);
        expect(&bad("link_mb_s = NaN"), &["line 1", "expected 1 to"]);
        expect(&bad("link_mb_s = fast"), &["line 1", "expected a number"]);
        expect(&bad("lonk = 5"), &["line 1", "\"lonk\"", "link_mb_s"]);
        expect(&bad("link_mb_s 5"), &["line 1", "key = number"]);
        expect(&bad("poll_us = 1000"), &["poll_us stands twice"]);
        let without: String = good
            .lines()
            .filter(|line| !line.starts_with("poll_us"))
            .fold(String::new(), |text, line| text + line + "\n");
        expect(&without, &["poll_us is missing"]);
        assert!(
            SmartProfile::named("x")
                .unwrap_err()
                .to_string()
                .contains("smart-pcie4")
        );
    }
}
