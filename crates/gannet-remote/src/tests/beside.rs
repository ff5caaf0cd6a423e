//! Publications under querying readers: every answer belongs to one published state, and to one
//! that was the newest not long before.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::world::{World, found, open};

const BASE: u32 = 400;
/// Documents that each publication adds; it deletes one.
const ADDED: u32 = 20;
const READERS: usize = 4;
const REFRESH: Duration = Duration::from_millis(40);
/// More than a request and what else delays a thread of a loaded machine.
const SLACK: Duration = Duration::from_secs(2);

/// Returns the number that a variable holds, for longer runs.
fn so_many(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The times at which publications were complete; the first has number 0.
struct Published {
    done: Mutex<Vec<Instant>>,
    begun: AtomicU64,
    is_over: AtomicBool,
    answers: AtomicU64,
}

impl Published {
    /// The newest publication that was complete at this time.
    fn newest_at(&self, time: Instant) -> u64 {
        let done = self.done.lock().unwrap();
        done.iter().rposition(|at| *at <= time).unwrap_or(0) as u64
    }
}

#[test]
fn every_answer_belongs_to_one_published_state_that_is_new_enough() {
    let publications = so_many("GANNET_REMOTE_PUBLICATIONS", 10);
    let answers = so_many("GANNET_REMOTE_ANSWERS", 1_000);
    let world = World::new(BASE);
    world.publish().unwrap();
    let published = Published {
        done: Mutex::new(vec![Instant::now()]),
        begun: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        answers: AtomicU64::new(0),
    };
    let mut uploaded = (0, 0);
    std::thread::scope(|scope| {
        (0..READERS).for_each(|_| drop(scope.spawn(|| read(&world, &published))));
        for number in 1..=publications {
            let first = BASE + ADDED * (number as u32 - 1);
            world.write(first..first + ADDED);
            world.index.delete(&[&(number - 1).to_string()]).unwrap();
            published.begun.store(number, Ordering::SeqCst);
            let report = world.publish().unwrap();
            uploaded.0 += report.requests.put_bytes;
            uploaded.1 += report.copied.bytes_copied;
            published.done.lock().unwrap().push(Instant::now());
        }
        while published.answers.load(Ordering::SeqCst) < answers {
            std::thread::sleep(Duration::from_millis(5));
        }
        published.is_over.store(true, Ordering::SeqCst);
    });
    println!(
        "{} answers, {publications} publications, {} bytes sent, {} bytes of new pages",
        published.answers.load(Ordering::SeqCst),
        uploaded.0,
        uploaded.1
    );
}

fn read(world: &World, published: &Published) {
    let (remote, _) = open(&world.store, REFRESH).unwrap();
    while !published.is_over.load(Ordering::SeqCst) {
        let started = Instant::now();
        remote.refresh().unwrap();
        let documents = remote.snapshot().documents() as u32;
        assert_eq!((documents - BASE) % (ADDED - 1), 0, "{documents} documents");
        let state = ((documents - BASE) / (ADDED - 1)) as u64;
        let least = published.newest_at(started - REFRESH - SLACK);
        let most = published.begun.load(Ordering::SeqCst);
        assert!(
            (least..=most).contains(&state),
            "{state} is not of {least} to {most}"
        );
        let next = BASE + ADDED * state as u32;
        let deleted = (state > 0).then(|| (state as u32 - 1, false));
        let asked = [(state as u32, true), (next - 1, true), (next, false)];
        for (id, is_there) in asked.into_iter().chain(deleted) {
            let expected: &[String] = if is_there { &[id.to_string()] } else { &[] };
            assert_eq!(
                found(&remote, &format!("own{id}")).unwrap(),
                expected,
                "state {state}"
            );
            published.answers.fetch_add(1, Ordering::SeqCst);
        }
    }
}
