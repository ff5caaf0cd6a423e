//! Words, patterns, fuzzy words, boosts.

use super::{check, check_error};

#[test]
fn operands() {
    check("\"flash storage\"", "\"flash storage\"");
    check("\"a \\\" b\"~3^2", "\"a \\\" b\"~3^2");
    check("stor*", "stor*");
    check("s?or*e", "s?or*e");
    check("s\\*o?", "s\\*o?");
    check("wi-fi", "\"wi-fi\"");
    check("roam~ roam~1 roam~2", "roam~ roam~1 roam~2");
    check("a^2.5 (b c)^0.1 a^.5", "a^2.5 (b c)^0.1 a^0.5");
    check(
        "title:[a TO b] body:{a TO \"b c\"} price:[* TO b}",
        "title:[\"a\" TO \"b\"] body:{\"a\" TO \"b c\"} price:[* TO \"b\"}",
    );
    check(
        "title:>=x title:<y^2",
        "title:[\"x\" TO *] title:[* TO \"y\"}^2",
    );
    check("*", "*:*");
    check("*:* a", "*:* a");
    check("(a b c)~2", "(a b c)~2");
    check("#(a b) c", "#(a b) c");
    check("wi-fi~and wi-fi~or", "wi\\-fi~and wi\\-fi~or");
    check("title:? ?? a*? b", "(title:?) (??) (a*?) b");
}

#[test]
fn ordinary_text() {
    check("don't", "\"don't\"");
    check("C++ C#", "\"C++\" \"C#\"");
    check("a - b + c ! d", "a \"-\" b \"+\" c \"!\" d");
    check("e-mail me@example.org", "\"e-mail\" \"me@example.org\"");
    check("http://x.org/?q=*~a^2", "\"http://x.org/?q=\\*~a^2\"");
    check("(http://x.org/a_(b)?c=1)", "\"http://x.org/a_(b)?c=1\"");
    check("http://x.org/?q=(a b", "\"http://x.org/?q=(a\" b");
    check("x.org/y?q=1&z=2#top", "\"x.org/y?q=1&z=2#top\"");
    check("-- ++x", "\"--\" \"++x\"");
    check("[citation needed]", "\"[citation\" \"needed]\"");
    check("x\\^y ~/home a~b \\^2", "\"x^y\" \"~/home\" \"a~b\" \"^2\"");
    check("a&&b", "\"a&&b\"");
    check("\\(a\\) \\AND b\\", "\"(a)\" \\AND \"b\\\\\"");
    check("東京 мир", "\"東京\" мир");
}

#[test]
fn boosts_are_numbers_above_0_where_something_scores() {
    for text in [
        "ab^0", "ab^-1", "ab^x", "ab^", "ab^nan", "ab^inf", "ab^1e3", "ab^2^3", "ab ^2", "x^y",
    ] {
        let at = if text == "ab ^2" { 4 } else { 1 };
        let place = format!("no number above 0 at character {at} of");
        check_error(text, &[&place, "whale^2", "\\^"]);
    }
    check_error("\"a b\"^0", &["no number above 0 at character 6"]);
    check_error("(a b)^-1", &["no number above 0 at character 6"]);
    check_error("title:[a TO b]^x", &["no number above 0 at character 15"]);
    check_error("title:>a^0", &["no number above 0 at character 7"]);
    check_error("title:>\"a\"^0", &["no number above 0 at character 11"]);
    for text in [
        "NOT a^2",
        "-a^2",
        "b -\"a c\"^2",
        "#(a b)^2",
        "b AND NOT (a c)^2",
    ] {
        check_error(text, &["a boost behind -, NOT, ! or #", "leave the ^ out"]);
    }
    check("NOT NOT a^2", "a^2");
}

#[test]
fn numbers_behind_a_tilde_are_whole_and_end_there() {
    for text in ["whale~3", "whale~1.5", "whale~10"] {
        check_error(
            text,
            &["fuzzy distance", "character 1", "whale~2", "\"a b\"~3"],
        );
    }
    check_error(
        "\"a b\"~x",
        &["a ~ that no whole number follows", "character 6"],
    );
    check_error(
        "\"a b\" ~2",
        &["a ~ behind a space at character 7", "\"a b\"~2"],
    );
    check("costs ~2", "costs \"~2\"");
    check_error(
        "(a b)~",
        &["a ~ that no whole number follows", "character 6"],
    );
    check_error("title:[a TO b]~2", &["a ~ that no whole", "character 15"]);
    check_error("\"a b\"~1.5", &["directly behind", "character 8", "space"]);
    check_error("\"a b\"^2x", &["directly behind", "character 8", "space"]);
    check("(\"a b\"~3)", "\"a b\"~3");
    check("\"a\"b", "\"a\" b");
}

#[test]
fn patterns_have_no_distance_and_distances_are_not_negative() {
    for text in ["hel*~1", "h?l~2", "hel*~", "hel*~auto", "hel~1*", "hel~1?"] {
        check_error(
            text,
            &["a pattern with a fuzzy distance at character 1", "whale~1"],
        );
    }
    for text in [
        "hello~-1",
        "hello~3",
        "hello~0.8",
        "hello~AUTO",
        "wi-fi~+1",
        "hello~.5",
    ] {
        check_error(
            text,
            &["fuzzy distance other than 0, 1 and 2 at character 1"],
        );
    }
}

#[test]
fn backslashes_before_letters_are_text() {
    check("\"C:\\Users\\anna\"", "\"C:\\\\Users\\\\anna\"");
    check("C:\\Users\\anna", "\"C:\\\\Users\\\\anna\"");
    check("C:/Users", "\"C:/Users\"");
    check("\\\\server\\share_1", "\"\\\\server\\\\share_1\"");
    check("\\AND~1 \\ORB", "\\AND~1 \"\\\\ORB\"");
}
