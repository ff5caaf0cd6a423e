//! The host's queue: at most so many requests are in the drive, the others wait for their turn.

use std::collections::VecDeque;

/// Requests that wait, and how many the drive has.
#[derive(Debug)]
pub struct Queue<R> {
    depth: usize,
    inside: usize,
    waiting: VecDeque<R>,
}

impl<R> Queue<R> {
    /// An empty queue for a drive that takes `depth` requests at a time, at least one.
    pub fn new(depth: usize) -> Queue<R> {
        Queue {
            depth: depth.max(1),
            inside: 0,
            waiting: VecDeque::new(),
        }
    }

    /// A request comes; [`Queue::admit`] tells when the drive takes it.
    pub fn push(&mut self, request: R) {
        self.waiting.push_back(request);
    }

    /// The next request that the drive takes, if it has room.
    pub fn admit(&mut self) -> Option<R> {
        if self.inside == self.depth {
            return None;
        }
        let request = self.waiting.pop_front()?;
        self.inside += 1;
        Some(request)
    }

    /// The drive has completed a request.
    pub fn complete(&mut self) {
        self.inside -= 1;
    }

    /// Requests that have not been completed.
    pub fn outstanding(&self) -> usize {
        self.inside + self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_depth_are_inside() {
        let mut queue = Queue::new(2);
        (0..4).for_each(|request| queue.push(request));
        assert_eq!(
            (queue.admit(), queue.admit(), queue.admit()),
            (Some(0), Some(1), None)
        );
        queue.complete();
        assert_eq!((queue.admit(), queue.admit()), (Some(2), None));
        assert_eq!(queue.outstanding(), 3);
    }
}
