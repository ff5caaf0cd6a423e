//! Texts of the query language against an evaluation of their own: what is written must be what is
//! found.
//!
//! A tree is drawn, evaluated by the rules of the grammar, and written as text, which the engine
//! parses. What comes must be the documents and scores of the tree, or an error about what is wrong
//! in it.
//!
//! `GANNET_LANGUAGE_QUERIES` texts (1,500 if nothing is said) are asked, `GANNET_SEED` gives
//! others.

mod draw;
mod evaluate;
mod tree;

use gannet::{Document, Hit, Index, Limits, Operator, Snapshot};

use super::environment::{self, number};
use draw::{Draw, Values};
use evaluate::{Column, Evaluator, Wrong};
use gannet_testkit::oracle::{Model, PlainDocument};
use gannet_testkit::random::{Documents, FIELDS, Rng, to_json};
use tree::Writer;

const DOCUMENTS: usize = 450;
const BATCH: usize = 50;

/// More than there are documents.
const ALL: usize = 10_000;

const TOLERANCE: f32 = 1e-5;

/// A text and what it must give.
struct Question {
    text: String,
    operator: Operator,
    expected: Result<Expected, Vec<Wrong>>,
}

struct Expected {
    /// By document; nothing where it does not match.
    scores: Column,
    is_cut: bool,
    /// Set if the analyzers leave no word of it.
    is_dropped: bool,
}

struct World {
    rng: Rng,
    documents: Documents,
    corpus: Vec<PlainDocument>,
    model: Model,
    index: Index,
}

#[test]
fn every_text_is_answered_as_the_grammar_says() {
    let seed = number("GANNET_SEED", 5);
    let count = number("GANNET_LANGUAGE_QUERIES", 1_500) as usize;
    println!("seed {seed}");
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::new(seed, open(folder.path()));
    world.write((1..=DOCUMENTS).collect());
    world.index.checkpoint().expect("a checkpoint");
    // IDs of the tree, of memory, and of both.
    world.write((DOCUMENTS / 2..DOCUMENTS + BATCH).collect());
    let (before, questions) = (world.index.snapshot(), world.questions(count / 2));
    compare("before the changes", &questions, &before, &world.model);

    world.write((DOCUMENTS..DOCUMENTS + BATCH / 2).collect());
    world.write((1..BATCH / 2).collect());
    world.delete((BATCH / 4..BATCH).chain([DOCUMENTS + 1]).collect());
    compare("a snapshot of before", &questions, &before, &world.model);
    let questions = world.questions(count - count / 2);
    let now = world.index.snapshot();
    compare("after the changes", &questions, &now, &world.model);
}

impl World {
    fn new(seed: u64, index: Index) -> World {
        let mut rng = Rng::new(seed);
        World {
            documents: Documents::new(&mut rng, 1_500),
            corpus: Vec::new(),
            model: Model::new(&FIELDS),
            rng,
            index,
        }
    }

    /// Writes documents with these numbers in their IDs, in batches.
    fn write(&mut self, numbers: Vec<usize>) {
        for batch in numbers.chunks(BATCH) {
            let mut parsed = Vec::new();
            for number in batch {
                let id = format!("d{number}");
                let document = self.documents.document(&mut self.rng, id);
                let line = to_json(&document);
                parsed.push(Document::parse(line.as_bytes()).expect("a document"));
                self.model.write(&document);
                self.corpus.push(document);
            }
            self.index.write(parsed).expect("a batch");
        }
    }

