//! What the device does: rates of sequential and random reads and writes by size, 32 at a time
//! (table 1 of the AS B-tree's paper, which calls them SR, SW, RR and RW). Pages go past the page
//! cache where the file system lets them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gannet::device::{
    Access, BackendChoice, Device, FileId, OpenOptions, PAGE_SIZE, PagePool, Transfer,
    open_directory,
};
use serde_json::json;

use crate::Outcome;
use crate::random::Random;

/// Transfers of a batch.
const TOGETHER: u32 = 32;

/// Pages of the transfers that are measured.
const SIZES: [u32; 5] = [1, 2, 4, 8, 32];

const FILE: FileId = FileId::Zone(0);

/// The arguments of `gannet-lab disk`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder, which must not be there and is left with one file
    folder: PathBuf,
    /// MiB of the file
    #[arg(long, default_value_t = 512)]
    mebibytes: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

struct Disk {
    device: std::sync::Arc<dyn Device>,
    pool: PagePool,
    pages: u32,
    seconds: f64,
    random: Random,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    if folder.exists() {
        return Err(format!("{} is there already: name another folder", folder.display()).into());
    }
    let options = OpenOptions {
        backend: BackendChoice::Auto,
        access: Access::Write,
        create: true,
    };
    let most = SIZES[SIZES.len() - 1] * TOGETHER;
    let mut disk = Disk {
        device: open_directory(folder, &options)?,
        pool: PagePool::new(most as usize),
        pages: (arguments.mebibytes << 8).next_multiple_of(most),
        seconds: arguments.seconds,
        random: Random::new(1, "disk"),
    };
    disk.device.create(FILE)?;
    for first in (0..disk.pages).step_by(most as usize) {
        let firsts = (0..TOGETHER).map(|at| first + at * SIZES[SIZES.len() - 1]);
        disk.transfer(firsts.collect(), SIZES[SIZES.len() - 1], true)?;
    }
    disk.device.sync(&[FILE])?;
    let mut rates = Vec::new();
    for pages in SIZES {
        let mut row = json!({ "bytes": pages as usize * PAGE_SIZE });
        for (name, is_write, is_random) in [
            ("sequential_read", false, false),
            ("sequential_write", true, false),
            ("random_read", false, true),
            ("random_write", true, true),
        ] {
            row[name] = json!(disk.rate(pages, is_write, is_random)?);
        }
        rates.push(row);
    }
    let report = json!({
        "unit": "MB/s",
        "together": TOGETHER,
        "file_bytes": disk.pages as usize * PAGE_SIZE,
        "backend": disk.device.backend().to_string(),
        "is_direct": disk.device.is_direct(),
        "rates": rates,
    });
    println!("{report}");
    Ok(())
}

impl Disk {
    /// MB/s of transfers of a size. Writes are synced at the end, and that counts.
    fn rate(&mut self, pages: u32, is_write: bool, is_random: bool) -> Outcome<f64> {
        let places = self.pages / pages;
        let (mut next, mut bytes) = (0, 0);
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs_f64(self.seconds) {
            let mut firsts = Vec::with_capacity(TOGETHER as usize);
            for _ in 0..TOGETHER {
                let place = if is_random {
                    self.random.below(places as usize) as u32
                } else {
                    next % places
                };
                next += 1;
                firsts.push(place * pages);
            }
            self.transfer(firsts, pages, is_write)?;
            bytes += (TOGETHER * pages) as usize * PAGE_SIZE;
        }
        if is_write {
            self.device.sync(&[FILE])?;
        }
        Ok(bytes as f64 / started.elapsed().as_secs_f64() / 1e6)
    }

    /// Reads or writes so many pages at each of some places in one batch.
    fn transfer(&self, firsts: Vec<u32>, pages: u32, is_write: bool) -> Outcome {
        let mut batch = Vec::with_capacity(firsts.len());
        for page in firsts {
            let buffers = (0..pages).map(|_| self.pool.take());
            let buffers: Option<Vec<_>> = buffers.collect();
            let buffers = buffers.ok_or("the lab's pages are all taken")?;
            batch.push(Transfer {
                file: FILE,
                page,
                buffers,
            });
        }
        if is_write {
            self.device.write(&mut batch)?
        } else {
            self.device.read(&mut batch)?
        }
        Ok(())
    }
}
