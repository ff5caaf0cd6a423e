//! Interprets dates and ranges in a field of whole strings (analyzer `keyword`), whose terms are in
//! the order of their bytes.
//!
//! This order is right for text, for ISO 8601 dates, and for numbers that all have one length. So
//! the least and the greatest term of a field decide what a range of it means:
//! - Of dates, an end stands for all that it begins: `2023-12-31` for the day, `2023` for the year.
//!   It belongs to the range as a whole, or not at all. Times have the zone of the terms, or none.
//! - Where ends and terms are numbers, they must have one *shape*: the same signs between digits at
//!   the same places. Terms between the least and the greatest are looked at by a [`ShapeCheck`].
//! - An end in another form than the terms is an error, never a range without hits.
//!
//! If a field is asked for a date itself, terms count that go on with a time ([`DateSpan`]).

use std::ops::Bound;

use gannet_values::{Address, Number};

use super::fields::shown;
use crate::analysis::{Field, FieldKind};
use crate::base::{Error, Result};

/// The two ends of a range, as bytes of terms.
pub type Ends = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// A range that is ready to be looked for.
#[derive(Debug, PartialEq)]
pub struct SettledRange {
    /// Its ends.
    pub ends: Ends,
    /// The check that its terms must pass.
    pub check: Option<ShapeCheck>,
}

/// Fails at a term that has not the shape of the ends of a range.
#[derive(Debug, PartialEq)]
pub struct ShapeCheck {
    field: String,
    end: String,
    shape: Vec<u8>,
    /// Set if all terms of the field are to be checked: one outside of the bytes of a range with
    /// one end may be a number that belongs to it.
    pub is_of_field: bool,
}

/// A date that stands for all that goes on from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateSpan(Vec<u8>);

impl DateSpan {
    /// The span of `text`, if it is a date or a time.
    pub fn of(text: &str) -> Option<DateSpan> {
        let date = iso(text)?;
        Some(DateSpan(date.span.as_bytes().to_vec()))
    }

    /// The first term of it.
    pub fn start(&self) -> &[u8] {
        &self.0
    }

    /// Returns true if `term` goes on from the date as a date or a time does. It is not the date
    /// itself, which is asked for as a term.
    pub fn goes_on(&self, term: &[u8]) -> bool {
        let rest = term.strip_prefix(self.0.as_slice()).unwrap_or_default();
        let is_whole = rest.first().is_some_and(|next| !next.is_ascii_digit());
        is_whole && std::str::from_utf8(term).is_ok_and(|term| iso(term).is_some())
    }
}

/// Fails at a range that nothing can be in, whatever the field: at an end below the other. Gives
/// what is wrong, and what to write.
pub fn check_written(
    lower: &Bound<String>,
    upper: &Bound<String>,
) -> std::result::Result<(), (&'static str, &'static str)> {
    let ends = [text_of(lower), text_of(upper)];
    let [Some(least), Some(most)] = ends else {
        return Ok(());
    };
    let is_now = |end: &str| end == "now" || is_relative(end);
    if is_now(least) || is_now(most) || is_ordered(least, most, lower, upper) {
        return Ok(());
    }
    Err((
        "a range without values",
        "write the lower end first, and [ ] for ends that are in it",
    ))
}

/// Returns true if one end is not above the other, as numbers, as addresses, as dates or in bytes.
fn is_ordered(least: &str, most: &str, lower: &Bound<String>, upper: &Bound<String>) -> bool {
    let includes_both = matches!((lower, upper), (Bound::Included(_), Bound::Included(_)));
    if let (Some(least), Some(most)) = (Number::parse(least), Number::parse(most)) {
        return least < most || includes_both && least == most;
    }
    if let (Some(least), Some(most)) = (Address::parse(least), Address::parse(most)) {
        return least < most || includes_both && least == most;
    }
    let begins = || iso(most).is_some_and(|date| least.starts_with(date.span));
    least < most || includes_both && (least == most || begins())
}

