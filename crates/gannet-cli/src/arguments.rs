//! The arguments as they are given: the one table from which parsing, help and completions are
//! made.
//!
//! Nothing here is checked against an index or a file; each command resolves its own.

mod cache;
#[cfg(feature = "ssd")]
mod device;
mod documents;
mod long_help;
mod mistakes;
mod rebuild;
mod remote;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gannet::PhraseFilters;
use gannet::diagnostics::Techniques;
use gannet_input::InputFormat;

use crate::size::Size;
use crate::time::TimeLimit;

pub use cache::{CacheArguments, ResultCacheArguments, StatsArguments};
#[cfg(feature = "ssd")]
pub use device::{DeviceArguments, DrivenArguments};
pub use documents::{ExportArguments, ExportFormat, GetArguments};
use long_help::{ANALYZERS, QUERIES};
pub use rebuild::RebuildArguments;
pub use remote::{PublishArguments, RemoteArguments};

/// Full-text search on flash: one memory budget, reads only what a query needs.
#[derive(Debug, Parser)]
#[command(
    name = "gannet",
    version,
    propagate_version = true,
    after_help = "Exit codes: 0 done; 1 the caller's fault (a bad query, a wrong path, rejected input); \
                  2 a damaged index or a failing device; 3 a query that took longer than its time limit; \
                  4 a bug of gannet; 5 a writer in another process needed the space of what was read: run it again; \
                  130 Ctrl-C, and 143 a request to terminate (SIGTERM), after an orderly end."
)]
pub struct Given {
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    /// The memory budget, at least 16MiB; the process holds at most 64 MiB more (512MiB, 64MB,
    /// 1GiB, or bytes)
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        default_value = "512MiB",
        allow_negative_numbers = true
    )]
    pub memory: Size,
    /// How the files are read and written
    #[arg(
        long,
        global = true,
        value_name = "BACKEND",
        default_value = "auto",
        hide_short_help = true
    )]
    pub backend: BackendName,
    /// Print the answer as one line of JSON; an error is a sentence on standard error all the same
    #[arg(long, global = true)]
    pub json: bool,
    /// When text has colour; NO_COLOR is respected
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub color: ColorChoice,
    /// Fail if the process ever held more memory than the budget and 64 MiB, or allocated 32 MiB
    /// more than it
    #[arg(long, global = true, hide = true)]
    pub assert_memory: bool,
    /// How URLs are read
    #[command(flatten)]
    pub remote: RemoteArguments,
}

/// A backend by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// io_uring where it works, else pread
    Auto,
    /// io_uring
    Uring,
    /// pread on a pool of threads
    Pread,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add documents to an index, which is made if it is missing
    Index(IndexArguments),
    /// Search an index
    Search(SearchArguments),
    /// Print documents by their IDs, one JSON object a line
    Get(GetArguments),
    /// Write all documents, or all that a query finds, as JSON lines or CSV
    Export(ExportArguments),
    /// Measure how fast queries are answered and what they read
    Bench(BenchArguments),
    /// Say what an index holds and where its bytes are
    Stats(StatsArguments),
    /// Delete documents by their IDs or by a query
    Delete(DeleteArguments),
    /// Purge deleted documents, merge small chunks, and return the space to the file system
    #[command(
        after_help = "Nothing is done where it would write much for little: it begins where one in a hundred documents \
                      is deleted, where a sixty-fourth of the index comes back from zones of which a tenth is dead, or \
                      where chunks can be joined. `gannet rebuild` takes out every deleted document."
    )]
    Vacuum(IndexPath),
    /// Write the index anew, without what was deleted and each list in one piece
    Rebuild(RebuildArguments),
    /// Copy an index as it is at this moment; later backups to the same folder copy only new pages
    Backup(BackupArguments),
    /// Copy an index to object storage, where it can be searched; later calls copy only new pages
    Publish(PublishArguments),
    /// Copy a backup to a new index, and check every page of it
    Restore(RestoreArguments),
    /// Read the whole index and say whether any of it is damaged
    Check(IndexPath),
    /// Look at the parts of an index, without changing it
    Inspect(InspectArguments),
    /// Show the tokens that an analyzer makes of a text
    Analyze(AnalyzeArguments),
    /// Print the completions for a shell
    Completions(CompletionsArguments),
}

/// An index and nothing else.
#[derive(Debug, Args)]
pub struct IndexPath {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
}

