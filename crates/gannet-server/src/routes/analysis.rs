//! Tokens of a text: `_analyze`.

use gannet::{Analyzer, Scratch};
use serde_json::{Value, json};

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::json::Members;
use crate::service::Service;

/// Tokens of one answer, as Elasticsearch has it.
const TOKENS_MAX: usize = 10_000;

/// Positions between two texts of one field.
const GAP: u32 = 100;

/// `POST /{index}/_analyze`.
pub fn analyze(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("analyze_request", &body)?;
    let not_there = [
        "tokenizer",
        "filter",
        "char_filter",
        "normalizer",
        "explain",
        "attributes",
    ];
    members.check(&["text", "analyzer", "field"], &not_there)?;
    let texts = members.texts("text")?.filter(|texts| !texts.is_empty());
    let texts = texts.ok_or_else(|| {
        Fault::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: text is missing;",
        )
    })?;
    let analyzer = analyzer(call, &members, service)?;
    let mut tokens: Vec<Value> = Vec::new();
    each_token(&analyzer, &texts, &mut |token| {
        tokens.push(json!({
            "token": token.text,
            "start_offset": token.start,
            "end_offset": token.end,
            "type": token_type(&analyzer, token.text),
            "position": token.position,
        }));
        tokens.len() <= TOKENS_MAX
    });
    if tokens.len() > TOKENS_MAX {
        return Err(Fault::illegal(format!(
            "The number of tokens produced by calling _analyze has exceeded the allowed maximum of [{TOKENS_MAX}]."
        )));
    }
    Ok(Answer::of(&json!({ "tokens": tokens })))
}

/// A token of one of several texts of a field.
pub struct FieldToken<'t> {
    /// The token.
    pub text: &'t str,
    /// The part of the text of which it was made.
    pub written: &'t str,
    /// Its position in all texts.
    pub position: u32,
    /// Where it begins, in UTF-16 as Java counts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Makes the tokens of several texts of a field, until `sink` says that it wants no more.
pub fn each_token(
    analyzer: &Analyzer,
    texts: &[&str],
    sink: &mut dyn FnMut(FieldToken<'_>) -> bool,
) {
    let (mut start, mut first) = (0, 0);
    let mut scratch = Scratch::default();
    let mut goes_on = true;
    for text in texts {
        // Of a text in order each part is counted once.
        let (mut counted, mut units) = (0, 0);
        let mut utf16 = |end: usize| {
            if end < counted {
                (counted, units) = (0, 0);
            }
            units += text
                .get(counted..end)
                .unwrap_or_default()
                .encode_utf16()
                .count();
            counted = end;
            start + units
        };
        let taken = analyzer.analyze_while(text, &mut scratch, |token| {
            goes_on = sink(FieldToken {
                text: token.text,
                written: text.get(token.start..token.end).unwrap_or_default(),
                position: first + token.position,
                start: utf16(token.start),
                end: utf16(token.end),
            });
            goes_on
        });
        if !goes_on {
            return;
        }
        start += text.encode_utf16().count() + 1;
        first += taken + GAP;
    }
}

/// The type of a token, as Lucene's analyzers name it: that of `standard` and those of languages
/// by its characters.
fn token_type(analyzer: &Analyzer, token: &str) -> &'static str {
    if matches!(analyzer.name(), "whitespace" | "keyword" | "simple") {
        return "word";
    }
    let first = token.chars().next().unwrap_or_default();
    match first {
        '\u{3040}'..='\u{309f}' => "<HIRAGANA>",
        '\u{30a0}'..='\u{30ff}' => "<KATAKANA>",
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' => "<HANGUL>",
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
            "<IDEOGRAPHIC>"
        }
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' => "<EMOJI>",
        _ if token.contains(char::is_alphabetic) => "<ALPHANUM>",
        _ if first.is_numeric() => "<NUM>",
        _ => "<ALPHANUM>",
    }
}

fn analyzer(call: &Call, members: &Members<'_>, service: &Service) -> Outcome<Analyzer> {
    let name = call.part("index");
    if let Some(analyzer) = members.text("analyzer")? {
        let found = Analyzer::named(analyzer);
        return found
            .map_err(|_| Fault::illegal(format!("failed to find global analyzer [{analyzer}]")));
    }
    if name.is_empty() {
        return Ok(Analyzer::default());
    }
    let open = service.indexes.get(name, &call.caller)?;
    let metadata = open.metadata();
    let default = metadata.settings.default_analyzer();
    let Some(field) = members.text("field")? else {
        return Ok(default);
    };
    let mapped = metadata.mapping.field(field);
    let declared = mapped.and_then(|field| field.analyzer(default));
    declared.ok_or_else(|| {
        Fault::illegal(format!(
            "[field] [{field}] has no analyzer: it is no field of strings"
        ))
    })
}
