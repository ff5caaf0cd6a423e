//! The room against a naive evaluation: random small collections, partly on a device and partly in
//! memory, partly deleted, and queries of every kind. What the engine finds must be what one finds
//! by looking at every document: the same documents, scores and order, with every technique and
//! without each, alone or in a group.

mod naive;
mod queries;
mod world;

use std::sync::Arc;
use std::time::Duration;

use super::{Query, QueryGroup, SearchOptions, SearchResults, Techniques, Ties};
use crate::analysis::Schema;
use crate::cache::IoCounts;
use naive::Naive;
use world::{Random, World};

fn options(k: usize) -> SearchOptions {
    SearchOptions {
        k,
        fetch: false,
        ..SearchOptions::default()
    }
}

fn run(
    world: &World,
    queries: &[Query],
    width: usize,
    options: &SearchOptions,
) -> Vec<SearchResults> {
    let group = QueryGroup::new(&world.pool, &world.budget, width);
    let group = group.with_hot_lists(&world.hot);
    let answers = group.search(queries, &world.view, options);
    answers.into_iter().map(Result::unwrap).collect()
}

fn found(results: &SearchResults) -> Vec<(u32, f32)> {
    results
        .hits
        .iter()
        .map(|hit| (hit.doc, hit.score))
        .collect()
}

fn check(world: &World, query: &Query, k: usize) {
    let expected = Naive::new(world).search(query);
    let top: Vec<_> = expected.iter().take(k).copied().collect();
    let pruned = run(world, std::slice::from_ref(query), 1, &options(k)).remove(0);
    assert_eq!(found(&pruned), top, "{query} (pruned, k {k})");
    assert!(pruned.total <= expected.len() as u64, "{query}");
    if pruned.total_is_exact {
        assert_eq!(pruned.total, expected.len() as u64, "{query} (pruned)");
    }
    let counting = SearchOptions {
        count: true,
        ..options(k)
    };
    let counted = run(world, std::slice::from_ref(query), 1, &counting).remove(0);
    assert_eq!(found(&counted), top, "{query} (counted, k {k})");
    let total = (counted.total, counted.total_is_exact);
    assert_eq!(total, (expected.len() as u64, true), "{query}");
    check_range(world, query, k, &expected);
    check_ties(world, query, k, expected);
    for name in Techniques::NAMES {
        let options = SearchOptions {
            techniques: without(name),
            ..options(k)
        };
        let answer = run(world, std::slice::from_ref(query), 1, &options).remove(0);
        assert_eq!(found(&answer), top, "{query} (without {name}, k {k})");
    }
}

/// Only documents in the middle third of those that match.
fn check_range(world: &World, query: &Query, k: usize, expected: &[(u32, f32)]) {
    let mut docs: Vec<u32> = expected.iter().map(|(doc, _)| *doc).collect();
    docs.sort_unstable();
    let part = |third: usize| {
        docs.get(docs.len() * third / 3)
            .map_or(third as u32, |doc| *doc)
    };
    let (from, below) = (part(1), part(2));
    let inside = expected
        .iter()
        .filter(|(doc, _)| (from..below).contains(doc));
    let inside: Vec<_> = inside.copied().collect();
    for count in [false, true] {
        let options = SearchOptions {
            from,
            below,
            count,
            ..options(k)
        };
        let answer = run(world, std::slice::from_ref(query), 1, &options).remove(0);
        let top: Vec<_> = inside.iter().take(k).copied().collect();
        assert_eq!(found(&answer), top, "{query} ({from}..{below}, k {k})");
        if count {
            let total = (answer.total, answer.total_is_exact);
            assert_eq!(
                total,
                (inside.len() as u64, true),
                "{query} ({from}..{below})"
            );
        }
    }
}

/// Equal scores in the order of external IDs.
fn check_ties(world: &World, query: &Query, k: usize, mut expected: Vec<(u32, f32)>) {
    let id = |doc: u32| format!("id-{doc}");
    expected.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| id(a.0).cmp(&id(b.0))));
    for (skip, techniques) in [(0, Techniques::default()), (2, without("pruning"))] {
        let options = SearchOptions {
            skip,
            techniques,
            ties: Ties::ExternalId,
            ..options(k)
        };
        let answer = run(world, std::slice::from_ref(query), 1, &options).remove(0);
        let page: Vec<_> = expected.iter().skip(skip).take(k).copied().collect();
        assert_eq!(found(&answer), page, "{query} (ties, {skip} {k})");
    }
}

fn check_world(seed: u64, docs: u32, on_device: u32, frames: usize, count: usize) {
    let mut random = Random::new(seed);
    let world = World::new(&mut random, docs, on_device, frames);
    check_queries(&world, &mut random, count);
}

