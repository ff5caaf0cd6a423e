//! Plans of single queries.

use std::ops::Bound;

use super::*;
use crate::analysis::{Analyzer, FieldKind};
use crate::base::{Budget, Error};
use crate::columns::Columns;
use crate::search::query::Operator;
use crate::search::query::pattern::Fuzzy;

fn schema() -> Schema {
    let mut schema = Schema::default();
    for (name, kind, analyzer) in [
        ("title", FieldKind::Text, "standard"),
        ("body", FieldKind::Text, "english"),
        ("tag", FieldKind::Exact, "keyword"),
    ] {
        let analyzer = Analyzer::named(analyzer).unwrap();
        schema.add(name, kind, analyzer).unwrap();
    }
    schema
}

fn plan(query: &Query, schema: &Schema) -> Result<Plan> {
    let budget = Budget::new(64 << 20);
    super::plan(
        query,
        schema,
        &Columns::default(),
        &|_| false,
        Allowance::new(&budget, &())?,
    )
}

fn text(field: Option<&str>, text: &str) -> Query {
    Query::Text {
        field: field.map(str::to_owned),
        text: text.to_owned(),
        operator: Operator::Or,
    }
}

#[test]
fn texts_without_a_field_take_the_best_of_all_text_fields() {
    let plan = plan(&text(None, "Birds"), &schema()).unwrap();
    let term = |slot| PlanNode::Term(slot, Some(1.0));
    assert_eq!(plan.root, PlanNode::best(vec![term(0), term(1)]));
    let keys: Vec<_> = plan.terms.iter().map(|term| &term.key[..]).collect();
    assert_eq!(keys, [&b"\0\0birds"[..], &b"\0\x01bird"[..]]);
}

#[test]
fn repeated_words_count_twice_and_are_looked_up_once() {
    let plan = plan(&text(Some("title"), "a a"), &schema()).unwrap();
    let parts = vec![PlanNode::Term(0, Some(1.0)); 2];
    assert_eq!(plan.root, PlanNode::Any { parts, minimum: 1 });
    assert_eq!(plan.terms.len(), 1);
}

#[test]
fn only_must_not_is_every_other_document() {
    let query = Query::Bool {
        must: vec![],
        should: vec![],
        must_not: vec![text(Some("tag"), "x")],
        filter: vec![],
        minimum_should_match: 0,
    };
    let plan = plan(&query, &schema()).unwrap();
    let expected = PlanNode::Filtered {
        required: vec![PlanNode::All(None)],
        excluded: vec![PlanNode::Term(0, None)],
        optional: vec![],
    };
    assert_eq!(plan.root, expected);
}

#[test]
fn phrases_keep_the_holes_of_stop_words_and_need_positions() {
    let phrase = |field: &str, text: &str| Query::Phrase {
        field: Some(field.to_owned()),
        text: text.to_owned(),
        slop: 0,
    };
    let plan_of = |query| plan(&query, &schema());
    let PlanNode::Phrase { words, .. } = plan_of(phrase("body", "state of art")).unwrap().root
    else {
        panic!("expected a phrase");
    };
    assert_eq!(words, [(0, 0), (1, 2)]);
    assert!(matches!(
        plan_of(phrase("tag", "a b")).unwrap().root,
        PlanNode::Term(0, _)
    ));
}

fn range(field: Option<&str>) -> Query {
    Query::Range {
        field: field.map(str::to_owned),
        lower: Bound::Included("5".to_owned()),
        upper: Bound::Excluded("15".to_owned()),
    }
}

/// Which fields have an order shows only where their values are.
#[test]
fn ranges_need_a_field_of_any_kind() {
    let schema = schema();
    for field in ["tag", "title", "body"] {
        assert!(plan(&range(Some(field)), &schema).is_ok(), "{field}");
    }
    for query in [range(None), negated(boosted(range(None)))] {
        let error = plan(&query, &schema).err().unwrap().to_string();
        assert!(error.contains("a range needs a field"), "{error}");
    }
}

fn boosted(query: Query) -> Query {
    let query = Box::new(query);
    Query::Boost { query, factor: 2.0 }
}

fn negated(query: Query) -> Query {
    Query::Bool {
        must: vec![],
        should: vec![],
        must_not: vec![query],
        filter: vec![],
        minimum_should_match: 0,
    }
}

