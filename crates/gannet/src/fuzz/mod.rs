//! Decoders on bytes that nobody wrote, for fuzzing.
//!
//! A target takes any bytes and must return: no panic, no endless loop, no memory that the bytes
//! alone ask for. `fuzz/` runs them with libFuzzer; the tests here run each on seeds, on seeds with
//! changes drawn from a fixed generator, and on inputs that once failed (`fuzz/corpus`).

mod decoders;
mod sample;
#[cfg(test)]
mod tests;

use self::sample::{Sample, open_changed};

/// A decoder by its name.
pub struct Target {
    /// Its name, also that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 9] = [
    Target {
        name: "log_record",
        run: decoders::log_record,
        seeds: || Sample::get().payloads(sample::LOG),
    },
    Target {
        name: "page",
        run: decoders::page,
        seeds: || Sample::get().pages(),
    },
    Target {
        name: "root",
        run: decoders::root,
        seeds: || Sample::get().payloads(sample::ROOTS),
    },
    Target {
        name: "tree_node",
        run: decoders::tree_node,
        seeds: || Sample::get().payloads(sample::NODES),
    },
    Target {
        name: "term_entry",
        run: decoders::term_entry,
        seeds: || Sample::get().entries(),
    },
    Target {
        name: "list_pages",
        run: decoders::list_pages,
        seeds: || Sample::get().list_pages(),
    },
    Target {
        name: "document",
        run: decoders::document,
        seeds: || texts(&sample::DOCUMENTS),
    },
    Target {
        name: "query",
        run: decoders::query,
        seeds: || texts(&sample::QUERIES),
    },
    Target {
        name: "open",
        run: open_changed,
        seeds: || Sample::get().changes(),
    },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Runs it on some bytes.
    pub fn run(&self, bytes: &[u8]) {
        (self.run)(bytes);
    }

    /// Good inputs to begin with.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        (self.seeds)()
    }
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