fn check_queries(world: &World, random: &mut Random, count: usize) {
    for _ in 0..count {
        let query = queries::any(random, 3);
        check(world, &query, [1, 3, 10, 1000][random.below(4)]);
    }
}

#[test]
fn lists_in_memory_are_searched_as_by_hand() {
    for seed in 0..20 {
        check_world(seed, 60, 0, 64, 40);
    }
}

#[test]
fn lists_on_a_device_are_searched_as_by_hand() {
    for seed in 100..110 {
        check_world(seed, 300, 220, 4096, 40);
    }
}

#[test]
fn long_lists_in_a_tiny_frame_pool_are_searched_as_by_hand() {
    for seed in 200..202 {
        check_world(seed, 6_000, 5_500, 64, 20);
    }
}

#[test]
fn phrases_of_common_words_are_searched_as_by_hand() {
    // Lists in memory, of small chunks, and long ones of which the densest keep no filter.
    for (seed, docs, on_device, frames) in [
        (400, 60, 0, 64),
        (401, 300, 220, 4096),
        (402, 3_000, 2_500, 4096),
        (403, 6_000, 5_500, 64),
    ] {
        let mut random = Random::new(seed);
        let world = World::new(&mut random, docs, on_device, frames);
        for k in [1, 10, 1000].repeat(25) {
            let query = queries::phrase_of_common_words(&mut random);
            check(&world, &query, k);
        }
    }
}

#[test]
fn filters_of_several_fields_are_searched_as_by_hand() {
    for (seed, docs, on_device, frames) in [
        (300, 60, 0, 64),
        (301, 300, 220, 4096),
        (302, 300, 220, 4096),
        (303, 6_000, 5_500, 64),
    ] {
        let mut random = Random::new(seed);
        let filters = world::COMMON_IN_BOTH;
        let world = World::with_filters(&mut random, docs, on_device, frames, filters);
        check_queries(&world, &mut random, 40);
        for _ in 0..20 {
            let query = queries::exact_phrase(&mut random);
            check(&world, &query, 10);
        }
    }
}

#[test]
fn frequent_words_are_pruned_by_blocks_as_by_hand() {
    let mut random = Random::new(15);
    let world = World::new(&mut random, 12_000, 11_000, 4096);
    for text in [
        "body:a",
        "a b",
        "body:a body:b",
        "body:a body:q body:zz",
        "body:fl* body:a body:zz",
        "body:a^0.1 body:seal tag:c",
        "+body:a +body:b",
        "+body:a +body:b -body:c body:q",
        "+body:a +body:b body:q",
        "(+body:a +body:b) body:zone",
    ] {
        let query = super::parse(text, super::Operator::Or, &Schema::default()).unwrap();
        for k in [1, 10, 300] {
            check(&world, &query, k);
        }
    }
}

#[test]
fn a_query_takes_less_where_little_memory_is_left() {
    let world = World::new(&mut Random::new(29), 3000, 2800, 4096);
    let query = super::parse("body:a body:zone", super::Operator::Or, &Schema::default()).unwrap();
    let ask = || run(&world, std::slice::from_ref(&query), 1, &options(10)).remove(0);
    let expected = found(&ask());
    let free = world.budget.total() - world.budget.used();
    let others = world.budget.reserve("what others hold", free - (96 << 10));
    assert_eq!((found(&ask()), others.is_ok()), (expected, true));
}

#[test]
fn a_query_without_memory_waits_for_the_others() {
    let world = World::new(&mut Random::new(29), 3000, 2800, 4096);
    let query = super::parse("body:a body:zone", super::Operator::Or, &Schema::default()).unwrap();
    let ask = || run(&world, std::slice::from_ref(&query), 1, &options(10)).remove(0);
    let expected = found(&ask());
    std::thread::scope(|scope| {
        let permit = world.budget.permit(&()).unwrap();
        let free = world.budget.total() - world.budget.used();
        let held = world.budget.reserve("another query", free - 1024).unwrap();
        let asked = scope.spawn(|| found(&ask()));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!asked.is_finished());
        drop((held, permit));
        assert_eq!(asked.join().unwrap(), expected);
    });
}

#[test]
fn a_group_answers_as_each_query_alone() {
    let mut random = Random::new(7);
    let world = World::new(&mut random, 2000, 1800, 4096);
    let queries: Vec<Query> = (0..24).map(|_| queries::any(&mut random, 2)).collect();
    let together = run(&world, &queries, 8, &options(10));
    for (query, result) in queries.iter().zip(&together) {
        let alone = run(&world, std::slice::from_ref(query), 1, &options(10)).remove(0);
        assert_eq!(found(result), found(&alone), "{query}");
    }
}