/// Fails at a range of whole strings that cannot be compared as these are: of dates relative to
/// now, and of numbers whose bytes are not in their order.
pub fn check_words((lower, upper): &Ends) -> Result<()> {
    let ends = [text_of(lower), text_of(upper)];
    if ends.iter().flatten().any(|end| is_relative(end)) {
        return Err(Error::invalid(
            "a date relative to now: of whole strings write the day or the time itself, as 2023-05-17 or \
             2023-05-17T09:00:00",
        ));
    }
    let [Some(least), Some(most)] = ends else {
        return Ok(());
    };
    let numbers = Number::parse(least).zip(Number::parse(most));
    if least > most && numbers.is_some_and(|(low, high)| low < high) {
        return Err(Error::invalid(
            "a range of numbers of different lengths: a range of whole strings compares bytes, in which 9 is \
             above 15; index numbers as numbers, or all of one length, as 09, and write the ends so",
        ));
    }
    Ok(())
}

/// The error of a range where a field has no order that anyone means.
pub fn unordered(field: &Field, (lower, upper): &Ends) -> Error {
    let name = &field.name;
    let Some(example) = text_of(lower).or(text_of(upper)).map(shown) else {
        return Error::invalid(format!(
            "ranges are not possible in field {name:?}: for documents that have the field, write {name}:*"
        ));
    };
    let why = match field.kind {
        FieldKind::Exact => "of whose numbers and booleans no values are kept".to_owned(),
        FieldKind::Text => format!(
            "which the analyzer {} cuts into words: each word would be compared alone",
            field.analyzer.name()
        ),
    };
    Error::invalid(format!(
        "ranges are not possible in field {name:?}, {why}; ask for single values, as {name}:{example}, or \
         index numbers as JSON numbers, dates as 2020-12-31, and strings with the analyzer keyword"
    ))
}

/// Decides the meaning of a range in a field with these terms; an error if it has none there.
pub fn settle(ends: &Ends, field: &str, least: &str, greatest: &str) -> Result<SettledRange> {
    let written = [text_of(&ends.0), text_of(&ends.1)];
    let terms = [least, greatest];
    let dates = terms.map(|term| iso(term).filter(|date| !date.is_year));
    if dates.iter().any(Option::is_some) {
        let of_all = dates.iter().all(Option::is_some);
        for end in written.iter().flatten() {
            check_date(end, dates.iter().flatten(), of_all, field)?;
        }
        return Ok(SettledRange {
            ends: (from_span(&ends.0), to_span(&ends.1)),
            check: None,
        });
    }
    let mut of_ends = written.iter().flatten().chain(&terms);
    if !of_ends.all(|text| shape(text).is_some()) {
        // Text is among them, and text is in the order of its bytes.
        return Ok(SettledRange {
            ends: ends.clone(),
            check: None,
        });
    }
    let shapes = written.iter().flatten().filter_map(|end| {
        let shape = shape(end)?;
        let (field, end) = (field.to_owned(), (*end).to_owned());
        let is_of_field = ends.0 == Bound::Unbounded || ends.1 == Bound::Unbounded;
        Some(ShapeCheck {
            field,
            end,
            shape,
            is_of_field,
        })
    });
    let mut shapes: Vec<ShapeCheck> = shapes.collect();
    for check in &shapes {
        let others = terms.into_iter().chain(written.iter().flatten().copied());
        others
            .map(str::as_bytes)
            .try_for_each(|term| check.check(term))?;
    }
    Ok(SettledRange {
        ends: ends.clone(),
        check: shapes.pop(),
    })
}

