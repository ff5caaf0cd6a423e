//! Documents one by one with zstd and trained, versioned dictionaries.
//!
//! A short document alone hardly shrinks; with a dictionary trained on its like it does. The
//! dictionary is trained once on the first few MiB and gets a version; a document names the version
//! it needs, and all versions are kept, so that earlier documents stay readable. Frames have no
//! magic number, size, checksum or dictionary number: the record and the page's proof say all that.
//!
//! Measured on the sources of 60,000 passages of about 780 bytes, trained on the first 4 MiB:
//! compressed bytes / bytes of title and body, and CPU time for each document with both cores busy
//! (a quiet machine takes two thirds: 23 us instead of 36). Decoding takes 1.2-2 us at all levels
//! on a quiet machine.
//!
//! | level | 64 KiB dictionary | 112 KiB | 256 KiB |
//! |---|---|---|---|
//! | 1 | .501, 4.4 us | .506, 4.4 us | .513, 4.5 us |
//! | 3 | **.452, 6.2 us** | .449, 6.1 us | .437, 7.8 us |
//! | 4 | .490, 8.4 us | .485, 10 us | .431, 10 us |
//! | 5 | .482, 12 us | .476, 13 us | .424, 17 us |
//! | 7 | .439, 28 us | .433, 29 us | .410, 36 us |
//! | 9 | .434, 36 us | .426, 39 us | .406, 46 us |
//!
//! Level 3 with 64 KiB is chosen. Level 7 takes 6 % off the documents, but was half of all the work
//! of indexing (6.5 of 13.2 CPU seconds for 150,000 passages). A dictionary of 256 KiB takes 1.4 %
//! off the index and 12 % more CPU time of indexing: its tables do not fit the caches (540,000
//! passages, three runs in turn: 367 MB and 23.1 CPU seconds against 362 MB and 26.6). Moving the
//! texts behind the shape of the JSON would save another 2.8 %, too little for a second format.

use std::fmt;
use std::sync::{Arc, Mutex};

use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, DDict, DParameter, ErrorCode, FrameFormat, ResetDirective,
    compress_bound, get_error_name,
};

use super::json::DOCUMENT_BYTES_MAX;
use super::record::{DictionaryVersion, DocumentRecord};
use crate::base::{ByteReader, Error, Result, put_bytes, put_varint};

/// Bytes of the largest dictionary.
pub const DICTIONARY_BYTES_MAX: usize = 64 << 10;

const LEVEL: i32 = 3;

/// Output buffers and decoders that are larger are not kept between documents.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// Decoders kept for the next reader.
const DECODERS_KEPT: usize = 16;

/// Compresses documents; one for each thread that writes.
pub struct Compressor {
    context: CCtx<'static>,
    dictionary: Option<Arc<Dictionary>>,
    output: Vec<u8>,
}

/// All dictionaries of an index, for reading; a clone is a snapshot that shares them.
#[derive(Clone, Default)]
pub struct Dictionaries {
    versions: Vec<Arc<Dictionary>>,
    decoders: Arc<Mutex<Vec<DCtx<'static>>>>,
}

struct Dictionary {
    bytes: Vec<u8>,
    prepared: DDict<'static>,
}

impl Compressor {
    /// A compressor with a dictionary of `dictionaries`; version 0 is none.
    pub fn new(dictionaries: &Dictionaries, version: DictionaryVersion) -> Result<Compressor> {
        let mut context = CCtx::try_create().ok_or_else(out_of_memory)?;
        for parameter in [
            CParameter::CompressionLevel(LEVEL),
            CParameter::Format(FrameFormat::Magicless),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ] {
            context.set_parameter(parameter).map_err(rejected)?;
        }
        let mut dictionary = None;
        if version != 0 {
            let found = dictionary.insert(Arc::clone(dictionaries.find(version)?));
            context.load_dictionary(&found.bytes).map_err(rejected)?;
        }
        Ok(Compressor {
            context,
            dictionary,
            output: Vec::new(),
        })
    }

    /// Bytes that compressing so many may take at most: the output, and what is kept of it.
    pub fn bound(length: usize) -> usize {
        compress_bound(length) + length
    }

    /// Returns true if it has the newest of these dictionaries: that very one, as versions say
    /// nothing of other indexes.
    pub fn has_newest_of(&self, dictionaries: &Dictionaries) -> bool {
        match (&self.dictionary, dictionaries.versions.last()) {
            (Some(own), Some(newest)) => Arc::ptr_eq(own, newest),
            (own, newest) => own.is_none() && newest.is_none(),
        }
    }

