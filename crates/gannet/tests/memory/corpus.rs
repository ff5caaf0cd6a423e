//! The documents: words of all frequencies, some that are in every document, and a few large
//! documents.

use std::path::Path;

use gannet::{Analyzer, Document, Index, PhraseFilters};

/// Documents of ordinary size.
pub const DOCUMENTS: u64 = 12_000;

/// Different words but for the commonest.
pub const WORDS: u64 = 6_000;

/// The ID of a document that is larger than a small budget.
pub const LARGEST: &str = "largest";

/// The memory with which the index is written.
const WRITING: usize = 2 << 30;

/// Numbers that look random; the same on each run.
pub struct Random(pub u64);

impl Random {
    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// One of these.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// Writes the index to a folder.
pub fn write(folder: &Path) -> gannet::Result<()> {
    let options = Index::options().memory(WRITING);
    let options = options
        .phrase_filters(PhraseFilters::Common)
        .field_analyzer("key", Analyzer::named("keyword")?);
    let index = options.open(folder)?;
    let mut random = Random(0x1234_5678_9abc_def1);
    for batch in 0..DOCUMENTS / 500 {
        let documents = (0..500).map(|at| ordinary(batch * 500 + at, &mut random));
        index.write(documents.collect::<gannet::Result<_>>()?)?;
        if batch % 8 == 7 {
            index.checkpoint()?;
        }
    }
    for size in 1..6 {
        let text = "the of sea ".repeat(size * 4_000);
        index.add(Document::new(
            format!("large {size}"),
            [("body", text.as_str())],
        )?)?;
    }
    index.add(Document::new(
        LARGEST,
        [
            ("body", noise(9 << 20, &mut random).as_str()),
            ("title", "sea largest"),
        ],
    )?)?;
    index.close()
}

/// A document of some dozens of words; the commoner a word, the lower its number.
fn ordinary(number: u64, random: &mut Random) -> gannet::Result<Document> {
    let mut text = String::from("the of");
    for _ in 0..20 + random.below(60) {
        let most = 1 + random.below(WORDS);
        match random.below(4) {
            0 => text += " the of",
            _ => text += &format!(" {}", word(random.below(most))),
        }
    }
    let title = format!(
        "sea {} {}",
        word(random.below(WORDS)),
        word(random.below(50))
    );
    Document::new(
        number.to_string(),
        [
            ("title", title.as_str()),
            ("body", text.as_str()),
            ("key", word(number).as_str()),
        ],
    )
}

/// A text that hardly shrinks, of a few long words.
fn noise(bytes: usize, random: &mut Random) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("sea ");
    while text.len() < bytes {
        text.push(char::from(*random.of(LETTERS)));
    }
    text
}

/// The word with this number.
pub fn word(number: u64) -> String {
    const LETTERS: [char; 16] = [
        'a', 'e', 'i', 'o', 'n', 'r', 's', 't', 'l', 'm', 'k', 'd', 'b', 'g', 'p', 'u',
    ];
    let mut rest = number * 2_654_435_761 % (1 << 24);
    let letters = (0..6).map(|_| {
        rest /= 2;
        LETTERS[(rest.wrapping_mul(31) >> 3) as usize % 16]
    });
    let letters: String = letters.collect();
    format!("{letters}{number:x}")
}
