//! The answers on flash behind the result cache of an index that is opened.

use crate::base::{Budget, Result};
use crate::cache::{AnswerFile, AnswerFileFigures, OpenAnswers, micros_since_1970};
use crate::device::open_answers;
use crate::index::state::{CacheOptions, Options};
use crate::search::{FlashAnswers, ResultCache};

/// The state of the answers on flash that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswersOnFlash {
    /// They are used.
    Used(AnswerFileFigures),
    /// Searches go on without them; why.
    Past(String),
}

/// Puts the answers on flash that the options ask for behind those in memory. Where their folder is
/// none that they may be in, or their device fails, searches go on without them, and a sentence
/// says so.
pub(super) fn with_flash(
    results: Option<ResultCache>,
    options: &Options,
    budget: &Budget,
) -> (Option<ResultCache>, Option<String>) {
    let Some(cache) = &options.cache else {
        return (results, None);
    };
    let bytes = cache.answers.filter(|bytes| *bytes > 0);
    let Some(bytes) = bytes.filter(|_| results.is_some()) else {
        return (results, cache.past_answers.clone());
    };
    match open(cache, options, bytes, budget) {
        Ok(file) => {
            let flash = FlashAnswers::new(file, micros_since_1970);
            (results.map(|results| results.with_flash(flash)), None)
        }
        Err(error) => (results, Some(error.to_string())),
    }
}

fn open(
    cache: &CacheOptions,
    options: &Options,
    bytes: u64,
    budget: &Budget,
) -> Result<AnswerFile> {
    let (folder, backend) = (cache.folder.clone(), options.backend);
    let open: OpenAnswers = Box::new(move |access| open_answers(&folder, backend, access));
    AnswerFile::open(open, bytes, budget)
}
