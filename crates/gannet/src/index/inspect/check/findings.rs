//! Collects the findings of a check, each damaged page once.
//!
//! The walk over all zones tells every damaged page. The walks over trees, lists and documents meet
//! the same pages again: what they add is only who refers to the page, which joins its sentence.

use std::collections::HashMap;

use crate::base::Error;

/// The most findings that are listed.
const FINDINGS_MAX: usize = 100;

/// The most places that a finding names of those that refer to its page.
const REFERRERS_NAMED: usize = 3;

/// The prefix of the error of a page, wherever it stands in a finding.
const PAGE: &str = "damaged page ";

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Finding>,
    /// The findings of damaged pages, by what their errors say of the page, up to the reason.
    pages: HashMap<String, usize>,
}

#[derive(Debug)]
struct Finding {
    sentence: String,
    /// The references to a damaged page: the first few, and their number.
    referrers: Vec<String>,
    count: u64,
}

impl Findings {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a page that does not prove itself.
    pub(crate) fn add_page(&mut self, error: &Error) {
        let sentence = match error {
            Error::Damaged { what, reason } => format!("damaged {what}: {reason}"),
            other => other.to_string(),
        };
        if self.push(sentence) {
            let error = error.to_string();
            self.pages
                .insert(page_of(&error).to_owned(), self.all.len() - 1);
        }
    }

    /// Adds a finding, or to a page that was told what refers to it.
    pub(crate) fn add(&mut self, finding: String) {
        let page = finding.rfind(PAGE);
        let known = page.and_then(|at| Some((at, *self.pages.get(page_of(&finding[at..]))?)));
        match known {
            Some((at, page)) => self.all[page].add_referrer(finding[..at].trim_end_matches(": ")),
            None => {
                self.push(finding);
            }
        }
    }

    fn push(&mut self, sentence: String) -> bool {
        let has_room = self.all.len() < FINDINGS_MAX;
        if has_room {
            self.all.push(Finding {
                sentence,
                referrers: Vec::new(),
                count: 0,
            });
        }
        has_room
    }

    /// One sentence for each finding.
    pub(crate) fn into_sentences(self) -> Vec<String> {
        self.all.into_iter().map(Finding::into_sentence).collect()
    }
}

/// Returns the page that an error is of, without the reason.
fn page_of(error: &str) -> &str {
    error.split(':').next().unwrap_or(error)
}

impl Finding {
    fn add_referrer(&mut self, referrer: &str) {
        // A tree that meets a page of its own names nothing but the page.
        if referrer.is_empty() {
            return;
        }
        self.count += 1;
        if self.referrers.len() < REFERRERS_NAMED {
            self.referrers.push(referrer.to_owned());
        }
    }

    fn into_sentence(self) -> String {
        let Finding {
            sentence,
            referrers,
            count,
        } = self;
        let named = referrers.join(", ");
        match count - referrers.len() as u64 {
            _ if count == 0 => sentence,
            0 => format!("{sentence}; referred to by {named}"),
            more => format!("{sentence}; referred to by {named} and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_page_is_told_once_with_what_refers_to_it() {
        let error = |page| Error::damaged(format!("page {page} of zone 7"), "got 1");
        let mut findings = Findings::default();
        findings.add_page(&error(3));
        findings.add_page(&error(4));
        findings.add(error(3).to_string());
        for term in ["a", "damaged page 4 of zone 7", "c", "d", "e"] {
            findings.add(format!("list of {term:?}: {}", error(3)));
        }
        findings.add(format!("document 1: {}", error(5)));
        let expected = [
            "damaged page 3 of zone 7: got 1; referred to by list of \"a\", \
             list of \"damaged page 4 of zone 7\", list of \"c\" and 2 more"
                .to_owned(),
            "damaged page 4 of zone 7: got 1".to_owned(),
            format!("document 1: {}", error(5)),
        ];
        assert_eq!(findings.into_sentences(), expected);
    }

    #[test]
    fn findings_have_a_limit_and_pages_beyond_it_bring_no_others() {
        let error = |page| Error::damaged(format!("page {page} of zone 7"), "got 1");
        let mut findings = Findings::default();
        (0..FINDINGS_MAX + 5).for_each(|page| findings.add_page(&error(page)));
        findings.add(format!("document 1: {}", error(FINDINGS_MAX + 1)));
        assert_eq!(findings.into_sentences().len(), FINDINGS_MAX);
    }
}
