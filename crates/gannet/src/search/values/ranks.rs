//! The ranks of the strings of a keyword column: numbers of strings are in no order, and the ranks
//! are in the order of their bytes.
//!
//! The strings in the tree are gone over once, in their order, with those between that only buffers
//! have.

use gannet_values::Number;

use crate::base::{Budget, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::columns::{ColumnReader, KeywordNumbers, OrderedTerms};

/// Strings of buffers that are read at once.
const AT_ONCE: usize = 256;

/// The ranks, once [`TermRanks::step`] came to its end.
pub struct TermRanks {
    reader: ColumnReader,
    numbers: KeywordNumbers,
    are_numbered: bool,
    /// Strings that the tree does not have, with their numbers, the last of them first.
    new: Vec<(Vec<u8>, u32)>,
    next_new: Option<u32>,
    walk: OrderedTerms,
    ranks: Vec<u32>,
    next: u32,
    /// A string whose place among the others is wanted, and that place.
    sought: Option<Vec<u8>>,
    place: Option<Number>,
    is_done: bool,
    memory: Reservation,
}

impl TermRanks {
    /// Will rank the strings of a column, and `sought` among them.
    pub fn new(
        reader: ColumnReader,
        sought: Option<Vec<u8>>,
        budget: &Budget,
    ) -> Result<TermRanks> {
        Ok(TermRanks {
            walk: OrderedTerms::new(reader.clone()),
            reader,
            numbers: KeywordNumbers::default(),
            are_numbered: false,
            new: Vec::new(),
            next_new: None,
            ranks: Vec::new(),
            next: 0,
            sought,
            place: None,
            is_done: false,
            memory: budget.reserve("the order of the strings of a field", 0)?,
        })
    }

    /// Works until all are ranked.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        if self.is_done {
            return Ok(());
        }
        if !self.are_numbered {
            let known = size_of::<u32>() * self.reader.buffered_terms();
            self.memory.grow_to(4 * known)?;
            self.reader.number_buffers(&mut self.numbers, pages)?;
            self.are_numbered = true;
            let ranks = self.numbers.end() as usize;
            self.memory
                .grow_to(self.numbers.memory_bytes() + ranks * size_of::<u32>())?;
            self.ranks = vec![0; ranks];
        }
        self.read_new(pages)?;
        while let Some(number) = self.walk.advance(pages)? {
            pages.count_steps(1)?;
            let term = self.walk.term().to_vec();
            self.rank_new_below(Some(&term));
            self.rank(&term, number);
        }
        self.rank_new_below(None);
        let end = Number::Double(f64::from(self.next) - 0.5);
        self.place = self.place.or(Some(end));
        self.is_done = true;
        Ok(())
    }

    /// Reads the strings that only buffers have, and puts them in order.
    fn read_new(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let first = self.reader.next_number();
        while self.next_new.unwrap_or(first) < self.numbers.end() {
            let from = self.next_new.unwrap_or(first);
            let to = self.numbers.end().min(from + AT_ONCE as u32);
            let keys: Vec<u64> = (from..to).map(|number| self.numbers.key(number)).collect();
            let terms = self.reader.term_strings(&keys, pages)?;
            let each = |term: &Vec<u8>| size_of::<(Vec<u8>, u32)>() * 2 + term.len();
            let bytes: usize = terms.iter().map(each).sum();
            self.memory.grow_to(self.memory.bytes() + bytes)?;
            self.new.extend(terms.into_iter().zip(from..to));
            self.next_new = Some(to);
            if to == self.numbers.end() {
                self.new.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
        Ok(())
    }

    /// Ranks the strings of buffers that come before `term`, or all that are left.
    fn rank_new_below(&mut self, term: Option<&[u8]>) {
        while let Some((new, _)) = self.new.last()
            && term.is_none_or(|term| new.as_slice() < term)
            && let Some((new, number)) = self.new.pop()
        {
            self.rank(&new, number);
        }
    }

    fn rank(&mut self, term: &[u8], number: u32) {
        if let Some(sought) = &self.sought
            && self.place.is_none()
            && sought.as_slice() <= term
        {
            let exact = f64::from(self.next);
            let is_it = sought.as_slice() == term;
            let place = if is_it { exact } else { exact - 0.5 };
            self.place = Some(Number::Double(place));
        }
        if let Some(rank) = self.ranks.get_mut(number as usize) {
            *rank = self.next;
        }
        self.next += 1;
    }

    /// The rank of the string that a key of the column stands for.
    pub fn of_key(&self, key: u64) -> Number {
        let rank = self.ranks.get(self.numbers.number(key) as usize);
        Number::Long(rank.map_or(0, |rank| i64::from(*rank)))
    }

    /// The place of the string that was sought: its rank, or a half below that of the next.
    pub fn place(&self) -> Option<Number> {
        self.place
    }
}
