//! A query that is printed parses back.

use std::ops::Bound;

use proptest::prelude::*;

use super::{FIELDS, parse_with};
use crate::search::query::{Operator, Query};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zé東'.]{1,6}",
        "[a-c \\\\+!(){}\\[\\]^\"~*?:/&|<>=#-]{1,8}",
        Just("AND".to_string()),
        Just("http://a".to_string()),
    ]
}

fn field() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(name())
}

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(&FIELDS).prop_map(str::to_string)
}

fn operator() -> impl Strategy<Value = Operator> {
    prop_oneof![Just(Operator::Or), Just(Operator::And)]
}

fn bound() -> impl Strategy<Value = Bound<String>> {
    prop_oneof![
        Just(Bound::Unbounded),
        text().prop_map(Bound::Included),
        text().prop_map(Bound::Excluded),
    ]
}

fn leaf() -> impl Strategy<Value = Query> {
    prop_oneof![
        Just(Query::MatchAll),
        Just(Query::MatchNone),
        (field(), text(), operator()).prop_map(|(field, text, operator)| Query::Text {
            field,
            text,
            operator
        }),
        (field(), text(), 0..3u32).prop_map(|(field, text, slop)| Query::Phrase {
            field,
            text,
            slop
        }),
        (
            field(),
            text(),
            "[a-c]([a-c%/\"]|\\\\\\\\|\\\\\\*|\\?){0,2}(\\*|\\?x)",
            0..3u32
        )
            .prop_map(|(field, text, pattern, slop)| Query::PhrasePattern {
                field,
                text: text + " ",
                pattern,
                slop,
                first: None
            }),
        (field(), text()).prop_map(|(field, prefix)| Query::Prefix { field, prefix }),
        (
            field(),
            "[a-c]([a-c%/]|\\\\\\\\|\\\\\\*|\\*|\\?){0,3}\\?(x|\\*)?"
        )
            .prop_map(|(field, pattern)| Query::Wildcard { field, pattern }),
        (field(), text(), proptest::option::of(0..3u8)).prop_map(|(field, text, distance)| {
            Query::Fuzzy {
                field,
                text,
                distance,
            }
        }),
        (name(), bound(), bound()).prop_map(|(field, lower, upper)| range(field, lower, upper)),
        name().prop_map(|field| Query::Exists { field }),
        (name(), proptest::collection::vec(text(), 1..3))
            .prop_map(|(field, values)| Query::OneOf { field, values }),
    ]
}

/// A range with values, of any two ends.
fn range(field: String, lower: Bound<String>, upper: Bound<String>) -> Query {
    let value = |bound: &Bound<String>| match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value.clone()),
        Bound::Unbounded => None,
    };
    let upper = match (value(&lower), value(&upper)) {
        (Some(least), Some(most)) if least >= most => Bound::Unbounded,
        _ => upper,
    };
    Query::Range {
        field: Some(field),
        lower,
        upper,
    }
}

fn tree() -> impl Strategy<Value = Query> {
    let some = |inner: BoxedStrategy<Query>| proptest::collection::vec(inner, 0..3);
    leaf().prop_recursive(4, 24, 6, move |inner| {
        let inner = inner.boxed();
        let lists = (
            some(inner.clone()),
            some(inner.clone()),
            some(inner.clone()),
            some(inner.clone()),
        );
        let clauses =
            (lists, 0..3u32).prop_map(|((must, should, must_not, filter), minimum)| Query::Bool {
                minimum_should_match: minimum.min(should.len() as u32),
                must,
                should,
                must_not: must_not.iter().map(unboosted).collect(),
                filter: filter.iter().map(unboosted).collect(),
            });
        let boost = (inner, 0.1..9.0f32).prop_map(|(query, factor)| Query::Boost {
            query: Box::new(query),
            factor,
        });
        prop_oneof![clauses, boost]
    })
}

/// A query that does not score as the parser has it.
fn unboosted(query: &Query) -> Query {
    if let Query::Boost { query, .. } = query {
        unboosted(query)
    } else {
        query.clone()
    }
}

/// The shape in which the parser gives what has a shorter form.
fn shortest(query: &Query) -> Query {
    match query {
        Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match,
        } => {
            let all = |list: &[Query]| list.iter().map(shortest).collect::<Vec<_>>();
            let (must, mut should) = (all(must), all(should));
            // What stands for its lone clause may be boosted again.
            let unscored = |list| all(list).iter().map(unboosted).collect::<Vec<_>>();
            let (must_not, filter) = (unscored(must_not), unscored(filter));
            let others = must.len() + must_not.len() + filter.len();
            match (others, should.len(), minimum_should_match) {
                (0, 0, _) => Query::MatchNone,
                (0, 1, 0) => should.remove(0),
                _ => Query::Bool {
                    must,
                    should,
                    must_not,
                    filter,
                    minimum_should_match: *minimum_should_match,
                },
            }
        }
        Query::Boost { query, factor } => Query::Boost {
            query: Box::new(shortest(query)),
            factor: *factor,
        },
        // The language has no form for it.
        Query::Best { .. }
        | Query::Regexp { .. }
        | Query::MatchAll
        | Query::MatchNone
        | Query::Text { .. }
        | Query::Phrase { .. }
        | Query::PhrasePattern { .. }
        | Query::Prefix { .. }
        | Query::Wildcard { .. }
        | Query::Fuzzy { .. }
        | Query::Range { .. }
        | Query::OneOf { .. }
        | Query::Exists { .. } => query.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]
    #[test]
    fn what_is_printed_parses_back(query in tree()) {
        let query = shortest(&query);
        let printed = query.to_string();
        prop_assert_eq!(parse_with(&printed, Operator::Or).unwrap(), query, "{}", printed);
    }

    #[test]
    fn any_text_gives_a_query_or_an_error(text in "([a-c東 ]|AND|OR|NOT|title:|~or|[“”«»]|[\\\\+!(){}\\[\\]^\"~*?:/&|<>=#-]|2| TO |é){0,30}") {
        if let Ok(query) = parse_with(&text, Operator::Or) {
            let printed = query.to_string();
            let again = parse_with(&printed, Operator::Or).unwrap();
            prop_assert_eq!(&again, &query, "{:?} printed {}", text, printed);
        }
        let _ = parse_with(&text, Operator::And);
    }
}
