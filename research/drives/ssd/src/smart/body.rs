//! The code of one function with counters.
//!
//! A *run* is a row of operators that execute one after the other: a jump, a call's return aside,
//! leads only to its beginning and only its last operator jumps. A run that traps half-way was
//! counted whole; its session has ended then. Markers (`block`, `loop`, `else`, `end`, `nop`) do
//! nothing and count nothing. A load or a store is one access, whatever its width. A division or
//! root of floats counts as several operators, as no core takes one cycle for it.

use wasmparser::{BinaryReaderError, FunctionBody, MemArg, Operator, ValType};

use super::leb;

/// Bytes of a few operators.
const LOCAL_GET: u8 = 0x20;
const LOCAL_SET: u8 = 0x21;
const LOCAL_TEE: u8 = 0x22;
const GLOBAL_GET: u8 = 0x23;
const GLOBAL_SET: u8 = 0x24;
const I32_CONST: u8 = 0x41;
const I64_CONST: u8 = 0x42;
const I32_GE_U: u8 = 0x4F;
const I64_ADD: u8 = 0x7C;
const I64_EXTEND_I32_U: u8 = 0xAD;
const I32: u8 = 0x7F;
const I64: u8 = 0x7E;
const F32: u8 = 0x7D;
const F64: u8 = 0x7C;

/// Operators that a division or a root of floats counts as: about the cycles that it takes on a
/// small core.
const FLOAT_DIVISION: i64 = 16;

/// An operator: where its bytes begin, and what it is to the counters.
struct Place {
    start: usize,
    kind: Kind,
    /// How many operators it counts as.
    operators: i64,
    access: Option<Access>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Does nothing, but a run begins behind it.
    Marker,
    /// Does nothing, and the run goes on.
    Nothing,
    /// Executes, and the run goes on.
    Plain,
    /// Executes, and a run begins behind it.
    Jump,
}

#[derive(Clone, Copy)]
struct Access {
    offset: u32,
    /// Of a store, the type of what it stores.
    stores: Option<ValType>,
}

/// Writes one function.
struct Writer {
    out: Vec<u8>,
    /// The first counter among the globals, and the first added local.
    counters: u32,
    locals: u32,
    sram: u32,
}

/// A function's body with counters.
pub fn metered(
    body: &FunctionBody,
    code: &[u8],
    parameters: u32,
    globals: u32,
    sram: u32,
) -> Result<Vec<u8>, BinaryReaderError> {
    let places = places(body)?;
    let (declared, locals) = declarations(body, parameters)?;
    let mut writer = Writer {
        out: declared,
        counters: globals,
        locals,
        sram,
    };
    let end = body.range().end;
    let mut begins = true;
    for (at, place) in places.iter().enumerate() {
        if begins {
            writer.count_run(&places[at..]);
        }
        if let Some(access) = place.access {
            writer.count_access(access);
        }
        let next = places.get(at + 1).map_or(end, |next| next.start);
        writer.out.extend_from_slice(&code[place.start..next]);
        begins = matches!(place.kind, Kind::Marker | Kind::Jump);
    }
    Ok(writer.out)
}

fn places(body: &FunctionBody) -> Result<Vec<Place>, BinaryReaderError> {
    let mut places = Vec::new();
    for operator in body.get_operators_reader()?.into_iter_with_offsets() {
        let (operator, start) = operator?;
        places.push(Place {
            start,
            kind: kind(&operator),
            operators: operators(&operator),
            access: access(&operator),
        });
    }
    Ok(places)
}

fn kind(operator: &Operator) -> Kind {
    match operator {
        Operator::Loop { .. } | Operator::Else | Operator::End => Kind::Marker,
        Operator::Block { .. } | Operator::Nop => Kind::Nothing,
        Operator::If { .. }
        | Operator::Br { .. }
        | Operator::BrIf { .. }
        | Operator::BrTable { .. }
        | Operator::Return
        | Operator::Unreachable => Kind::Jump,
        _ => Kind::Plain,
    }
}

fn operators(operator: &Operator) -> i64 {
    use Operator::*;
    match operator {
        F32Div | F64Div | F32Sqrt | F64Sqrt => FLOAT_DIVISION,
        other => i64::from(matches!(kind(other), Kind::Plain | Kind::Jump)),
    }
}

