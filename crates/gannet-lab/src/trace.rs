//! The device under every structure: the engine's, with a record of what is done with it: counted, priced by a model,
//! and kept as a trace if that is asked for.
//!
//! A model prices each operation as another device would take for it, that of the paper that a structure is compared in: by
//! rates of sequential and random reads and writes by size, or by an access and a rate behind it. What it gives is a
//! modelled time, never a measured one.
//!
//! A trace is lines of text, described in `docs/experiments.md`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use gannet::lab::{
    Access, Backend, BackendChoice, Counters, Device, FileId, OpenOptions, PAGE_SIZE, Readers,
    Transfer, open_directory,
};
use gannet::{Error, Result};

/// The name of a trace in the folder of what it traces.
const TRACE: &str = "trace.tsv";

/// What was done with a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Read operations.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write operations.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Seconds that the modelled device takes for the reads.
    pub modelled_read_seconds: f64,
    /// Seconds that it takes for the writes.
    pub modelled_write_seconds: f64,
}

impl Work {
    /// What both did together.
    pub fn and(self, other: Work) -> Work {
        Work {
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes + other.read_bytes,
            writes: self.writes + other.writes,
            written_bytes: self.written_bytes + other.written_bytes,
            modelled_read_seconds: self.modelled_read_seconds + other.modelled_read_seconds,
            modelled_write_seconds: self.modelled_write_seconds + other.modelled_write_seconds,
        }
    }

    /// What was done since `before`.
    pub fn less(self, before: Work) -> Work {
        Work {
            reads: self.reads - before.reads,
            read_bytes: self.read_bytes - before.read_bytes,
            writes: self.writes - before.writes,
            written_bytes: self.written_bytes - before.written_bytes,
            modelled_read_seconds: self.modelled_read_seconds - before.modelled_read_seconds,
            modelled_write_seconds: self.modelled_write_seconds - before.modelled_write_seconds,
        }
    }
}

/// What another device would take.
#[derive(Clone, Copy, Debug)]
pub enum Model {
    /// A flash drive.
    Rates(&'static Rates),
    /// A disk.
    Seeks(&'static Seeks),
}

/// Rates of a device in MB/s: of sequential and random reads and writes of some sizes.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Name of the device.
    pub name: &'static str,
    /// Bytes of an operation, and the rates: sequential read, sequential write, random read, random write.
    pub rates: [(usize, [f64; 4]); 4],
}

/// What a disk takes to get to where an operation is, and from there on.
#[derive(Clone, Copy, Debug)]
pub struct Seeks {
    /// Name of the device.
    pub name: &'static str,
    /// Seconds of the access of a read and of a write.
    pub access_seconds: [f64; 2],
    /// Bytes of a second behind it.
    pub rate: f64,
}

/// Table 1 of the AS B-tree's paper (Roh et al., 2014).
pub const X25_E: Rates = Rates {
    name: "Intel X25-E",
    rates: [
        (4 << 10, [193.0, 158.0, 149.0, 21.0]),
        (8 << 10, [206.0, 188.0, 192.0, 22.0]),
        (16 << 10, [206.0, 186.0, 227.0, 32.0]),
        (32 << 10, [206.0, 175.0, 256.0, 40.0]),
    ],
};

/// Table 1 of the paper of MFIS (Jung et al., 2014).
pub const DESKSTAR: Seeks = Seeks {
    name: "Hitachi Deskstar 7K1000.D",
    access_seconds: [12.37e-3, 13.37e-3],
    rate: 189e6,
};

/// Where an operation starts: where the last one of its kind ended, and where the last of any kind did.
#[derive(Clone, Copy, Debug)]
struct Follows {
    its_kind: bool,
    any: bool,
}

impl Model {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Model::Rates(rates) => rates.name,
            Model::Seeks(seeks) => seeks.name,
        }
    }

    /// Seconds of an operation.
    fn seconds(&self, bytes: usize, is_write: bool, follows: Follows) -> f64 {
        match self {
            Model::Rates(rates) => rates.seconds(bytes, is_write, follows.its_kind),
            Model::Seeks(seeks) => {
                let access = match follows.any {
                    true => 0.0,
                    false => seeks.access_seconds[usize::from(is_write)],
                };
                access + bytes as f64 / seeks.rate
            }
        }
    }
}

impl Rates {
    /// An operation is sequential if it starts where the one before it of the same kind ended, or is longer than the
    /// largest size of the table.
    fn seconds(&self, bytes: usize, is_write: bool, follows: bool) -> f64 {
        let largest = self.rates[self.rates.len() - 1].0;
        let column = usize::from(is_write) + if follows || bytes > largest { 0 } else { 2 };
        let row = self.rates.iter().find(|(size, _)| *size >= bytes);
        let (_, rates) = row.unwrap_or(&self.rates[self.rates.len() - 1]);
        bytes as f64 / (rates[column] * 1e6)
    }
}

