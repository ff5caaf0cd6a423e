//! Inverts a corpus into a stream of flushes: the engine's analyzer, inverter and posting buffer,
//! without phrase filters.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use gannet::lab::{FlushInverter, Norm};
use gannet::{Analyzer, Scratch};
use serde_json::json;
use std::collections::HashMap;

use super::flush::{Flush, flush_name};
use crate::Outcome;
use crate::bytes::put_bytes;

/// Documents of a batch of the inverter.
const BATCH: u32 = 500;

/// What a key begins with: the number of the only field.
const FIELD: [u8; 2] = [0, 0];

/// Longer words are left out, as an index does.
const TERM_BYTES_MAX: usize = 1_020;

/// What is made.
pub struct Wanted<'a> {
    /// JSON lines.
    pub corpus: &'a Path,
    /// The field that words are taken from.
    pub field: &'a str,
    /// How many documents at most.
    pub documents: u32,
    /// In how many flushes.
    pub flushes: u32,
}

/// All that was seen of terms so far, by the order of their first flush.
#[derive(Default)]
struct Terms {
    places: HashMap<Vec<u8>, u32>,
    frequencies: Vec<u32>,
}

/// Documents of a flush, and the rest of a corpus.
struct Inverting<'a> {
    field: &'a str,
    analyzer: Analyzer,
    scratch: Scratch,
    key: Vec<u8>,
    /// Lengths of all documents so far.
    lengths: Vec<u32>,
    tokens: u64,
}

/// Makes a stream in a folder that is not there yet.
pub fn invert(wanted: &Wanted<'_>, folder: &Path) -> Outcome {
    if folder.exists() {
        return Err(format!("{} is there already: name another folder", folder.display()).into());
    }
    let documents = count_lines(wanted.corpus)?.min(wanted.documents);
    let every = documents.div_ceil(wanted.flushes.max(1)).max(1);
    fs::create_dir_all(folder)?;
    let mut lines = BufReader::with_capacity(1 << 20, File::open(wanted.corpus)?).lines();
    let mut terms = Terms::default();
    let mut inverting = Inverting {
        field: wanted.field,
        analyzer: Analyzer::default(),
        scratch: Scratch::default(),
        key: Vec::new(),
        lengths: Vec::new(),
        tokens: 0,
    };
    let (mut flushes, mut postings) = (0, 0);
    for first in (0..documents).step_by(every as usize) {
        let flush = inverting.flush(&mut lines, first..documents.min(first + every))?;
        let bytes = terms.coded(&flush, &mut postings);
        fs::write(folder.join(flush_name(flushes)), bytes)?;
        flushes += 1;
        eprintln!(
            "inverted {} of {documents} documents",
            inverting.lengths.len()
        );
    }
    terms.write(folder)?;
    let norms = inverting.lengths.iter().map(|length| Norm::of(*length));
    fs::write(folder.join("norms"), norms.collect::<Vec<u8>>())?;
    let meta = json!({
        "corpus": wanted.corpus, "field": wanted.field, "documents": documents, "flushes": flushes,
        "documents_a_flush": every, "terms": terms.frequencies.len(), "postings": postings,
        "tokens": inverting.tokens,
    });
    fs::write(folder.join("meta.json"), meta.to_string())?;
    println!("{meta}");
    Ok(())
}

fn count_lines(path: &Path) -> Outcome<u32> {
    let lines = BufReader::with_capacity(1 << 20, File::open(path)?).split(b'\n');
    Ok(lines.count() as u32)
}

impl Inverting<'_> {
    /// Inverts the next documents.
    fn flush(
        &mut self,
        lines: &mut impl Iterator<Item = std::io::Result<String>>,
        documents: std::ops::Range<u32>,
    ) -> Outcome<FlushInverter> {
        let mut inverter = FlushInverter::new()?;
        for first in documents.clone().step_by(BATCH as usize) {
            for number in 0..BATCH.min(documents.end - first) {
                let line = lines.next().ok_or("the corpus became shorter")??;
                self.add(&line, number, &mut inverter)?;
            }
            inverter.end_batch(first)?;
        }
        Ok(inverter)
    }

    fn add(&mut self, line: &str, number: u32, inverter: &mut FlushInverter) -> Outcome {
        let document: serde_json::Value = serde_json::from_str(line)?;
        let text = document[self.field].as_str().unwrap_or("");
        let (key, mut tokens) = (&mut self.key, 0);
        self.analyzer.analyze(text, &mut self.scratch, |token| {
            if token.text.len() <= TERM_BYTES_MAX {
                key.clear();
                key.extend(FIELD);
                key.extend(token.text.as_bytes());
                inverter.add(key, number, token.position);
                tokens += 1;
            }
        });
        self.lengths.push(tokens);
        self.tokens += u64::from(tokens);
        Ok(())
    }
}

impl Terms {
    /// A flush as it stands in its file.
    fn coded(&mut self, flush: &FlushInverter, postings: &mut u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        flush.each(|key, fragment| {
            let place = self.place(key);
            self.frequencies[place as usize] += fragment.count;
            *postings += u64::from(fragment.count);
            Flush::put_term(place, &fragment, &mut bytes);
        });
        bytes
    }

    fn place(&mut self, key: &[u8]) -> u32 {
        if let Some(place) = self.places.get(key) {
            return *place;
        }
        let place = self.frequencies.len() as u32;
        self.places.insert(key.to_vec(), place);
        self.frequencies.push(0);
        place
    }

    /// Writes what is by term: keys and frequencies in the order of keys, and where each place is
    /// in it.
    fn write(&self, folder: &Path) -> Outcome {
        let mut order: Vec<(&Vec<u8>, u32)> =
            self.places.iter().map(|(key, at)| (key, *at)).collect();
        order.sort_unstable();
        let (mut keys, mut frequencies) = (Vec::new(), Vec::new());
        let mut ranks = vec![0; order.len()];
        for (rank, (key, place)) in (0u32..).zip(order) {
            put_bytes(&mut keys, key);
            frequencies.extend(self.frequencies[place as usize].to_le_bytes());
            ranks[place as usize] = rank;
        }
        let ranks: Vec<u8> = ranks.into_iter().flat_map(u32::to_le_bytes).collect();
        fs::write(folder.join("keys"), keys)?;
        fs::write(folder.join("frequencies"), frequencies)?;
        Ok(fs::write(folder.join("ranks"), ranks)?)
    }
}
