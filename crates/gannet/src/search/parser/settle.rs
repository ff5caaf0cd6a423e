//! Makes text of the operators, signs and fields that have nothing to act on, so that the grammar
//! always finds an operand where it needs one.

use super::lexer::{Kind, Lexeme, Operand};

/// Makes text of what cannot act.
pub(super) fn settle(text: &str, lexemes: &mut [Lexeme]) {
    settle_signs(text, lexemes);
    settle_operators(text, lexemes);
}

/// Signs and fields act on what follows: from behind, so that several can follow each other.
fn settle_signs(text: &str, lexemes: &mut [Lexeme]) {
    let mut acts_on_next = false;
    for lexeme in lexemes.iter_mut().rev() {
        if is_sign(&lexeme.kind) && !acts_on_next {
            make_text(text, lexeme);
        }
        acts_on_next = match lexeme.kind {
            Kind::And | Kind::Or | Kind::Close { .. } => false,
            Kind::Open | Kind::Operand(..) | Kind::Field(_) => true,
            Kind::Require | Kind::Prohibit | Kind::Not | Kind::Filter => true,
        };
    }
}

/// Operators act on what stands on both sides.
fn settle_operators(text: &str, lexemes: &mut [Lexeme]) {
    let mut after_operand = false;
    for at in 0..lexemes.len() {
        let next = lexemes.get(at + 1).map(|lexeme| &lexeme.kind);
        let is_end = matches!(next, None | Some(Kind::And | Kind::Or | Kind::Close { .. }));
        let is_operator = matches!(lexemes[at].kind, Kind::And | Kind::Or);
        if is_operator && (!after_operand || is_end) {
            make_text(text, &mut lexemes[at]);
        }
        after_operand = matches!(lexemes[at].kind, Kind::Operand(..) | Kind::Close { .. });
    }
}

fn is_sign(kind: &Kind) -> bool {
    use Kind::*;
    matches!(kind, Require | Prohibit | Not | Filter | Field(_))
}

fn make_text(text: &str, lexeme: &mut Lexeme) {
    let text = text[lexeme.start..lexeme.end].to_string();
    lexeme.kind = Kind::Operand(Operand::Text { text, all: false }, None);
}