/// A folder's device with its record.
pub struct Traced {
    device: Arc<dyn Device>,
    model: Model,
    seen: Mutex<Seen>,
}

/// What was seen so far.
#[derive(Default)]
struct Seen {
    work: Work,
    /// Where the last read and the last write ended.
    ends: [Option<(FileId, u32)>; 2],
    /// Whether the last operation was a write.
    wrote: bool,
    batches: u64,
    trace: Option<BufWriter<File>>,
}

impl Traced {
    /// The device of a folder, which is made if it is not there. With `trace`, what is done is written to a file there.
    pub fn open(folder: &Path, model: Model, trace: bool) -> Result<Arc<Traced>> {
        let options = OpenOptions {
            backend: BackendChoice::Auto,
            access: Access::Write,
            create: true,
        };
        let device = open_directory(folder, &options)?;
        let file = trace.then(|| File::create(folder.join(TRACE)));
        let file = file.transpose().map_err(unwritten)?;
        Ok(Arc::new(Traced {
            device,
            model,
            seen: Mutex::new(Seen {
                trace: file.map(BufWriter::new),
                ..Seen::default()
            }),
        }))
    }

    /// What was done with it.
    pub fn work(&self) -> Work {
        self.seen().work
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(|error| error.into_inner())
    }
}

impl Seen {
    fn batch(&mut self, batch: &[Transfer], is_write: bool, model: &Model) -> Result<()> {
        self.batches += 1;
        for transfer in batch {
            self.count(transfer, is_write, model);
            if let Some(trace) = &mut self.trace {
                let (batch, operation) = (self.batches, if is_write { 'w' } else { 'r' });
                let (file, page, pages) = (transfer.file, transfer.page, transfer.buffers.len());
                let line = writeln!(trace, "{batch}\t{operation}\t{file}\t{page}\t{pages}");
                line.map_err(unwritten)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, transfer: &Transfer, is_write: bool, model: &Model) {
        let pages = transfer.buffers.len();
        let bytes = pages * PAGE_SIZE;
        let start = Some((transfer.file, transfer.page));
        let follows = Follows {
            its_kind: self.ends[usize::from(is_write)] == start,
            any: self.ends[usize::from(self.wrote)] == start,
        };
        let seconds = model.seconds(bytes, is_write, follows);
        self.wrote = is_write;
        let end = &mut self.ends[usize::from(is_write)];
        *end = Some((transfer.file, transfer.page + pages as u32));
        let work = &mut self.work;
        let (operations, moved, modelled) = match is_write {
            false => (
                &mut work.reads,
                &mut work.read_bytes,
                &mut work.modelled_read_seconds,
            ),
            true => (
                &mut work.writes,
                &mut work.written_bytes,
                &mut work.modelled_write_seconds,
            ),
        };
        *operations += 1;
        *moved += bytes as u64;
        *modelled += seconds;
    }

    fn note(&mut self, operation: char, file: FileId) -> Result<()> {
        self.batches += 1;
        match &mut self.trace {
            Some(trace) => {
                writeln!(trace, "{}\t{operation}\t{file}\t0\t0", self.batches).map_err(unwritten)
            }
            None => Ok(()),
        }
    }
}

fn unwritten(error: std::io::Error) -> Error {
    Error::invalid(format!("the trace cannot be written: {error}"))
}

impl Device for Traced {
    fn backend(&self) -> Backend {
        self.device.backend()
    }

    fn is_direct(&self) -> bool {
        self.device.is_direct()
    }

    fn create(&self, file: FileId) -> Result<()> {
        self.device.create(file)
    }

    fn remove(&self, file: FileId) -> Result<()> {
        self.device.remove(file)?;
        self.seen().note('x', file)
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.device.list()
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        self.device.read(batch)?;
        self.seen().batch(batch, false, &self.model)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        self.device.write(batch)?;
        self.seen().batch(batch, true, &self.model)
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        self.device.sync(files)?;
        let mut seen = self.seen();
        files.iter().try_for_each(|file| seen.note('s', *file))
    }

    fn sync_directory(&self) -> Result<()> {
        self.device.sync_directory()
    }

    fn readers(&self) -> Option<&Readers> {
        self.device.readers()
    }

    fn close_files(&self) {
        self.device.close_files();
    }

    fn counters(&self) -> &Counters {
        self.device.counters()
    }
}