    /// Compresses the source of a document; gives the source itself where nothing is gained.
    pub fn compress<'s>(&'s mut self, source: &'s [u8]) -> Result<&'s [u8]> {
        self.output.clear();
        self.output.shrink_to(BUFFER_BYTES_KEPT);
        self.output.reserve(compress_bound(source.len()));
        if let Err(code) = self.context.compress2(&mut self.output, source) {
            // The failed frame is given up, so that the next document starts anew.
            let _ = self.context.reset(ResetDirective::SessionOnly);
            return Err(rejected(code));
        }
        if self.output.len() < source.len() {
            Ok(&self.output)
        } else {
            Ok(source)
        }
    }
}

impl Dictionaries {
    /// Adds a dictionary that a [`super::Trainer`] made and gives its version. Dictionaries read
    /// from an index are added in the order of their versions.
    pub fn add(&mut self, bytes: Vec<u8>) -> Result<DictionaryVersion> {
        if bytes.len() > DICTIONARY_BYTES_MAX {
            return Err(Error::damaged(
                "a compression dictionary",
                format!(
                    "expected at most {DICTIONARY_BYTES_MAX} bytes, got {}",
                    bytes.len()
                ),
            ));
        }
        let prepared = DDict::try_create(&bytes).ok_or_else(|| {
            let reason = "expected a zstd dictionary, got other bytes";
            Error::damaged("a compression dictionary", reason)
        })?;
        self.versions.push(Arc::new(Dictionary { bytes, prepared }));
        Ok(self.newest())
    }

    /// The newest version; 0 if there is none.
    pub fn newest(&self) -> DictionaryVersion {
        self.versions.len() as DictionaryVersion
    }

    /// The bytes of a dictionary, to be stored with the index.
    pub fn bytes(&self, version: DictionaryVersion) -> Option<&[u8]> {
        self.find(version).ok().map(|found| found.bytes.as_slice())
    }

    /// Returns true if one of them has these bytes.
    pub fn contains(&self, bytes: &[u8]) -> bool {
        self.versions.iter().any(|known| known.bytes == bytes)
    }

    /// Appends all dictionaries.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.versions.len() as u64);
        for dictionary in &self.versions {
            put_bytes(out, &dictionary.bytes);
        }
    }

    /// Reads what [`Dictionaries::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Dictionaries> {
        let mut dictionaries = Dictionaries::default();
        for _ in 0..reader.length(reader.rest().len())? {
            dictionaries.add(reader.bytes()?.to_vec())?;
        }
        Ok(dictionaries)
    }

    /// The source of a stored document.
    pub fn decompress(&self, record: &DocumentRecord<'_>) -> Result<Vec<u8>> {
        let length = record.raw_length as usize;
        if length > DOCUMENT_BYTES_MAX {
            return Err(damaged_source(record, "a longer one"));
        }
        // What compression did not shorten was stored as it came.
        if record.compressed.len() == length {
            return Ok(record.compressed.to_vec());
        }
        let mut source = Vec::with_capacity(length);
        let mut decoder = self.take_decoder()?;
        let outcome = match record.dictionary {
            0 => decoder.decompress(&mut source, record.compressed),
            version => {
                let prepared = &self.find(version)?.prepared;
                decoder.decompress_using_ddict(&mut source, record.compressed, prepared)
            }
        };
        outcome.map_err(|code| damaged_source(record, get_error_name(code)))?;
        self.give_back(decoder);
        if source.len() != length {
            return Err(damaged_source(record, &source.len().to_string()));
        }
        Ok(source)
    }

    fn find(&self, version: DictionaryVersion) -> Result<&Arc<Dictionary>> {
        let place = (version as usize).checked_sub(1);
        match place.and_then(|place| self.versions.get(place)) {
            Some(dictionary) => Ok(dictionary),
            None => Err(Error::damaged(
                "a document record",
                format!(
                    "expected a dictionary of version 1 to {}, got {version}",
                    self.newest()
                ),
            )),
        }
    }

    fn take_decoder(&self) -> Result<DCtx<'static>> {
        let kept = self
            .decoders
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .pop();
        if let Some(decoder) = kept {
            return Ok(decoder);
        }
        let mut decoder = DCtx::try_create().ok_or_else(out_of_memory)?;
        decoder
            .set_parameter(DParameter::Format(FrameFormat::Magicless))
            .map_err(rejected)?;
        Ok(decoder)
    }

    /// Keeps a decoder for the next reader. One that failed is not given back.
    fn give_back(&self, decoder: DCtx<'static>) {
        let mut decoders = self.decoders.lock().unwrap_or_else(|e| e.into_inner());
        if decoders.len() < DECODERS_KEPT && decoder.sizeof() <= BUFFER_BYTES_KEPT {
            decoders.push(decoder);
        }
    }
}

impl fmt::Debug for Dictionaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dictionaries({} versions)", self.versions.len())
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compressor(dictionary: {})", self.dictionary.is_some())
    }
}