/// The arguments of `gannet backup`.
#[derive(Debug, Args)]
#[command(
    after_help = "All documents, lists and settings are copied as they are when the command begins; others may write \
                  meanwhile. Beside a writer it copies the last checkpoint: what the writer has made durable since \
                  (--commit-every) is in the next backup after the next checkpoint, which a writer makes about every ten \
                  seconds while somebody reads the index, and at its end. Where the folder has an earlier backup of the index, only pages written since are copied. \
                  A backup can be searched where it is, and `gannet restore` makes an index of it. A backup that is \
                  cut short leaves the earlier one."
)]
pub struct BackupArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The folder of the backup: missing, empty, or with an earlier backup of this index
    #[arg(value_name = "DESTINATION")]
    pub destination: PathBuf,
}

/// The arguments of `gannet restore`.
#[derive(Debug, Args)]
#[command(
    after_help = "All documents, lists and settings of the backup are copied, and the backup is left as it is. The new \
                  index has an identity of its own: its backups go to another folder."
)]
pub struct RestoreArguments {
    /// The folder of the backup
    #[arg(value_name = "BACKUP")]
    pub backup: PathBuf,
    /// The folder of the new index: missing or empty
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
}

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

/// The arguments of `gannet delete`.
#[derive(Debug, Args)]
#[command(
    group(clap::ArgGroup::new("what").required(true)),
    override_usage = "gannet delete [OPTIONS] <INDEX> <ID>...\n       gannet delete [OPTIONS] <INDEX> --query <QUERY>",
    after_help = "Examples:\n  gannet delete wiki.gnt 17 42\n  gannet delete wiki.gnt --query title:draft --dry-run"
)]
pub struct DeleteArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// External IDs. The answer names those that the index does not have; the exit code stays 0
    #[arg(value_name = "ID", group = "what")]
    pub ids: Vec<String>,
    /// Delete all documents that this query finds
    #[arg(long, value_name = "QUERY", group = "what", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Only say which documents would be deleted, and how many
    #[arg(long)]
    pub dry_run: bool,
    /// How long each search for the next 1,000 documents of --query may take (500ms, 10s, 2m, none;
    /// a number alone is seconds); beyond it the exit code is 3
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: TimeLimit,
}

/// The kind of phrase filters of this name.
fn phrase_filters(name: String) -> Result<PhraseFilters, &'static str> {
    PhraseFilters::named(&name).ok_or("there are no such phrase filters")
}

/// When a write is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DurabilityName {
    /// Each batch before the next one is written
    Sync,
    /// With --commit-every, at each flush and at the end
    Async,
}

