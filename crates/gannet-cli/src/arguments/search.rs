//! The arguments of `gannet search`.

use std::path::PathBuf;

use clap::Args;

use super::cache::{CacheArguments, ResultCacheArguments};
use super::count::count;
use super::long_help::QUERIES;
use crate::time::TimeLimit;

/// The arguments of `gannet search`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gannet search wiki.gnt neutron star\n  \
                  gannet search wiki.gnt 'title:star AND \"black hole\"' -k 20 --offset 20\n  \
                  gannet search wiki.gnt --count -- -disk +flash\n\n\
                  Queries: words are combined by OR; + and -, AND OR NOT, && || !, \"phrases\"~slop, \
                  prefix*, wild?cards, fuzzy~, ^boosts, field:word, field:( ... ), field:*, id:ID, \
                  field:[ranges TO here], field:=value; --help says more",
    after_long_help = QUERIES
)]
pub struct SearchArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The words to look for; several words are one query. One that begins with - comes after --
    #[arg(value_name = "QUERY", required_unless_present_any = ["queries", "filter"])]
    pub query: Vec<String>,
    /// A query that hits must match too; its words are joined by AND, and it adds nothing to
    /// scores. May be repeated. With a filter alone all documents that match it are found
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Vec<String>,
    /// Answer each line of this file, also .gz and .zst; - is standard input. The newest state of
    /// the index is looked for once a second. With --json each answer is a line
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "query",
        hide_short_help = true
    )]
    pub queries: Option<PathBuf>,
    /// The most documents to show
    #[arg(
        short,
        long = "limit",
        value_name = "K",
        default_value_t = 10,
        value_parser = count,
        allow_negative_numbers = true
    )]
    pub k: usize,
    /// Number of best documents to skip; 10 gives the second page of ten
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = count,
        allow_negative_numbers = true
    )]
    pub offset: usize,
    /// Keys to order hits by, separated by commas, in place of their scores: fields of numbers,
    /// dates, booleans or short strings, _score, _doc, and _id for external IDs. A - before one
    /// turns it: -date has the newest first. Documents without a value come last
    #[arg(
        long,
        value_name = "KEYS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub sort: Vec<String>,
    /// Show the hits behind the one with these values by the keys of --sort: a JSON array, as
    /// "sort" has it in the answer. Add _id or _doc as the last key, so that no two hits have the
    /// same values
    #[arg(long, value_name = "VALUES", requires = "sort", hide_short_help = true)]
    pub after: Option<String>,
    /// Show one hit for each value of a field, the best of those that have it. Documents without a
    /// value have one together. Totals and facets count all documents
    #[arg(long, value_name = "FIELD")]
    pub collapse: Option<String>,
    /// Count the values of a field over all documents that match, and show the most frequent ones
    /// [default: 10 of them]. May be repeated. With -k 0 no hits are shown
    #[arg(long, value_name = "FIELD[:N]")]
    pub facet: Vec<String>,
    /// Compute the aggregations of this file, which are written as in Elasticsearch; - is standard
    /// input. The query of a filter is text in the query language
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub aggregate: Option<PathBuf>,
    /// Print only how many documents match; no document is read
    #[arg(
        long,
        conflicts_with_all = ["k", "offset", "fields", "columns", "highlight", "explain", "sort", "collapse", "facet", "aggregate"]
    )]
    pub count: bool,
    /// Fields of the documents to show, separated by commas, without snippets unless --highlight
    /// asks for them [default: ID, title and snippets; with --json all]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// Columns whose values are shown in place of fields of documents, separated by commas. No
    /// document is read but for its ID
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with_all = ["fields", "highlight"])]
    pub columns: Vec<String>,
    /// Show the plan with its reads, and how each score was computed
    #[arg(long)]
    pub explain: bool,
    /// Fields to make snippets of; may be repeated. In JSON <em> and </em> mark what was found, and
    /// the text is as it was stored, not escaped for HTML [default: the text fields of the index]
    #[arg(long, value_name = "FIELD")]
    pub highlight: Vec<String>,
    /// Time limit of the search, and of reading the log of a killed writer before it (500ms, 10s,
    /// 2m, none; a number alone is seconds); beyond it the exit code is 3
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: TimeLimit,
    /// The flash tier
    #[command(flatten)]
    pub cache: CacheArguments,
    /// The result cache
    #[command(flatten)]
    pub results: ResultCacheArguments,
    /// Also reuse answers of an earlier state of the index, until they are this old (10s, 5m,
    /// none for no limit). An answer says how old it is
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub result_ttl: Option<TimeLimit>,
}