#[test]
fn fields_that_do_not_exist_are_errors_unless_there_is_none() {
    let exists = Query::Exists {
        field: "titel".to_owned(),
    };
    for query in [text(Some("titel"), "x"), negated(boosted(exists))] {
        let error = plan(&query, &schema()).err().unwrap().to_string();
        assert!(
            error.contains("\"titel\"") && error.contains("title"),
            "{error}"
        );
        assert!(plan(&query, &Schema::default()).is_ok());
    }
}

#[test]
fn the_external_id_is_asked_for_by_the_name_id_unless_that_is_a_field() {
    let query = text(Some("id"), "a b");
    let by_id = plan(&query, &schema()).unwrap();
    assert_eq!(by_id.root, PlanNode::Id(0, Some(1.0)));
    assert_eq!(by_id.ids, ["a b"]);
    let mut schema = schema();
    schema
        .add("id", FieldKind::Exact, Analyzer::KEYWORD)
        .unwrap();
    let by_field = plan(&query, &schema).unwrap();
    assert_eq!(by_field.root, PlanNode::Term(0, Some(1.0)));
    let prefix = Query::Prefix {
        field: Some("id".to_owned()),
        prefix: "a".to_owned(),
    };
    assert!(plan(&prefix, &schema).is_ok());
    let error = plan(&prefix, &super::tests::schema()).err().unwrap();
    assert!(error.to_string().contains("external IDs"), "{error}");
}

#[test]
fn numbers_are_found_however_they_are_spelled() {
    let keys = |field: &str, asked: &str| -> Vec<Vec<u8>> {
        let plan = plan(&text(Some(field), asked), &schema()).unwrap();
        plan.terms.into_iter().map(|term| term.key).collect()
    };
    assert_eq!(keys("tag", "1.50"), [&b"\0\x021.50"[..], b"\0\x021.5"]);
    assert_eq!(keys("tag", "1e3"), [&b"\0\x021e3"[..], b"\0\x021000"]);
    assert_eq!(keys("tag", "15"), [b"\0\x0215"]);
    assert_eq!(keys("tag", "1.2.3"), [b"\0\x021.2.3"]);
    assert_eq!(keys("title", "1.50"), [b"\0\x001.50"]);
}

#[test]
fn an_automaton_is_made_once_for_all_fields() {
    let fuzzy = |field: Option<&str>| Query::Fuzzy {
        field: field.map(str::to_owned),
        text: "gannet".to_owned(),
        distance: None,
    };
    let one = plan(&fuzzy(Some("title")), &schema()).unwrap();
    let both = plan(&fuzzy(None), &schema()).unwrap();
    assert_eq!((one.patterns.len(), both.patterns.len()), (1, 2));
    let automaton = Fuzzy::memory_bytes("gannet", 2).unwrap();
    let (one, both) = (one.memory.bytes(), both.memory.bytes());
    assert!(
        one > automaton && both < one + automaton / 2,
        "{one} {both}"
    );
}