impl ShapeCheck {
    /// Fails at a number or a date of another shape than the end.
    pub fn check(&self, term: &[u8]) -> Result<()> {
        let term = std::str::from_utf8(term).unwrap_or_default();
        let is_ordered = |shape: &[u8]| shape == self.shape && has_order(shape);
        if shape(term).is_none_or(|shape| is_ordered(&shape)) {
            return Ok(());
        }
        let (field, end) = (&self.field, shown(&self.end));
        let why = if end == shown(term) {
            format!("the end {end}")
        } else {
            format!("the value {} beside the end {end}", shown(term))
        };
        Err(Error::invalid(format!(
            "the bytes of numbers and dates in field {field:?} are not in their order, as {why}: a range \
             compares bytes, in which 9 is above 15; index numbers of one length without a sign, as 0009, and \
             dates as 2023-05-17, or ask for single values"
        )))
    }
}

/// Fails at an end that cannot be compared with dates like these.
fn check_date<'a>(
    end: &str,
    mut dates: impl Iterator<Item = &'a IsoDate<'a>> + Clone,
    of_all: bool,
    field: &str,
) -> Result<()> {
    let is_comparable = match iso(end) {
        Some(date) => dates.clone().all(|term| date.is_comparable(term)),
        None => !of_all && shape(end).is_none(),
    };
    match (is_comparable, dates.next()) {
        (false, Some(term)) => Err(Error::invalid(format!(
            "field {field:?} has dates like {}, and the end {} of the range is written in another form: write it \
             as they are, or its beginning, as {}",
            shown(term.text),
            shown(end),
            &term.text[..DAY.len().min(term.span.len())],
        ))),
        _ => Ok(()),
    }
}

/// The lower end of a range of dates.
fn from_span(end: &Bound<Vec<u8>>) -> Bound<Vec<u8>> {
    match (end, span_of(end)) {
        (Bound::Included(_), Some(span)) => Bound::Included(span),
        (Bound::Excluded(_), Some(span)) => {
            successor(&span).map_or(Bound::Excluded(span), Bound::Included)
        }
        _ => end.clone(),
    }
}

/// The upper end of a range of dates.
fn to_span(end: &Bound<Vec<u8>>) -> Bound<Vec<u8>> {
    match (end, span_of(end)) {
        (Bound::Included(_), Some(span)) => {
            successor(&span).map_or(Bound::Included(span), Bound::Excluded)
        }
        (Bound::Excluded(_), Some(span)) => Bound::Excluded(span),
        _ => end.clone(),
    }
}

fn span_of(end: &Bound<Vec<u8>>) -> Option<Vec<u8>> {
    DateSpan::of(text_of(end)?).map(|span| span.0)
}

/// The text of an end, if the range has it.
fn text_of<T: AsRef<[u8]>>(end: &Bound<T>) -> Option<&str> {
    match end {
        Bound::Included(end) | Bound::Excluded(end) => std::str::from_utf8(end.as_ref()).ok(),
        Bound::Unbounded => None,
    }
}

/// The least bytes that are above everything that begins with `prefix`.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let at = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut above = prefix[..=at].to_vec();
    above[at] += 1;
    Some(above)
}

/// Returns true if a text is a date as other engines count it from now, or from another date.
fn is_relative(text: &str) -> bool {
    let from_now = text
        .strip_prefix("now")
        .and_then(|rest| rest.chars().next());
    let from_date = text.split_once("||").map(|(date, _)| date);
    from_date.is_some_and(|date| iso(date).is_some()) || matches!(from_now, Some('+' | '-' | '/'))
}

/// The shape of a number or a date, on which the order of such texts by bytes depends: its signs,
/// with all digits alike. Nothing if `text` is not made of digits and of signs as these have them.
fn shape(text: &str) -> Option<Vec<u8>> {
    let is_number = text.parse::<f64>().is_ok();
    let bytes = text.bytes();
    let of_signs = |byte: u8| byte.is_ascii_digit() || b".,:/+- '_".contains(&byte);
    let is_shaped = is_number || bytes.clone().all(of_signs) || iso(text).is_some();
    let has_digits = bytes.clone().any(|byte| byte.is_ascii_digit());
    (is_shaped && has_digits).then(|| {
        bytes
            .map(|byte| if byte.is_ascii_digit() { b'0' } else { byte })
            .collect()
    })
}

