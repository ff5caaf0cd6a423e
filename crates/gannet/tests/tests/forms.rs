//! Patterns and fuzzy words as fields have their words: stems, and several words where the analyzer
//! cuts. Phrases whose last word is a pattern. What is asked otherwise than it was written is said.

use gannet::{Analyzer, Document, Index, Operator, Query, SearchResults, Ties};

use super::environment::open;

struct Place {
    index: Index,
    _folder: tempfile::TempDir,
}

/// An index of documents, each with its number as its ID and a text for each field.
fn place(fields: &[(&str, &str)], documents: &[&[&str]]) -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = Index::options();
    for (name, analyzer) in fields {
        let analyzer = Analyzer::named(analyzer).expect("an analyzer");
        options = options.field_analyzer(*name, analyzer);
    }
    let index = open(options, &folder.path().join("index")).expect("an index");
    let documents = documents.iter().enumerate().map(|(number, texts)| {
        let fields = fields
            .iter()
            .map(|(name, _)| *name)
            .zip(texts.iter().copied());
        Document::new(number.to_string(), fields.collect::<Vec<_>>()).expect("a document")
    });
    index.write(documents.collect()).expect("written");
    Place {
        index,
        _folder: folder,
    }
}

impl Place {
    fn parse(&self, text: &str) -> gannet::Result<Query> {
        self.index.snapshot().parse(text, Operator::Or)
    }

    fn search(&self, text: &str) -> gannet::Result<SearchResults> {
        let snapshot = self.index.snapshot();
        let query = self.parse(text)?;
        let printed = self.parse(&query.to_string())?;
        assert_eq!(printed, query, "{text} prints as {query}");
        snapshot
            .search(&query)
            .top(100)
            .ties(Ties::ExternalId)
            .count(true)
            .run()
    }

