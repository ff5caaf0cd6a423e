//! Hits inside an answer: of a bucket (`top_hits`), and of a group (`inner_hits` of `collapse`).
//! Each is a further search of what the outer one finds, within conditions.

use serde_json::{Map, Value, json};

use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// Members that are those of a search.
const KNOWN: [&str; 11] = [
    "from",
    "size",
    "sort",
    "_source",
    "fields",
    "docvalue_fields",
    "stored_fields",
    "highlight",
    "track_scores",
    "version",
    "seq_no_primary_term",
];

/// Members that are not there.
const NOT_THERE: [&str; 3] = ["collapse", "explain", "script_fields"];

/// Hits that are returned unless another number is given.
const SIZE: usize = 3;

/// Hits that may be ranked, as `index.max_inner_result_window` says in Elasticsearch.
const WINDOW_MAX: usize = 100;

/// A search that stands in another one.
pub trait NestedSearch: Sized {
    /// Reads the body of a search.
    fn read(body: &Value) -> Outcome<Self>;

    /// The number of hits that are ranked, those that are skipped among them.
    fn ranked(&self) -> usize;
}

/// The hits that a request wants of each bucket or group.
#[derive(Clone, Debug)]
pub struct InnerRequest<S> {
    /// The name in the answer.
    pub name: String,
    /// The search without what it shares with the outer one.
    pub search: S,
}

impl<S: NestedSearch> InnerRequest<S> {
    /// Reads `top_hits` of a name.
    pub fn top_hits(
        name: &str,
        value: &Value,
        min_score: Option<&Value>,
    ) -> Outcome<InnerRequest<S>> {
        let members = Members::of("top_hits", value)?;
        members.check(&KNOWN, &NOT_THERE)?;
        let window =
            format!("Top hits result window is too large, the top hits aggregator [{name}]'s");
        InnerRequest::parse(name, &members, min_score, &window)
    }

    /// Reads `inner_hits`, one or a list of them.
    pub fn inner_hits(value: &Value, min_score: Option<&Value>) -> Outcome<Vec<InnerRequest<S>>> {
        let list = match value {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut all: Vec<InnerRequest<S>> = Vec::new();
        for value in list {
            let members = Members::of("inner_hits", value)?;
            let known = [&KNOWN[..], &["name", "ignore_unmapped"]].concat();
            members.check(&known, &NOT_THERE)?;
            let name = members.text("name")?;
            let name = name.ok_or_else(|| {
                Fault::illegal("[inner_hits] of [collapse] needs the [name] that its hits have")
            })?;
            if all.iter().any(|own| own.name == name) {
                return Err(Fault::illegal(format!(
                    "[inner_hits] already contains an entry for key [{name}]"
                )));
            }
            let window =
                format!("Inner result window is too large, the inner hit definition's [{name}]'s");
            all.push(InnerRequest::parse(name, &members, min_score, &window)?);
        }
        Ok(all)
    }

    fn parse(
        name: &str,
        members: &Members<'_>,
        min_score: Option<&Value>,
        window: &str,
    ) -> Outcome<InnerRequest<S>> {
        let shared = members
            .iter()
            .filter(|(name, value)| KNOWN.contains(name) && !value.is_null());
        let shared = shared.map(|(name, value)| (name.to_owned(), value.clone()));
        let mut body: Map<String, Value> = shared.collect();
        body.entry("size").or_insert(json!(SIZE));
        // It decides if scores are needed.
        if let Some(least) = min_score {
            body.insert("min_score".to_owned(), least.clone());
        }
        let search = S::read(&Value::Object(body))?;
        let wanted = search.ranked();
        if wanted > WINDOW_MAX {
            return Err(Fault::illegal(format!(
                "{window} from + size must be less than or equal to: [{WINDOW_MAX}] but was [{wanted}]. This limit can be set by \
                 changing the [index.max_inner_result_window] index level setting."
            )));
        }
        Ok(InnerRequest {
            name: name.to_owned(),
            search,
        })
    }
}
