//! The query language by examples, and a property: what is printed parses back.

use std::ops::Bound;

use proptest::prelude::*;

use super::*;

const FIELDS: [&str; 4] = ["title", "body", "a.b", "odd name:x"];

fn parse_with(text: &str, operator: Operator) -> Result<Query> {
    parse(text, operator, &|name| FIELDS.contains(&name))
}

/// Checks `text` against the canonical print of the expected query.
fn check(text: &str, expected: &str) {
    let query = parse_with(text, Operator::Or).unwrap();
    assert_eq!(query.to_string(), expected, "{text:?} is {query:?}");
}

fn check_and(text: &str, expected: &str) {
    let query = parse_with(text, Operator::And).unwrap();
    let printed = query.to_string().replace("~and", "");
    assert_eq!(printed, expected, "{text:?} is {query:?}");
}

fn check_error(text: &str, parts: &[&str]) {
    let error = parse_with(text, Operator::Or).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "{error:?} has no {part:?}");
    }
    assert!(error.len() < 200 && error.lines().count() == 1, "{error}");
}

#[test]
fn clauses_combine_as_in_lucene() {
    check("", "()");
    check("()", "()");
    check("a", "a");
    check("a b", "a b");
    check("+a -b c", "+a c -b");
    check("a AND b", "+a +b");
    check("a AND b OR c", "+a +b c");
    check("a OR b AND c", "+b +c a");
    check("a && !b || c", "+a c -b");
    check("a NOT b", "a -b");
    check("NOT a", "-a");
    check("-a AND b", "+b -a");
    check("(a b) AND c", "+(a b) +c");
    check("((a))", "a");
    check("(+a) b", "(+a) b");
    check_and("a b", "+a +b");
    check_and("a OR b", "a b");
    check_and("a b OR c", "+a b c");
    check_and("a -b", "+a -b");
    check_and("a", "a");
}

#[test]
fn operands() {
    check("\"flash storage\"", "\"flash storage\"");
    check("\"a \\\" b\"~3^2", "\"a \\\" b\"~3^2");
    check("stor*", "stor*");
    check("s?or*e", "s?or*e");
    check("s\\*o?", "s\\*o?");
    check("roam~ roam~1 roam~2", "roam~ roam~1 roam~2");
    check("a^2.5 (b c)^0", "a^2.5 (b c)^0");
    check(
        "[a TO b] {a TO \"b c\"} [* TO b}",
        "[\"a\" TO \"b\"] {\"a\" TO \"b c\"} [* TO \"b\"}",
    );
    check(
        "title:>=x title:<y^2",
        "title:[\"x\" TO *] title:[* TO \"y\"}^2",
    );
    check("* *:*", "*:* *:*");
    check("(a b c)~2", "(a b c)~2");
    check("#(a b) c", "#(a b) c");
    check("wi-fi~and", "wi\\-fi~and");
}

#[test]
fn fields() {
    check("title:a b", "title:a b");
    check("title:(a b \"c d\")", "title:a title:b title:\"c d\"");
    check("title:(a body:b)", "title:a body:b");
    check("title:* _exists_:body", "title:* body:*");
    check("a.b:x", "a.b:x");
    check("odd\\ name\\:x:y", "odd\\ name\\:x:y");
    check("title:a:b", "title:a\\:b");
    check("title:-5", "title:\\-5");
    check("-title:\"x y\"", "-title:\"x y\"");
    check("x:y", "x\\:y");
    check("x:\"a b\"", "x\\: \"a b\"");
    check("title:", "title\\:");
    check("title:OR", "title:\\OR");
}

