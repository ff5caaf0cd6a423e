//! `index DIR FILES...`: JSON lines into a new Tantivy index.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use peer::{Options, Outcome, Usage, allocated_bytes, peak_resident_bytes};
use serde_json::{Value, json};
use tantivy::directory::MmapDirectory;
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{LowerCaser, RemoveLongFilter, SimpleTokenizer, TextAnalyzer};
use tantivy::{Index, IndexWriter, TantivyDocument};

use crate::words::UnicodeWords;

/// Runs of letters and digits, lowercased.
const SIMPLE: &str = "words";
/// The words of the Unicode standard, lowercased: those of Gannet's analyzer `standard`.
const UNICODE: &str = "unicode";
/// Tokens of this many bytes or more are left out: Gannet cuts them there instead.
const TOKEN_BYTES: usize = 256;
/// The least that a writer takes: one that only merges adds no documents.
const MERGING_BYTES: usize = 15_000_000;

/// The three fields of every corpus.
pub struct Fields {
    pub id: Field,
    pub title: Field,
    pub body: Field,
}

impl Fields {
    /// The fields of an index that [`run`] made.
    pub fn of(schema: &Schema) -> tantivy::Result<Self> {
        let field = |name| schema.get_field(name);
        Ok(Self {
            id: field("id")?,
            title: field("title")?,
            body: field("body")?,
        })
    }
}

/// Indexes the files and waits until the merges that this caused have ended.
pub fn run(options: &Options) -> Outcome {
    let folder = Path::new(&options.places[0]);
    let memory = options.number("--memory", 512 << 20)?;
    let threads = options.number("--threads", 2)?;
    let commit_every = options.number("--commit-every", 0)?;
    let (start, begin) = (Instant::now(), Usage::now());

    let tokenizer = options.text("--tokenizer").unwrap_or(SIMPLE);
    let index = create(folder, tokenizer)?;
    let fields = Fields::of(&index.schema())?;
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, memory)?;
    let mut docs = 0;
    for file in &options.places[1..] {
        for line in BufReader::with_capacity(1 << 20, File::open(file)?).lines() {
            writer.add_document(document(&fields, &line?)?)?;
            docs += 1;
            if commit_every > 0 && docs % commit_every == 0 {
                writer.commit()?;
            }
        }
    }
    writer.commit()?;
    let seconds_to_commit = start.elapsed().as_secs_f64();
    writer.wait_merging_threads()?;
    if options.has("--merge") {
        merge(&index)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let used = Usage::now().since(begin);
    Ok(json!({
        "engine": "tantivy", "version": tantivy::version_string(), "documents": docs,
        "seconds": seconds, "seconds_to_commit": seconds_to_commit,
        "cpu_seconds": used.cpu_seconds, "bytes_written": used.bytes_written(),
        "index_bytes": allocated_bytes(folder)?,
        "segments": index.searchable_segment_ids()?.len(),
        "peak_memory_bytes": peak_resident_bytes(),
        "settings": {"memory": memory, "threads": threads, "commit_every": commit_every,
            "tokenizer": tokenizer, "token_bytes_max": TOKEN_BYTES - 1,
            "merge": options.has("--merge"), "positions": true, "store": "lz4", "deduplicate": false},
    }))
}

/// Merges all segments into one.
fn merge(index: &Index) -> tantivy::Result<()> {
    let mut writer: IndexWriter = index.writer_with_num_threads(1, MERGING_BYTES)?;
    writer.merge(&index.searchable_segment_ids()?).wait()?;
    writer.wait_merging_threads()
}

/// Opens an index that [`run`] made, with this program's tokenizer.
pub fn open(folder: &Path, random_advice: bool) -> tantivy::Result<Index> {
    let directory = if random_advice {
        MmapDirectory::open_with_madvice(folder, memmap2::Advice::Random)?
    } else {
        MmapDirectory::open(folder)?
    };
    let index = Index::open(directory)?;
    register(&index);
    Ok(index)
}

fn create(folder: &Path, tokenizer: &str) -> tantivy::Result<Index> {
    fs::create_dir_all(folder)?;
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(tokenizer)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default()
        .set_indexing_options(indexing)
        .set_stored();
    let mut schema = Schema::builder();
    schema.add_text_field("id", STRING | STORED);
    schema.add_text_field("title", text.clone());
    schema.add_text_field("body", text);
    let index = Index::create_in_dir(folder, schema.build())?;
    register(&index);
    Ok(index)
}

fn register(index: &Index) {
    let simple = TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(TOKEN_BYTES))
        .filter(LowerCaser);
    let unicode = TextAnalyzer::builder(UnicodeWords::default())
        .filter(RemoveLongFilter::limit(TOKEN_BYTES))
        .filter(LowerCaser);
    index.tokenizers().register(SIMPLE, simple.build());
    index.tokenizers().register(UNICODE, unicode.build());
}

fn document(fields: &Fields, line: &str) -> serde_json::Result<TantivyDocument> {
    let source: Value = serde_json::from_str(line)?;
    let mut document = TantivyDocument::default();
    for (field, name) in [
        (fields.id, "id"),
        (fields.title, "title"),
        (fields.body, "body"),
    ] {
        document.add_text(field, source[name].as_str().unwrap_or(""));
    }
    Ok(document)
}
