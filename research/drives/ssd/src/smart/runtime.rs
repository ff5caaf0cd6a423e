//! One run of a program: the interpreter and its limits.
//!
//! The interpreter gets fuel in slices. Between slices the counters are compared with the limits.
//! So an endless loop ends soon after the limit of operators or of modelled time, at the same
//! operator on every machine.
//!
//! What always holds: whatever a program does, the outcome is its results or a sentence that says
//! why it ended. It sees its own memory, the parameters, and the spans of its session.

use wasmi::{Config, Engine, Instance, Module, ResumableCall, Store, StoreLimitsBuilder, Val};

use super::calls::{Inside, in_time, linker};
use super::files::Files;
use super::meter::COUNTERS;
use super::profile::SmartProfile;
use super::work::Work;
use super::{Limits, Session};

/// Fuel of a slice: some ten milliseconds of a real processor.
const SLICE: u64 = 5_000_000;

/// Bytes by which a program's memory grows.
const GROWTH: usize = 64 << 10;

/// Calls that a program may be inside of, and bytes that the interpreter keeps for them.
const RECURSION: usize = 256;
const STACK_BYTES: usize = 1 << 20;

/// A machine for programs.
pub struct Runtime {
    engine: Engine,
}

/// How a run ended.
pub struct Ended {
    /// The results, or why there are none.
    pub results: Result<Vec<u8>, String>,
    /// What was counted until then.
    pub work: Work,
    /// The files, which were lent.
    pub files: Files,
}

impl Runtime {
    /// A machine that knows nothing but numbers, one memory and calls.
    pub fn new() -> Runtime {
        let mut config = Config::default();
        config
            .consume_fuel(true)
            .floats(true)
            .allow_start_fn(false)
            .wasm_multi_memory(false)
            .wasm_bulk_memory(false)
            .wasm_reference_types(false)
            .wasm_tail_call(false)
            .set_max_recursion_depth(RECURSION)
            .set_max_stack_height(STACK_BYTES);
        Runtime {
            engine: Engine::new(&config),
        }
    }

    /// A program with counters, ready to run.
    pub fn compile(&self, code: &[u8]) -> Result<Module, String> {
        Module::new(&self.engine, code).map_err(|error| error.to_string())
    }

    /// Runs a session's program to its end.
    pub fn run(
        &self,
        session: &Session,
        files: Files,
        profile: &SmartProfile,
        limits: &Limits,
    ) -> Ended {
        let sram = profile.device.sram_kib as u32 * 1024;
        let dram = limits.dram_bytes.min(u32::MAX - (4 << 20));
        let memory = (sram as usize + dram as usize).next_multiple_of(GROWTH);
        let inside = Inside {
            files,
            spans: session.spans.clone(),
            parameters: session.parameters.clone(),
            results: Vec::new(),
            work: session.work,
            bursts_of_dram: 0,
            sram,
            dram,
            request_pages: profile.request_pages as u32,
            request_us: profile.device.request_us,
            nanos_limit: limits.nanos,
            result_limit: limits.result_bytes,
            limits: StoreLimitsBuilder::new()
                .memory_size(memory)
                .table_elements(1024)
                .build(),
        };
        let mut store = Store::new(&self.engine, inside);
        store.limiter(|inside| &mut inside.limits);
        let outcome = self.run_in(&mut store, &session.module, profile, limits);
        let inside = store.into_data();
        Ended {
            results: outcome.map(|()| inside.results),
            work: inside.work,
            files: inside.files,
        }
    }

    fn run_in(
        &self,
        store: &mut Store<Inside>,
        module: &Module,
        profile: &SmartProfile,
        limits: &Limits,
    ) -> Result<(), String> {
        let words = |error: wasmi::Error| error.to_string();
        store.set_fuel(SLICE).map_err(words)?;
        let linker = linker(&self.engine).map_err(|error| error.to_string())?;
        let instance = linker
            .instantiate_and_start(&mut *store, module)
            .map_err(words)?;
        let run = instance
            .get_typed_func::<(), i32>(&*store, "run")
            .map_err(|_| "its `run` must take nothing and give a 32-bit number".to_owned())?;
        let mut code = [Val::I32(0)];
        let mut call = run.func().call_resumable(&mut *store, &[], &mut code);
        loop {
            take_counters(store, instance)?;
            within(&store.data().work, profile, limits)?;
            match call.map_err(words)? {
                ResumableCall::Finished => break,
                ResumableCall::HostTrap(trap) => return Err(trap.into_host_error().to_string()),
                ResumableCall::OutOfFuel(more) => {
                    store
                        .set_fuel(SLICE.max(more.required_fuel()))
                        .map_err(words)?;
                    call = more.resume(&mut *store, &mut code);
                }
            }
        }
        match code[0] {
            Val::I32(0) => Ok(()),
            Val::I32(code) => Err(format!("it gave up with code {code}")),
            _ => Err("its `run` gave no 32-bit number".to_owned()),
        }
    }
}

/// Fails when a limit is exceeded.
fn within(work: &Work, profile: &SmartProfile, limits: &Limits) -> Result<(), String> {
    if work.operators > limits.operators {
        return Err(format!(
            "it executed more than {} operators",
            limits.operators
        ));
    }
    in_time(work.running(profile), limits.nanos)
}

/// Copies the program's counters.
fn take_counters(store: &mut Store<Inside>, instance: Instance) -> Result<(), String> {
    let mut counts = [0; 3];
    for (count, name) in counts.iter_mut().zip(COUNTERS) {
        let global = instance.get_global(&*store, name);
        match global.map(|global| global.get(&*store)) {
            Some(Val::I64(value)) => *count = value as u64,
            _ => return Err(format!("its counter {name} is gone")),
        }
    }
    let inside = store.data_mut();
    inside.work.operators = counts[0];
    inside.work.dram_accesses = counts[2] + inside.bursts_of_dram;
    inside.work.sram_accesses = counts[1] - counts[2];
    Ok(())
}
