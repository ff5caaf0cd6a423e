//! What is decided, and that nothing depends on it.

use std::sync::Arc;

use gannet::diagnostics::OffloadReport;
use gannet::offload::{ListOffload, OffloadFound, OffloadTask};
use gannet::{Index, Operator, SearchOptions, SearchResults};
use gannet_offload::{Choice, Comparison, Trials, Way};
use gannet_ssd::random::Random;
use gannet_ssd::smart::SmartProfile;

use super::world::{Asked, World, ask, scores, small_limits, with_drive};

/// Leaves everything to the host, or finds what cannot be.
#[derive(Debug)]
struct Useless {
    found: Option<OffloadFound>,
}

impl ListOffload for Useless {
    fn offload(&self, _: &OffloadTask<'_>) -> (OffloadReport, Option<OffloadFound>) {
        (OffloadReport::default(), self.found.clone())
    }
}

/// An index of so many documents in a folder.
fn index(folder: &tempfile::TempDir, count: usize) -> std::path::PathBuf {
    let path = folder.path().join("index");
    let mut random = Random::new(7, "plans");
    let options = Index::options()
        .memory(24 << 20)
        .limits(small_limits(&mut random));
    let index = options.open(&path).unwrap();
    World::default().write(&index, count, 30, &mut random);
    index.close().unwrap();
    path
}

fn explained(index: &Index, text: &str, count: bool) -> SearchResults {
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or).unwrap();
    let options = SearchOptions {
        count,
        explain: true,
        ..SearchOptions::default()
    };
    snapshot.search_all(&[query], &options).remove(0).unwrap()
}

#[test]
fn what_a_device_leaves_or_cannot_have_found_is_done_as_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = index(&folder, 4_000);
    let wrong = |docs: Vec<u32>, lists: usize| OffloadFound {
        frequencies: vec![vec![1; docs.len()]; lists],
        docs,
        is_ranked: false,
    };
    let answers = [
        None,
        Some(OffloadFound::default()),
        Some(wrong(vec![5, 5], 2)),
        Some(wrong(vec![1, 9_000], 2)),
        Some(wrong((0..4_000).collect(), 2)),
        Some(wrong(vec![5], 7)),
    ];
    for found in answers {
        let read = || Index::options().memory(24 << 20).read_only();
        let plain = read().open(&path).unwrap();
        let what = format!("{found:?}");
        let useless = read().offload(Arc::new(Useless { found }));
        let useless = useless.open(&path).unwrap();
        let mut random = Random::new(3, "same reads");
        for _ in 0..40 {
            let asked = Asked::random(&mut random, 30);
            let (one, other) = (ask(&plain, &asked), ask(&useless, &asked));
            assert_eq!(scores(&one), scores(&other), "{what} {asked:?}");
            assert_eq!(one.io, other.io, "{what} {asked:?}");
            assert_eq!(
                (one.total, one.total_is_exact),
                (other.total, other.total_is_exact),
                "{what} {asked:?}"
            );
        }
    }
}

#[test]
fn a_decision_is_told_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = index(&folder, 4_000);
    let read = Index::options().memory(24 << 20).read_only();
    let (options, _) = with_drive(read, &path, Choice::Drive);
    let index = options.open(&path).unwrap();
    let told = |text: &str, count: bool| {
        let plan = explained(&index, text, count).plan.unwrap();
        plan.offload.unwrap().to_string()
    };
    let drive = told("+w0 +w1", true);
    assert!(drive.starts_with("intersection on the drive: "), "{drive}");
    assert!(drive.contains("ms, modelled"), "{drive}");
    assert!(drive.contains("operators, counted: "), "{drive}");
    for (text, count, reason) in [
        ("w0 w1", true, "the number of all its documents is wanted"),
        ("\"w0 w1\"", true, "no intersection and no union of words"),
        ("+w0 +\"w0 w1\"", true, "more than one word in one field"),
        ("+w0 +nothing", true, "a word is in no document"),
        ("+w0 +w1 w2*", true, "intersection on the drive"),
        (
            "+w0 +w1 \"w2 w3\"",
            true,
            "it has phrases, which need positions",
        ),
        ("w0 w1", false, "ranked union on the drive"),
    ] {
        let said = told(text, count);
        assert!(said.contains(reason), "{text}: {said}");
    }
}

