//! What a program can call: five functions, each of which checks all that it is given.

use gannet::device::PageSpan;
use wasmi::{Caller, Engine, Extern, Linker, Memory, StoreLimits};

use super::files::{Files, Way};
use super::meter::IMPORTS;
use super::work::Work;
use crate::clock::Nanos;
use crate::request::PAGE_BYTES;

/// Bytes of a burst of DRAM, of which what is sent is made.
const BURST: u64 = 32;

/// What a program's calls need.
pub struct Inside {
    /// The pages of the drive.
    pub files: Files,
    /// Those of the session.
    pub spans: Vec<PageSpan>,
    /// What the program is told.
    pub parameters: Vec<u8>,
    /// What it sent.
    pub results: Vec<u8>,
    /// What was counted.
    pub work: Work,
    /// Bursts of what it sent, apart from its own accesses.
    pub bursts_of_dram: u64,
    /// Bytes of SRAM, which is also the first address of DRAM.
    pub sram: u32,
    /// Bytes of DRAM.
    pub dram: u32,
    /// Pages of a request.
    pub request_pages: u32,
    /// Microseconds of a request.
    pub request_us: f64,
    /// The limit of modelled time.
    pub nanos_limit: Nanos,
    /// The limit of results.
    pub result_limit: usize,
    /// The limits of the interpreter.
    pub limits: StoreLimits,
}

/// What a program can call.
pub fn linker(engine: &Engine) -> Result<Linker<Inside>, wasmi::errors::LinkerError> {
    let mut linker = Linker::new(engine);
    linker.func_wrap(IMPORTS, "sram", |caller: Caller<'_, Inside>| {
        caller.data().sram
    })?;
    linker.func_wrap(IMPORTS, "dram", |caller: Caller<'_, Inside>| {
        caller.data().dram
    })?;
    linker.func_wrap(IMPORTS, "parameters", parameters)?;
    linker.func_wrap(IMPORTS, "read", read)?;
    linker.func_wrap(IMPORTS, "emit", emit)?;
    Ok(linker)
}

/// The program's memory and what stands beside it.
fn parts<'a>(
    caller: &'a mut Caller<'_, Inside>,
) -> Result<(&'a mut [u8], &'a mut Inside), wasmi::Error> {
    let memory: Option<Memory> = caller.get_export("memory").and_then(Extern::into_memory);
    let memory = memory.ok_or_else(|| wasmi::Error::new("its memory is gone"))?;
    Ok(memory.data_and_store_mut(caller))
}

/// A range of the program's memory.
fn range(memory: &mut [u8], from: u32, bytes: u64) -> Result<&mut [u8], wasmi::Error> {
    let (start, end, size) = (from as usize, u64::from(from) + bytes, memory.len());
    memory.get_mut(start..end as usize).ok_or_else(|| {
        wasmi::Error::new(format!(
            "it named bytes {start} to {end} of its memory, which has {size}"
        ))
    })
}

/// Copies at most `bytes` of the parameters to an address; gives how many there are.
fn parameters(mut caller: Caller<'_, Inside>, to: u32, bytes: u32) -> Result<u32, wasmi::Error> {
    let (memory, inside) = parts(&mut caller)?;
    let count = inside.parameters.len().min(bytes as usize);
    range(memory, to, count as u64)?.copy_from_slice(&inside.parameters[..count]);
    Ok(inside.parameters.len() as u32)
}

/// Reads pages of a span into DRAM.
fn read(
    mut caller: Caller<'_, Inside>,
    span: u32,
    page: u32,
    pages: u32,
    to: u32,
) -> Result<(), wasmi::Error> {
    let (memory, inside) = parts(&mut caller)?;
    let known = inside.spans.get(span as usize).copied();
    let known = known.filter(|span| u64::from(page) + u64::from(pages) <= u64::from(span.pages));
    let Some(known) = known else {
        return Err(wasmi::Error::new(format!(
            "it asked for {pages} pages from page {page} of span {span}, which its session does not have"
        )));
    };
    if to < inside.sram {
        return Err(wasmi::Error::new(
            "it read pages into SRAM: expected an address of DRAM",
        ));
    }
    let wanted = PageSpan {
        page: known.page + page,
        pages,
        ..known
    };
    let place = range(memory, to, u64::from(pages) * u64::from(PAGE_BYTES))?;
    let read = inside.files.read(&wanted, Way::Inside);
    let (bytes, nanos) = read.map_err(|error| wasmi::Error::new(error.to_string()))?;
    place.copy_from_slice(bytes);
    inside.work.flash_pages += u64::from(pages);
    inside.work.flash_requests += u64::from(pages.div_ceil(inside.request_pages));
    inside.work.flash_nanos += nanos;
    // A slice has room for many reads, so they are looked at here too.
    let requests = inside.work.flash_requests as f64 * inside.request_us * 1e3;
    let taken = inside.work.flash_nanos + requests as Nanos;
    in_time(taken, inside.nanos_limit).map_err(wasmi::Error::new)
}

/// Appends bytes of the program's memory to the results.
fn emit(mut caller: Caller<'_, Inside>, from: u32, bytes: u32) -> Result<(), wasmi::Error> {
    let (memory, inside) = parts(&mut caller)?;
    let bytes = range(memory, from, u64::from(bytes))?;
    if inside.results.len() + bytes.len() > inside.result_limit {
        return Err(wasmi::Error::new(format!(
            "it had more than {} bytes of results",
            inside.result_limit
        )));
    }
    inside.results.extend_from_slice(bytes);
    inside.work.result_bytes += bytes.len() as u64;
    // Read once where it stands, written once into the buffer of results.
    let bursts = (bytes.len() as u64).div_ceil(BURST);
    let reads_dram = if from < inside.sram { 0 } else { bursts };
    inside.bursts_of_dram += bursts + reads_dram;
    Ok(())
}

/// Fails when modelled time is over.
pub fn in_time(nanos: Nanos, limit: Nanos) -> Result<(), String> {
    if nanos > limit {
        Err(format!(
            "it ran for more than {} ms, modelled",
            limit / 1_000_000
        ))
    } else {
        Ok(())
    }
}
