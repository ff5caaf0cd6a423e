//! `index DIR FILES...`: JSON lines into a new SeekStorm index.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use peer::{Failure, Options, Outcome, Usage, allocated_bytes, peak_resident_bytes};
use seekstorm::commit::Commit;
use seekstorm::index::{
    AccessType, Close, Clustering, Document, DocumentCompression, FieldType, FileType,
    FrequentwordType, IndexArc, IndexDocument, IndexMetaObject, LexicalSimilarity, NgramSet,
    SchemaField, StemmerType, StopwordType, TokenizerType, create_index, version,
};
use seekstorm::vector::Inference;
use serde_json::{Value, json};

use crate::words::{WORD_BYTES, spaced};

/// The words of the body where the program finds them; it is not stored.
const WORDS: &str = "words";
const STORED: [&str; 3] = ["id", "title", "body"];

/// How texts become terms.
#[derive(Clone, Copy, PartialEq)]
pub enum Tokenizer {
    /// SeekStorm's own: runs of letters and digits, lowercased.
    Words,
    /// The words of the Unicode standard, lowercased: those of Gannet's analyzer `standard`.
    Unicode,
}

impl Tokenizer {
    /// The one that an index was made with.
    pub fn of(meta: &IndexMetaObject) -> Self {
        match meta.tokenizer {
            TokenizerType::Whitespace => Self::Unicode,
            _ => Self::Words,
        }
    }

    fn parsed(name: &str) -> Result<Self, Failure> {
        match name {
            "words" => Ok(Self::Words),
            "unicode" => Ok(Self::Unicode),
            other => Err(format!("--tokenizer expects words or unicode, found {other:?}").into()),
        }
    }
}

/// Indexes the files and closes the index, which commits.
pub async fn run(options: &Options) -> Outcome {
    let folder = Path::new(&options.places[0]);
    let threads = options.number("--threads", 2)?;
    let shards = options.number("--shards", threads)?;
    let commit_every = options.number("--commit-every", 0)?;
    let tokenizer = options.text("--tokenizer").unwrap_or("words");
    let ngrams = options.text("--ngrams").unwrap_or("none");
    let meta = meta(Tokenizer::parsed(tokenizer)?, ngram_set(ngrams)?);
    let (start, begin) = (Instant::now(), Usage::now());

    let made_by = Tokenizer::of(&meta);
    let index = create_index(folder, meta, &schema(made_by), &vec![], true, Some(shards)).await?;
    let docs = add(&index, made_by, &options.places[1..], commit_every).await?;
    index.commit().await;
    let levels = index.read().await.level_count().await;
    index.close().await;
    let seconds = start.elapsed().as_secs_f64();
    let used = Usage::now().since(begin);
    Ok(json!({
        "engine": "seekstorm", "version": version(), "documents": docs,
        "seconds": seconds, "seconds_to_commit": seconds,
        "cpu_seconds": used.cpu_seconds, "bytes_written": used.bytes_written(),
        "index_bytes": allocated_bytes(folder)?, "segments": levels,
        "peak_memory_bytes": peak_resident_bytes(),
        "settings": {"memory": null, "threads": threads, "shards": shards,
            "commit_every": commit_every, "tokenizer": tokenizer, "ngrams": ngrams,
            "token_bytes_max": WORD_BYTES - 1, "positions": true, "store": "lz4",
            "deduplicate": false},
    }))
}

/// Gives the documents of the files to the index; gives how many there were.
async fn add(
    index: &IndexArc,
    tokenizer: Tokenizer,
    files: &[String],
    commit_every: usize,
) -> Result<usize, Failure> {
    let mut docs = 0;
    for file in files {
        let source = File::open(file).map_err(|error| format!("cannot read {file}: {error}"))?;
        for line in BufReader::with_capacity(1 << 20, source).lines() {
            let document = document(&line?, tokenizer)?;
            index.index_document(document, FileType::None).await;
            docs += 1;
            if commit_every > 0 && docs % commit_every == 0 {
                index.commit().await;
            }
        }
    }
    Ok(docs)
}

fn document(line: &str, tokenizer: Tokenizer) -> Result<Document, Failure> {
    let source: Value = serde_json::from_str(line)?;
    let text = |name: &str| source[name].as_str().unwrap_or("");
    let mut document = Document::new();
    for name in STORED {
        document.insert(name.into(), text(name).into());
    }
    if tokenizer == Tokenizer::Unicode {
        document.insert(WORDS.into(), spaced(text("body")).into());
    }
    Ok(document)
}

fn meta(tokenizer: Tokenizer, ngram_indexing: u8) -> IndexMetaObject {
    IndexMetaObject {
        id: 0,
        name: "lab".into(),
        lexical_similarity: LexicalSimilarity::Bm25f,
        tokenizer: match tokenizer {
            Tokenizer::Words => TokenizerType::UnicodeAlphanumeric,
            Tokenizer::Unicode => TokenizerType::Whitespace,
        },
        stemmer: StemmerType::None,
        stop_words: StopwordType::None,
        // Without n-grams they would only be a cache of results.
        frequent_words: match ngram_indexing {
            0 => FrequentwordType::None,
            _ => FrequentwordType::English,
        },
        ngram_indexing,
        document_compression: DocumentCompression::Lz4,
        access_type: AccessType::Mmap,
        spelling_correction: None,
        query_completion: None,
        clustering: Clustering::None,
        inference: Inference::None,
        segment_number_bits: 11,
    }
}

/// The n-grams that are indexed besides words: those that SeekStorm's documentation recommends for
/// a small index, for a balance, and for fast phrases.
fn ngram_set(name: &str) -> Result<u8, Failure> {
    let frequent = NgramSet::NgramFF as u8 | NgramSet::NgramFFF as u8;
    match name {
        "none" => Ok(NgramSet::SingleTerm as u8),
        "frequent" => Ok(frequent),
        "mixed" => Ok(frequent | NgramSet::NgramFR as u8 | NgramSet::NgramRF as u8),
        other => Err(format!("--ngrams expects none, frequent or mixed, found {other:?}").into()),
    }
}

/// One field is searched: SeekStorm adds up the scores of all fields, and Gannet's are of one.
fn schema(tokenizer: Tokenizer) -> Vec<SchemaField> {
    let searched = match tokenizer {
        Tokenizer::Words => "body",
        Tokenizer::Unicode => WORDS,
    };
    let mut fields: Vec<_> = STORED
        .into_iter()
        .map(|name| field(name, true, name == searched))
        .collect();
    if searched == WORDS {
        fields.push(field(WORDS, false, true));
    }
    fields
}

fn field(name: &str, stored: bool, searched: bool) -> SchemaField {
    SchemaField::new(
        name.into(),
        stored,
        searched,
        false,
        FieldType::Text,
        false,
        searched,
        1.0,
        false,
        false,
    )
}
