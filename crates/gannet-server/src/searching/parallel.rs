//! Work on several indexes at once: opening one waits for its drive most of the time.

use std::thread;

use crate::fault::{Fault, Outcome};

/// Indexes that one request opens or searches at once.
const AT_ONCE: usize = 4;

/// Acts on the numbers below `count`, up to `most` at once, and has the results taken in their
/// order. No more of them are kept than are worked on at once.
pub fn each_in_order<T: Send>(
    count: usize,
    most: usize,
    act: impl Fn(usize) -> Outcome<T> + Sync,
    mut take: impl FnMut(usize, T) -> Outcome<()>,
) -> Outcome<()> {
    let width = AT_ONCE.min(most).max(1);
    for start in (0..count).step_by(width) {
        let numbers = start..count.min(start + width);
        for (at, result) in numbers.clone().zip(all(numbers, &act)) {
            take(at, result?)?;
        }
    }
    Ok(())
}

fn all<T: Send>(
    numbers: std::ops::Range<usize>,
    act: &(impl Fn(usize) -> Outcome<T> + Sync),
) -> Vec<Outcome<T>> {
    if numbers.len() == 1 {
        return vec![act(numbers.start)];
    }
    thread::scope(|scope| {
        let threads: Vec<_> = numbers.map(|at| scope.spawn(move || act(at))).collect();
        let joined = threads.into_iter().map(|thread| {
            let lost = |_| Err(Fault::internal("a search ended in a way that is a bug"));
            thread.join().unwrap_or_else(lost)
        });
        joined.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_in_their_order_until_one_fails() {
        let taken = |fails_at: usize| {
            let mut taken = Vec::new();
            let done = each_in_order(
                11,
                3,
                |at| {
                    if at == fails_at {
                        Err(Fault::internal("x"))
                    } else {
                        Ok(at * 2)
                    }
                },
                |at, result| {
                    taken.push((at, result));
                    Ok(())
                },
            );
            (taken, done.is_ok())
        };
        let all: Vec<_> = (0..11).map(|at| (at, at * 2)).collect();
        assert_eq!(taken(99), (all.clone(), true));
        assert_eq!(taken(5), (all[..5].to_vec(), false));
        each_in_order(0, 3, |_| Ok(()), |_, ()| Ok(())).unwrap();
    }
}
