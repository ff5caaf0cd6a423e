//! Errors: what is wrong, where, and what to write instead.

use super::{check, check_error};

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
    check_error(&"a AND ".repeat(1025), &["AND has nothing after it"]);
    check_error(&"a".repeat(65_537), &["65537 bytes"]);
    let deepest = format!("{}a b{}", "(".repeat(32), ")".repeat(32));
    check(&deepest, "a b");
}

#[test]
fn regular_expressions_are_errors_and_paths_are_text() {
    for text in [
        "/hel.*/",
        "a /h[ae]l/",
        "title:/hel+/",
        "(/hel.*/)",
        "/hel(lo)?/",
        "/\\d{3}/",
        "/hel.*/i",
    ] {
        check_error(text, &["a regular expression", "hel*", "quotes"]);
    }
    check("/usr/bin/ /hello/", "\"/usr/bin/\" \"/hello/\"");
    check("a/b/c", "\"a/b/c\"");
}
