//! The body of a search.

use std::borrow::Cow;
use std::time::Duration;

use gannet::{Operator, SearchOptions, SnippetOptions, SortBy, SortKey, SortValue};
use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::json::{Members, kind_of};
use crate::searching::sorting::values_after;
use crate::searching::source::SourceChoice;

const KNOWN: [&str; 15] = [
    "query",
    "operator",
    "filter",
    "sort",
    "after",
    "collapse",
    "size",
    "offset",
    "total",
    "fields",
    "highlight",
    "facets",
    "aggregations",
    "explain",
    "timeout_ms",
];

/// Hits that are returned unless another number is given.
const SIZE: usize = 10;

/// Values of a facet that are returned unless another number is given, and at most.
const FACET_SIZE: usize = 10;
const FACET_SIZE_MAX: usize = 1_000;

/// Facets and filters of a search.
const FACETS_MAX: usize = 50;
const FILTERS_MAX: usize = 50;

/// The longest tag around a match, and the most snippets and characters of one.
const TAG_BYTES_MAX: usize = 100;
const FRAGMENTS_MAX: usize = 100;
const CHARACTERS_MAX: usize = 10_000;

/// The time limit of a search, unless a shorter one is given.
const DEADLINE: Duration = Duration::from_secs(60);

/// A search of one index.
#[derive(Clone, Debug)]
pub struct OwnSearch {
    /// The query; all documents if there is none.
    pub query: Option<String>,
    /// The way in which words that nothing else joins are joined.
    pub operator: Operator,
    /// Queries that hits must match, too, without counting for the score.
    pub filters: Vec<String>,
    /// The keys of the order.
    pub sort: Vec<SortKey>,
    /// The values behind which hits begin.
    pub after: Option<Vec<SortValue>>,
    /// The field of whose values each has one hit.
    pub collapse: Option<String>,
    /// Hits that are returned at most.
    pub size: usize,
    /// Hits that are left out.
    pub offset: usize,
    /// Set if the total is counted.
    pub total: bool,
    /// The part of each document that is returned.
    pub fields: SourceChoice,
    /// The snippets that are asked for.
    pub highlight: Option<OwnHighlight>,
    /// Fields whose most frequent values are counted, and how many of these are told.
    pub facets: Vec<(String, usize)>,
    /// Aggregations.
    pub aggregations: Option<Value>,
    /// Set if plan and scores are explained.
    pub explain: bool,
    /// The time limit.
    pub deadline: Duration,
}

/// The snippets that are asked for.
#[derive(Clone, Debug)]
pub struct OwnHighlight {
    /// The fields; all of text if none are named.
    pub fields: Option<Vec<String>>,
    /// The form of snippets.
    pub form: SnippetOptions,
}

impl OwnSearch {
    /// Reads a body.
    pub fn parse(body: &Value) -> Outcome<OwnSearch> {
        let members = Members::of("search", body)?;
        members.check(&KNOWN, &[])?;
        let sort = sort(&members)?;
        let after = members.get("after");
        if after.is_some() && sort.is_empty() {
            return Err(Fault::illegal(
                "[after] needs the [sort] of the search that gave it as [next]",
            ));
        }
        let after = after.map(|values| values_after(values, sort.len(), &[]));
        let search = OwnSearch {
            query: members.text("query")?.map(str::to_owned),
            operator: operator(&members)?,
            filters: texts(&members, "filter", FILTERS_MAX)?,
            after: after.transpose()?,
            sort,
            collapse: members.text("collapse")?.map(str::to_owned),
            size: members.count("size")?.unwrap_or(SIZE),
            offset: members.count("offset")?.unwrap_or(0),
            total: members.flag("total")?.unwrap_or(true),
            fields: fields(&members)?,
            highlight: members.get("highlight").map_or(Ok(None), highlight)?,
            facets: members
                .get("facets")
                .map_or_else(|| Ok(Vec::new()), facets)?,
            aggregations: members.get("aggregations").cloned(),
            explain: members.flag("explain")?.unwrap_or(false),
            deadline: deadline(&members)?,
        };
        search.check_window()?;
        Ok(search)
    }

    fn check_window(&self) -> Outcome<()> {
        let most = SearchOptions::RANKED_MAX;
        let last = self.offset.saturating_add(self.size);
        if last <= most {
            return Ok(());
        }
        Err(Fault::illegal(format!(
            "[offset] and [size] go to hit {last}, and a search ranks at most {most}: give a [sort], and go on with [after]"
        )))
    }
}

fn operator(members: &Members<'_>) -> Outcome<Operator> {
    match members.text("operator")? {
        None | Some("or") => Ok(Operator::Or),
        Some("and") => Ok(Operator::And),
        Some(other) => Err(Fault::parsing(format!(
            "[operator] is or or and, not {other:?}"
        ))),
    }
}

fn deadline(members: &Members<'_>) -> Outcome<Duration> {
    match members.count("timeout_ms")? {
        None => Ok(DEADLINE),
        Some(0) => Err(Fault::parsing("[timeout_ms] is at least 1")),
        Some(limit) => Ok(Duration::from_millis(limit as u64).min(DEADLINE)),
    }
}

