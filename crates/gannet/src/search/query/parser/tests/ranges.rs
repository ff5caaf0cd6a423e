//! Ranges, and comparisons that mean one.

use super::{check, check_error};

#[test]
fn a_range_needs_a_field_and_must_be_complete() {
    check_error("[a TO b]", &["range needs a field"]);
    check_error("a title:[a b]", &["incomplete range", "character 9"]);
    check_error("title:[a TO b", &["incomplete range", "character 7"]);
    check_error("price:> 5", &["incomplete range", "character 7"]);
    check("title:\\[a", "title:\"[a\"");
}

#[test]
fn a_range_has_values() {
    for text in ["x title:[b TO a]", "x title:{a TO a}", "x title:{a TO a]"] {
        check_error(
            text,
            &["a range without values at character 3", "lower end"],
        );
    }
    check("title:[a TO a]", "title:[\"a\" TO \"a\"]");
}

#[test]
fn values_of_ranges_have_no_star() {
    for text in [
        "title:[2020* TO b]",
        "title:{a TO 2021*}",
        "title:>2020*",
        "title:<=*",
        "title:>a*^2",
    ] {
        let place = "a * in a value of a range at character 7 of";
        check_error(text, &[place, "[a TO *]", "\\*"]);
    }
    check(
        "title:[\"a*\" TO a\\*b] title:>a\\*",
        "title:[\"a\\*\" TO \"a\\*b\"] title:{\"a\\*\" TO *]",
    );
}

#[test]
fn whole_values_stand_behind_an_equals_sign() {
    check("title:=a", "title:=\"a\"");
    check("title:=\"a b\"^2 c", "title:=\"a b\"^2 c");
    check(
        "+title:=(a \"b c\") -title:=x",
        "+title:=(\"a\" \"b c\") -title:=\"x\"",
    );
    check("title:=( a )^2", "title:=\"a\"^2");
    check("title:=a\\*", "title:=\"a\\*\"");
    check_error("title:=a*", &["a * in a value"]);
    check_error("title:=(a b*)", &["a * in a value"]);
    check_error("title:= a", &["an incomplete range", "field:=a"]);
    check_error("title:=()", &["an incomplete range"]);
}

#[test]
fn comparisons_without_a_colon_are_errors() {
    for (text, right) in [
        ("price>50", "price:>50"),
        ("a price > 50", "price:>50"),
        ("price >50", "price:>50"),
        ("(price>= 50)", "price:>=50"),
        ("+price<50", "price:<50"),
        ("price=50", "price:50"),
        ("price == \"5 0\" b", "price:\"5 0\""),
        ("price != 5", "-price:5"),
        ("price≥5", "price:>=5"),
        ("a.b=x", "a.b:x"),
        ("price:==5", "price:5"),
        ("price:=>5", "price:>=5"),
        ("price:<>5", "-price:5"),
        ("id=17", "id:17"),
    ] {
        let advice = format!("write {right}, or the text in quotes");
        check_error(text, &["a comparison that is not in the language", &advice]);
    }
    check("x=y a > b price", "\"x=y\" a \">\" b price");
    check("price\\>5 \"price=5\"", "\"price>5\" \"price=5\"");
    check("http://x.org/?price=5", "\"http://x.org/?price=5\"");
}