/// The arguments of `gannet search`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gannet search wiki.gnt neutron star\n  \
                  gannet search wiki.gnt 'title:star AND \"black hole\"' -k 20 --offset 20\n  \
                  gannet search wiki.gnt --count -- -disk +flash\n\n\
                  Queries: words are combined by OR; + and -, AND OR NOT, && || !, \"phrases\"~slop, \
                  prefix*, wild?cards, fuzzy~, ^boosts, field:word, field:( ... ), field:*, id:ID, \
                  field:[ranges TO here]; --help says more",
    after_long_help = QUERIES
)]
pub struct SearchArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// What to look for; several words are one query. One that begins with - comes after --
    #[arg(value_name = "QUERY", required_unless_present = "queries")]
    pub query: Vec<String>,
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
    /// How many of the best documents to skip; 10 gives the second page of ten
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = count,
        allow_negative_numbers = true
    )]
    pub offset: usize,
    /// Print only how many documents match; no document is read
    #[arg(long, conflicts_with_all = ["k", "offset", "fields", "highlight", "explain"])]
    pub count: bool,
    /// Fields of the documents to show, separated by commas, without snippets unless --highlight
    /// asks for them [default: ID, title and snippets; with --json all]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// Show the plan with its reads, and how each score was computed
    #[arg(long)]
    pub explain: bool,
    /// Fields to make snippets of; may be repeated. In JSON <em> and </em> mark what was found, and
    /// the text is as it was stored, not escaped for HTML [default: the text fields of the index]
    #[arg(long, value_name = "FIELD")]
    pub highlight: Vec<String>,
    /// How long the search may take (500ms, 10s, 2m, none; a number alone is seconds); beyond it
    /// the exit code is 3
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
    #[arg(
        long,
        value_name = "TIME",
        requires = "result_cache",
        hide_short_help = true
    )]
    pub result_ttl: Option<TimeLimit>,
    /// The modelled drive
    #[cfg(feature = "ssd")]
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// The arguments of `gannet bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "A line of QUERIES is KIND<TAB>WORDS, where KIND is term, and, or, phrase. With --as, it \
                  is words alone, or NAME<TAB>WORDS, where the name is passed over.\n\n\
                  A latency is the time from asking a query to its answer. The queries of a group are \
                  asked and answered together, so each takes as long as its group: the mean latency \
                  is threads times group, divided by the queries a second."
)]
pub struct BenchArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The file of queries, also .gz and .zst; - is standard input
    #[arg(value_name = "QUERIES")]
    pub queries: PathBuf,
    /// How many threads ask
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// How many seconds to measure; without it, every query is asked once
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// How many seconds to ask before the measurement, which goes on with the next queries
    #[arg(long, value_name = "S")]
    pub warm: Option<f64>,
    /// How many documents each query asks for
    #[arg(
        short,
        value_name = "K",
        default_value_t = 10,
        value_parser = count,
        allow_negative_numbers = true
    )]
    pub k: usize,
    /// The field that is searched
    #[arg(long, value_name = "FIELD", default_value = "body")]
    pub field: String,
    /// How a line of plain words is searched
    #[arg(long = "as", value_name = "KIND")]
    pub plain: Option<PlainKind>,
    /// Never ask the same query twice
    #[arg(long)]
    pub distinct: bool,
    /// Count all matching documents exactly
    #[arg(long)]
    pub count: bool,
    /// How long a query or a group may take (500ms, 10s, 2m, none; a number alone is seconds);
    /// beyond it the exit code is 3
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: TimeLimit,
    /// Load the stored documents and make snippets
    #[arg(long)]
    pub fetch: bool,
    /// Note in the result that the frames were empty when the measurement began
    #[arg(long)]
    pub cold: bool,
    /// How many queries a thread asks together
    #[arg(long, value_name = "G", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub group: u16,
    /// Write the best documents of the first 200 queries to a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub dump: Option<PathBuf>,
    /// Search without these techniques, to measure what each saves
    #[arg(long, value_name = "NAME", num_args = 1.., hide_short_help = true, value_parser = PossibleValuesParser::new(Techniques::NAMES))]
    pub without: Vec<String>,
    /// The flash tier
    #[command(flatten)]
    pub cache: CacheArguments,
    /// The result cache
    #[command(flatten)]
    pub results: ResultCacheArguments,
    /// The modelled drive
    #[cfg(feature = "ssd")]
    #[command(flatten)]
    pub device: DrivenArguments,
}

/// What plain words mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlainKind {
    /// All of them
    And,
    /// Any of them
    Or,
}

/// The arguments of `gannet inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The part to show
    #[command(subcommand)]
    pub part: Part,
}

/// A part of an index.
#[derive(Debug, Subcommand)]
pub enum Part {
    /// The zones: what they hold and how much of it is live
    Zones,
    /// The trees of frequent words, of long and of short lists, of each level of delta postings and
    /// of external IDs: height, nodes, leaves, entries, and how full the leaves are
    Trees,
    /// All postings lists: where their bytes are, by how many documents have the term
    Lists,
    /// One page, after its checksum was checked
    Page {
        /// The number of the zone
        zone: u32,
        /// The number of the page in it
        page: u32,
    },
    /// The postings list of one term, as it is on flash
    Term {
        /// The field
        field: String,
        /// The term as it is indexed
        term: String,
    },
}

/// The arguments of `gannet analyze`.
#[derive(Debug, Args)]
#[command(after_help = ANALYZERS)]
pub struct AnalyzeArguments {
    /// The analyzer to use
    #[arg(long, value_name = "NAME", default_value = "standard")]
    pub analyzer: String,
    /// The text to analyze
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub input: String,
}

/// The arguments of `gannet completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell to complete for
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// A number of documents.
fn count(text: &str) -> Result<usize, &'static str> {
    let number = text.parse();
    number.map_err(|_| "expected a whole number of documents, 0 or more")
}

impl From<BackendName> for gannet::BackendChoice {
    fn from(name: BackendName) -> gannet::BackendChoice {
        match name {
            BackendName::Auto => gannet::BackendChoice::Auto,
            BackendName::Uring => gannet::BackendChoice::Uring,
            BackendName::Pread => gannet::BackendChoice::Pread,
        }
    }
}

impl From<DurabilityName> for gannet::Durability {
    fn from(name: DurabilityName) -> gannet::Durability {
        match name {
            DurabilityName::Sync => gannet::Durability::Sync,
            DurabilityName::Async => gannet::Durability::Async,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_consistent() {
        Given::command().debug_assert();
    }
}