#[test]
fn ordinary_text() {
    check("don't", "don't");
    check("C++ C#", "C\\+\\+ C\\#");
    check("a - b + c ! d", "a \\- b \\+ c \\! d");
    check("e-mail me@example.org", "e\\-mail me@example.org");
    check(
        "http://x.org/?q=*~a^2",
        "http\\:\\/\\/x.org\\/\\?q\\=\\*\\~a\\^2",
    );
    check("AND", "\\AND");
    check("a AND", "a \\AND");
    check("OR a", "\\OR a");
    check("a AND OR b", "a \\AND b");
    check("NOT", "\\NOT");
    check("NOT NOT a", "\\NOT -a");
    check("a && || b", "a \\&\\& b");
    check("-- ++x ? ??", "\\-\\- \\+\\+x \\? \\?\\?");
    check("[citation needed]", "\\[citation needed\\]");
    check("x^y ~/home a~b ^2", "x\\^y \\~\\/home a\\~b \\^2");
    check("a&&b", "a\\&\\&b");
    check("\\(a\\) \\AND b\\", "\\(a\\) \\AND b\\\\");
    check("東京 мир", "東京 мир");
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    check_error(
        "flash é \"storage",
        &["quote", "character 9", "add a quote"],
    );
    check_error("(a b", &["not closed", "character 1"]);
    check_error("a) b", &["close", "character 2"]);
    check_error("roam~3", &["distance", "character 1", "~2"]);
    check_error(&"(".repeat(60_000), &["nested", "character 33", "32"]);
    check_error(&"(".repeat(100_000), &["100000 bytes", "65536"]);
    check_error(&"a ".repeat(1025), &["clauses", "character 2049", "1024"]);
    check_error(&"() ".repeat(1025), &["clauses", "character 3073"]);
    check_error(&"AND ".repeat(1025), &["clauses", "character 4097"]);
    check_error(&"a".repeat(65_537), &["65537 bytes"]);
    let deepest = format!("{}a b{}", "(".repeat(32), ")".repeat(32));
    check(&deepest, "a b");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zé東'.]{1,6}",
        "[a-c \\\\+!(){}\\[\\]^\"~*?:/&|<>=#-]{1,8}",
        Just("AND".to_string()),
        Just("http://a".to_string()),
    ]
}

fn field() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(proptest::sample::select(&FIELDS).prop_map(str::to_string))
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
        (field(), bound(), bound()).prop_map(|(field, lower, upper)| Query::Range {
            field,
            lower,
            upper
        }),
        proptest::sample::select(&FIELDS).prop_map(|field| Query::Exists {
            field: field.to_string()
        }),
    ]
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
                must,
                should,
                must_not,
                filter,
                minimum_should_match: minimum,
            });
        let boost = (inner, 0.0..9.0f32).prop_map(|(query, factor)| Query::Boost {
            query: Box::new(query),
            factor,
        });
        prop_oneof![clauses, boost]
    })
}

/// The shape in which the parser gives what has a shorter form.
fn shortest(query: Query) -> Query {
    match query {
        Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match,
        } => {
            let all = |list: Vec<Query>| list.into_iter().map(shortest).collect::<Vec<_>>();
            let (must, mut should) = (all(must), all(should));
            let (must_not, filter) = (all(must_not), all(filter));
            let others = must.len() + must_not.len() + filter.len();
            match (others, should.len(), minimum_should_match) {
                (0, 0, _) => Query::MatchNone,
                (0, 1, 0) => should.remove(0),
                _ => Query::Bool {
                    must,
                    should,
                    must_not,
                    filter,
                    minimum_should_match,
                },
            }
        }
        Query::Boost { query, factor } => Query::Boost {
            query: Box::new(shortest(*query)),
            factor,
        },
        leaf => leaf,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]
    #[test]
    fn what_is_printed_parses_back(query in tree()) {
        let query = shortest(query);
        let printed = query.to_string();
        prop_assert_eq!(parse_with(&printed, Operator::Or).unwrap(), query, "{}", printed);
    }

    #[test]
    fn any_text_gives_a_query_or_an_error(text in "([a-c ]|AND|OR|NOT|title:|[\\\\+!(){}\\[\\]^\"~*?:/&|<>=#-]|2| TO |é){0,30}") {
        if let Ok(query) = parse_with(&text, Operator::Or) {
            let printed = query.to_string();
            let again = parse_with(&printed, Operator::Or).unwrap();
            prop_assert_eq!(&again, &query, "{:?} printed {}", text, printed);
        }
        let _ = parse_with(&text, Operator::And);
    }
}
