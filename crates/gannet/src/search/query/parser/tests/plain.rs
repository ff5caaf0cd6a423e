//! Text without syntax, and runs of ideographs.

use crate::analysis::{Analyzer, FieldKind, Schema};
use crate::search::query::parser::{parse, parse_plain};
use crate::search::query::{Operator, Query};

/// Fields that the analyzers `standard` and `keyword` cut.
fn mixed_schema() -> Schema {
    let mut schema = Schema::default();
    for (name, analyzer) in [("body", Analyzer::default()), ("tag", Analyzer::KEYWORD)] {
        schema.add(name, FieldKind::Text, analyzer).unwrap();
    }
    schema
}

#[test]
fn long_runs_of_ideographs_are_pairs_joined_like_words() {
    let whole = "body:\"東京都庁\"";
    let pairs = format!("body:\"東京\" body:\"京都\" body:\"都庁\" {whole}");
    let all = format!("{whole} (+body:\"東京\" +body:\"京都\" +body:\"都庁\")");
    for (text, expected) in [
        ("body:東京都", "body:\"東京都\""),
        ("body:iPhone手机", "body:\"iPhone手机\""),
        ("body:東京都庁", &pairs),
        ("body:\"東京都庁\"", "body:\"東京都庁\""),
        ("tag:東京都庁", "tag:\"東京都庁\""),
        ("id:東京都庁", "id:\"東京都庁\""),
        ("+body:東京都庁", &format!("+({all})")),
        ("-body:東京都庁", &format!("-({all})")),
        ("a AND body:東京都庁", &format!("+a +({all})")),
        ("a body:東京都庁^2", &format!("a ({pairs})^2")),
        ("(a b body:東京都庁)~2", &format!("(a b ({pairs}))~2")),
        (
            "body:iPhone手机价格",
            "body:\"iPhone\" body:\"手机\" body:\"机价\" body:\"价格\" body:\"iPhone手机价格\"",
        ),
        (
            "+東京都庁",
            "+(\"東京都庁\" (+\"東京\" +\"京都\" +\"都庁\"))",
        ),
    ] {
        let query = parse(text, Operator::Or, &mixed_schema()).unwrap();
        let printed = query.to_string();
        assert_eq!(printed, expected, "{text}");
        let again = parse(&printed, Operator::Or, &mixed_schema()).unwrap();
        assert_eq!(again, query, "{text}");
    }
    let query = parse("東京都庁", Operator::And, &mixed_schema()).unwrap();
    let expected = "\"東京都庁\" (+\"東京\" +\"京都\" +\"都庁\")";
    assert_eq!(query.to_string(), expected);
    let error = parse(&"東".repeat(2000), Operator::Or, &mixed_schema()).unwrap_err();
    assert!(
        error.to_string().contains("1024 pairs of characters"),
        "{error}"
    );
}

#[test]
fn plain_text_has_words_and_no_syntax() {
    let plain = |text: &str, operator| {
        let parsed = parse_plain(text, operator, &mixed_schema());
        (parsed.query.to_string(), parsed.notes)
    };
    for (text, expected) in [
        ("", "()"),
        (" \t ", "()"),
        ("whale", "whale"),
        ("+a -b \"c", "\"+a\" \"-b\" \"\\\"c\""),
        ("a AND (b* OR ?", "a \\AND \"(b\\*\" \\OR \"?\""),
        (
            "titel:x price>5 /a.*/ x~9 y^z",
            "\"titel:x\" \"price>5\" \"/a.\\*/\" \"x~9\" \"y^z\"",
        ),
    ] {
        assert_eq!(
            plain(text, Operator::Or),
            (expected.to_owned(), vec![]),
            "{text}"
        );
    }
    assert_eq!(plain("a wi-fi", Operator::And).0, "+a~and +\"wi-fi\"");
    let note = vec!["only the first 1024 words are searched for".to_owned()];
    assert_eq!(
        plain(&"a ".repeat(1024), Operator::Or).1,
        Vec::<String>::new()
    );
    assert_eq!(plain(&"a ".repeat(1025), Operator::Or).1, note);
    for long in [
        "東".repeat(20_000),
        "a-".repeat(30_000),
        "a".repeat(100_000),
    ] {
        let parsed = parse_plain(&long, Operator::And, &mixed_schema());
        assert!(parsed.query != Query::MatchNone);
    }
}