#[test]
fn a_plan_takes_no_more_than_there_is() {
    let words = (0..4_000).map(|n| format!("w{n} ")).collect::<String>();
    for (budget, expected) in [(64 << 20, true), (64 << 10, false)] {
        let budget = Budget::new(budget);
        let query = text(Some("title"), &words);
        let allowance = Allowance::new(&budget, &()).unwrap();
        let plan = super::plan(
            &query,
            &schema(),
            &Columns::default(),
            &|_| false,
            allowance,
        );
        match plan {
            Ok(plan) => assert!(expected && plan.memory.bytes() == budget.used()),
            Err(error) => assert!(!expected && matches!(error, Error::Memory { .. })),
        }
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn phrases_and_queries_of_too_many_words_are_rejected() {
    let phrase = |words: usize| Query::Phrase {
        field: Some("title".to_owned()),
        text: "the of ".repeat(words / 2),
        slop: 0,
    };
    assert!(plan(&phrase(1_024), &schema()).is_ok());
    for (query, limit) in [
        (phrase(1_026), "1024 words"),
        (phrase(18_000), "1024 words"),
        (text(Some("title"), &"a ".repeat(4_097)), "4096 words"),
        (text(Some("title"), &"a".repeat(70_000)), "65536"),
    ] {
        let error = plan(&query, &schema()).err().unwrap().to_string();
        assert!(error.contains(limit), "{error}");
    }
}

fn phrase(field: Option<&str>, text: &str) -> Query {
    Query::Phrase {
        field: field.map(str::to_owned),
        text: text.to_owned(),
        slop: 0,
    }
}

fn bool(must: &[&str], should: &[&str], must_not: &[&str], minimum: u32) -> Query {
    let body = |texts: &[&str]| texts.iter().map(|t| text(Some("body"), t)).collect();
    Query::Bool {
        must: body(must),
        should: body(should),
        must_not: body(must_not),
        filter: vec![],
        minimum_should_match: minimum,
    }
}

#[test]
fn a_clause_without_terms_is_as_if_it_were_not_there() {
    for (with, without) in [
        (
            bool(&["the", "whale"], &[], &[], 0),
            text(Some("body"), "whale"),
        ),
        (
            bool(&["the"], &["whale"], &[], 0),
            text(Some("body"), "whale"),
        ),
        (
            bool(&["whale"], &[], &["the of"], 0),
            text(Some("body"), "whale"),
        ),
        (
            bool(&["the"], &[], &["whale"], 0),
            bool(&[], &[], &["whale"], 0),
        ),
        (
            bool(&[], &["the", "whale", "sea"], &[], 2),
            bool(&[], &["whale", "sea"], &[], 2),
        ),
        (
            bool(&[], &["the", "whale", "sea"], &[], 3),
            bool(&["whale", "sea"], &[], &[], 0),
        ),
    ] {
        let [with, without] = [with, without].map(|query| plan(&query, &schema()).unwrap());
        let same_documents = |root: PlanNode| match root {
            // All of them are what a conjunction needs.
            PlanNode::Any { parts, minimum } if parts.len() == minimum => {
                PlanNode::all(parts, vec![], vec![])
            }
            other => other,
        };
        assert_eq!(same_documents(with.root), same_documents(without.root));
        assert!(!with.is_dropped && !without.is_dropped);
    }
}

/// `the` is a word of the title and none of the body.
#[test]
fn a_clause_that_some_fields_drop_is_not_required() {
    let [the, of, whale] = ["the", "of", "whale"].map(|word| text(None, word));
    let required = |must: &[&Query], should: &[&Query]| Query::Bool {
        must: must.iter().copied().cloned().collect(),
        should: should.iter().copied().cloned().collect(),
        must_not: vec![],
        filter: vec![],
        minimum_should_match: 0,
    };
    let term = |slot| PlanNode::Term(slot, Some(1.0));
    let only_adds = |query: &Query, words: &[PlanSlot]| {
        let root = plan(query, &schema()).unwrap().root;
        let PlanNode::Filtered {
            required, optional, ..
        } = &root
        else {
            panic!("{root:?}");
        };
        let [PlanNode::Best { .. }] = required.as_slice() else {
            panic!("{root:?}");
        };
        let expected: Vec<PlanNode> = words.iter().map(|slot| term(*slot)).collect();
        assert_eq!(*optional, expected, "{query}");
    };
    only_adds(&required(&[&the, &whale], &[]), &[0]);
    only_adds(&required(&[&whale, &the, &of], &[]), &[2, 3]);
    only_adds(&required(&[&the], &[&whale]), &[0]);
    for alone in [&the, &required(&[&the], &[]), &required(&[], &[&the])] {
        assert_eq!(plan(alone, &schema()).unwrap().root, term(0), "{alone}");
    }
}

#[test]
fn a_query_without_any_term_is_dropped_and_matches_nothing() {
    for query in [
        text(Some("body"), "the"),
        text(Some("title"), "--"),
        phrase(Some("body"), "of the"),
        phrase(None, "?!"),
        boosted(text(Some("body"), "the")),
        negated(text(Some("body"), "the")),
        negated(negated(text(Some("body"), "the"))),
        bool(&["the"], &["of", "a"], &["and"], 2),
    ] {
        let plan = plan(&query, &schema()).unwrap();
        assert_eq!(
            (plan.root, plan.is_dropped),
            (PlanNode::None, true),
            "{query}"
        );
    }
    // Not a word was dropped of these.
    for query in [Query::MatchNone, bool(&[], &[], &[], 0)] {
        let plan = plan(&query, &schema()).unwrap();
        assert_eq!(
            (plan.root, plan.is_dropped),
            (PlanNode::None, false),
            "{query}"
        );
    }
}
