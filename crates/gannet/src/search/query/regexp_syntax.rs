//! Reads regular expressions as Lucene writes them.

use std::iter::Peekable;
use std::str::Chars;

use crate::base::{Error, Result};

/// The most characters of an expression, as in Elasticsearch.
const CHARACTERS_MAX: usize = 1000;

/// The most repetitions that a number asks for.
const REPETITIONS_MAX: u32 = 1000;

/// The deepest parentheses.
const DEPTH_MAX: usize = 64;

/// The most numbers that one interval stands for.
const NUMBERS_MAX: u32 = 200;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegexpPart {
    /// No text.
    Nothing,
    /// The empty text.
    Empty,
    /// One character out of some.
    One(Characters),
    /// Parts in a row.
    All(Vec<RegexpPart>),
    /// One part of several.
    Any(Vec<RegexpPart>),
    /// A part so often at least, and at most.
    Repeated(Box<RegexpPart>, u32, Option<u32>),
}

/// Characters: those of some ranges, or all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Characters {
    ranges: Vec<(char, char)>,
    are_left_out: bool,
}

impl Characters {
    fn only(character: char) -> Characters {
        Characters {
            ranges: vec![(character, character)],
            are_left_out: false,
        }
    }

    fn any() -> Characters {
        Characters {
            ranges: Vec::new(),
            are_left_out: true,
        }
    }

    /// Returns true if a character is one of them.
    pub fn contains(&self, character: char) -> bool {
        let is_in = |(first, last): &(char, char)| (*first..=*last).contains(&character);
        self.ranges.iter().any(is_in) != self.are_left_out
    }

    /// Bytes that they take.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Characters>() + size_of_val(self.ranges.as_slice())
    }
}

impl RegexpPart {
    fn literal(text: &str) -> RegexpPart {
        let each = text
            .chars()
            .map(|one| RegexpPart::One(Characters::only(one)));
        RegexpPart::All(each.collect())
    }

    /// The text that all texts begin with.
    pub fn prefix(&self) -> String {
        let only = |part: &RegexpPart| match part {
            RegexpPart::One(characters) => {
                match (characters.ranges.as_slice(), characters.are_left_out) {
                    ([(first, last)], false) if first == last => Some(*first),
                    _ => None,
                }
            }
            _ => None,
        };
        match self {
            RegexpPart::All(parts) => parts.iter().map_while(only).collect(),
            part => only(part).into_iter().collect(),
        }
    }
}

/// Reads an expression.
pub fn parse(text: &str) -> Result<RegexpPart> {
    let characters = text.chars().count();
    if characters > CHARACTERS_MAX {
        return Err(Error::invalid(format!(
            "a regular expression may have at most {CHARACTERS_MAX} characters, this one has {characters}: make it shorter"
        )));
    }
    let mut reader = Reader {
        left: text.chars().peekable(),
        text,
        depth: 0,
    };
    let part = reader.any()?;
    match reader.left.peek() {
        None => Ok(part),
        Some(_) => Err(reader.wrong("a parenthesis is closed that was not opened")),
    }
}

struct Reader<'t> {
    left: Peekable<Chars<'t>>,
    text: &'t str,
    depth: usize,
}

