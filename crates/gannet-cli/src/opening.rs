//! Opens indexes for commands: in a folder or at a URL, for reading or for writing.

use std::path::Path;
#[cfg(feature = "remote")]
use std::time::Duration;

use gannet::diagnostics::{AnswersOnFlash, CacheState};
use gannet::{Error, Index, Options};

use crate::arguments::{CacheArguments, Common, PageCacheArguments, ResultCacheArguments};
use crate::failure::remark;
#[cfg(feature = "remote")]
use crate::time::TimeLimit;

/// The time that stands for no limit.
#[cfg(feature = "remote")]
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3_600);

/// Returns true if `path` is a URL and not the path of a folder.
pub fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_name = |scheme: &str| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '+')
    };
    scheme.is_some_and(is_name)
}

/// The error for a URL in a program that cannot read one.
#[cfg(not(feature = "remote"))]
pub fn without(url: &Path) -> gannet::Error {
    gannet::Error::invalid(format!(
        "{} is a URL, and this gannet was built without the feature `remote`: `cargo build --release --package gannet-cli` \
         builds one with it, as target/release/gannet",
        url.display()
    ))
}

/// Opens the index in a folder or at a URL.
#[cfg(not(feature = "remote"))]
pub fn open(options: Options, path: &Path, _: &Common) -> gannet::Result<Index> {
    if is_url(path) {
        Err(without(path))
    } else {
        open_there(options, path)
    }
}

/// Opens the index in a folder or at a URL.
#[cfg(feature = "remote")]
pub fn open(options: Options, path: &Path, common: &Common) -> gannet::Result<Index> {
    if !is_url(path) {
        return open_there(options, path);
    }
    let remote = gannet_remote::RemoteOptions {
        index: options,
        timeout: limit(common.remote.remote_timeout),
        refresh: limit(common.remote.refresh),
        gap: common.remote.remote_gap.map(|gap| gap.bytes() as u64),
        ..gannet_remote::RemoteOptions::default()
    };
    Ok(gannet_remote::open(&path.to_string_lossy(), remote)?.0)
}

/// Opens an index in a folder, where there is one.
pub fn open_there(options: Options, path: &Path) -> gannet::Result<Index> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(gannet::Error::invalid(format!(
                "{0} does not exist: check the path; `gannet index {0} FILE` makes an index of the documents in a file",
                path.display()
            )))
        }
        _ => options.open(path),
    }
}

/// A limit of time as the store of objects has it.
#[cfg(feature = "remote")]
pub fn limit(time: TimeLimit) -> Duration {
    time.time().unwrap_or(LONGEST).min(LONGEST)
}

/// Opens an index for reading only, beside others who read and one who writes.
pub fn open_to_read(path: &Path, common: &Common) -> gannet::Result<Index> {
    open(
        reading(common, &ResultCacheArguments::default()),
        path,
        common,
    )
}

/// The same with a flash tier, if one is given. Says so if the index is read past it.
pub fn open_cached(path: &Path, common: &Common, cache: &CacheArguments) -> gannet::Result<Index> {
    let options = reading(common, &ResultCacheArguments::default());
    open_with(options, path, common, cache)
}

/// The same with a flash tier and a result cache, if they are given.
pub fn open_with(
    options: Options,
    path: &Path,
    common: &Common,
    cache: &CacheArguments,
) -> gannet::Result<Index> {
    let mut cached = with_pages(options.clone(), &cache.pages);
    if let Some(size) = cache.cache_answers {
        cached = cached.cache_answers(size.bytes() as u64);
    }
    open_past_unfit(options, cached, |options| open(options, path, common))
}

/// Opens an index with a cache, if the options have one. Where what was asked of the cache fits
/// nothing, the index is opened without it. Says why a cache is not used.
pub fn open_past_unfit(
    plain: Options,
    cached: Options,
    open: impl Fn(Options) -> gannet::Result<Index>,
) -> gannet::Result<Index> {
    let has_cache = cached.has_cache();
    let error = match open(cached) {
        Err(error @ Error::Invalid(_)) if has_cache => error,
        opened => {
            let index = opened?;
            remark_of_cache(&index);
            return Ok(index);
        }
    };
    // The fault is the cache's if there is none without it.
    let Ok(index) = open(plain) else {
        return Err(error);
    };
    remark(&format!("the index is read past the cache: {error}"));
    Ok(index)
}

/// Adds the pages of a cache, if one is given.
fn with_pages(options: Options, cache: &PageCacheArguments) -> Options {
    let Some(folder) = &cache.cache_dir else {
        return options;
    };
    let options = match cache.cache_size {
        Some(size) => options.cache(folder, size.bytes() as u64),
        None => options.cache_folder(folder),
    };
    match cache.cache_writes {
        Some(most) => options.cache_writes(most.bytes() as u64),
        None => options,
    }
}

/// Adds the cache of a command that writes, if one is given: without answers, for it gives none.
pub fn with_writing_cache(options: Options, cache: &PageCacheArguments) -> Options {
    match &cache.cache_dir {
        Some(_) => with_pages(options, cache).result_cache(0),
        None => options,
    }
}

/// Says why a cache is not used that was asked for: one sentence, even if that keeps answers from
/// it too.
fn remark_of_cache(index: &Index) {
    match (index.cache(), index.answers_on_flash()) {
        (Some(CacheState::Past(reason)), _) => {
            remark(&format!("the index is read past the cache: {reason}"));
        }
        (_, Some(AnswersOnFlash::Past(reason))) => {
            remark(&format!("no answers are kept in the cache: {reason}"));
        }
        _ => {}
    }
}

/// Returns the options for reading an index, with a result cache if one is given.
pub fn reading(common: &Common, results: &ResultCacheArguments) -> Options {
    let options = Index::options()
        .memory(common.memory().bytes())
        .backend(common.backend.into())
        .read_only();
    match results.result_cache {
        Some(size) => options.result_cache(size.bytes()),
        None => options,
    }
}

/// Returns the options for writing to an index. None is made where none is.
fn writing(common: &Common) -> Options {
    Index::options()
        .memory(common.memory().bytes())
        .backend(common.backend.into())
        .create(false)
}

/// Opens an index for writing with a cache, if one is given.
pub fn open_to_write_with(
    path: &Path,
    common: &Common,
    cache: &PageCacheArguments,
) -> gannet::Result<Index> {
    let (plain, cached) = (writing(common), with_writing_cache(writing(common), cache));
    open_past_unfit(plain, cached, |options| open_there(options, path))
}

/// Opens an index for reading, as a command does that only tells what it would write.
pub fn open_to_read_with(
    path: &Path,
    common: &Common,
    cache: &PageCacheArguments,
) -> gannet::Result<Index> {
    let plain = reading(common, &ResultCacheArguments::default());
    let cached = with_writing_cache(plain.clone(), cache);
    open_past_unfit(plain, cached, |options| open(options, path, common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["s3://b/p", "file:///tmp/x", "gs://b/p", "https://a/b"] {
            assert!(is_url(Path::new(url)), "{url}");
        }
        for path in ["wiki.gnt", "/a/b", "./s3:/x", "://x", "a b://c"] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
    }
}
