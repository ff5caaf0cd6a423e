//! Work that is the same for many things, on all cores.

use std::num::NonZero;
use std::thread;

/// Splits `work` into one share for each core, none smaller than `least`, and carries `act` out on each
/// share, on a thread of its own. The results are in the order of the work.
pub fn on_all_cores<T: Send, R: Send>(
    mut work: Vec<T>,
    least: usize,
    act: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let share = work.len().div_ceil(cores).max(least);
    let act = &act;
    thread::scope(|scope| {
        let mut shares = Vec::new();
        while work.len() > share {
            let rest = work.split_off(share);
            let first = std::mem::replace(&mut work, rest);
            shares.push(scope.spawn(move || act(first)));
        }
        let last = act(work);
        let mut results = Vec::new();
        for share in shares {
            match share.join() {
                Ok(done) => results.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results.extend(last);
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_work() {
        for count in [0, 1, 7, 1000] {
            let twice = on_all_cores((0..count).collect(), 3, |share| {
                share.into_iter().map(|n| n * 2).collect()
            });
            assert_eq!(twice, (0..count).map(|n| n * 2).collect::<Vec<i32>>());
        }
    }
}
