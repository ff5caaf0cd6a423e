//! The words that a pattern asks a field for. They are cut as the field's analyzer cuts, the last
//! of them in the forms that the field has.
//!
//! Samples show where a pattern is cut. In a sample a character stands for each wildcard: a
//! neighbour of the first, `x`, or `0`. Of the samples that have words the first with the fewest
//! counts.

use gannet::{Analyzer, Scratch};

use super::model::Field;
use super::patterns::Glyph;

/// The most characters of a token.
const TOKEN_CHARACTERS_MAX: usize = 255;

/// The meaning of a pattern in a field.
pub enum Asked {
    /// No word is left of it.
    Nothing,
    /// A wildcard stands before the last word.
    Impossible,
    /// Words at their places, and any term that has one of some forms.
    Words(Vec<(String, u32)>, Option<(Vec<Form>, u32)>),
}

/// A form of the last word.
pub enum Form {
    /// Terms that the glyphs fit.
    Fits(Vec<Glyph>),
    /// Terms within so many edits.
    Near(String, u8),
}

/// Interprets `glyphs` in a field; `fuzzy` has the distance of a fuzzy word, if it names one.
pub fn asked(field: &Field, glyphs: &[Glyph], fuzzy: Option<Option<u8>>) -> Asked {
    let plain = unstemmed(&field.analyzer);
    let Some((from, to)) = last_word(glyphs, &plain) else {
        return words_of(field, &[], glyphs, fuzzy);
    };
    let outside = glyphs[..from].iter().chain(&glyphs[to..]);
    if outside
        .clone()
        .all(|glyph| matches!(glyph, Glyph::Exactly(_)))
    {
        words_of(field, &glyphs[..from], &glyphs[from..to], fuzzy)
    } else {
        Asked::Impossible
    }
}

fn words_of(field: &Field, before: &[Glyph], last: &[Glyph], fuzzy: Option<Option<u8>>) -> Asked {
    let before = text_of(before);
    let mut words = field.analyze(&before);
    if before.is_empty() {
        words.clear();
    }
    let any = last.iter().all(|glyph| *glyph == Glyph::Any);
    match (any && !before.is_empty(), words.is_empty()) {
        (true, true) => Asked::Nothing,
        (true, false) => Asked::Words(words, None),
        (false, _) => {
            let place = field.positions(&before);
            let forms = match fuzzy {
                Some(distance) => near(field, &text_of(last), distance),
                None => forms(field, last),
            };
            Asked::Words(words, Some((forms, place)))
        }
    }
}

/// Finds the beginning and the end of the last word, by its glyphs.
fn last_word(glyphs: &[Glyph], plain: &Analyzer) -> Option<(usize, usize)> {
    let is_text = |glyph: &Glyph| matches!(glyph, Glyph::Exactly(_));
    let mut fillings = Vec::new();
    match glyphs.iter().position(|glyph| !is_text(glyph)) {
        None => fillings.push('x'),
        Some(first) => {
            let beside = [
                glyphs[..first].last(),
                glyphs[first..].iter().find(|one| is_text(one)),
            ];
            for glyph in beside.into_iter().flatten() {
                if let Glyph::Exactly(one) = glyph
                    && one.is_alphanumeric()
                {
                    fillings.push(*one);
                }
            }
            fillings.extend(['x', '0']);
        }
    }
    let mut best: Option<(usize, usize, usize)> = None;
    for filling in fillings {
        let each = glyphs.iter().map(|glyph| match glyph {
            Glyph::Exactly(one) => *one,
            _ => filling,
        });
        let sample: String = each.collect();
        let (mut count, mut last) = (0, (0, 0));
        plain.analyze(&sample, &mut Scratch::default(), |token| {
            let (start, end) = last;
            let is_full = sample[start..end].chars().count() >= TOKEN_CHARACTERS_MAX;
            // A word that is cut only because it is too long counts as one.
            if end == token.start && is_full {
                last = (start, token.end);
            } else {
                count += 1;
                last = (token.start, token.end);
            }
        });
        let glyph_at = |byte: usize| sample[..byte].chars().count();
        if count > 0 && best.is_none_or(|(least, ..)| count < least) {
            best = Some((count, glyph_at(last.0), glyph_at(last.1)));
        }
    }
    best.map(|(_, from, to)| (from, to))
}

