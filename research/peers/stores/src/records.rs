//! The records: their numbers, their keys, and the random choice among them.

/// The step of the splitmix64 generator.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The records that exist: numbered without gaps, each with its number as its value.
#[derive(Clone, Copy)]
pub struct Records {
    /// The oldest that exists.
    pub first: u64,
    /// The one that is inserted next.
    pub next: u64,
    /// Decides the keys.
    pub seed: u64,
}

impl Records {
    /// The key of a record: different for every number.
    pub fn key(&self, number: u64) -> u64 {
        let step = number.wrapping_add(1).wrapping_mul(STEP);
        mix(self.seed.wrapping_add(step))
    }

    /// The number of a random record; none if no record exists.
    pub fn any(&self, random: &mut Random) -> Option<u64> {
        (self.first < self.next).then(|| self.first + random.below(self.next - self.first))
    }
}

/// The splitmix64 generator of Steele, Lea and Flood.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        // The bias is at most end / 2^64.
        mix(self.0) % end
    }
}

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