#[test]
fn explanations_give_the_score() {
    let mut random = Random::new(9);
    let world = World::new(&mut random, 200, 150, 4096);
    for _ in 0..60 {
        let query = queries::any(&mut random, 3);
        let explained = SearchOptions {
            explain: true,
            ..options(5)
        };
        let results = run(&world, std::slice::from_ref(&query), 1, &explained).remove(0);
        assert!(results.plan.unwrap().to_string().contains("look up terms"));
        for hit in &results.hits {
            let explanation = hit.explanation.as_ref().unwrap();
            let difference = (explanation.value - hit.score).abs();
            assert!(difference <= 1e-6, "{query}: {explanation}");
        }
    }
}

#[test]
fn documents_are_fetched_and_snippets_mark_what_was_found() {
    let mut random = Random::new(10);
    let world = World::new(&mut random, 300, 200, 64);
    let options = SearchOptions {
        highlight: vec!["body".to_owned()],
        ..SearchOptions::default()
    };
    let query = super::parse("body:fl* -title:a", super::Operator::Or, &Schema::default()).unwrap();
    let results = run(&world, &[query], 1, &options).remove(0);
    assert_eq!(results.hits.len(), 10);
    for hit in &results.hits {
        assert_eq!(hit.id, format!("id-{}", hit.doc));
        assert!(hit.source.as_ref().unwrap().starts_with(b"{\"body\":"));
        let (field, snippets) = &hit.snippets[0];
        assert!(
            field == "body" && snippets[0].contains("<em>fl"),
            "{snippets:?}"
        );
    }
}

#[test]
fn snippets_of_a_field_that_does_not_exist_are_an_error() {
    let world = World::new(&mut Random::new(10), 30, 20, 64);
    let options = SearchOptions {
        highlight: vec!["bdoy".to_owned()],
        ..SearchOptions::default()
    };
    let answers = QueryGroup::new(&world.pool, &world.budget, 1).search(
        &[Query::MatchAll],
        &world.view,
        &options,
    );
    let error = answers.into_iter().next().unwrap().unwrap_err().to_string();
    assert!(
        error.contains("\"bdoy\"") && error.contains("body"),
        "{error}"
    );
}

#[test]
fn a_cancelled_search_and_one_out_of_time_end_with_an_error() {
    let mut random = Random::new(11);
    let world = World::new(&mut random, 50, 0, 64);
    let late = SearchOptions {
        clock: Some(Arc::new(|| Duration::from_secs(2))),
        deadline: Some(Duration::from_secs(1)),
        ..options(10)
    };
    let cancelled = SearchOptions {
        cancelled: Some(Arc::new(|| true)),
        ..options(10)
    };
    let too_many = options(10_001);
    for options in [late, cancelled, too_many] {
        let group = QueryGroup::new(&world.pool, &world.budget, 1);
        assert!(group.search(&[Query::MatchAll], &world.view, &options)[0].is_err());
    }
}

#[test]
fn a_pruned_search_skips_pages() {
    // The first documents have all words and each of them often: no page of a list behind them can
    // have a better one. There are more pages than are read at once.
    let mut random = Random::new(13);
    let mut words = world::WORDS.to_vec();
    words.retain(|word| *word != "zone");
    let mut body = |doc| {
        let mut body = words.clone();
        if doc < 20 {
            body = body.repeat(4);
        } else {
            body.retain(|_| random.below(3) == 0);
        }
        body.resize(body.len().max(40), "zone");
        body
    };
    let docs = (0..120_000).map(|doc| vec![body(doc), vec![], vec![], vec![]]);
    let docs: Vec<_> = docs.collect();
    let (alive, count) = (vec![false; docs.len()], docs.len() as u32);
    let world = World::of(docs, alive, count, 4096, world::COMMON);
    let text: Vec<String> = words.iter().map(|word| format!("body:{word}")).collect();
    let text = text.join(" ");
    let all = cold(&world, &text, without("pruning"));
    let pruned = cold(&world, &text, Techniques::default());
    assert!(pruned.reads < all.reads, "{pruned:?} {all:?}");
    assert!(pruned.bytes < all.bytes, "{pruned:?} {all:?}");
}