/// On a drive whose every price is low lists are read there; on the paper's, which waits a
/// millisecond for its poll, short ones are not.
#[test]
fn the_cheaper_side_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = index(&folder, 4_000);
    let read = || Index::options().memory(24 << 20).read_only();
    let plain = read().open(&path).unwrap();
    let (options, planner) = with_drive(read(), &path, Choice::Cheaper);
    let index = options.open(&path).unwrap();
    let mut random = Random::new(3, "choices");
    let (mut chosen, mut asked_for) = (0, 0);
    for _ in 0..60 {
        let asked = Asked::random(&mut random, 30);
        assert_eq!(scores(&ask(&plain, &asked)), scores(&ask(&index, &asked)));
        if let Some(decision) = planner.take_last() {
            asked_for += 1;
            chosen += usize::from(decision.run.is_some());
            let drive = decision.drive.map_or(f64::MAX, |drive| drive.cost.ms);
            assert_eq!(decision.run.is_some(), drive < decision.host.cost.ms);
        }
    }
    assert!(
        asked_for > 20 && chosen < asked_for,
        "{chosen} of {asked_for}"
    );
}

/// Of many intersections together, what they were estimated to take and what they took.
#[test]
fn estimates_are_near_what_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = index(&folder, 6_000);
    let read = Index::options().memory(24 << 20).read_only();
    let (options, planner) = with_drive(read, &path, Choice::Drive);
    let index = options.open(&path).unwrap();
    let mut random = Random::new(5, "estimates");
    let (mut estimated, mut counted, mut tasks) = (0.0, 0.0, 0);
    for _ in 0..80 {
        let mut asked = Asked::random(&mut random, 30);
        asked.count = true;
        ask(&index, &asked);
        if let Some(decision) = planner.take_last()
            && let Some(run) = decision.run
        {
            estimated += decision.drive.unwrap().operators;
            counted += run.work.operators as f64;
            tasks += 1;
        }
    }
    let ratio = estimated / counted;
    assert!(
        tasks > 20 && (0.7..1.4).contains(&ratio),
        "{ratio} of {tasks}"
    );
}

/// What is counted once is what a session does, and what a drive of another profile would do.
#[test]
fn trials_run_each_way_and_read_the_same_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = index(&folder, 4_000);
    let trials = |name: &str| {
        let profile = SmartProfile::named(name).unwrap();
        Arc::new(Trials::new(&profile, &path, true).unwrap())
    };
    let (slow, fast) = (trials("smart-ssd-2016"), trials("smart-fast"));
    let options = Index::options().memory(24 << 20).read_only();
    let index = options.offload(Arc::clone(&slow) as _).open(&path).unwrap();
    for (text, count, ways) in [
        ("+w0 +w1", true, 1),
        ("+w0 +w1", false, 3),
        ("w0 w1", false, 2),
    ] {
        let results = explained(&index, text, count);
        let trial = slow.take_last().unwrap();
        fast.prove_by(&slow);
        assert_eq!(trial.runs.len(), ways, "{text}");
        let mut best: Vec<u32> = results.hits.iter().map(|hit| hit.doc).collect();
        best.sort_unstable();
        for run in &trial.runs {
            let (same, other) = (slow.anew(run).unwrap(), fast.anew(run).unwrap());
            assert_eq!(same.work.flash_requests, run.work.flash_requests);
            let ratio = same.work.flash_nanos as f64 / run.work.flash_nanos as f64;
            assert!((0.99..1.01).contains(&ratio), "{text}: {ratio}");
            assert!(other.work.flash_nanos < run.work.flash_nanos);
            match run.way {
                Way::Best => assert_eq!(run.found.docs, best, "{text}"),
                Way::All => assert!(best.iter().all(|doc| run.found.docs.contains(doc))),
            }
        }
    }
}

#[test]
fn a_comparison_counts_each_query_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = index(&folder, 4_000);
    let read = || Index::options().memory(24 << 20).read_only();
    let host = read().open(&path).unwrap();
    let (options, planner) = with_drive(read(), &path, Choice::Drive);
    let drive = options.open(&path).unwrap();
    let (host, drive) = (host.snapshot(), drive.snapshot());
    let texts = ["+w0 +w1", "w0 w5", "\"w0 w1\"", "+w2 +w3 -w4", "w9"];
    let queries = texts.map(|text| host.parse(text, Operator::Or).unwrap());
    let options = SearchOptions::default();
    let both = (&host, &drive);
    let compared = Comparison::new(both, &planner, &queries, &options, &|| true).unwrap();
    let all = compared.all();
    assert_eq!(
        all.queries + compared.stay.values().sum::<u64>(),
        5,
        "{compared:?}"
    );
    assert_eq!(all.queries, 4, "{compared:?}");
    assert!(
        all.better.ms <= all.host.ms.min(all.drive.ms),
        "{compared:?}"
    );
    assert!(all.chosen.ms >= all.better.ms, "{compared:?}");
    assert!(
        all.work.operators > 0 && all.work.link_bytes > 0,
        "{compared:?}"
    );
}
