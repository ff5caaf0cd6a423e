//! The checked arguments of `gannet index` and `gannet update`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gannet::values::ValueType;
use gannet::{Analyzer, FieldMapping, FieldType, Index, Limits, Options, PhraseFilters};
use gannet_input::{Input, InputOptions, Write};

use super::folders::make_parents;
use crate::arguments::{
    Common, IndexArguments, PageCacheArguments, SourceArguments, UpdateArguments,
};
use crate::failure::{Failure, Outcome};
use crate::opening::{open_past_unfit, open_there, with_writing_cache};

/// There is at most one thread for so much of the memory budget.
const MEMORY_PER_THREAD: usize = 4 << 20;

/// The processor time that reading the log of a new index again may take after a crash. Nobody
/// searches it yet, and flushes that need not keep that short have fewer lists to write anew.
const LOG_TIME_OF_NEW: Duration = Duration::from_secs(20);

/// The longest file of a mapping.
const MAPPING_BYTES_MAX: u64 = 1 << 20;

/// Declarations that no document used, of which is told.
const UNUSED_TOLD: usize = 10;

/// The checked arguments of a run.
pub struct Settings<'a> {
    pub index: PathBuf,
    pub arguments: &'a SourceArguments,
    pub sources: Vec<Input>,
    pub threads: usize,
    /// The kind of write for documents that do not name it themselves.
    pub write: Write,
    /// The analyzers as they were given.
    pub analyzers: &'a [String],
    pub default_analyzer: Option<Analyzer>,
    pub field_analyzers: Vec<(String, Analyzer)>,
    /// The declared types of fields.
    pub mapping: FieldMapping,
    /// Nothing where no index is made.
    pub phrase_filters: Option<PhraseFilters>,
    pub cache: &'a PageCacheArguments,
}

