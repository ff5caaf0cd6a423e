//! Snippets by examples, and a property: whatever the text, what comes out is of it.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::search::query::pattern::{Pattern, Wildcard};

fn wanted(terms: &[&str]) -> Wanted {
    let mut wanted = Wanted::default();
    terms.iter().for_each(|&term| wanted.term(term));
    wanted
}

fn phrase(terms: &[(&str, u32)], slop: u32) -> Wanted {
    let mut wanted = Wanted::default();
    let terms = terms.iter().map(|(term, at)| (term.to_string(), *at));
    wanted.phrase(WantedPhrase {
        terms: terms.collect(),
        slop,
        ..WantedPhrase::default()
    });
    wanted
}

fn of(characters: usize, fragments: usize) -> SnippetOptions {
    SnippetOptions {
        fragments,
        characters,
        pre: "[".into(),
        post: "]".into(),
        ..SnippetOptions::default()
    }
}

fn found(
    analyzer: &Analyzer,
    text: &str,
    wanted: &Wanted,
    options: &SnippetOptions,
) -> Vec<String> {
    let (mut scratch, mut steps) = (Scratch::default(), Steps::default());
    snippets(analyzer, text, wanted, options, &mut scratch, &mut steps).unwrap()
}

fn check(text: &str, wanted: &Wanted, options: &SnippetOptions, expected: &[&str]) {
    let analyzer = Analyzer::default();
    let found = found(&analyzer, text, wanted, options);
    assert_eq!(found, expected);
}

#[test]
fn short_texts_are_shown_whole() {
    let text = " Flash storage is fast. Flash! ";
    check(
        text,
        &wanted(&["flash"]),
        &of(100, 3),
        &["[Flash] storage is fast. [Flash]!"],
    );
    check(
        text,
        &wanted(&["flash"]),
        &of(5, 0),
        &[" [Flash] storage is fast. [Flash]! "],
    );
    check(text, &wanted(&["disk"]), &of(100, 3), &[]);
    check("", &wanted(&["disk"]), &of(100, 3), &[]);
    check(text, &Wanted::default(), &of(100, 3), &[]);
}

#[test]
fn the_best_pieces_come_first_and_are_cut_at_sentences_and_words() {
    let text = "The gannet is a bird. It dives for fish in the open sea, and looks for more of it. \
                A gannet dives for the fish it saw, and a query dives as well. Nothing else.";
    let three = wanted(&["gannet", "dives", "fish"]);
    check(
        text,
        &three,
        &of(45, 3),
        &[
            "The [gannet] is a bird. It [dives] for [fish] in",
            "A [gannet] [dives] for the [fish] it saw, and a",
            "query [dives] as well. Nothing else.",
        ],
    );
    check(
        text,
        &wanted(&["saw"]),
        &of(50, 1),
        &["A gannet dives for the fish it [saw], and a query"],
    );
    check(
        text,
        &wanted(&["query"]),
        &of(30, 1),
        &["and a [query] dives as well."],
    );
}

#[test]
fn phrases_are_marked_only_where_they_stand() {
    let text = "storage flash, flash storage, flash of storage";
    check(
        text,
        &phrase(&[("flash", 0), ("storage", 1)], 0),
        &of(100, 1),
        &["storage flash, [flash] [storage], flash of storage"],
    );
    check(
        "flash of storage, flash",
        &phrase(&[("flash", 0), ("storage", 1)], 1),
        &of(100, 1),
        &["[flash] of [storage], flash"],
    );
    check(
        "storage only",
        &phrase(&[("flash", 0), ("storage", 1)], 0),
        &of(100, 1),
        &[],
    );
    check(
        "a a b",
        &phrase(&[("a", 0), ("a", 1)], 0),
        &of(100, 1),
        &["[a] [a] b"],
    );
}

#[test]
fn patterns_and_stems() {
    let mut prefix = Wanted::default();
    prefix.terms_like(&Arc::new(Pattern::Prefix(b"sto".to_vec())));
    check(
        "Stores of storms",
        &prefix,
        &of(100, 1),
        &["[Stores] of [storms]"],
    );
    let english = Analyzer::named("english").unwrap();
    let wanted = wanted(&["dog", "run"]);
    let found = found(&english, "The dog’s running", &wanted, &of(100, 1));
    assert_eq!(found, ["The [dog’s] [running]"]);
}

#[test]
fn the_beginning_stands_in_for_missing_marks() {
    let options = SnippetOptions {
        beginning: 12,
        ..of(100, 1)
    };
    check(
        "Flash storage is fast",
        &wanted(&["disk"]),
        &options,
        &["Flash"],
    );
    check("Flash. Storage", &wanted(&["disk"]), &options, &["Flash."]);
    check(
        "東京タワーは東京都港区にある電波塔",
        &wanted(&["disk"]),
        &options,
        &["東京タワーは東京都港区に"],
    );
    check("   ", &wanted(&["disk"]), &options, &[]);
}

#[test]
fn html_is_escaped_but_not_the_tags() {
    let options = SnippetOptions {
        escape_html: true,
        ..SnippetOptions::default()
    };
    check(
        "a < b & 'c'",
        &wanted(&["b"]),
        &options,
        &["a &lt; <em>b</em> &amp; &#x27;c&#x27;"],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]
    #[test]
    fn snippets_are_pieces_of_the_text_with_a_mark_each(
        text in "([ab] |[c-f]{1,9}|[ .!,]|\n|e\u{301}|東|。|👩\u{200d}👧|é ){0,60}",
        characters in 0..40usize,
        fragments in 0..4usize,
    ) {
        let analyzer = Analyzer::default();
        let options = of(characters, fragments);
        let found = found(&analyzer, &text, &wanted(&["a", "b", "東"]), &options);
        prop_assert!(fragments == 0 || found.len() <= fragments);
        for snippet in &found {
            let plain = snippet.replace(['[', ']'], "");
            prop_assert!(text.contains(&plain) && snippet.contains('['), "{:?}", snippet);
            prop_assert!(fragments == 0 || plain.chars().count() <= characters.max(1), "{:?}", snippet);
        }
    }

    #[test]
    fn any_text_can_be_cut(text in "\\PC{0,80}", characters in 0..20usize) {
        let options = SnippetOptions { beginning: characters, ..of(characters, 2) };
        let mut all = Wanted::default();
        all.terms_like(&Arc::new(Pattern::Wildcard(Wildcard::new("??").unwrap())));
        all.terms_like(&Arc::new(Pattern::Wildcard(Wildcard::new("????*").unwrap())));
        found(&Analyzer::default(), &text, &all, &options);
        found(&Analyzer::KEYWORD, &text, &all, &options);
    }
}
