//! Sizes of the caches that options ask for: pages and answers on flash, answers in memory.
//!
//! Sizes that are given are checked. Others are made to fit: the memory of all three is a quarter
//! of the budget at most. No pages are kept on the disk that the index is on. An index is never
//! without answers on flash by an error: a sentence says why.

use super::options::Options;
use crate::base::{Error, Result};
use crate::cache::{ANSWERS_BYTES_MIN, AnswerFile, FlashTier, TIER_BYTES_MIN};
use crate::device::{Device, disk_of};
use crate::search::RESULT_CACHE_MIN;

/// The part of the budget that the memory of all caches takes at most.
const CACHE_ONE_OF: usize = 4;

/// The size of the flash tier unless it is given: this, or what fits a part of the budget.
const TIER_BYTES: u64 = 1 << 30;
const TIER_ONE_OF: usize = 8;

/// The least limit of bytes that are written to the flash tier in a second.
const CACHE_WRITES_MIN: u64 = 64 << 10;

/// The size of the result cache in memory with a cache on flash, unless it is given: a part of the
/// budget, and its bounds.
const RESULTS_ONE_OF: usize = 64;
const RESULTS_MAX: usize = 16 << 20;

/// The size of the answers on flash unless it is given: a part of the bytes of the tier, and its
/// bounds.
const ANSWERS_ONE_OF: u64 = 16;
const ANSWERS_BOUNDS: (u64, u64) = (2 << 20, 256 << 20);

impl Options {
    /// Checks the sizes that are given.
    pub(super) fn check_caches(&self) -> Result<()> {
        if let Some(bytes) = self.cache.as_ref().and_then(|cache| cache.pages) {
            self.check_tier(bytes)?;
        }
        self.check_cache_writes()?;
        match self.result_cache {
            Some(0) => self.check_ttl(),
            Some(bytes) => self.check_result_cache(bytes),
            None if self.cache.is_some() => Ok(()),
            None => self.check_ttl(),
        }
    }

    /// The same options with all sizes of caches given, for an index on `device`. Where its disk
    /// has the folder of the cache too, no pages are kept there unless their size is given.
    pub(crate) fn settle_caches(mut self, device: &dyn Device) -> Options {
        let pages = if self.is_on_one_disk(device) {
            Some(0)
        } else {
            self.tier_bytes()
        };
        let results = self.result_cache.unwrap_or_else(|| self.results_default());
        let answers = self.answers_bytes(results);
        self.result_cache = Some(results);
        if let Some(cache) = &mut self.cache {
            cache.pages = pages;
            match answers {
                Ok(bytes) => cache.answers = Some(bytes),
                Err(past) => {
                    (cache.answers, cache.past_answers) = (Some(0), Some(past.to_string()));
                }
            }
        }
        self
    }

    fn is_on_one_disk(&self, device: &dyn Device) -> bool {
        let cache = self.cache.as_ref().filter(|cache| cache.pages.is_none());
        let folder = cache.and_then(|cache| disk_of(&cache.folder));
        folder.is_some() && folder == device.disk()
    }

    /// Returns true if the options are settled and no pages are kept in the folder of the cache.
    pub(crate) fn keeps_no_pages(&self) -> bool {
        self.cache
            .as_ref()
            .is_some_and(|cache| cache.pages == Some(0))
    }

    /// Bytes of memory for caches that are settled, which frames do without.
    pub(crate) fn cache_memory(&self) -> usize {
        let answers = self.cache.as_ref().and_then(|cache| cache.answers);
        let answers = answers.filter(|bytes| *bytes > 0);
        let answers = answers.map_or(0, AnswerFile::memory_bytes);
        let results = self.result_cache.unwrap_or(0);
        self.tier_memory()
            .saturating_add(results)
            .saturating_add(answers)
    }

    fn check_ttl(&self) -> Result<()> {
        match self.result_ttl {
            None => Ok(()),
            Some(_) => Err(Error::invalid(
                "a time for which older answers are reused needs a result cache that keeps them: give its size",
            )),
        }
    }