fn unstemmed(analyzer: &Analyzer) -> Analyzer {
    match analyzer.name() {
        "english" => Analyzer::named("standard").expect("an analyzer"),
        _ => *analyzer,
    }
}

fn text_of(glyphs: &[Glyph]) -> String {
    let each = glyphs.iter().filter_map(|glyph| match glyph {
        Glyph::Exactly(one) => Some(*one),
        _ => None,
    });
    each.collect()
}

/// A word as the field would have it but for its ending.
fn lowercased(field: &Field, text: &str) -> String {
    if matches!(field.analyzer.name(), "keyword" | "whitespace") {
        return text.to_owned();
    }
    let each = text.chars();
    each.filter_map(|one| one.to_lowercase().next()).collect()
}

/// The stem of a word in a field of stems, if it is another.
fn stem(field: &Field, word: &str) -> Option<String> {
    if field.analyzer.name() != "english" {
        return None;
    }
    let mut tokens = Vec::new();
    field
        .analyzer
        .analyze(word, &mut Scratch::default(), |token| {
            tokens.push((token.text.to_owned(), token.end - token.start));
        });
    match &tokens[..] {
        [(stem, length)] if *length == word.len() && stem != word && !stem.is_empty() => {
            Some(stem.clone())
        }
        _ => None,
    }
}

fn near(field: &Field, text: &str, distance: Option<u8>) -> Vec<Form> {
    let automatic = |word: &str| match word.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let word = lowercased(field, text);
    let distance = distance.unwrap_or(automatic(&word));
    let stem = stem(field, &word);
    let mut forms = vec![Form::Near(word, distance)];
    forms.extend(stem.map(|stem| {
        let most = automatic(&stem);
        Form::Near(stem, distance.min(most))
    }));
    forms
}

fn forms(field: &Field, glyphs: &[Glyph]) -> Vec<Form> {
    let lower = |glyph: &Glyph| match glyph {
        Glyph::Exactly(one) => {
            let lower = lowercased(field, &one.to_string());
            Glyph::Exactly(lower.chars().next().unwrap_or(*one))
        }
        other => *other,
    };
    let glyphs: Vec<Glyph> = glyphs.iter().map(lower).collect();
    let exactly = |text: &str| text.chars().map(Glyph::Exactly).collect::<Vec<_>>();
    let begins = |text: &str| {
        let mut glyphs = exactly(text);
        glyphs.push(Glyph::Any);
        glyphs
    };
    let is_text = |glyph: &Glyph| matches!(glyph, Glyph::Exactly(_));
    let mut all = vec![glyphs.clone()];
    if field.analyzer.name() != "english" {
        return all.into_iter().map(Form::Fits).collect();
    }
    if let [before @ .., Glyph::Any] = &glyphs[..]
        && before.iter().all(is_text)
    {
        let prefix = text_of(before);
        match stem(field, &prefix) {
            Some(short) if short.chars().count() < 4 => all.push(exactly(&short)),
            Some(stem) => all.push(begins(&stem)),
            None => {}
        }
        return all.into_iter().map(Form::Fits).collect();
    }
    let stars = glyphs
        .iter()
        .rev()
        .take_while(|glyph| **glyph == Glyph::Any);
    let end = glyphs.len() - stars.count();
    let letters = glyphs[..end]
        .iter()
        .rev()
        .take_while(|glyph| is_text(glyph));
    let start = end - letters.count();
    let last = text_of(&glyphs[start..end]);
    if let Some(first) = last.chars().next() {
        let each = glyphs[..start].iter().map(|glyph| match glyph {
            Glyph::Any => last.clone(),
            Glyph::One => first.to_string(),
            Glyph::Exactly(one) => one.to_string(),
        });
        let before: String = each.collect();
        let stem = stem(field, &format!("{before}{last}"));
        if let Some(left) = stem.and_then(|stem| Some(stem.strip_prefix(&before)?.to_owned()))
            && !left.is_empty()
        {
            let mut form = glyphs[..start].to_vec();
            form.extend(exactly(&left));
            form.extend_from_slice(&glyphs[end..]);
            all.push(form);
        }
    }
    let ones = glyphs
        .iter()
        .rev()
        .take_while(|glyph| **glyph == Glyph::One);
    let ones = ones.count().min(3).min(glyphs.len().saturating_sub(1));
    all.extend((1..=ones).map(|count| glyphs[..glyphs.len() - count].to_vec()));
    all.into_iter().map(Form::Fits).collect()
}
