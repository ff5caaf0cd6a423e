//! Texts as people type, paste and mistype them, against a reading and an evaluation that share
//! only the tokens with the engine.
//!
//! Each text is answered with the documents that it means, or rejected with the place of the
//! mistake. `GANNET_TYPED_QUERIES` texts (3,000 if nothing is said) are asked, `GANNET_SEED` gives
//! others.

mod draw;
mod find;
mod read;

use gannet::{Document, Index, Operator, Snapshot};

use super::environment::{self, number};
use find::{Corpus, Field};
use gannet_testkit::random::Rng;

const DOCUMENTS: usize = 160;
const FIELDS: [(&str, &str); 3] = [
    ("title", "standard"),
    ("body", "standard"),
    ("tag", "keyword"),
];
const NAMES: [&str; 4] = ["title", "body", "tag", "id"];

#[test]
fn what_people_type_is_answered_as_meant_or_rejected_with_its_place() {
    let seed = number("GANNET_SEED", 11);
    let count = number("GANNET_TYPED_QUERIES", 3_000) as usize;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let (index, corpus) = world(&mut rng, folder.path());
    let snapshot = index.snapshot();
    let (mut answered, mut found, mut faults) = (0, 0, Vec::new());
    for _ in 0..count {
        let text = draw::text(&mut rng);
        let operator = *rng.pick(&[Operator::Or, Operator::Or, Operator::And]);
        match judge(&text, operator, &snapshot, &corpus) {
            Ok(Some(hits)) => (answered, found) = (answered + 1, found + usize::from(hits > 0)),
            Ok(None) => {}
            Err(fault) => faults.push(format!("{text:?} ({operator:?}): {fault}")),
        }
    }
    println!("{count} texts: {answered} are answered, {found} find something");
    assert!(
        faults.is_empty(),
        "{} of {count} texts: {:#?}",
        faults.len(),
        &faults[..faults.len().min(25)]
    );
    assert!(answered * 3 > count && found * 4 > count);
}

/// An index of drawn documents in tree and memory, and the same as tokens.
fn world(rng: &mut Rng, folder: &std::path::Path) -> (Index, Corpus) {
    let mut options = Index::options().memory(64 << 20);
    for (name, analyzer) in FIELDS {
        let analyzer = gannet::Analyzer::named(analyzer).expect("an analyzer");
        options = options.field_analyzer(name, analyzer);
    }
    let index = environment::open(options, &folder.join("index")).expect("an index");
    let fields = FIELDS.map(|(name, analyzer)| Field::new(name, analyzer));
    let mut corpus = Corpus {
        ids: Vec::new(),
        fields: fields.into(),
    };
    for at in 0..DOCUMENTS {
        let id = format!("d{at}");
        let values = [
            draw::value(rng, 3),
            draw::value(rng, 8),
            draw::value(rng, 1),
        ];
        let line =
            serde_json::json!({"id": id, "title": values[0], "body": values[1], "tag": values[2]});
        let document = Document::parse(line.to_string().as_bytes()).expect("a document");
        index.write(vec![document]).expect("a batch");
        corpus.ids.push(id);
        for (field, value) in corpus.fields.iter_mut().zip(&values) {
            field.push(value);
        }
        if at == DOCUMENTS / 2 {
            index.checkpoint().expect("a checkpoint");
        }
    }
    (index, corpus)
}

/// The number of documents that a text finds, or nothing if it is rejected; fails if it is judged
/// wrongly.
fn judge(
    text: &str,
    operator: Operator,
    snapshot: &Snapshot,
    corpus: &Corpus,
) -> Result<Option<usize>, String> {
    let meant = read::read(text, operator, &NAMES).and_then(|node| {
        if corpus.has_impossible(&node) {
            Err("a wildcard before the last word")
        } else {
            Ok(node)
        }
    });
    let answer = snapshot.parse(text, operator).and_then(|query| {
        let hits = snapshot
            .search(&query)
            .top(DOCUMENTS)
            .count(true)
            .fetch(false)
            .run();
        hits.map(|hits| (query, hits))
    });
    let (node, (query, answer)) = match (meant, answer) {
        (Ok(node), Ok(answer)) => (node, answer),
        (Ok(node), Err(error)) => return Err(format!("means {node:?}, is rejected: {error}")),
        (Err(wrong), Ok((query, _))) => return Err(format!("is {wrong}, is asked as {query}")),
        (Err(wrong), Err(error)) if !names_the_place(&error.to_string()) => {
            return Err(format!("is {wrong}, is rejected without a place: {error}"));
        }
        (Err(_), Err(_)) => return Ok(None),
    };
    let mut documents = vec![false; corpus.ids.len()];
    answer
        .hits
        .iter()
        .for_each(|hit| documents[hit.doc as usize] = true);
    let expected = corpus.find(&node);
    if documents == expected {
        return Ok(Some(answer.hits.len()));
    }
    let differing = (0..expected.len()).filter(|doc| documents[*doc] != expected[*doc]);
    let some: Vec<(&String, bool)> = differing
        .map(|doc| (&corpus.ids[doc], expected[doc]))
        .take(3)
        .collect();
    Err(format!(
        "asked as {query}; differs (expected): {some:?}; means {node:?}"
    ))
}

/// Returns true if an error tells the place of the mistake: by its character, or by the pattern
/// itself.
fn names_the_place(error: &str) -> bool {
    let by_pattern = "is several words, and a wildcard stands before";
    error.contains("at character") || error.contains(by_pattern)
}
