//! Counters for a program, injected when it is loaded.
//!
//! A module gets three globals: operators that it executed, accesses to memory, and those of them
//! that went to DRAM. Each run of operators without a jump adds its operators and accesses at its
//! beginning; each access adds itself to the third counter if its address lies above SRAM. The
//! interpreter's fuel cannot serve for this: it knows neither the operators of the module nor
//! addresses, and changes with the version of the interpreter.
//!
//! What always holds: the module is valid before it is changed, so its code cannot name a global
//! that is added behind its own. Everything else of it stays byte for byte. What is not counted
//! (vectors, tables that change, bulk copies, several memories) is rejected. Floats are those of
//! IEEE 754, the same on every machine but for the bits of what is no number.

use gannet::{Error, Result};
use wasmparser::{
    ExternalKind, FunctionBody, Import, Parser, Payload, SectionLimited, TypeRef, Validator,
    WasmFeatures,
};

use super::body;
use super::leb;

/// The module that programs import from.
pub const IMPORTS: &str = "gannet";
/// What they may import.
pub const FUNCTIONS: [&str; 5] = ["sram", "dram", "parameters", "read", "emit"];
/// The counters' names among the exports.
pub const COUNTERS: [&str; 3] = ["gannet.operators", "gannet.accesses", "gannet.dram"];

/// Numbers of the sections of a module.
const GLOBALS: u8 = 6;
const EXPORTS: u8 = 7;
const CODE: u8 = 10;

/// What is known of a module while it is read.
#[derive(Default)]
struct Facts {
    /// Parameters of each type, and the type of each function of the module's own.
    parameters: Vec<u32>,
    types: Vec<u32>,
    globals: u32,
    has_memory: bool,
    runs: bool,
}

/// A program with counters; `sram` is the first address of DRAM.
pub fn metered(name: &str, code: &[u8], sram: u32) -> Result<Vec<u8>> {
    let rejected = |problem: String| Error::invalid(format!("program {name}: {problem}"));
    let mut validator = Validator::new_with_features(allowed());
    validator
        .validate_all(code)
        .map_err(|error| rejected(format!("no WebAssembly that a drive runs: {error}")))?;
    let facts = facts(code).map_err(rejected)?;
    rewritten(code, &facts, sram).map_err(rejected)
}

/// What a program may use: version 1, and sign extension.
fn allowed() -> WasmFeatures {
    WasmFeatures::MUTABLE_GLOBAL
        | WasmFeatures::SIGN_EXTENSION
        | WasmFeatures::FLOATS
        | WasmFeatures::GC_TYPES
}

fn facts(code: &[u8]) -> std::result::Result<Facts, String> {
    let mut facts = Facts::default();
    for payload in Parser::new(0).parse_all(code) {
        facts.add(&payload.map_err(|error| error.to_string())?)?;
    }
    match (facts.has_memory, facts.runs) {
        (true, true) => Ok(facts),
        (false, _) => Err("it has no memory of its own: expected one, exported as `memory`".into()),
        (_, false) => Err("it exports no function `run`".into()),
    }
}

impl Facts {
    fn add(&mut self, payload: &Payload) -> std::result::Result<(), String> {
        let parsed = |error: wasmparser::BinaryReaderError| error.to_string();
        match payload {
            Payload::TypeSection(section) => {
                for ty in section.clone().into_iter_err_on_gc_types() {
                    self.parameters
                        .push(ty.map_err(parsed)?.params().len() as u32);
                }
            }
            Payload::ImportSection(section) => {
                for import in section.clone() {
                    check_import(&import.map_err(parsed)?)?;
                }
            }
            Payload::FunctionSection(section) => {
                for ty in section.clone() {
                    self.types.push(ty.map_err(parsed)?);
                }
            }
            Payload::GlobalSection(section) => self.globals = section.count(),
            Payload::ExportSection(section) => {
                for export in section.clone() {
                    let export = export.map_err(parsed)?;
                    self.has_memory |=
                        (export.name, export.kind) == ("memory", ExternalKind::Memory);
                    self.runs |= (export.name, export.kind) == ("run", ExternalKind::Func);
                }
            }
            Payload::StartSection { .. } => {
                return Err("it has a start function: only `run` is called".into());
            }
            _ => {}
        }
        Ok(())
    }
}

