//! The arguments of `gannet index`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gannet::PhraseFilters;

use super::cache::PageCacheArguments;
use super::long_help::ANALYZERS;
use super::sources::{FORMATS, SourceArguments};

/// The long help on documents.
const INDEXING: &str = "The field `id` is the external ID, or the one that --id names, and one is made where it is missing. A document \
                  with the same ID is replaced. Documents that are rejected are reported, and the exit code is then 1. At \
                  the end the index is put in order where enough has come together.\n\n\
                  Examples:\n  gannet index wiki.gnt wiki.jsonl.zst\n  gannet index notes.gnt ~/notes\n  \
                  gannet index shop.gnt products.csv --id sku --analyzer category=keyword\n  \
                  gannet index shop.gnt products.csv --id sku --mapping types.json\n  \
                  gannet index logs.gnt /var/log/app --ext log --text-lines";

/// The long help on declared types.
const MAPPING: &str = "A mapping is a JSON object with a member for each field that is declared: its type (text, keyword, long, double, \
                 boolean, date, ip), or an object with `type`, and if need be `analyzer` (of a text), `fields` (multi-fields by their \
                 names, as title.raw), `ignore_above` (of a keyword: longer strings are left out), `null_value` (what a null \
                 counts as), `format` (of a date, as dd.MM.yyyy||epoch_second), `ignore_malformed` (true: values that do not fit are left out) and `column` (of a text, true: its whole strings can be sorted and counted). \
                 `properties` has the fields of an object. Types of other fields are found.";

/// The arguments of `gannet index`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("{FORMATS}\n\n{INDEXING}"),
    after_long_help = format!("{FORMATS}\n\n{INDEXING}\n\n{ANALYZERS}\n\n{MAPPING}")
)]
pub struct IndexArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The documents
    #[command(flatten)]
    pub sources: SourceArguments,
    /// The analyzer of new fields, or of one with FIELD=NAME; may be repeated
    #[arg(long, value_name = "[FIELD=]NAME")]
    pub analyzer: Vec<String>,
    /// Declare types of fields by a JSON file, such as {"price": "double", "day": "date"}.
    /// Documents whose values do not fit are rejected
    #[arg(long, value_name = "FILE")]
    pub mapping: Option<PathBuf>,
    /// Phrase filters that new text fields keep, so that phrases read less: `common` takes about a
    /// byte a word
    #[arg(long, value_name = "KIND", default_value = "common", hide_short_help = true,
          value_parser = PossibleValuesParser::new(PhraseFilters::NAMES).try_map(phrase_filters))]
    pub phrase_filters: PhraseFilters,
    /// The cache
    #[command(flatten)]
    pub cache: PageCacheArguments,
}

/// The kind of phrase filters of this name.
fn phrase_filters(name: String) -> Result<PhraseFilters, &'static str> {
    PhraseFilters::named(&name).ok_or("there are no such phrase filters")
}
