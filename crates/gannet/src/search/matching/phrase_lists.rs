//! Chooses the lists that answer a phrase: one with its filter, or all of them with their
//! positions.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::between::BetweenMatcher;
use super::conjunction::Conjunction;
use super::doc_set::DocSet;
use super::matcher::Matcher;
use super::phrase::{LastWord, PhraseCheck, PhraseWord};
use super::sets::{ConstantMatcher, Union};
use super::term::TermMatcher;
use crate::analysis::is_exact;
use crate::base::{Budget, PhraseFilters, Result};
use crate::postings::{Neighbours, Reach, TermList};
use crate::search::scoring::formula::{Leaf, LeafId};

/// The most words of a phrase, the rarest, that give its candidates. Few documents have so many of
/// its words and not the others, and each word more would take another cursor.
const CANDIDATE_WORDS: usize = 32;

/// The words of a phrase with their lists.
pub struct PhraseLists<'a> {
    /// All, in any order.
    pub words: Vec<PhraseWord<'a>>,
    /// The last word behind them, where it may be any of several terms.
    pub last: Option<LastWord<'a>>,
    /// The filters that may be asked, of the kind that the words' fingerprints are for.
    pub filters: PhraseFilters,
    /// The slop of the phrase.
    pub slop: u32,
}

impl PhraseLists<'_> {
    /// Makes the matcher of the phrase (at least one word) among `below` documents, in a query of
    /// `width` leaves, and the check that verifies its documents unless they all have the phrase.
    pub fn matcher(
        &self,
        scored: Option<(LeafId, Leaf)>,
        width: usize,
        below: u64,
        budget: &Budget,
    ) -> Result<(Box<dyn Matcher>, Option<PhraseCheck>)> {
        if let Some(matcher) = self.exact(&scored, budget)? {
            return Ok((Box::new(matcher), None));
        }
        let needed = self.needed();
        let mut candidates = self.candidates(&needed, &scored, budget)?;
        candidates.extend(self.ends(budget)?);
        let leaves = usize::from(scored.is_some());
        let candidates = Conjunction::new(candidates, Vec::new(), Vec::new(), width, leaves, below);
        let check = PhraseCheck::new(&needed, self.last.as_ref(), self.slop, scored, budget)?;
        Ok((Box::new(candidates), Some(check)))
    }

    /// The documents by the list of the rarest word alone, if its filter names all the others
    /// exactly.
    fn exact(
        &self,
        scored: &Option<(LeafId, Leaf)>,
        budget: &Budget,
    ) -> Result<Option<BetweenMatcher>> {
        let rarest = self.rarest();
        let Some((rarest, wanted)) =
            rarest.and_then(|word| Some((word, self.neighbours_of(word)?)))
        else {
            return Ok(None);
        };
        let named = [wanted.before, wanted.after].map(|word| is_exact(word, self.filters));
        let others = named.iter().filter(|exact| **exact).count();
        let is_whole = others + 1 == self.words.len() && self.last.is_none();
        let alone = is_whole && rarest.list.has_filters(self.filters);
        let matcher = || BetweenMatcher::new(rarest.list.cursor(), wanted, scored.clone(), budget);
        alone.then(matcher).transpose()
    }

    /// The words whose lists are read, each with the neighbours that its filter proves: a word is
    /// not among them that stands beside a rarer one whose filter names it exactly. The rarest
    /// comes first.
    fn needed(&self) -> Vec<PhraseWord<'_>> {
        let mut words: Vec<&PhraseWord<'_>> = self.words.iter().collect();
        words.sort_by_key(|word| rank(word));
        let mut proved = HashSet::new();
        let mut needed = Vec::with_capacity(words.len());
        for word in words {
            if proved.contains(&(word.place, word.fingerprint)) {
                continue;
            }
            let neighbours = self.neighbours_of(word).unwrap_or_default();
            let mut prove = |fingerprint: u16, place: u32| {
                let exact =
                    is_exact(fingerprint, self.filters) && proved.insert((place, fingerprint));
                if exact { fingerprint } else { 0 }
            };
            let mut proves = Neighbours::default();
            if word.list.has_filters(self.filters) {
                proves.before = prove(neighbours.before, word.place.wrapping_sub(1));
                proves.after = prove(neighbours.after, word.place.wrapping_add(1));
            }
            needed.push(PhraseWord { proves, ..*word });
        }
        needed
    }

    /// The documents that each of the rarest needed words has, or may have between its neighbours;
    /// the rarest tells the frequency.
    fn candidates(
        &self,
        needed: &[PhraseWord<'_>],
        scored: &Option<(LeafId, Leaf)>,
        budget: &Budget,
    ) -> Result<Vec<Box<dyn Matcher>>> {
        let mut distinct: Vec<&PhraseWord<'_>> = needed.iter().collect();
        distinct.sort_by_key(|word| word.word);
        distinct.dedup_by_key(|word| word.word);
        distinct.sort_by_key(|word| rank(word));
        distinct.truncate(CANDIDATE_WORDS);
        let rarest = self.rarest().map(|word| word.word);
        let wanted = distinct.iter().map(|word| self.neighbours_of(word));
        let wanted: Vec<Option<Neighbours>> = wanted.collect();
        let filtered = wanted.iter().any(Option::is_some);
        let list =
            |(word, wanted): (&PhraseWord<'_>, Option<Neighbours>)| -> Result<Box<dyn Matcher>> {
                let told = scored.clone().filter(|_| Some(word.word) == rarest);
                let mut cursor = word.list.cursor();
                if let Some(wanted) = wanted {
                    let between = BetweenMatcher::new(cursor, wanted, told, budget)?;
                    return Ok(Box::new(between));
                }
                if !filtered {
                    cursor.will_need(Reach::Positions);
                }
                Ok(Box::new(TermMatcher::new(cursor, told)))
            };
        distinct.into_iter().zip(wanted).map(list).collect()
    }

    /// The documents of all terms that the last word may be, where these are fewer than those of
    /// the rarest word. They are read whole.
    fn ends(&self, budget: &Budget) -> Result<Option<Box<dyn Matcher>>> {
        let Some(LastWord { lists, .. }) = &self.last else {
            return Ok(None);
        };
        let documents = lists.iter().map(|list| list.document_frequency());
        let rarest = self.rarest().map(|word| word.list.document_frequency());
        if documents.sum::<u64>() >= rarest.unwrap_or(0) {
            return Ok(None);
        }
        let cursors = lists.iter().map(|list| list.cursor()).collect();
        let union = Union::new(cursors, DocSet::new(budget)?);
        Ok(Some(Box::new(ConstantMatcher::new(union, None))))
    }

    fn rarest(&self) -> Option<&PhraseWord<'_>> {
        self.words.iter().min_by_key(|word| rank(word))
    }

    /// The neighbours by which a word is filtered: of each pair of words the rarer one is, since it
    /// has fewer documents and its list is read first. None for a word that stands twice in the
    /// phrase, or without filters.
    fn neighbours_of(&self, word: &PhraseWord<'_>) -> Option<Neighbours> {
        let same = self.words.iter().filter(|other| other.word == word.word);
        if same.count() > 1 {
            return None;
        }
        let wanted = |place: Option<u32>| {
            let mut others = self.words.iter();
            let other = others.find(|other| Some(other.place) == place);
            let commoner = other.filter(|other| rank(other) > rank(word));
            commoner.map_or(0, |other| other.fingerprint)
        };
        let wanted = Neighbours {
            before: wanted(word.place.checked_sub(1)),
            after: wanted(word.place.checked_add(1)),
        };
        (wanted != Neighbours::default()).then_some(wanted)
    }
}