    /// The IDs that a query finds, sorted.
    fn ids(&self, text: &str) -> String {
        let results = self
            .search(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut ids: Vec<&str> = results.hits.iter().map(|hit| hit.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(results.total, ids.len() as u64, "{text}");
        ids.join(" ")
    }

    fn notes(&self, text: &str) -> Vec<String> {
        self.search(text).expect("an answer").notes
    }

    fn error(&self, text: &str) -> String {
        let error = self.search(text).err();
        error
            .unwrap_or_else(|| panic!("{text} has an answer"))
            .to_string()
    }
}

fn english() -> Place {
    let text = "running houses national flies Wi-Fi 2020-12-31 a warehouse, the Dogs' ÉCOLE";
    place(&[("body", "english")], &[&[text], &["nothing of it"]])
}

#[test]
fn patterns_in_a_field_of_stems_find_the_words_that_one_sees() {
    let place = english();
    for query in [
        "house*",
        "houses*",
        "running*",
        "hous*",
        "HOUSE*",
        "national*",
        "flies*",
        "*house",
        "ho*se",
        "h?use*",
        "hous??",
        "dog*",
        "dogs*",
        "éco*",
        "École*",
        "the-hous* OR dogs*",
    ] {
        assert_eq!(place.ids(query), "0", "{query}");
        assert_eq!(place.ids(&format!("body:{query}")), "0", "{query}");
    }
    for query in ["houston*", "x?use*", "hour*"] {
        assert_eq!(place.ids(query), "", "{query}");
    }
    let notes = place.notes("house* house*");
    assert_eq!(notes, ["house* is asked as hous* in body, which stems"]);
    let notes = place.notes("body:*house");
    assert_eq!(
        notes,
        ["body:*house is asked as *house and *hous in body, which stems"]
    );
    assert_eq!(place.notes("dog* houses"), Vec::<String>::new());
    let notes = place.notes("universit*").concat();
    assert!(
        notes.contains("no word fits universit*") && notes.contains("shorter"),
        "{notes}"
    );
    let notes = place.notes("*ing").concat();
    assert!(notes.contains("*ing is compared with the stems"), "{notes}");
}

#[test]
fn fuzzy_words_in_a_field_of_stems_are_near_stems_and_misspelt_words() {
    let place = english();
    for query in [
        "flies~1",
        "running~2",
        "runing~",
        "houses~1",
        "housse~1",
        "Flys~",
    ] {
        assert_eq!(place.ids(query), "0", "{query}");
    }
    let notes = place.notes("flies~1");
    assert_eq!(
        notes,
        ["flies~1 is asked as flies~1 and fli~1 in body, which stems"]
    );
}

#[test]
fn a_pattern_of_several_words_is_a_phrase_that_ends_with_it() {
    let fields = [("body", "standard")];
    let texts: [&[&str]; 4] = [
        &["Wi-Fi on 2020-12-31"],
        &["fi wi, 31-12-2020"],
        &["node.js and 192.168.0.1 at $50"],
        &["東京 タワー wi"],
    ];
    let place = place(&fields, &texts);
    for (query, ids) in [
        ("wi-f*", "0"),
        ("WI-F*", "0"),
        ("wi-f?", "0"),
        ("wi-?i", "0"),
        ("wi-x*", ""),
        ("Wi-Fi~1", "0"),
        ("wi-fo~1", "0"),
        ("wo-fi~1", ""),
        ("2020-12*", "0"),
        ("2020-12-3*", "0"),
        ("2020-1?-3*", ""),
        ("wi-*", "0 1 3"),
        ("+2020* +31*", "0 1"),
        ("node.*", "2"),
        ("*.js", "2"),
        ("192.168.*", "2"),
        ("192.168.*.1", "2"),
        ("$5*", "2"),
        ("東京*", "3"),
        ("タワ*", "3"),
        ("#タワ*", "3"),
        ("fi -wi-f*", "1"),
        ("NOT wi-f*", "1 2 3"),
        ("wi-f*^2 OR node*", "0 2"),
    ] {
        if query == "2020-1?-3*" {
            let error = place.error(query);
            assert!(
                error.contains("2020-1?-3*") && error.contains("last"),
                "{error}"
            );
        } else {
            assert_eq!(place.ids(query), ids, "{query}");
        }
    }
    assert_eq!(
        place.notes("wi-f*"),
        ["wi-f* is asked as \"wi f*\" in body"]
    );
    assert_eq!(place.notes("wi-*"), ["wi-* is asked as wi in body"]);
    assert_eq!(
        place.notes("Wi-Fi~1"),
        ["Wi-Fi~1 is asked as \"wi fi~1\" in body"]
    );
    for query in ["*-fi", "body:*-fi", "w*-f*"] {
        let error = place.error(query);
        assert!(
            error.contains("a wildcard stands before the last"),
            "{error}"
        );
    }
}

#[test]
fn several_fields_are_asked_each_by_its_own_analyzer() {
    let fields = [
        ("title", "standard"),
        ("body", "english"),
        ("code", "keyword"),
    ];
    let texts: [&[&str]; 4] = [
        &["Houses", "x", "ab-house"],
        &["x", "houses", "Wi-Fi"],
        &["Wi-Fi", "x", "wi-fi"],
        &["houston", "x", "x"],
    ];
    let place = place(&fields, &texts);
    assert_eq!(place.ids("houses*"), "0 1");
    assert_eq!(place.ids("wi-f*"), "2");
    assert_eq!(place.ids("Wi-F*"), "1 2");
    assert_eq!(place.ids("code:wi-f*"), "2");
    assert_eq!(place.ids("*-house"), "0");
    let notes = place.notes("*-house").concat();
    assert!(
        notes.contains("is not searched in title and body"),
        "{notes}"
    );
    let error = place.error("title:*-house");
    assert!(error.contains("several words"), "{error}");
    // As a whole value.
    assert_eq!(place.ids("code:\"ab-h*\""), "0");
}

fn forest() -> Place {
    let texts: [&[&str]; 6] = [
        &["the black forest", "black"],
        &["black for all", "x"],
        &["black fort, black forest and black forge", "x"],
        &["forest black", "Black Forest"],
        &["black and deep forest", "x"],
        &["x", "black for*"],
    ];
    place(&[("body", "standard"), ("title", "english")], &texts)
}

#[test]
fn the_last_word_of_quotes_may_be_a_pattern() {
    let place = forest();
    for (query, ids) in [
        ("\"black for*\"", "0 1 2 3"),
        ("body:\"black for*\"", "0 1 2"),
        ("title:\"black for*\"", "3"),
        ("body:\"black fore*\"", "0 2"),
        ("body:\"BLACK FORE*\"", "0 2"),
        ("body:\"black f?r\"", "1"),
        ("body:\"black f*t\"", "0 2"),
        ("body:\"black for?\"", "1"),
        ("body:\"black for\\*\"", "1"),
        ("body:\"black fore*\"~1", "0 2"),
        ("body:\"black fore*\"~2", "0 2 3 4"),
        ("body:\"the black f*\"", "0"),
        ("body:\"fore*\"", "0 2 3 4"),
        ("body:\"black fore*\"^3", "0 2"),
        ("+body:\"black for*\" -body:\"black fort*\"", "0 1"),
        ("body:black AND NOT body:\"black for*\"", "3 4"),
        ("NOT \"black for*\"", "4 5"),
        ("body:\"white for*\"", ""),
        ("body:\"black zz*\"", ""),
        ("body:(\"black forg*\" \"deep f*\")", "2 4"),
    ] {
        assert_eq!(place.ids(query), ids, "{query}");
    }
    // The mark that ends a question is none of its words.
    assert!(place.notes("body:\"black for?\"").is_empty());
    let error = place.error("\"black *\"");
    assert!(
        error.contains("only a wildcard") && error.contains("character 1 "),
        "{error}"
    );
    // An external ID is found whole.
    assert_eq!(place.ids("id:\"a*\""), "");
}

/// Its most frequent word counts, as often as any of its words ends the phrase.
#[test]
fn a_phrase_with_a_pattern_scores_by_the_most_frequent_word_of_it() {
    let place = forest();
    let score = |text: &str, id: &str| {
        let results = place.search(text).expect("an answer");
        let hit = results.hits.iter().find(|hit| hit.id == id).expect("a hit");
        hit.score
    };
    let (one, all) = (
        score("body:\"black forest\"", "0"),
        score("body:\"black for*\"", "0"),
    );
    assert_eq!(one, all);
    assert!(score("body:\"black for*\"", "2") > score("body:\"black forest\"", "2"));
    let query = place.parse("body:\"black for*\"").expect("a query");
    let snapshot = place.index.snapshot();
    let found = snapshot
        .search(&query)
        .explain(true)
        .highlight("body")
        .run();
    let found = found.expect("an answer");
    let hit = found.hits.iter().find(|hit| hit.id == "2").expect("a hit");
    let explained = hit
        .explanation
        .as_ref()
        .expect("an explanation")
        .to_string();
    assert!(
        explained.contains("forest, the most frequent of 4 words"),
        "{explained}"
    );
    let marked = "<em>black</em> <em>fort</em>, <em>black</em> <em>forest</em> and <em>black</em> <em>forge</em>";
    assert_eq!(hit.snippets[0].1, [marked]);
}

#[test]
fn more_words_than_are_searched_at_the_end_of_quotes_are_said_and_not_deleted() {
    let texts: Vec<String> = (0..1_100).map(|n| format!("black w{n:04} x")).collect();
    let texts: Vec<[&str; 1]> = texts.iter().map(|text| [text.as_str()]).collect();
    let mut texts: Vec<&[&str]> = texts.iter().map(|text| &text[..]).collect();
    // The last of them by name is the most frequent.
    texts.extend([&["black w1099"][..]; 3]);
    let place = place(&[("body", "standard")], &texts);
    let query = place.parse("\"black w*\"").expect("a query");
    let snapshot = place.index.snapshot();
    let results = snapshot
        .search(&query)
        .count(true)
        .run()
        .expect("an answer");
    assert_eq!((results.total, results.total_is_exact), (1_027, false));
    let cut = results.cut_expansions[0].to_string();
    assert!(cut.contains("1024 most frequent"), "{cut}");
    let error = place
        .index
        .delete_matching(&query, &|_| {})
        .expect_err("an error")
        .to_string();
    assert!(
        error.contains("\"black w*\"") && error.contains("narrower"),
        "{error}"
    );
    assert_eq!(place.index.snapshot().documents(), 1_103);
    let fewer = place.parse("\"black w00*\"").expect("a query");
    let deleted = place
        .index
        .delete_matching(&fewer, &|_| {})
        .expect("deleted");
    assert_eq!(deleted.deleted, 100);
}