impl Reader<'_> {
    fn wrong(&self, what: &str) -> Error {
        Error::invalid(format!("the regular expression [{}]: {what}", self.text))
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.left.next_if_eq(&wanted).is_some()
    }

    /// Parts of which one stands.
    fn any(&mut self) -> Result<RegexpPart> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Error::invalid(format!(
                "a regular expression is nested {DEPTH_MAX} deep at most: make it flatter"
            )));
        }
        let mut parts = vec![self.all()?];
        while self.takes('|') {
            parts.push(self.all()?);
        }
        self.depth -= 1;
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => RegexpPart::Any(parts),
        })
    }

    /// Parts in a row.
    fn all(&mut self) -> Result<RegexpPart> {
        let mut parts = Vec::new();
        while self
            .left
            .peek()
            .is_some_and(|next| !matches!(next, '|' | ')'))
        {
            let part = self.repeated()?;
            match part {
                RegexpPart::All(inner) => parts.extend(inner),
                one => parts.push(one),
            }
        }
        Ok(match parts.len() {
            0 => RegexpPart::Empty,
            1 => parts.remove(0),
            _ => RegexpPart::All(parts),
        })
    }

    fn repeated(&mut self) -> Result<RegexpPart> {
        let mut part = self.one()?;
        loop {
            let (least, most) = match self.left.peek() {
                Some('?') => (0, Some(1)),
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('{') => {
                    self.left.next();
                    let (least, most) = self.times()?;
                    part = RegexpPart::Repeated(Box::new(part), least, most);
                    continue;
                }
                _ => return Ok(part),
            };
            self.left.next();
            part = RegexpPart::Repeated(Box::new(part), least, most);
        }
    }

    /// The numbers of `{2}`, `{2,}` and `{2,3}`.
    fn times(&mut self) -> Result<(u32, Option<u32>)> {
        let least = self.number()?;
        let most = match self.takes(',') {
            false => Some(least),
            true if self.left.peek() == Some(&'}') => None,
            true => Some(self.number()?),
        };
        if !self.takes('}') {
            return Err(self.wrong("a brace is not closed"));
        }
        if most.is_some_and(|most| most < least) {
            return Err(self.wrong("the most repetitions are less than the least ones"));
        }
        if least.max(most.unwrap_or(0)) > REPETITIONS_MAX {
            return Err(self.wrong(&format!("more than {REPETITIONS_MAX} repetitions")));
        }
        Ok((least, most))
    }

    fn number(&mut self) -> Result<u32> {
        let mut digits = String::new();
        while let Some(digit) = self.left.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits
            .parse()
            .map_err(|_| self.wrong("a number is expected"))
    }

    fn one(&mut self) -> Result<RegexpPart> {
        let Some(character) = self.left.next() else {
            return Ok(RegexpPart::Empty);
        };
        match character {
            '.' => Ok(RegexpPart::One(Characters::any())),
            '@' => Ok(RegexpPart::Repeated(
                Box::new(RegexpPart::One(Characters::any())),
                0,
                None,
            )),
            '#' => Ok(RegexpPart::Nothing),
            '[' => self.class().map(RegexpPart::One),
            '"' => self.quoted(),
            '<' => self.interval(),
            '(' => {
                let part = self.any()?;
                if self.takes(')') {
                    // What stands in parentheses stays one part.
                    Ok(RegexpPart::Any(vec![part]))
                } else {
                    Err(self.wrong("a parenthesis is not closed"))
                }
            }
            '*' | '+' | '?' | '{' => Err(self.wrong(&format!("nothing stands before [{character}]"))),
            '&' | '~' => Err(self.wrong(&format!(
                "[{character}], an intersection or a complement, is not there in Gannet yet: put a backslash before a sign \
                 that is meant as such"
            ))),
            '\\' => self.escaped().map(RegexpPart::One),
            other => Ok(RegexpPart::One(Characters::only(other))),
        }
    }

    /// Reads what a backslash stands before: a class, or the character itself.
    fn escaped(&mut self) -> Result<Characters> {
        let Some(character) = self.left.next() else {
            return Err(self.wrong("nothing stands behind the last backslash"));
        };
        let ranges = match character.to_ascii_lowercase() {
            'd' => vec![('0', '9')],
            'w' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
            's' => vec![(' ', ' '), ('\t', '\t'), ('\n', '\n'), ('\r', '\r')],
            _ => return Ok(Characters::only(character)),
        };
        Ok(Characters {
            ranges,
            are_left_out: character.is_ascii_uppercase(),
        })
    }

    /// Reads what stands in brackets.
    fn class(&mut self) -> Result<Characters> {
        let are_left_out = self.takes('^');
        let mut ranges = Vec::new();
        loop {
            let Some(character) = self.left.next() else {
                return Err(self.wrong("a bracket is not closed"));
            };
            let first = match character {
                ']' if !ranges.is_empty() => break,
                '\\' => {
                    let escaped = self.escaped()?;
                    match (escaped.ranges.as_slice(), escaped.are_left_out) {
                        ([(first, last)], false) if first == last => *first,
                        (_, false) => {
                            ranges.extend(escaped.ranges);
                            continue;
                        }
                        _ => {
                            return Err(self.wrong(
                                "a class of all other characters in brackets is not there in Gannet yet: write it beside them",
                            ));
                        }
                    }
                }
                other => other,
            };
            let last = self.end_of_range(first)?;
            ranges.push((first, last));
        }
        Ok(Characters {
            ranges,
            are_left_out,
        })
    }

    fn end_of_range(&mut self, first: char) -> Result<char> {
        let mut ahead = self.left.clone();
        let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|next| next != ']');
        if !is_range {
            return Ok(first);
        }
        self.left.next();
        let last = match self.left.next() {
            Some('\\') => self.left.next(),
            other => other,
        };
        let last = last.ok_or_else(|| self.wrong("a bracket is not closed"))?;
        if last < first {
            return Err(self.wrong(&format!("the range [{first}-{last}] is empty")));
        }
        Ok(last)
    }

    /// A text in quotes.
    fn quoted(&mut self) -> Result<RegexpPart> {
        let mut text = String::new();
        loop {
            match self.left.next() {
                Some('"') => return Ok(RegexpPart::literal(&text)),
                Some(character) => text.push(character),
                None => return Err(self.wrong("a quote is not closed")),
            }
        }
    }

    /// Whole numbers between two: `<8-11>`. As many digits of both ends are those of all.
    fn interval(&mut self) -> Result<RegexpPart> {
        let mut ahead = String::new();
        loop {
            match self.left.next() {
                Some('>') => break,
                Some(character) => ahead.push(character),
                None => return Err(self.wrong("an interval is not closed")),
            }
        }
        let read = |text: &str| text.parse::<u32>().ok();
        let ends = ahead.split_once('-');
        let Some((first, last)) = ends.and_then(|(low, high)| Some((read(low)?, read(high)?)))
        else {
            return Err(self.wrong("an interval is two numbers, as <8-11>"));
        };
        let (low, high) = (first.min(last), first.max(last));
        if high - low >= NUMBERS_MAX {
            return Err(self.wrong(&format!(
                "an interval of more than {NUMBERS_MAX} numbers is not there in Gannet yet: write its digits"
            )));
        }
        let digits = ends.filter(|(low, high)| low.len() == high.len());
        let width = digits.map_or(0, |(low, _)| low.len());
        let each = (low..=high).map(|number| RegexpPart::literal(&format!("{number:0width$}")));
        Ok(RegexpPart::Any(each.collect()))
    }
}