/// Returns true if texts of one shape are in the order of their bytes: not with a sign or an
/// exponent, nor where a date has its year behind the month or the day.
fn has_order(shape: &[u8]) -> bool {
    let is_signed = matches!(shape.first(), Some(b'+' | b'-'));
    let has_exponent = shape.iter().any(u8::is_ascii_alphabetic);
    let parts: Vec<&[u8]> = shape.split(|byte| b"/.-".contains(byte)).collect();
    let year_last = parts.len() == 3 && parts[2].len() == 4 && parts[0].len() <= 2;
    !is_signed && !has_exponent && !year_last
}

/// The form of a day.
const DAY: &str = "0000-00-00";

/// A date of ISO 8601, or its beginning: a year, a month, a day, a time.
#[derive(Clone, Copy, Debug)]
struct IsoDate<'a> {
    text: &'a str,
    /// All but the zone.
    span: &'a str,
    is_year: bool,
    /// The separator before the time, if there is one.
    separator: Option<u8>,
    zone: &'a str,
}

impl IsoDate<'_> {
    /// Returns true if the order of their bytes is the order of this date and of `term`.
    fn is_comparable(&self, term: &IsoDate<'_>) -> bool {
        let separators = self.separator.zip(term.separator);
        let one_separator = separators.is_none_or(|(one, other)| one == other);
        one_separator && (self.zone.is_empty() || self.zone == term.zone)
    }
}

/// Reads a date, nothing if `text` is none.
fn iso(text: &str) -> Option<IsoDate<'_>> {
    let day = ["0000", "0000-00", DAY].into_iter().rev();
    let day = day.clone().find(|form| has_form(text, form))?.len();
    let month_and_day = text[..day].split('-').skip(1).zip([12, 31]);
    for (part, most) in month_and_day {
        if !(1..=most).contains(&part.parse::<u8>().ok()?) {
            return None;
        }
    }
    let rest = &text[day..];
    let separator = rest.bytes().next().filter(|byte| b"T ".contains(byte));
    let time = match separator.filter(|_| day == DAY.len()) {
        Some(_) => 1 + time_length(&rest[1..])?,
        None => 0,
    };
    let (span, zone) = text.split_at(day + time);
    let is_zone = zone.is_empty() || day == DAY.len() && is_zone(zone);
    let separator = separator.filter(|_| time > 0);
    let is_year = day == "0000".len();
    is_zone.then_some(IsoDate {
        text,
        span,
        is_year,
        separator,
        zone,
    })
}

/// The length of the hours, minutes, seconds and their fraction that `text` begins with.
fn time_length(text: &str) -> Option<usize> {
    let forms = ["00:00:00", "00:00", "00"];
    let length = forms.into_iter().find(|form| has_form(text, form))?.len();
    let fraction = text[length..]
        .strip_prefix(['.', ','])
        .filter(|_| length == 8);
    let digits = fraction.map_or(0, |digits| {
        digits.bytes().take_while(u8::is_ascii_digit).count()
    });
    Some(length + if digits > 0 { 1 + digits } else { 0 })
}

fn is_zone(text: &str) -> bool {
    let offset = text.strip_prefix(['+', '-']);
    let is_offset = |offset: &str| {
        let forms = ["00:00", "0000", "00"];
        forms
            .iter()
            .any(|form| offset.len() == form.len() && has_form(offset, form))
    };
    text == "Z" || offset.is_some_and(is_offset)
}

/// Returns true if `text` begins with digits where `form` has zeros, and with its signs.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    };
    text.len() >= form.len() && text.bytes().zip(form.bytes()).all(fits)
}

#[cfg(test)]
mod tests;
