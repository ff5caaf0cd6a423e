//! Counts what a publication sends: each page once, in few requests.

use std::time::Duration;

use gannet::diagnostics::RequestCounts;

use super::world::{World, agree, found, open};

/// Small publications.
const COUNT: u32 = 24;

/// Openings, each with a query.
const ASKED: u64 = 5;

fn median(of: &[f64]) -> f64 {
    let mut of = of.to_vec();
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The requests of an opening, and of some queries of a word each with nothing in memory.
fn cold(world: &World) -> (RequestCounts, RequestCounts) {
    let (mut openings, mut queries) = (RequestCounts::default(), RequestCounts::default());
    let asked: [u32; ASKED as usize] = [17, 333, 1_717, 2_900, 3_100];
    for id in asked {
        let (remote, _) = open(&world.store, Duration::from_secs(10)).unwrap();
        let opened = remote.requests().unwrap();
        assert_eq!(
            found(&remote, &format!("own{id}")).unwrap(),
            [id.to_string()]
        );
        let asked = remote.requests().unwrap().since(&opened);
        openings.gets += opened.gets;
        openings.rounds += opened.rounds;
        queries.gets += asked.gets;
        queries.got_bytes += asked.got_bytes;
    }
    (openings, queries)
}

#[test]
fn small_publications_send_each_page_about_once() {
    let world = World::new(3_000);
    world.write_long(3_000..6_000);
    let first = world.publish().unwrap();
    let all = first.requests.put_bytes as f64 / first.copied.bytes_copied as f64;
    assert!(all <= 1.15, "the first one: {all}");
    let before = cold(&world);
    let (mut ratios, mut puts, mut sent, mut new) = (Vec::new(), 0, 0, 0);
    for at in 0..COUNT {
        let next = 6_000 + at * 20;
        world.write(next..next + 20);
        let report = world.publish().unwrap();
        ratios.push(report.requests.put_bytes as f64 / report.copied.bytes_copied as f64);
        sent += report.requests.put_bytes;
        new += report.copied.bytes_copied;
        puts += report.requests.puts;
    }
    agree(&world.index, &world.open().unwrap().0);
    let after = cold(&world);
    eprintln!(
        "{ratios:.2?}, {puts} requests that write, {sent} bytes of {new}; {before:?}, {after:?}"
    );
    assert!(median(&ratios) <= 1.15, "{ratios:?}");
    // Some send again what is still needed of several packs.
    assert!(sent as f64 / new as f64 <= 1.3, "{sent} of {new}");
    assert!(puts <= u64::from(COUNT) * 6, "{puts}");
    assert_eq!((before.0.gets, before.0.rounds), (2 * ASKED, 2 * ASKED));
    assert_eq!(after.0.rounds, 2 * ASKED);
    assert!(after.1.gets <= before.1.gets, "{before:?}, {after:?}");
}
