//! `/v1/indexes/{index}/analyze`: the tokens of a text.

use gannet::{Analyzer, Scratch};
use serde_json::{Value, json};

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::json::Members;
use crate::service::Service;

/// Tokens of one answer.
const TOKENS_MAX: usize = 10_000;

/// `POST /v1/indexes/{index}/analyze`.
pub fn analyze(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("analyze", &body)?;
    members.check(&["text", "field", "analyzer"], &[])?;
    let text = members
        .text("text")?
        .ok_or_else(|| Fault::parsing("[analyze] needs a [text]"))?;
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    let analyzer = analyzer(&members, &open)?;
    let mut tokens: Vec<Value> = Vec::new();
    analyzer.analyze_while(text, &mut Scratch::default(), |token| {
        tokens.push(json!({
            "token": token.text,
            "position": token.position,
            "start": token.start,
            "end": token.end,
        }));
        tokens.len() <= TOKENS_MAX
    });
    if tokens.len() > TOKENS_MAX {
        return Err(Fault::illegal(format!(
            "the text has more than {TOKENS_MAX} tokens: analyze a shorter one"
        )));
    }
    Ok(Answer::of(
        &json!({ "analyzer": analyzer.name(), "tokens": tokens }),
    ))
}

/// The analyzer that is named, or that of a field, or the default one of the index.
fn analyzer(members: &Members<'_>, open: &OpenIndex) -> Outcome<Analyzer> {
    match (members.text("analyzer")?, members.text("field")?) {
        (Some(_), Some(_)) => Err(Fault::parsing(
            "[analyze] has both [analyzer] and [field]: give one",
        )),
        (Some(name), None) => Ok(Analyzer::named(name)?),
        (None, Some(name)) => {
            let snapshot = open.index.snapshot();
            snapshot.check_field(name)?;
            let field = snapshot.schema().named(name);
            Ok(field.map_or_else(
                || open.metadata().settings.default_analyzer(),
                |field| field.analyzer,
            ))
        }
        (None, None) => Ok(open.metadata().settings.default_analyzer()),
    }
}
