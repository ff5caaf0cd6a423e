//! Random numbers that are the same on every machine for a seed (the splitmix64 generator of
//! Steele, Lea and Flood).

/// A generator; its seed decides all it gives.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a seed and a name, so that one set does not change when another one is made
    /// longer.
    pub fn new(seed: u64, name: &str) -> Random {
        let mut random = Random(seed);
        for byte in name.bytes() {
            random.0 ^= u64::from(byte);
            random.draw();
        }
        random
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        // The bias is at most end / 2^64.
        (self.draw() % end as u64) as usize
    }

    /// Brings values into a random order.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }
}

/// The number that a generator with this seed and no name gives after `before` others.
pub fn nth(seed: u64, before: u64) -> u64 {
    mixed(seed.wrapping_add(STEP.wrapping_mul(before.wrapping_add(1))))
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mixed(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