/// Bytes of the cursors of a phrase over these lists, which are distinct, if each takes so many:
/// one for the positions of each, and one for the documents of each candidate.
pub fn phrase_cursor_bytes<'l>(
    lists: impl Iterator<Item = &'l TermList>,
    bytes: impl Fn(&TermList) -> usize,
) -> usize {
    let mut each: Vec<(u64, usize)> = lists
        .map(|list| (list.document_frequency(), bytes(list)))
        .collect();
    // Of lists with as many documents any may be among the rarest.
    each.sort_unstable_by_key(|(documents, bytes)| (*documents, Reverse(*bytes)));
    let sum = |some: &[(u64, usize)]| some.iter().map(|(_, bytes)| bytes).sum::<usize>();
    let candidates = &each[..each.len().min(CANDIDATE_WORDS)];
    sum(&each) + sum(candidates)
}

/// By which the rarest word of a phrase is the first.
fn rank(word: &PhraseWord<'_>) -> (u64, usize) {
    (word.list.document_frequency(), word.word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::{Fragment, TermEntry};

    const COMMON: PhraseFilters = PhraseFilters::Common;

    /// A word with its fingerprint and the number of its documents.
    type Word = (&'static str, u16, u32);

    const THE: Word = ("the", 85, 90);
    const OF: Word = ("of", 50, 80);
    const WHITE: Word = ("white", 0, 20);
    const WHALE: Word = ("whale", 0, 10);

    fn list(documents: u32, filters: PhraseFilters) -> TermList {
        let mut tail = Fragment::new(0);
        tail.filters = filters;
        (0..documents).for_each(|doc| tail.append(doc, &[0], &[]));
        let entry = TermEntry {
            tail,
            ..TermEntry::default()
        };
        TermList::new(entry.into(), Vec::new())
    }

    /// The words of a phrase that are needed, each with the neighbours that it proves.
    fn needed(phrase: &[Word], kept: PhraseFilters) -> Vec<(&'static str, u16, u16)> {
        let lists: Vec<TermList> = phrase.iter().map(|(.., docs)| list(*docs, kept)).collect();
        let words = phrase.iter().zip(&lists).zip(0..);
        let words = words.map(|(((name, fingerprint, _), list), place)| PhraseWord {
            place,
            word: phrase.iter().position(|other| other.0 == *name).unwrap(),
            fingerprint: *fingerprint,
            proves: Neighbours::default(),
            list,
        });
        let lists = PhraseLists {
            words: words.collect(),
            last: None,
            filters: COMMON,
            slop: 0,
        };
        let name = |word: &PhraseWord<'_>| phrase[word.place as usize].0;
        let told = |word: &PhraseWord<'_>| (name(word), word.proves.before, word.proves.after);
        lists.needed().iter().map(told).collect()
    }

    #[test]
    fn a_word_that_a_rarer_ones_filter_names_is_not_needed() {
        let named = needed(&[THE, WHITE, WHALE], COMMON);
        assert_eq!(named, [("whale", 0, 0), ("white", 85, 0)]);
        // One proof is enough.
        let between = needed(&[WHITE, OF, WHALE], COMMON);
        assert_eq!(between, [("whale", 50, 0), ("white", 0, 0)]);
        let ends = needed(&[OF, WHALE, THE], COMMON);
        assert_eq!(ends, [("whale", 50, 85)]);
        // A word that was proved proves nothing itself: its list is not read.
        let chain = needed(&[WHALE, OF, THE], COMMON);
        assert_eq!(chain, [("whale", 0, 50), ("the", 0, 0)]);
    }

    #[test]
    fn words_without_filters_and_words_that_stand_twice_prove_nothing() {
        let unfiltered = needed(&[THE, WHALE], PhraseFilters::None);
        assert_eq!(unfiltered, [("whale", 0, 0), ("the", 0, 0)]);
        let twice = needed(&[WHALE, THE, WHALE], COMMON);
        assert_eq!(twice, [("whale", 0, 0), ("whale", 0, 0), ("the", 0, 0)]);
    }
}
