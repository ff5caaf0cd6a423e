//! `gannet analyze`: the tokens that an analyzer makes of a text.

use gannet::{Analyzer, Scratch, Token};
use serde_json::{Value, json};

use crate::arguments::{AnalyzeArguments, Common};
use crate::failure::Outcome;
use crate::output::{Form, Output};

/// Prints a line for each token, or all as one JSON object.
pub fn run(_: &Common, arguments: &AnalyzeArguments, output: &mut Output) -> Outcome<()> {
    let analyzer = Analyzer::named(&arguments.analyzer)?;
    let mut lines = Vec::new();
    let mut tokens = Vec::new();
    analyzer.analyze(&arguments.input, &mut Scratch::default(), |token| {
        lines.push(text(&token));
        tokens.push(object(&token));
    });
    match output.form() {
        Form::Json => output.json(&json!({"analyzer": analyzer.name(), "tokens": tokens})),
        Form::Text => print(&lines, output),
    }
}

fn print(lines: &[String], output: &mut Output) -> Outcome<()> {
    let heading = output.dim("position  start    end  token");
    output.line(heading)?;
    lines.iter().try_for_each(|line| output.line(line))
}

fn text(token: &Token<'_>) -> String {
    let Token {
        text,
        position,
        start,
        end,
    } = token;
    format!("{position:>8} {start:>6} {end:>6}  {text}")
}

fn object(token: &Token<'_>) -> Value {
    json!({
        "token": token.text,
        "position": token.position,
        "start": token.start,
        "end": token.end,
    })
}
