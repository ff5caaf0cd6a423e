//! Sentences for the user on how the patterns of a query are asked: one for each way, with all the
//! fields that it holds for.

use std::fmt::Write;

/// Fields that a sentence names; it counts the others.
const FIELDS_NAMED: usize = 3;

/// The most sentences that are kept.
const SENTENCES_MAX: usize = 32;

/// The most characters of what was written that a sentence shows.
const SHOWN_MAX: usize = 60;

/// A remark on a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// It is asked in this form.
    Asked(String),
    /// It is asked in this form, which the stemmer made.
    Stemmed(String),
    /// It is compared with stems as it is.
    Compared,
    /// A field cannot be asked.
    Unasked,
}

/// Sentences that are being gathered.
#[derive(Default)]
pub struct Notes {
    said: Vec<Note>,
}

/// A remark on a pattern, with all the fields that it holds for.
struct Note {
    written: String,
    remark: Remark,
    fields: Vec<String>,
}

impl Notes {
    /// Says something of what was written, in a field.
    pub fn say(&mut self, written: &str, remark: Remark, field: &str) {
        let count = self.said.len();
        let mut said = self.said.iter_mut();
        match said.find(|note| note.written == written && note.remark == remark) {
            Some(note) if note.fields.iter().any(|said| said == field) => {}
            Some(note) => note.fields.push(field.to_owned()),
            None if count < SENTENCES_MAX => self.said.push(Note {
                written: written.to_owned(),
                remark,
                fields: vec![field.to_owned()],
            }),
            None => {}
        }
    }

    /// The sentences.
    pub fn sentences(self) -> Vec<String> {
        let mut sentences: Vec<String> = self.said.iter().map(sentence).collect();
        sentences.dedup();
        sentences
    }
}

fn sentence(note: &Note) -> String {
    let (written, named) = (short(&note.written), named(&note.fields));
    let stem = if note.fields.len() > 1 {
        "stem"
    } else {
        "stems"
    };
    match &note.remark {
        Remark::Asked(form) => format!("{written} is asked as {} in {named}", short(form)),
        Remark::Stemmed(form) => {
            let form = short(form);
            format!("{written} is asked as {form} in {named}, which {stem}")
        }
        Remark::Compared => format!(
            "{written} is compared with the stems of words in {named}, which have no endings"
        ),
        Remark::Unasked => format!(
            "{written} is not searched in {named}: a wildcard stands there before the last of several \
             words"
        ),
    }
}

fn named(fields: &[String]) -> String {
    let (shown, others) = fields.split_at(fields.len().min(FIELDS_NAMED));
    let mut named = match (shown, others) {
        ([some @ .., last], []) if !some.is_empty() => format!("{} and {last}", some.join(", ")),
        _ => shown.join(", "),
    };
    if !others.is_empty() {
        let _ = write!(named, " and {} others", others.len());
    }
    named
}

/// Shortens a text for a sentence.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_holds_for_all_its_fields() {
        let mut notes = Notes::default();
        for field in ["title", "body", "a", "b", "c", "a"] {
            notes.say("house*", Remark::Stemmed("hous*".to_owned()), field);
        }
        notes.say("wi-f*", Remark::Asked("\"wi f*\"".to_owned()), "body");
        assert_eq!(
            notes.sentences(),
            [
                "house* is asked as hous* in title, body, a and 2 others, which stem",
                "wi-f* is asked as \"wi f*\" in body",
            ]
        );
    }
}
