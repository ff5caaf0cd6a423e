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
pub struct FuzzTarget {
    /// Its name, also that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [FuzzTarget; 12] = [
    FuzzTarget {
        name: "log_record",
        run: decoders::log_record,
        seeds: || Sample::get().payloads(sample::LOG),
    },
    FuzzTarget {
        name: "page",
        run: decoders::page,
        seeds: || Sample::get().pages(),
    },
    FuzzTarget {
        name: "root",
        run: decoders::root,
        seeds: || Sample::get().payloads(sample::ROOTS),
    },
    FuzzTarget {
        name: "tree_node",
        run: decoders::tree_node,
        seeds: || Sample::get().payloads(sample::NODES),
    },
    FuzzTarget {
        name: "term_entry",
        run: decoders::term_entry,
        seeds: || Sample::get().entries(),
    },
    FuzzTarget {
        name: "column_entry",
        run: decoders::column_entry,
        seeds: || Sample::get().column_entries(),
    },
    FuzzTarget {
        name: "list_pages",
        run: decoders::list_pages,
        seeds: || Sample::get().list_pages(),
    },
    FuzzTarget {
        name: "document",
        run: decoders::document,
        seeds: || texts(&sample::DOCUMENTS),
    },
    FuzzTarget {
        name: "query",
        run: decoders::query,
        seeds: || texts(&sample::QUERIES),
    },
    FuzzTarget {
        name: "statistics",
        run: decoders::statistics,
        seeds: || texts(&sample::STATISTICS),
    },
    FuzzTarget {
        name: "answers",
        run: decoders::answers,
        seeds: sample::answers,
    },
    FuzzTarget {
        name: "open",
        run: open_changed,
        seeds: || Sample::get().changes(),
    },
];

impl FuzzTarget {
    /// The target of this name.
    pub fn named(name: &str) -> Option<&'static FuzzTarget> {
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
