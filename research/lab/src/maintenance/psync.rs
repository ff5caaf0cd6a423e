//! What the device gives by outstanding transfers and their size (figure 2 of the paper): random
//! batches, one handed over when the one before is done. The paper's *Psync I/O* is such a batch.
//! A batch of one is a plain synchronous transfer, as in the paper. A ring of the engine has 64
//! transfers in flight at most. So a larger batch is divided among threads, each with a ring of its
//! own; they wait for each other behind each batch. What the system itself keeps in flight for a
//! device stays as it is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use gannet::Result;
use gannet::device::{
    Access, BackendChoice, Device, FileId, OpenOptions, PAGE_SIZE, PagePool, Transfer,
    open_directory,
};
use serde_json::json;

use crate::Outcome;
use crate::random::Random;

/// Outstanding transfers.
const OUTSTANDING: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// KiB of a transfer.
const SIZES_KIB: [usize; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

/// Transfers of a thread at most: what a ring of the engine takes.
const OF_A_THREAD: usize = 64;

/// Bytes that are written together before anything is measured.
const FILL_BYTES: usize = 8 << 20;

const FILE: FileId = FileId::Zone(0);

/// The arguments of `gannet-lab maintenance psync`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder, which must not be there and is left with one file
    folder: PathBuf,
    /// MiB of the file
    #[arg(long, default_value_t = 2048)]
    mebibytes: usize,
    /// MiB of a batch at most: larger ones are left out
    #[arg(long, default_value_t = 1024)]
    batch_mebibytes: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
}

struct Disk {
    device: Arc<dyn Device>,
    pool: PagePool,
    bytes: usize,
    time: Duration,
}

/// Batches of so many transfers of a size.
#[derive(Clone, Copy)]
struct Batches {
    size: usize,
    outstanding: usize,
    is_write: bool,
}

/// What the threads of one measurement tell each other.
struct Shared {
    barrier: Barrier,
    has_failed: AtomicBool,
    is_done: AtomicBool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    if folder.exists() {
        return Err(format!("{} is there already: name another folder", folder.display()).into());
    }
    let most = arguments.batch_mebibytes << 20;
    let options = OpenOptions {
        backend: BackendChoice::Auto,
        access: Access::Write,
        create: true,
    };
    let disk = Disk {
        device: open_directory(folder, &options)?,
        pool: PagePool::new(most.max(FILL_BYTES) / PAGE_SIZE),
        bytes: arguments.mebibytes.max(64) << 20,
        time: Duration::from_secs_f64(arguments.seconds),
    };
    disk.fill()?;
    let mut rows = Vec::new();
    for size in SIZES_KIB.map(|size| size << 10) {
        for outstanding in OUTSTANDING.into_iter().filter(|count| count * size <= most) {
            let [read, written] = [false, true].map(|is_write| {
                disk.rate(Batches {
                    size,
                    outstanding,
                    is_write,
                })
            });
            rows.push(json!({
                "bytes": size, "outstanding": outstanding, "read": read?, "written": written?,
            }));
        }
        eprintln!("transfers of {} KiB measured", size >> 10);
    }
    println!(
        "{}",
        json!({
            "unit": "MB/s",
            "file_bytes": disk.bytes,
            "backend": disk.device.backend().to_string(),
            "is_direct": disk.device.is_direct(),
            "rates": rows,
        })
    );
    Ok(())
}

impl Disk {
    fn fill(&self) -> Result<()> {
        self.device.create(FILE)?;
        let mut batch = self.transfers(1, FILL_BYTES);
        for start in (0..self.bytes).step_by(FILL_BYTES) {
            batch[0].page = (start / PAGE_SIZE) as u32;
            self.device.write(&mut batch)?;
        }
        self.device.sync(&[FILE])
    }

    /// So many transfers of a size, for which the pool has room. Their memory is there already.
    fn transfers(&self, count: usize, size: usize) -> Vec<Transfer> {
        let filled = || {
            self.pool.take().map(|mut page| {
                page.fill(0x5a);
                page
            })
        };
        let transfer = || Transfer {
            file: FILE,
            page: 0,
            buffers: (0..size / PAGE_SIZE).filter_map(|_| filled()).collect(),
        };
        (0..count).map(|_| transfer()).collect()
    }

    /// MB/s of such batches at random places.
    fn rate(&self, batches: Batches) -> Outcome<f64> {
        let threads = batches.outstanding.div_ceil(OF_A_THREAD);
        let shared = Shared {
            barrier: Barrier::new(threads),
            has_failed: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
        };
        let (count, seconds) = std::thread::scope(|scope| {
            let work = |number| self.thread(number, threads, batches, &shared);
            let spawned: Vec<_> = (1..threads).map(|n| scope.spawn(move || work(n))).collect();
            let first = work(0);
            let others = spawned.into_iter().map(|thread| {
                let done = thread.join();
                done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            others.fold(first, |first, other| other.and(first))
        })?;
        let bytes = count * batches.outstanding * batches.size;
        Ok(bytes as f64 / seconds / 1e6)
    }

    /// One thread's part of all batches; the first thread says when it is enough. Gives how many
    /// batches there were, and the seconds that they took.
    fn thread(
        &self,
        number: usize,
        threads: usize,
        batches: Batches,
        shared: &Shared,
    ) -> Result<(usize, f64)> {
        let mut random = Random::new(number as u64, "psync");
        let mut transfers = self.transfers(batches.outstanding / threads, batches.size);
        shared.barrier.wait();
        let (started, mut count) = (Instant::now(), 0);
        loop {
            for transfer in &mut transfers {
                let place = random.below(self.bytes / batches.size) * batches.size;
                transfer.page = (place / PAGE_SIZE) as u32;
            }
            let done = if batches.is_write {
                self.device.write(&mut transfers)
            } else {
                self.device.read(&mut transfers)
            };
            count += 1;
            shared.has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
            shared.barrier.wait();
            if number == 0 {
                let is_enough = started.elapsed() >= self.time;
                let has_failed = shared.has_failed.load(Ordering::Relaxed);
                shared
                    .is_done
                    .store(is_enough || has_failed, Ordering::Relaxed);
            }
            shared.barrier.wait();
            done?;
            if shared.is_done.load(Ordering::Relaxed) {
                return Ok((count, started.elapsed().as_secs_f64()));
            }
        }
    }
}
