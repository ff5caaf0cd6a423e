//! The arguments of `gannet index`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use gannet::PhraseFilters;
use gannet_input::InputFormat;

use super::long_help::ANALYZERS;

/// What is said of documents and their formats.
const INDEXING: &str = "JSON lines: one object a line. CSV, TSV: a row is a document, the header names the fields, all values are \
                  strings, and an empty cell is no value. Text: a file is a document with the fields title and body; its ID \
                  is its path below the folder, or, where several files or folders of text are named, its whole path. Of a \
                  folder all .txt, .md and .markdown files are read, also in folders below it; hidden ones \
                  are skipped, and symbolic links are not followed.\n\n\
                  The field `id` is the external ID, and one is made where it is missing. A document with the same ID is \
                  replaced. Documents that are rejected are reported, and the exit code is then 1. At the end the index is \
                  put in order where enough has come together.\n\n\
                  Examples:\n  gannet index wiki.gnt wiki.jsonl.zst\n  gannet index notes.gnt ~/notes\n  \
                  gannet index shop.gnt products.csv --analyzer category=keyword";

/// The arguments of `gannet index`.
#[derive(Debug, Args)]
#[command(after_help = INDEXING, after_long_help = format!("{INDEXING}\n\n{ANALYZERS}"))]
pub struct IndexArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Files, also compressed (gzip, zstd); folders of text files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The format of all files [default: by the name of each, or jsonl if it begins with `{`]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<InputFormat>,
    /// How many documents are made durable together; a power loss takes about so many at most
    /// [default: those of a flush]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub commit_every: Option<u64>,
    /// How many threads prepare documents, at most one for each 4 MiB of --memory [default: the
    /// processors of the machine]
    #[arg(
        long,
        value_name = "T",
        hide_short_help = true,
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    pub threads: Option<u16>,
    /// When documents are made durable
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "async",
        hide_short_help = true
    )]
    pub durability: DurabilityName,
    /// The analyzer of new fields, or of one with FIELD=NAME; may be repeated
    #[arg(long, value_name = "[FIELD=]NAME")]
    pub analyzer: Vec<String>,
    /// What new text fields keep so that phrases read less: `common` takes about a byte a word
    #[arg(long, value_name = "KIND", default_value = "common", hide_short_help = true,
          value_parser = PossibleValuesParser::new(PhraseFilters::NAMES).try_map(phrase_filters))]
    pub phrase_filters: PhraseFilters,
    /// Stop at the first document that is rejected
    #[arg(long)]
    pub strict: bool,
}

/// When a write is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DurabilityName {
    /// Each batch before the next one is written
    Sync,
    /// With --commit-every, at each flush and at the end
    Async,
}

impl From<DurabilityName> for gannet::Durability {
    fn from(name: DurabilityName) -> gannet::Durability {
        match name {
            DurabilityName::Sync => gannet::Durability::Sync,
            DurabilityName::Async => gannet::Durability::Async,
        }
    }
}

/// The kind of phrase filters of this name.
fn phrase_filters(name: String) -> Result<PhraseFilters, &'static str> {
    PhraseFilters::named(&name).ok_or("there are no such phrase filters")
}
