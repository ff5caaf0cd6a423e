//! The drive, the engine without it, and an oracle give the same answers.

use gannet::Index;
use gannet_offload::{Choice, Planner};
use gannet_ssd::random::Random;

use super::world::{Asked, World, ask, scores, small_limits, with_drive};

/// Rounds of the random test, a query each, and queries of an index.
const ROUNDS: usize = 600;
const QUERIES: usize = 100;

fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What became of the queries of a test.
#[derive(Debug, Default)]
struct Tally {
    asked: usize,
    in_drive: usize,
    ranked: usize,
    failed: Vec<String>,
}

impl Tally {
    fn add(&mut self, planner: &Planner) {
        self.asked += 1;
        let Some(decision) = planner.take_last() else {
            return;
        };
        match decision.run {
            Some(run) => {
                self.in_drive += 1;
                self.ranked += usize::from(run.found.is_ranked);
            }
            None => self.failed.push(decision.reason),
        }
    }
}

/// Compares one answer with the oracle's.
fn compare(index: &Index, world: &World, asked: &Asked, what: &str) {
    let results = ask(index, asked);
    let total = world.total(asked);
    if results.total_is_exact {
        assert_eq!(results.total, total, "{what}, {asked:?}")
    } else {
        assert!(!asked.count && results.total <= total, "{what}, {asked:?}")
    }
    if !world.may_be_vacuumed() {
        assert_eq!(scores(&results), world.best(asked), "{what}, {asked:?}");
    }
    assert_eq!(
        results.hits.len() as u64,
        total.min(asked.k as u64),
        "{what}, {asked:?}"
    );
}

#[test]
fn drive_engine_and_oracle_agree_on_random_indexes() {
    let seed = number("GANNET_SEED", 1) as u64;
    let mut random = Random::new(seed, "lists in the drive");
    let mut tally = Tally::default();
    let rounds = number("GANNET_SMART_ROUNDS", ROUNDS);
    for round in 0..rounds.div_ceil(QUERIES) {
        let what = format!("seed {seed}, index {round}");
        one_index(&mut random, &mut tally, &what);
    }
    let Tally {
        asked,
        in_drive,
        ranked,
        failed,
    } = &tally;
    println!("{asked} queries, {in_drive} in the drive, {ranked} of them ranked");
    assert!(in_drive * 3 > *asked && ranked * 5 > *asked, "{tally:?}");
    assert!(
        failed.iter().all(|reason| !reason.contains("failed")),
        "{failed:?}"
    );
}

fn one_index(random: &mut Random, tally: &mut Tally, what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let count = [3, 60, 700, 3_000, 9_000][random.below(5)];
    let vocabulary = [2, 12, 60][random.below(3)];
    let mut world = World::default();
    let options = Index::options()
        .memory(24 << 20)
        .limits(small_limits(random));
    let (options, planner) = with_drive(options, &path, Choice::Drive);
    let index = options.open(&path).unwrap();
    world.write(&index, count, vocabulary, random);
    let one_of = [0, 40, 5][random.below(3)];
    if one_of > 0 {
        world.delete(&index, one_of, random);
    }
    // Here postings are in buffers, pages on their way, and tables in memory.
    for _ in 0..QUERIES / 4 {
        let asked = Asked::random(random, vocabulary);
        compare(&index, &world, &asked, &format!("{what}, writer"));
        tally.add(&planner);
    }
    index.close().unwrap();
    let read = || Index::options().memory(24 << 20).read_only();
    let plain = read().open(&path).unwrap();
    let (options, planner) = with_drive(read(), &path, Choice::Drive);
    let drive = options.open(&path).unwrap();
    for _ in 0..QUERIES * 3 / 4 {
        let asked = Asked::random(random, vocabulary);
        compare(&plain, &world, &asked, &format!("{what}, engine"));
        compare(&drive, &world, &asked, &format!("{what}, drive"));
        let answers = (ask(&plain, &asked), ask(&drive, &asked));
        assert_eq!(scores(&answers.0), scores(&answers.1), "{what}, {asked:?}");
        tally.add(&planner);
    }
}
