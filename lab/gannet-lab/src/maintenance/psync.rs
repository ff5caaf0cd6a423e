//! What the device gives by outstanding transfers and their size (figure 2 of the paper): random
//! batches, one handed over when the one before is done. The paper's *Psync I/O* is such a batch.
//! The engine's ring has 64 transfers in flight at most, so larger batches take their turns; a
//! batch of one is a plain synchronous transfer, as in the paper.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gannet::device::PAGE_SIZE;
use serde_json::json;

use super::files::{Files, Pages, Place};
use crate::Outcome;
use crate::random::Random;

/// Outstanding transfers.
const OUTSTANDING: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// KiB of a transfer.
const SIZES_KIB: [usize; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

/// Bytes of a batch at most: what a larger one gives is what this one gives.
const BATCH_BYTES: usize = 64 << 20;

/// The arguments of `gannet-lab maintenance psync`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder, which must not be there and is left with one file
    folder: PathBuf,
    /// MiB of the file
    #[arg(long, default_value_t = 512)]
    mebibytes: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    if folder.exists() {
        return Err(format!("{} is there already: name another folder", folder.display()).into());
    }
    let files = Files::open(folder, false)?;
    files.create(0)?;
    let bytes = arguments.mebibytes.max(64) << 20;
    let filler = vec![0x5a; 8 << 20];
    for start in (0..bytes).step_by(filler.len()) {
        files.write(&[page(start, &filler)])?;
    }
    files.sync(&[0])?;
    let (mut random, mut rows) = (Random::new(1, "psync"), Vec::new());
    for size in SIZES_KIB.map(|size| size << 10) {
        for outstanding in OUTSTANDING {
            if outstanding * size > BATCH_BYTES {
                continue;
            }
            let mut draw = || random.below(bytes / size) * size;
            let batches =
                std::iter::repeat_with(|| (0..outstanding).map(|_| draw()).collect::<Vec<_>>());
            let batches: Vec<Vec<usize>> = batches.take(64).collect();
            let read = rate(arguments.seconds, size * outstanding, &batches, |starts| {
                let places = starts.iter().map(|start| Place {
                    file: 0,
                    start: *start as u64,
                    length: size,
                });
                Ok(files.read_pages(&places.collect::<Vec<_>>())?)
            })?;
            let written = rate(arguments.seconds, size * outstanding, &batches, |starts| {
                let pages = starts.iter().map(|start| page(*start, &filler[..size]));
                Ok(files.write(&pages.collect::<Vec<_>>())?)
            })?;
            rows.push(json!({ "bytes": size, "outstanding": outstanding, "read": read, "written": written }));
        }
        eprintln!("transfers of {} KiB measured", size >> 10);
    }
    println!(
        "{}",
        json!({ "unit": "MB/s", "file_bytes": bytes, "rates": rows })
    );
    Ok(())
}

fn page(start: usize, bytes: &[u8]) -> Pages<'_> {
    Pages {
        file: 0,
        page: (start / PAGE_SIZE) as u32,
        bytes,
    }
}

/// MB/s of batches of so many bytes.
fn rate(
    seconds: f64,
    bytes: usize,
    batches: &[Vec<usize>],
    mut transfer: impl FnMut(&[usize]) -> Outcome,
) -> Outcome<f64> {
    let (started, mut count) = (Instant::now(), 0);
    while started.elapsed() < Duration::from_secs_f64(seconds) {
        transfer(&batches[count % batches.len()])?;
        count += 1;
    }
    Ok((count * bytes) as f64 / started.elapsed().as_secs_f64() / 1e6)
}
