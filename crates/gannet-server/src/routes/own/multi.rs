//! `/v1/multi`: several searches, each with an answer or an error of its own.

use serde_json::{Map, Value};

use super::search::limits_of;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::json::{JsonArray, JsonObject, Members};
use crate::searching::OwnSearch;
use crate::service::Service;

/// Searches of one request.
const SEARCHES_MAX: usize = 100;

/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// `POST /v1/multi`.
pub fn multi(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("multi", &body)?;
    members.check(&["searches"], &[])?;
    let searches = match members.get("searches") {
        Some(Value::Array(searches)) if searches.len() <= SEARCHES_MAX => searches,
        Some(Value::Array(searches)) => {
            return Err(Fault::illegal(format!(
                "[searches] has {} searches, at most {SEARCHES_MAX} are carried out at once",
                searches.len()
            )));
        }
        _ => return Err(Fault::parsing("[multi] needs [searches], an array")),
    };
    let mut answers = JsonArray::new();
    let (mut bytes, mut held) = (0, Vec::new());
    for search in searches {
        let json = match one(search, call, service) {
            Ok(mut answer) => {
                held.append(&mut answer.held);
                answer.body
            }
            Err(fault) => fault.own_json().to_string(),
        };
        bytes += json.len();
        if bytes > ANSWER_BYTES_MAX {
            return Err(Fault::illegal(format!(
                "the answers have more than {ANSWER_BYTES_MAX} bytes: ask for fewer at once"
            )));
        }
        answers.push(&json);
    }
    let body = JsonObject::new().raw("answers", &answers.end()).end();
    Ok(Answer {
        held,
        ..Answer::json(200, body)
    })
}

fn one(search: &Value, call: &Call, service: &Service) -> Outcome<Answer> {
    let members = Members::of("search", search)?;
    let index = members
        .text("index")?
        .ok_or_else(|| Fault::parsing("[search] of [multi] needs an [index]"))?;
    let rest = members.iter().filter(|(name, _)| *name != "index");
    let rest: Map<String, Value> = rest
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let request = OwnSearch::parse(&Value::Object(rest))?;
    let open = service.indexes.get(index, &call.caller)?;
    request.answer(&limits_of(index, call, service).search(open, service))
}
