//! A server with a queue: the link, a channel or a plane. It does one job at a time, in the order
//! in which the jobs came.

use std::collections::VecDeque;

/// Jobs, of which the first is being done.
#[derive(Debug)]
pub struct Line<J>(VecDeque<J>);

impl<J> Line<J> {
    /// An idle server.
    pub fn new() -> Line<J> {
        Line(VecDeque::new())
    }

    /// Takes a job; tells whether it begins now.
    pub fn push(&mut self, job: J) -> bool {
        self.0.push_back(job);
        self.0.len() == 1
    }

    /// The job that is being done.
    pub fn current(&self) -> Option<&J> {
        self.0.front()
    }

    /// The current job is done. The next one, if there is any, begins now.
    pub fn finish(&mut self) -> Option<J> {
        self.0.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_one_after_the_other() {
        let mut line = Line::new();
        assert!(line.push('a'), "an idle server begins at once");
        assert!(!line.push('b'));
        assert_eq!(line.finish(), Some('a'));
        assert_eq!(line.current(), Some(&'b'));
        assert_eq!(line.finish(), Some('b'));
        assert_eq!(line.finish(), None);
    }
}