fn access(operator: &Operator) -> Option<Access> {
    use Operator::*;
    let (memarg, stores): (&MemArg, Option<ValType>) = match operator {
        I32Load { memarg } | I64Load { memarg } => (memarg, None),
        I32Load8S { memarg } | I32Load8U { memarg } => (memarg, None),
        I32Load16S { memarg } | I32Load16U { memarg } => (memarg, None),
        I64Load8S { memarg } | I64Load8U { memarg } => (memarg, None),
        I64Load16S { memarg } | I64Load16U { memarg } => (memarg, None),
        I64Load32S { memarg } | I64Load32U { memarg } => (memarg, None),
        I32Store { memarg } | I32Store8 { memarg } | I32Store16 { memarg } => {
            (memarg, Some(ValType::I32))
        }
        I64Store { memarg } | I64Store8 { memarg } => (memarg, Some(ValType::I64)),
        I64Store16 { memarg } | I64Store32 { memarg } => (memarg, Some(ValType::I64)),
        F32Load { memarg } | F64Load { memarg } => (memarg, None),
        F32Store { memarg } => (memarg, Some(ValType::F32)),
        F64Store { memarg } => (memarg, Some(ValType::F64)),
        _ => return None,
    };
    // Addresses have 32 bits, and so have offsets.
    Some(Access {
        offset: memarg.offset as u32,
        stores,
    })
}

/// The declarations of locals with those that the counters take: an address, and a value of each
/// type; and the number of the first of these.
fn declarations(body: &FunctionBody, parameters: u32) -> Result<(Vec<u8>, u32), BinaryReaderError> {
    let mut locals = parameters;
    let mut groups = Vec::new();
    for group in body.get_locals_reader()? {
        let (count, ty) = group?;
        locals += count;
        groups.push((count, code_of(ty)));
    }
    groups.extend([(2, I32), (1, I64), (1, F32), (1, F64)]);
    let mut out = Vec::new();
    leb::put_u32(&mut out, groups.len() as u32);
    for (count, ty) in groups {
        leb::put_u32(&mut out, count);
        out.push(ty);
    }
    Ok((out, locals))
}

/// The byte of a type of numbers; there are no others.
fn code_of(ty: ValType) -> u8 {
    match ty {
        ValType::I64 => I64,
        ValType::F32 => F32,
        ValType::F64 => F64,
        _ => I32,
    }
}

impl Writer {
    /// Adds what the run at the beginning of `places` has to the counters.
    fn count_run(&mut self, places: &[Place]) {
        let (mut operators, mut accesses) = (0, 0);
        for place in places {
            operators += place.operators;
            accesses += i64::from(place.access.is_some());
            if matches!(place.kind, Kind::Marker | Kind::Jump) {
                break;
            }
        }
        for (counter, count) in [(0, operators), (1, accesses)] {
            if count > 0 {
                self.indexed(GLOBAL_GET, self.counters + counter);
                self.out.push(I64_CONST);
                leb::put_i64(&mut self.out, count);
                self.out.push(I64_ADD);
                self.indexed(GLOBAL_SET, self.counters + counter);
            }
        }
    }

    /// Adds an access to those of DRAM if its address lies there. The address is on the stack, for
    /// a store below the value.
    fn count_access(&mut self, access: Access) {
        let (address, dram) = (self.locals, self.counters + 2);
        let value = match access.stores {
            Some(ValType::I64) => Some(self.locals + 2),
            Some(ValType::F32) => Some(self.locals + 3),
            Some(ValType::F64) => Some(self.locals + 4),
            Some(_) => Some(self.locals + 1),
            None => None,
        };
        if let Some(value) = value {
            self.indexed(LOCAL_SET, value);
        }
        self.indexed(LOCAL_TEE, address);
        self.indexed(GLOBAL_GET, dram);
        self.indexed(LOCAL_GET, address);
        self.out.push(I32_CONST);
        let first = self.sram.saturating_sub(access.offset);
        leb::put_i64(&mut self.out, i64::from(first as i32));
        self.out.extend([I32_GE_U, I64_EXTEND_I32_U, I64_ADD]);
        self.indexed(GLOBAL_SET, dram);
        if let Some(value) = value {
            self.indexed(LOCAL_GET, value);
        }
    }

    fn indexed(&mut self, operator: u8, index: u32) {
        self.out.push(operator);
        leb::put_u32(&mut self.out, index);
    }
}