fn check_import(import: &Import) -> std::result::Result<(), String> {
    let is_known = import.module == IMPORTS && FUNCTIONS.contains(&import.name);
    if is_known && matches!(import.ty, TypeRef::Func(_)) {
        return Ok(());
    }
    let (module, name, known) = (import.module, import.name, FUNCTIONS.join(", "));
    Err(format!(
        "it imports {module}.{name}: expected functions of {IMPORTS}: {known}"
    ))
}

/// The module anew, section by section, in their order.
fn rewritten(code: &[u8], facts: &Facts, sram: u32) -> std::result::Result<Vec<u8>, String> {
    let mut out = code[..8].to_vec();
    let mut globals_are_due = true;
    for payload in Parser::new(0).parse_all(code) {
        let payload = payload.map_err(|error| error.to_string())?;
        let Some((id, range)) = payload.as_section() else {
            continue;
        };
        if globals_are_due && id != 0 && id > GLOBALS {
            put_section(&mut out, GLOBALS, &globals(None, code));
            globals_are_due = false;
        }
        match &payload {
            Payload::CustomSection(_) => continue,
            Payload::GlobalSection(section) => {
                put_section(&mut out, GLOBALS, &globals(Some(section), code));
                globals_are_due = false;
            }
            Payload::ExportSection(section) => {
                put_section(&mut out, EXPORTS, &exports(section, code, facts.globals));
            }
            Payload::CodeSectionStart { .. } => {
                put_section(&mut out, CODE, &bodies(code, facts, sram)?);
            }
            _ => put_section(&mut out, id, &code[range]),
        }
    }
    Ok(out)
}

fn bodies(code: &[u8], facts: &Facts, sram: u32) -> std::result::Result<Vec<u8>, String> {
    let bodies: Vec<FunctionBody> = Parser::new(0)
        .parse_all(code)
        .filter_map(|payload| match payload {
            Ok(Payload::CodeSectionEntry(body)) => Some(body),
            _ => None,
        })
        .collect();
    let mut out = Vec::new();
    leb::put_u32(&mut out, bodies.len() as u32);
    for (body, ty) in bodies.iter().zip(&facts.types) {
        let metered = body::metered(
            body,
            code,
            facts.parameters[*ty as usize],
            facts.globals,
            sram,
        )
        .map_err(|error| error.to_string())?;
        leb::put_u32(&mut out, metered.len() as u32);
        out.extend_from_slice(&metered);
    }
    Ok(out)
}

/// The module's globals and behind them the counters, 64-bit numbers that begin at 0.
fn globals(section: Option<&SectionLimited<wasmparser::Global>>, code: &[u8]) -> Vec<u8> {
    const COUNTER: [u8; 5] = [0x7E, 0x01, 0x42, 0x00, 0x0B];
    let mut out = Vec::new();
    put_longer(&mut out, section, code);
    COUNTERS
        .iter()
        .for_each(|_| out.extend_from_slice(&COUNTER));
    out
}

/// The module's exports and behind them the counters.
fn exports(section: &SectionLimited<wasmparser::Export>, code: &[u8], globals: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_longer(&mut out, Some(section), code);
    for (place, name) in (globals..).zip(COUNTERS) {
        leb::put_u32(&mut out, name.len() as u32);
        out.extend_from_slice(name.as_bytes());
        out.push(3);
        leb::put_u32(&mut out, place);
    }
    out
}

/// The items of a section, with a count that has room for the counters.
fn put_longer<T>(out: &mut Vec<u8>, section: Option<&SectionLimited<T>>, code: &[u8]) {
    let Some(section) = section else {
        leb::put_u32(out, COUNTERS.len() as u32);
        return;
    };
    leb::put_u32(out, section.count() + COUNTERS.len() as u32);
    let range = section.range();
    let items = leb::skip_u32(&code[range.clone()]);
    out.extend_from_slice(&code[range.start + items..range.end]);
}

fn put_section(out: &mut Vec<u8>, id: u8, content: &[u8]) {
    out.push(id);
    leb::put_u32(out, content.len() as u32);
    out.extend_from_slice(content);
}
