//! What a read takes on the modelled devices, as policies estimate it: a constant and a rate.

use gannet_ssd::{Disk, Drive, Medium, Nanos, Profile, Request};
use serde_json::{Value, json};

use crate::Outcome;

/// Pages of the long read that the rate is taken from.
const LONG: u32 = 256;

/// Nanoseconds of a read: so many, and so many for each page.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    first: f64,
    page: f64,
}

impl Price {
    /// Of a drive.
    pub fn of_drive(profile: &Profile) -> Outcome<Price> {
        let mut drive = Drive::new(&profile.with_capacity(64 << 20)?)?;
        drive.preload(0, 2 * LONG)?;
        Price::of(&mut drive.into())
    }

    /// Of a disk.
    pub fn of_disk(disk: Disk) -> Outcome<Price> {
        Price::of(&mut disk.into())
    }

    /// Of writes of a drive, without garbage collection.
    pub fn of_writes(profile: &Profile) -> Outcome<Price> {
        let mut drive = Drive::new(&profile.with_capacity(64 << 20)?)?;
        let nanos = drive.serve(&[Request::write(0, LONG)])?;
        Ok(Price {
            first: 0.0,
            page: nanos as f64 / f64::from(LONG),
        })
    }

    /// In microseconds.
    pub fn to_json(self) -> Value {
        json!({ "first_us": self.first / 1e3, "page_us": self.page / 1e3 })
    }

    fn of(medium: &mut Medium) -> Outcome<Price> {
        let short = medium.serve(&[Request::read(0, 1)])?;
        let long = medium.serve(&[Request::read(u64::from(LONG), LONG)])?;
        let page = long.saturating_sub(short) as f64 / f64::from(LONG - 1);
        Ok(Price {
            first: (short as f64 - page).max(0.0),
            page,
        })
    }

    /// Of a read of so many pages.
    pub fn read(&self, pages: u64) -> f64 {
        self.first + self.page * pages as f64
    }
}

/// Microseconds.
pub fn us(nanos: Nanos) -> f64 {
    nanos as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use gannet_ssd::hdd::WD3200AAJS;
    use gannet_ssd::profile::HYBRID_CACHE_TABLE;

    use super::*;

    #[test]
    fn prices_are_those_of_the_devices() {
        let drive = Price::of_drive(&HYBRID_CACHE_TABLE).unwrap();
        assert!(
            (drive.read(10) - 20.0 * 32_725.0).abs() < 1.0,
            "two pages of flash each"
        );
        let writes = Price::of_writes(&HYBRID_CACHE_TABLE).unwrap();
        assert_eq!(writes.read(10), 20.0 * 101_475.0);
        let disk = Price::of_disk(Disk::new(WD3200AAJS)).unwrap();
        let expected = 8_900e3 + 4_170e3 + 100.0 * 4_096.0 * 10.0;
        assert!((disk.read(100) - expected).abs() < 100.0, "{disk:?}");
    }
}
