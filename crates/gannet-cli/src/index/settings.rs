//! What `gannet index` works with: its arguments, checked.

use std::path::PathBuf;

use gannet::{Analyzer, Index};
use gannet_input::Input;

use crate::arguments::{Common, IndexArguments};
use crate::failure::{Failure, Outcome};

/// There is at most one thread for so much of the memory budget.
const MEMORY_PER_THREAD: usize = 4 << 20;

/// What a run works with: the arguments, checked.
pub struct Settings {
    pub index: PathBuf,
    pub sources: Vec<Input>,
    pub threads: usize,
    pub commit_every: Option<u64>,
    pub default_analyzer: Option<Analyzer>,
    pub field_analyzers: Vec<(String, Analyzer)>,
    pub strict: bool,
}

impl Settings {
    pub fn resolve(common: &Common, arguments: &IndexArguments) -> Outcome<Settings> {
        let mut settings = Settings {
            index: arguments.index.clone(),
            sources: Input::all(&arguments.files, arguments.format)?,
            threads: threads(common, arguments),
            commit_every: arguments.commit_every,
            default_analyzer: None,
            field_analyzers: Vec::new(),
            strict: arguments.strict,
        };
        for choice in &arguments.analyzer {
            settings.choose_analyzer(choice)?;
        }
        Ok(settings)
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

    /// What to tell of analyzers for fields that no document has: most likely a name is misspelt.
    pub fn unused_analyzers(&self, index: &Index) -> Vec<String> {
        let snapshot = index.snapshot();
        let unused = self.field_analyzers.iter().filter_map(|(name, analyzer)| {
            let error = snapshot.check_field(name).err()?;
            let choice = format!("{name}={}", analyzer.name());
            Some(format!("--analyzer {choice} was not used: {error}"))
        });
        unused.collect()
    }

    pub fn open(&self, common: &Common, arguments: &IndexArguments) -> gannet::Result<Index> {
        let mut options = Index::options()
            .memory(common.memory().bytes())
            .backend(common.backend.into())
            .durability(arguments.durability.into())
            .phrase_filters(arguments.phrase_filters);
        if let Some(analyzer) = self.default_analyzer {
            options = options.analyzer(analyzer);
        }
        for (field, analyzer) in &self.field_analyzers {
            options = options.field_analyzer(field, *analyzer);
        }
        options.open(&self.index)
    }
}

/// How many threads prepare documents: what each of them holds besides its documents must fit
/// beside the budget.
fn threads(common: &Common, arguments: &IndexArguments) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let asked = arguments.threads.map_or_else(processors, usize::from);
    asked.min((common.memory().bytes() / MEMORY_PER_THREAD).max(1))
}