impl<'a> Settings<'a> {
    /// Checks the arguments of `gannet index`.
    pub fn to_index(common: &Common, arguments: &'a IndexArguments) -> Outcome<Settings<'a>> {
        let mut settings = Settings::of(
            common,
            (&arguments.index, &arguments.cache),
            &arguments.sources,
            Write::Whole,
        )?;
        settings.phrase_filters = Some(arguments.phrase_filters);
        settings.analyzers = &arguments.analyzer;
        for choice in &arguments.analyzer {
            settings.choose_analyzer(choice)?;
        }
        if let Some(file) = &arguments.mapping {
            settings.mapping = mapping_of(file)?;
        }
        settings.check_mapping()?;
        Ok(settings)
    }

    /// Checks the arguments of `gannet update`.
    pub fn to_update(common: &Common, arguments: &'a UpdateArguments) -> Outcome<Settings<'a>> {
        let write = if arguments.upsert {
            Write::MergeOrAdd
        } else {
            Write::Merge
        };
        Settings::of(
            common,
            (&arguments.index, &arguments.cache),
            &arguments.sources,
            write,
        )
    }

    fn of(
        common: &Common,
        (index, cache): (&Path, &'a PageCacheArguments),
        arguments: &'a SourceArguments,
        write: Write,
    ) -> Outcome<Settings<'a>> {
        let options = InputOptions {
            is_change: write != Write::Whole,
            ..arguments.input()
        };
        Ok(Settings {
            index: index.to_owned(),
            arguments,
            sources: Input::all(&arguments.files, options)?,
            threads: threads(common, arguments),
            write,
            analyzers: &[],
            default_analyzer: None,
            field_analyzers: Vec::new(),
            mapping: FieldMapping::new(),
            phrase_filters: None,
            cache,
        })
    }

    /// `NAME` or `FIELD=NAME`.
    fn choose_analyzer(&mut self, choice: &str) -> Outcome<()> {
        match choice.rsplit_once('=') {
            Some((field, name)) => {
                let analyzer = Analyzer::named(name)?;
                self.field_analyzers.push((field.to_owned(), analyzer));
            }
            None => self.default_analyzer = Some(Analyzer::named(choice)?),
        }
        Ok(())
    }

    /// Rejects analyzers for fields of which a mapping says something else.
    fn check_mapping(&self) -> Outcome<()> {
        for (name, analyzer) in &self.field_analyzers {
            match self.mapping.type_of(name) {
                None => {}
                Some(FieldType::Text) if self.mapping.analyzer_of(name).is_none() => {}
                Some(FieldType::Column(ValueType::Keyword)) if *analyzer == Analyzer::KEYWORD => {}
                Some(declared) => {
                    return Err(Failure::caller(format!(
                        "--analyzer {name}={} and --mapping, which declares the field as {}, contradict each other: leave one out",
                        analyzer.name(),
                        declared.name()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Rejects analyzers for fields that have another one.
    pub fn check_analyzers(&self, index: &Index) -> Outcome<()> {
        let snapshot = index.snapshot();
        for (name, analyzer) in &self.field_analyzers {
            if let Some(field) = snapshot.schema().named(name)
                && field.analyzer != *analyzer
            {
                return Err(Failure::caller(format!(
                    "field {name:?} has the analyzer {} since it was first indexed, not {}: leave the option out, or index into a new folder",
                    field.analyzer.name(),
                    analyzer.name()
                )));
            }
        }
        Ok(())
    }

    /// Returns warnings about declarations of fields that no document has: most likely a name is
    /// misspelt.
    pub fn unused(&self, index: &Index) -> Vec<String> {
        let snapshot = index.snapshot();
        let undeclared = self.mapping.names().filter_map(|name| {
            let error = snapshot.check_field(name).err()?;
            Some(format!("--mapping: {name:?} was not used: {error}"))
        });
        let unused = self.field_analyzers.iter().filter_map(|(name, analyzer)| {
            let error = snapshot.check_field(name).err()?;
            let choice = format!("{name}={}", analyzer.name());
            Some(format!("--analyzer {choice} was not used: {error}"))
        });
        unused.chain(undeclared).take(UNUSED_TOLD).collect()
    }

    /// Opens the index, which is made if it is missing and documents are added. Gives the folder
    /// above it too, if that had to be made.
    pub fn open(&self, common: &Common) -> Outcome<(Index, Option<PathBuf>)> {
        let mut options = Index::options()
            .memory(common.memory().bytes())
            .backend(common.backend.into())
            .durability(self.arguments.durability.into());
        let Some(filters) = self.phrase_filters else {
            let plain = options.create(false);
            let cached = with_writing_cache(plain.clone(), self.cache);
            let there = |options| open_there(options, &self.index);
            return Ok((open_past_unfit(plain, cached, there)?, None));
        };
        options = options.phrase_filters(filters);
        if let Some(analyzer) = self.default_analyzer {
            options = options.analyzer(analyzer);
        }
        for (field, analyzer) in &self.field_analyzers {
            options = options.field_analyzer(field, *analyzer);
        }
        options = options.mapping(self.mapping.clone());
        if !self.index.exists() && self.arguments.commit_every.is_none() {
            options = options.limits(Limits {
                loads: true,
                log_time: LOG_TIME_OF_NEW,
                ..Limits::default()
            });
        }
        let made = make_parents(&self.index)?;
        let cached = with_writing_cache(options.clone(), self.cache);
        let open = |options: Options| options.open(&self.index);
        Ok((open_past_unfit(options, cached, open)?, made))
    }
}

/// Reads declared types from a file.
fn mapping_of(file: &Path) -> Outcome<FieldMapping> {
    let wrong = |reason: &str| Failure::caller(format!("--mapping {}: {reason}", file.display()));
    let mut text = String::new();
    let opened = File::open(file);
    opened
        .and_then(|file| file.take(MAPPING_BYTES_MAX + 1).read_to_string(&mut text))
        .map_err(|error| wrong(&error.to_string()))?;
    if text.len() as u64 > MAPPING_BYTES_MAX {
        return Err(wrong("the file has more than 1 MiB, and a mapping fits it"));
    }
    let within = |reason: &str| format!("--mapping {}: {reason}", file.display());
    let read = FieldMapping::from_json(&text);
    read.map_err(|error| Failure::from(error).within(within))
}

/// Returns the number of threads that prepare documents; the memory that each holds besides its
/// documents must fit beside the budget.
fn threads(common: &Common, arguments: &SourceArguments) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let asked = arguments.threads.map_or_else(processors, usize::from);
    asked.min((common.memory().bytes() / MEMORY_PER_THREAD).max(1))
}
