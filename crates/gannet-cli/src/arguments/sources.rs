//! The arguments of commands that read documents from files.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gannet_input::{InputFormat, InputOptions};

/// The long help on documents and their formats.
pub const FORMATS: &str = "JSON: one object a line, or an array of objects over any number of lines. CSV, TSV: a row is a document, the \
                  header names the fields, all values are strings, and an empty cell is no value; the first lines tell what \
                  separates fields (, ; tab |) and ends lines, and the summary says what is unusual. Bulk: action and source \
                  lines of Elasticsearch (index, create, update, delete), told by the first line. Text: a file is a document \
                  with the fields title and body; its ID is its path below the folder, or, where several files or folders of \
                  text are named, its whole path. Of a folder all .txt, .md and .markdown files are read, or those that --ext \
                  names, also in folders below it; the others are counted, hidden ones are skipped, and symbolic links are \
                  not followed.";

/// Files with documents, and how they are read and written.
#[derive(Debug, Args)]
pub struct SourceArguments {
    /// Files, also compressed (gzip, zstd, xz); folders of text files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The format of all files [default: by the name of each, or jsonl if it begins with `{` or
    /// `[`]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<InputFormat>,
    /// Read texts line by line: each line is a document
    #[arg(long, conflicts_with = "format")]
    pub text_lines: bool,
    /// Separator of the fields of CSV and TSV: one sign, or tab [default: what the first lines say]
    #[arg(long, value_name = "SIGN", value_parser = InputOptions::delimiter)]
    pub delimiter: Option<u8>,
    /// The field or column of the external IDs, where it is not `id`; it is called `id` in the
    /// index
    #[arg(long, value_name = "FIELD")]
    pub id: Option<String>,
    /// Endings of the files of a folder that are read: py,rs,log [default: txt,md,markdown]
    #[arg(long, value_name = "ENDINGS", value_delimiter = ',')]
    pub ext: Vec<String>,
    /// Stop at the first document that is rejected
    #[arg(long)]
    pub strict: bool,
    /// Write all that is rejected to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub rejected: Option<PathBuf>,
    /// Number of documents made durable together; a power loss takes about so many at most
    /// [default: those of a flush]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub commit_every: Option<u64>,
    /// Number of threads that prepare documents, at most one for each 4 MiB of --memory [default:
    /// the processors of the machine]
    #[arg(
        long,
        value_name = "T",
        hide_short_help = true,
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    pub threads: Option<u16>,
    /// The moment at which documents are made durable
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "async",
        hide_short_help = true
    )]
    pub durability: DurabilityName,
}

impl SourceArguments {
    /// Returns the options for reading the files.
    pub fn input(&self) -> InputOptions {
        let by_line = self.text_lines.then_some(InputFormat::TextLines);
        let plain = |ending: &String| ending.trim().trim_start_matches('.').to_owned();
        InputOptions {
            format: self.format.or(by_line),
            delimiter: self.delimiter,
            id: self.id.clone(),
            endings: self
                .ext
                .iter()
                .map(plain)
                .filter(|ending| !ending.is_empty())
                .collect(),
            is_change: false,
        }
    }
}

/// The moments at which a write is made durable.
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
