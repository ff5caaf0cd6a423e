//! Checks that operators and signs have something to act on, so that the grammar always finds an
//! operand where it needs one. A field with nothing behind it is text.

use super::lexeme::Kind;
use super::lexeme::Lexeme;
use super::lexeme::Operand;
use super::lexeme::invalid;
use crate::base::{Error, Result};

/// Makes text of fields that stand alone; fails at the first operator or sign that cannot act.
pub(crate) fn settle(text: &str, lexemes: &mut [Lexeme]) -> Result<()> {
    let mut after_operand = false;
    for at in 0..lexemes.len() {
        match lexemes[at].kind {
            Kind::Field(_) if is_end(&lexemes[at + 1..]) => make_text(text, &mut lexemes[at]),
            Kind::And | Kind::Or if !after_operand => {
                return Err(alone("before", text, &lexemes[at]));
            }
            Kind::And | Kind::Or if is_end(&lexemes[at + 1..]) => {
                return Err(alone("after", text, &lexemes[at]));
            }
            Kind::Require | Kind::Prohibit | Kind::Not | Kind::Filter
                if is_end(&lexemes[at + 1..]) =>
            {
                return Err(alone("after", text, &lexemes[at]));
            }
            _ => {}
        }
        after_operand = matches!(lexemes[at].kind, Kind::Operand(..) | Kind::Close { .. });
    }
    Ok(())
}

/// Returns true if nothing follows that an operator or a sign could act on.
fn is_end(following: &[Lexeme]) -> bool {
    let next = following.first().map(|lexeme| &lexeme.kind);
    matches!(next, None | Some(Kind::And | Kind::Or | Kind::Close { .. }))
}

/// The error for an operator or a sign with nothing on one side.
fn alone(side: &str, text: &str, lexeme: &Lexeme) -> Error {
    let written = &text[lexeme.start..lexeme.end];
    let example = match lexeme.kind {
        Kind::And | Kind::Or => format!("a {written} b"),
        Kind::Not if written != "!" => format!("{written} a"),
        _ => format!("{written}a"),
    };
    let what = format!("{written} has nothing {side} it");
    let advice = format!("write {example}, or \"{written}\" in quotes for the word itself");
    invalid(&what, text, lexeme.start, &advice)
}

fn make_text(text: &str, lexeme: &mut Lexeme) {
    let text = text[lexeme.start..lexeme.end].to_string();
    lexeme.kind = Kind::Operand(Operand::Word(text), None);
}