#[test]
fn each_technique_saves_what_it_is_there_for() {
    let mut random = Random::new(13);
    let world = World::new(&mut random, 20_000, 20_000, 4096);
    for text in ["body:a", "body:a body:q"] {
        let all = cold(&world, text, Techniques::default());
        let unprefetched = cold(&world, text, without("prefetch"));
        assert!(unprefetched.rounds > all.rounds, "{unprefetched:?} {all:?}");
        let unbatched = cold(&world, text, without("batches"));
        assert_eq!(unbatched.bytes, all.bytes, "{text}");
        assert_eq!(
            u64::from(unbatched.rounds) * 4096,
            unbatched.bytes,
            "{text}"
        );
        let alone = cold(&world, text, without("documents"));
        assert!(alone.rounds > all.rounds, "{alone:?} {all:?}");
    }
    let phrase = "body:\"zz of\"";
    let all = cold(&world, phrase, Techniques::default());
    let unfiltered = cold(&world, phrase, without("filters"));
    assert!(unfiltered.bytes > all.bytes, "{unfiltered:?} {all:?}");
}

fn without(name: &str) -> Techniques {
    Techniques::default().without(name).unwrap()
}

/// The reads of a query and its documents if no page is in memory.
fn cold(world: &World, text: &str, techniques: Techniques) -> IoCounts {
    let world = world.with_cold_pool();
    let options = SearchOptions {
        techniques,
        ..SearchOptions::default()
    };
    let query = super::parse(text, super::Operator::Or, &Schema::default()).unwrap();
    run(&world, &[query], 1, &options).remove(0).io
}

#[test]
fn cold_queries_take_few_rounds() {
    let mut random = Random::new(13);
    let world = World::new(&mut random, 20_000, 20_000, 4096);
    // A round for the leaf of the dictionary; the last two for addresses and records.
    for (text, most) in [
        ("body:zz", 2 + 2),
        ("body:a", 2 + 2),
        ("body:a body:q", 2 + 2),
        ("+body:q +body:a", 2 + 2),
        ("+body:q +body:a +body:sea title:b", 3 + 2),
        ("body:\"q a\"", 4 + 2),
        ("body:fl* body:sae~", 3 + 2),
    ] {
        let io = cold(&world, text, Techniques::default());
        assert!(io.rounds <= most, "{text}: {io:?}");
    }
}

#[test]
fn the_pages_used_are_listed_wherever_they_came_from() {
    let mut random = Random::new(13);
    let world = World::new(&mut random, 20_000, 20_000, 4096).with_cold_pool();
    let query = super::parse("+body:q +body:a", super::Operator::Or, &Schema::default()).unwrap();
    let options = SearchOptions {
        list_pages: true,
        ..SearchOptions::default()
    };
    let ask = |options: &_| run(&world, std::slice::from_ref(&query), 1, options).remove(0);
    let (cold, warm) = (ask(&options), ask(&options));
    assert!(!cold.pages.is_empty() && cold.pages.len() as u64 * 4096 <= cold.io.bytes);
    assert_eq!((&warm.pages, warm.io.bytes), (&cold.pages, 0));
    // That one pins pages of the tables.
    let unlisted = SearchOptions::default();
    assert!(ask(&unlisted).pages.is_empty());
    assert_eq!(ask(&options).pages, cold.pages);
}

/// Documents in whose body words are rare in some stretches and common in others, so that which
/// clauses find documents changes from window to window.
fn uneven(random: &mut Random, count: usize) -> Vec<world::Words> {
    let mut rarity = [1; 6];
    let one = |number: usize| {
        if number.is_multiple_of(700) {
            rarity = std::array::from_fn(|_| [1, 3, 20, 300][random.below(4)]);
        }
        let mut body = Vec::new();
        for (word, rarity) in world::WORDS.iter().zip(rarity) {
            if random.below(rarity) == 0 {
                body.extend(std::iter::repeat_n(*word, 1 + random.skewed(4)));
            }
        }
        let rest = random.skewed(40);
        body.extend(std::iter::repeat_n("zone", rest));
        vec![body, vec!["b"], vec!["c"], vec!["q"]]
    };
    (0..count).map(one).collect()
}

#[test]
fn answers_do_not_depend_on_which_pages_are_in_memory() {
    let mut random = Random::new(29);
    let docs = uneven(&mut random, 60_000);
    let live = vec![false; docs.len()];
    let of = |frames| World::of(docs.clone(), live.clone(), 60_000, frames, world::COMMON);
    let (whole, partly) = (of(4096), of(64));
    for number in 0..3_000 {
        let count = 2 + random.below(5);
        let words = (0..count).map(|_| format!("body:{}", world::WORDS[random.below(6)]));
        let text = words.collect::<Vec<_>>().join(" ");
        let query = super::parse(&text, super::Operator::Or, &Schema::default()).unwrap();
        let options = options(1 + random.below(40));
        let ask = |world| found(&run(world, std::slice::from_ref(&query), 1, &options)[0]);
        assert_eq!(ask(&partly), ask(&whole), "{number}: {query}");
    }
}