    fn delete(&mut self, numbers: Vec<usize>) {
        let ids: Vec<String> = numbers.iter().map(|number| format!("d{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.index.delete(&ids).expect("a deletion");
        ids.iter().for_each(|id| self.model.delete(id));
    }

    fn questions(&mut self, count: usize) -> Vec<Question> {
        let values = Values::new(&self.corpus, DOCUMENTS + BATCH);
        (0..count).map(|_| self.question(&values)).collect()
    }

    fn question(&mut self, values: &Values) -> Question {
        let rng = &mut self.rng;
        let operator = *rng.pick(&[Operator::Or, Operator::Or, Operator::And]);
        let tree = Draw { rng, values }.tree();
        let mut writer = Writer {
            rng: &mut self.rng,
            is_unclear: false,
        };
        let text = writer.text(&tree);
        let unclear = writer.is_unclear.then_some(Wrong::Unclear);
        let ids = self
            .model
            .documents
            .iter()
            .map(|document| document.id.clone());
        let ids: Vec<String> = ids.collect();
        let view = self.model.view();
        let mut evaluator = Evaluator {
            view: &view,
            ids: &ids,
            operator,
            wrongs: unclear.into_iter().collect(),
            is_cut: false,
        };
        let scores = evaluator.column(&tree, None, 1.0);
        let is_dropped = scores.is_none();
        let mut scores = scores.unwrap_or_else(|| vec![None; ids.len()]);
        let (wrongs, is_cut) = (evaluator.wrongs, evaluator.is_cut);
        for (score, document) in scores.iter_mut().zip(&view.documents) {
            *score = score.filter(|_| document.is_live);
        }
        let expected = if wrongs.is_empty() {
            Ok(Expected {
                scores,
                is_cut,
                is_dropped,
            })
        } else {
            Err(wrongs)
        };
        Question {
            text,
            operator,
            expected,
        }
    }
}

fn compare(stage: &str, questions: &[Question], snapshot: &Snapshot, model: &Model) {
    let wrong = questions.iter().filter_map(|question| {
        let fault = fault(question, snapshot, model)?;
        let (text, operator) = (&question.text, question.operator);
        Some(format!("{text} ({operator:?}): {fault}"))
    });
    let wrong: Vec<String> = wrong.collect();
    let rejected = questions.iter().filter(|one| one.expected.is_err()).count();
    let found = |one: &&Question| {
        let expected = one.expected.as_ref();
        expected.is_ok_and(|expected| expected.scores.iter().any(Option::is_some))
    };
    let (count, found) = (questions.len(), questions.iter().filter(found).count());
    println!("{stage}: {count} texts, {found} find something, {rejected} are rejected");
    assert!(
        wrong.is_empty(),
        "{stage}: {} of {count} texts: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(8)]
    );
    assert!(found * 3 > count && rejected * 100 > count && rejected * 3 < count);
}

fn fault(question: &Question, snapshot: &Snapshot, model: &Model) -> Option<String> {
    let parsed = snapshot.parse(&question.text, question.operator);
    let answers = parsed.and_then(|query| {
        let search = || snapshot.search(&query);
        let all = search().top(ALL).count(true).fetch(false).run()?;
        Ok((all, search().top(10).run()?))
    });
    let (expected, (all, ten)) = match (&question.expected, answers) {
        (Ok(expected), Ok(answers)) => (expected, answers),
        (Ok(_), Err(error)) => return Some(format!("rejected: {error}")),
        (Err(wrongs), Ok(_)) => return Some(format!("answered, but {wrongs:?}")),
        (Err(wrongs), Err(error)) => {
            let error = error.to_string();
            let is_said = wrongs.iter().any(|wrong| wrong.is_said_by(&error));
            return (!is_said).then(|| format!("{wrongs:?} expected, got {error}"));
        }
    };
    if all.has_no_terms != expected.is_dropped {
        return Some(format!("has_no_terms: {}", all.has_no_terms));
    }
    let total = expected.scores.iter().flatten().count() as u64;
    if (all.total, all.total_is_exact) != (total, !expected.is_cut) {
        return Some(format!(
            "{total} expected, got {} ({})",
            all.total, all.total_is_exact
        ));
    }
    if let Some(hit) = all.hits.iter().find(|hit| !is_expected(hit, expected)) {
        let wanted = expected.scores[hit.doc as usize];
        return Some(format!(
            "document {}: {wanted:?} expected, got {}",
            hit.doc, hit.score
        ));
    }
    let shown = |hits: &[Hit]| {
        hits.iter()
            .map(|hit| (hit.doc, hit.score))
            .collect::<Vec<_>>()
    };
    let first = shown(&all.hits[..all.hits.len().min(10)]);
    let stranger = ten
        .hits
        .iter()
        .find(|hit| hit.id != model.documents[hit.doc as usize].id);
    match (shown(&ten.hits) == first, stranger) {
        (false, _) => Some(format!("of all {first:?}, alone {:?}", shown(&ten.hits))),
        (true, Some(hit)) => Some(format!("document {} is {}", hit.doc, hit.id)),
        (true, None) => None,
    }
}

/// Returns true if a document matches, with this score.
fn is_expected(hit: &Hit, expected: &Expected) -> bool {
    let wanted = expected.scores[hit.doc as usize];
    wanted.is_some_and(|wanted| (wanted - hit.score).abs() <= TOLERANCE * wanted.abs().max(0.1))
}

fn open(path: &std::path::Path) -> Index {
    let limits = Limits {
        // Idle maintenance would take deleted documents out of the statistics.
        maintain_after: None,
        ..Limits::default()
    };
    let mut options = Index::options().memory(64 << 20).limits(limits);
    for field in &FIELDS {
        let analyzer = gannet::Analyzer::named(field.analyzer.unwrap_or("keyword"));
        options = options.field_analyzer(field.name, analyzer.expect("an analyzer"));
    }
    environment::open(options, &path.join("index")).expect("an index")
}