    fn check_cache_writes(&self) -> Result<()> {
        match self.cache_writes {
            Some(_) if self.cache.is_none() => Err(Error::invalid(
                "a limit of what is written to a cache needs a cache: give its folder",
            )),
            Some(bytes) if bytes < CACHE_WRITES_MIN => Err(Error::invalid(format!(
                "a cache to which {bytes} bytes are written in a second keeps nothing: give at least \
                 {CACHE_WRITES_MIN} (64KiB)"
            ))),
            _ => Ok(()),
        }
    }

    fn check_result_cache(&self, bytes: usize) -> Result<()> {
        if bytes < RESULT_CACHE_MIN {
            return Err(Error::invalid(format!(
                "a result cache of {bytes} bytes is too small: it needs at least {RESULT_CACHE_MIN} (64KiB)"
            )));
        }
        let largest = self.left_to_answers() >> 10 << 10;
        if bytes > largest {
            return Err(Error::invalid(format!(
                "a result cache of {bytes} bytes does not fit the memory budget of {}, of which it and the map of a \
                 flash tier take at most a quarter: give at most {largest} bytes ({}KiB) for it, or more memory",
                self.memory,
                largest >> 10
            )));
        }
        Ok(())
    }

    fn check_tier(&self, bytes: u64) -> Result<()> {
        if bytes < TIER_BYTES_MIN {
            return Err(Error::invalid(format!(
                "a cache of {bytes} bytes is too small: it needs at least {TIER_BYTES_MIN} (8MiB)"
            )));
        }
        let largest = FlashTier::largest(self.memory / CACHE_ONE_OF) >> 20 << 20;
        if bytes > largest {
            return Err(Error::invalid(format!(
                "the map of a cache of {bytes} bytes does not fit the memory budget of {}: give at most {largest} bytes \
                 ({}MiB) for the cache, or more memory",
                self.memory,
                largest >> 20
            )));
        }
        Ok(())
    }

    /// Bytes of the flash tier; nothing without a cache.
    fn tier_bytes(&self) -> Option<u64> {
        let cache = self.cache.as_ref()?;
        let fits = FlashTier::largest(self.memory / TIER_ONE_OF) >> 20 << 20;
        Some(cache.pages.unwrap_or(fits.min(TIER_BYTES)))
    }

    /// Bytes of memory of the flash tier.
    fn tier_memory(&self) -> usize {
        let bytes = self.tier_bytes().filter(|bytes| *bytes > 0);
        bytes.map_or(0, FlashTier::memory_bytes)
    }

    /// Bytes of memory beside the flash tier.
    fn left_to_answers(&self) -> usize {
        (self.memory / CACHE_ONE_OF).saturating_sub(self.tier_memory())
    }

    fn results_default(&self) -> usize {
        let bytes = (self.memory / RESULTS_ONE_OF).clamp(RESULT_CACHE_MIN, RESULTS_MAX);
        let fits = bytes <= self.left_to_answers();
        if self.cache.is_some() && fits {
            bytes
        } else {
            0
        }
    }

    /// Bytes of the answers on flash beside those in memory, or why there are none.
    fn answers_bytes(&self, results: usize) -> Result<u64> {
        let Some(cache) = &self.cache else {
            return Ok(0);
        };
        if cache.answers == Some(0) || self.result_cache == Some(0) {
            return Ok(0);
        }
        let left = self.left_to_answers().saturating_sub(results);
        let fits = match results {
            // They did not fit.
            0 => 0,
            _ => AnswerFile::largest(left),
        };
        let (least, most) = ANSWERS_BOUNDS;
        let pages = self.tier_bytes().unwrap_or(0);
        let fitting = (pages / ANSWERS_ONE_OF).clamp(least, most).min(fits);
        let bytes = cache.answers.unwrap_or(fitting);
        if cache.answers.is_some() && bytes < ANSWERS_BYTES_MIN {
            return Err(Error::invalid(format!(
                "{bytes} bytes of answers on flash are too few: they need at least {ANSWERS_BYTES_MIN} (1MiB)"
            )));
        }
        if bytes > fits || bytes < ANSWERS_BYTES_MIN {
            return Err(Error::invalid(format!(
                "the table of answers on flash does not fit the memory budget of {}, of which all caches take at \
                 most a quarter: give a smaller cache, or more memory",
                self.memory
            )));
        }
        Ok(bytes)
    }
}