fn texts(members: &Members<'_>, name: &str, most: usize) -> Outcome<Vec<String>> {
    let texts = members.texts(name)?.unwrap_or_default();
    if texts.len() > most {
        return Err(Fault::illegal(format!(
            "[{name}] has {} texts, at most {most} are taken",
            texts.len()
        )));
    }
    Ok(texts.into_iter().map(str::to_owned).collect())
}

/// The keys of an order; the place of a document is the last, so that no two hits are equal.
fn sort(members: &Members<'_>) -> Outcome<Vec<SortKey>> {
    let mut keys = Vec::new();
    for written in texts(members, "sort", FILTERS_MAX)? {
        keys.push(SortKey::parse(&written)?);
    }
    if !keys.is_empty() && keys.iter().all(|key: &SortKey| key.by != SortBy::Doc) {
        keys.push(SortKey {
            by: SortBy::Doc,
            descending: false,
            missing_first: false,
            missing_like: None,
        });
    }
    Ok(keys)
}

/// Reads `fields`: true, false, or the names of those that are returned.
fn fields(members: &Members<'_>) -> Outcome<SourceChoice> {
    match members.get("fields") {
        None => Ok(SourceChoice::default()),
        Some(flag @ Value::Bool(_)) => SourceChoice::parse(flag),
        Some(names) => {
            members.texts("fields")?;
            SourceChoice::parse(names)
        }
    }
}

/// Reads `facets`: names, or an object of names and numbers of values.
fn facets(value: &Value) -> Outcome<Vec<(String, usize)>> {
    let facets: Vec<(String, usize)> = match value {
        Value::Object(_) => {
            let members = Members::of("facets", value)?;
            let each = members.iter().map(|(field, _)| {
                let size = members.count(field)?.unwrap_or(FACET_SIZE);
                if size == 0 || size > FACET_SIZE_MAX {
                    return Err(Fault::illegal(format!(
                        "[facets] tells 1 to {FACET_SIZE_MAX} values of a field, not {size}"
                    )));
                }
                Ok((field.to_owned(), size))
            });
            each.collect::<Outcome<_>>()?
        }
        Value::Array(names) => {
            let names = names.iter().map(|name| match name {
                Value::String(name) => Ok((name.clone(), FACET_SIZE)),
                other => Err(Fault::parsing(format!(
                    "[facets] expected names of fields, found {}",
                    kind_of(other)
                ))),
            });
            names.collect::<Outcome<_>>()?
        }
        other => {
            return Err(Fault::parsing(format!(
                "[facets] expected names of fields or an object of them, found {}",
                kind_of(other)
            )));
        }
    };
    if facets.len() > FACETS_MAX {
        return Err(Fault::illegal(format!(
            "[facets] has {} fields, at most {FACETS_MAX} are counted at once",
            facets.len()
        )));
    }
    Ok(facets)
}

/// Reads `highlight`: true, names of fields, or an object with both and the form.
fn highlight(value: &Value) -> Outcome<Option<OwnHighlight>> {
    let form = SnippetOptions::default();
    let named = |list: &[Value]| -> Outcome<Option<Vec<String>>> {
        let names = list.iter().map(|name| match name {
            Value::String(name) => Ok(name.clone()),
            other => Err(Fault::parsing(format!(
                "[highlight] expected names of fields, found {}",
                kind_of(other)
            ))),
        });
        names.collect::<Outcome<Vec<_>>>().map(Some)
    };
    match value {
        Value::Bool(false) => Ok(None),
        Value::Bool(true) => Ok(Some(OwnHighlight { fields: None, form })),
        Value::Array(list) => Ok(Some(OwnHighlight {
            fields: named(list)?,
            form,
        })),
        _ => {
            let members = Members::of("highlight", value)?;
            members.check(
                &["fields", "fragments", "characters", "before", "after"],
                &[],
            )?;
            let fields = members.texts("fields")?;
            let fields = fields.map(|names| names.into_iter().map(str::to_owned).collect());
            Ok(Some(OwnHighlight {
                fields,
                form: snippet_form(&members, form)?,
            }))
        }
    }
}

fn snippet_form(members: &Members<'_>, mut form: SnippetOptions) -> Outcome<SnippetOptions> {
    for (name, place, most) in [
        ("fragments", &mut form.fragments, FRAGMENTS_MAX),
        ("characters", &mut form.characters, CHARACTERS_MAX),
    ] {
        match members.count(name)? {
            None => {}
            Some(number) if number <= most => *place = number,
            Some(number) => {
                return Err(Fault::illegal(format!(
                    "[{name}] of [highlight] is at most {most}, not {number}"
                )));
            }
        }
    }
    for (name, place) in [("before", &mut form.pre), ("after", &mut form.post)] {
        match members.text(name)? {
            None => {}
            Some(tag) if tag.len() <= TAG_BYTES_MAX => *place = Cow::Owned(tag.to_owned()),
            Some(_) => {
                return Err(Fault::illegal(format!(
                    "[{name}] of [highlight] has more than {TAG_BYTES_MAX} bytes"
                )));
            }
        }
    }
    Ok(form)
}