fn out_of_memory() -> Error {
    Error::invalid(
        "the system has no memory for a compressor: give less memory than the machine has",
    )
}

fn rejected(code: ErrorCode) -> Error {
    Error::internal(format!("zstd failed: {}", get_error_name(code)))
}

fn damaged_source(record: &DocumentRecord<'_>, got: &str) -> Error {
    let expected = record.raw_length;
    Error::damaged(
        format!("source of document {}", record.doc),
        format!("expected {expected} bytes, got {got}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Budget;
    use crate::documents::Trainer;
    use proptest::prelude::*;

    fn passage(n: usize) -> String {
        let noun = ["gannets", "petrels", "shearwaters", "terns"][n % 4];
        format!(
            "{{\"id\":\"{n}\",\"body\":\"The {noun} dive {n} times for exactly the fish they saw\"}}"
        )
    }

    fn trained() -> Dictionaries {
        let mut trainer = Trainer::new(Budget::new(1 << 20).reserve("samples", 1 << 20).unwrap());
        for n in 0..2_000 {
            trainer.offer(passage(n).as_bytes());
        }
        let mut dictionaries = Dictionaries::default();
        dictionaries.add(trainer.train().unwrap()).unwrap();
        dictionaries
    }

    fn record<'a>(version: u32, source: &[u8], compressed: &'a [u8]) -> DocumentRecord<'a> {
        DocumentRecord {
            doc: 1,
            sequence: 1,
            version: 1,
            dictionary: version,
            id_in_source: false,
            id: "x",
            raw_length: source.len() as u32,
            compressed,
        }
    }

    #[test]
    fn a_dictionary_shrinks_short_documents_and_earlier_ones_stay_readable() {
        let none = Dictionaries::default();
        let source = passage(12_345);
        let mut plain = Compressor::new(&none, 0).unwrap();
        let early = plain.compress(source.as_bytes()).unwrap();
        let dictionaries = trained();
        let mut compressor = Compressor::new(&dictionaries, 1).unwrap();
        let late = compressor.compress(source.as_bytes()).unwrap();
        assert!(
            late.len() * 2 < early.len(),
            "{} {}",
            late.len(),
            early.len()
        );
        for (version, compressed) in [(0, early), (1, late)] {
            let read = dictionaries.decompress(&record(version, source.as_bytes(), compressed));
            assert_eq!(read.unwrap(), source.as_bytes());
        }
        let missing = dictionaries.decompress(&record(2, source.as_bytes(), late));
        assert!(missing.unwrap_err().is_storage_fault());
    }

    #[test]
    fn a_compressor_knows_its_own_dictionary_among_those_of_one_version() {
        let (mut one, mut other) = (trained(), trained());
        let mut compressor = Compressor::new(&one, one.newest()).unwrap();
        assert!(compressor.has_newest_of(&one.clone()));
        assert!(!compressor.has_newest_of(&other));
        let bytes = other.bytes(1).unwrap().to_vec();
        other.add(bytes.clone()).unwrap();
        one.add(bytes).unwrap();
        assert!(!compressor.has_newest_of(&one));
        compressor = Compressor::new(&Dictionaries::default(), 0).unwrap();
        assert!(compressor.has_newest_of(&Dictionaries::default()));
        assert!(!compressor.has_newest_of(&one));
    }

    #[test]
    fn a_wrong_length_is_found() {
        let dictionaries = trained();
        let mut compressor = Compressor::new(&dictionaries, 1).unwrap();
        let source = vec![b'a'; 5_000];
        let compressed = compressor.compress(&source).unwrap();
        for length in [4_999, 5_001, 1 << 24] {
            let wrong = DocumentRecord {
                raw_length: length,
                ..record(1, &source, compressed)
            };
            assert!(dictionaries.decompress(&wrong).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_round_trip(sources in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2_000), 1..5)) {
            let dictionaries = Dictionaries::default();
            let mut compressor = Compressor::new(&dictionaries, 0).unwrap();
            for source in &sources {
                let compressed = compressor.compress(source).unwrap();
                prop_assert!(compressed.len() <= source.len());
                let read = dictionaries.decompress(&record(0, source, compressed));
                prop_assert_eq!(&read.unwrap(), source);
            }
        }

        #[test]
        fn hostile_frames_give_errors(bytes in prop::collection::vec(any::<u8>(), 0..300), length in 0u32..20_000_000) {
            let dictionaries = Dictionaries::default();
            let hostile = DocumentRecord { raw_length: length, ..record(0, &[], &bytes) };
            if let Ok(source) = dictionaries.decompress(&hostile) {
                prop_assert_eq!(source.len(), length as usize);
            }
        }
    }
}
