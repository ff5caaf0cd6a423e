//! What the operating system knows of this process and its threads.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time that all threads of the process have used.
pub fn cpu_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

/// Processor time that the calling thread has used.
pub fn thread_cpu_time() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What the calling thread did with its time.
#[derive(Clone, Copy, Debug)]
pub struct ThreadTimes {
    /// It ran.
    pub cpu: Duration,
    /// It could have run, and had no processor; 0 where the system does not tell.
    pub ready: Duration,
}

impl ThreadTimes {
    /// Up to now. Asking takes some microseconds of the thread's own.
    pub fn now() -> ThreadTimes {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let ready = text.split(' ').nth(1).and_then(|word| word.parse().ok());
        ThreadTimes {
            cpu: thread_cpu_time(),
            ready: Duration::from_nanos(ready.unwrap_or(0)),
        }
    }

    /// Since then.
    pub fn since(self, before: ThreadTimes) -> ThreadTimes {
        ThreadTimes {
            cpu: self.cpu.saturating_sub(before.cpu),
            ready: self.ready.saturating_sub(before.ready),
        }
    }
}
