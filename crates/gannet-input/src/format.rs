//! The formats that documents come in.

use std::fmt;
use std::path::Path;

use crate::compression::without_compression;

/// The formats of files of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum InputFormat {
    /// One JSON object a line, or an array of objects
    Jsonl,
    /// Actions and documents, as Elasticsearch takes them in bulk
    Bulk,
    /// Comma-separated values with a header, or with another sign between them
    Csv,
    /// Values separated by tabs, without quotation marks, with a header
    Tsv,
    /// A text; each file is one document
    Text,
    /// A text of which each line is one document
    #[cfg_attr(feature = "clap", value(name = "text-lines"))]
    TextLines,
}

impl InputFormat {
    /// The format that the name of a file says, before an ending of compression.
    pub fn of(path: &Path) -> Option<InputFormat> {
        let plain = without_compression(path);
        let ending = plain.extension().unwrap_or_default();
        Some(match ending.to_string_lossy().to_lowercase().as_str() {
            "jsonl" | "ndjson" | "json" => InputFormat::Jsonl,
            "csv" => InputFormat::Csv,
            "tsv" | "tab" => InputFormat::Tsv,
            "txt" | "md" | "markdown" => InputFormat::Text,
            _ => return None,
        })
    }
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InputFormat::Jsonl => "jsonl",
            InputFormat::Bulk => "bulk",
            InputFormat::Csv => "csv",
            InputFormat::Tsv => "tsv",
            InputFormat::Text => "text",
            InputFormat::TextLines => "text-lines",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_told_by_the_name() {
        for (name, format) in [
            ("a.jsonl", Some(InputFormat::Jsonl)),
            ("a.jsonl.gz", Some(InputFormat::Jsonl)),
            ("a.ndjson", Some(InputFormat::Jsonl)),
            ("a", None),
            ("-", None),
            ("a.log.gz", None),
            ("x/a.csv", Some(InputFormat::Csv)),
            ("a.CSV.gz", Some(InputFormat::Csv)),
            ("a.b.tsv.zst", Some(InputFormat::Tsv)),
            ("a.txt", Some(InputFormat::Text)),
            ("a.Markdown", Some(InputFormat::Text)),
            ("a.md.zst", Some(InputFormat::Text)),
        ] {
            assert_eq!(InputFormat::of(Path::new(name)), format, "{name}");
        }
    }
}
