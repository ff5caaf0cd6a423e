//! Programs that want harm, modules that are none, and calls that make no sense: each is answered
//! with an error that says why, and a session beside it goes on to the same answer.

use gannet::device::{FileId, Offload, PageSpan, Poll, SessionId, Task};
use gannet_ssd::smart::{Limits, SmartProfile, SmartSsd};

const FILE: FileId = FileId::Zone(7);

/// What every program here can call, and a memory of one page of 64 KiB.
const PRELUDE: &str = r#"
  (import "gannet" "sram" (func $sram (result i32)))
  (import "gannet" "dram" (func $dram (result i32)))
  (import "gannet" "parameters" (func $parameters (param i32 i32) (result i32)))
  (import "gannet" "read" (func $read (param i32 i32 i32 i32)))
  (import "gannet" "emit" (func $emit (param i32 i32)))
  (memory (export "memory") 1)
"#;

/// Reads both pages of its span and sends the first eight bytes of each.
const GOOD: &str = "(call $read (i32.const 0) (i32.const 0) (i32.const 2) (i32.const 32768))
  (call $emit (i32.const 32768) (i32.const 8))
  (call $emit (i32.const 36864) (i32.const 8)) (i32.const 0)";

fn limits(profile: &SmartProfile) -> Limits {
    Limits {
        dram_bytes: 4 << 20,
        operators: 1_000_000,
        nanos: 2_000_000_000,
        result_bytes: 1 << 20,
        ..Limits::of(profile)
    }
}

fn drive() -> SmartSsd {
    let profile = SmartProfile::named("smart-ssd-2016").unwrap();
    let drive = SmartSsd::new(&profile, limits(&profile)).unwrap();
    let content: Vec<u8> = (0..3 * 4096_u32).map(|at| (at / 4096 + 1) as u8).collect();
    drive.store(FILE, &content).unwrap();
    drive.load("good", &program(GOOD)).unwrap();
    drive
}

fn module(text: &str) -> Vec<u8> {
    wat::parse_str(format!("(module {text})")).unwrap()
}

/// A program whose `run` has this body.
fn program(body: &str) -> Vec<u8> {
    module(&format!(
        "{PRELUDE} (func (export \"run\") (result i32) {body})"
    ))
}

fn span(page: u32, pages: u32) -> PageSpan {
    PageSpan {
        file: FILE,
        page,
        pages,
    }
}

fn open(drive: &SmartSsd, program: &str) -> SessionId {
    let spans = [span(0, 2)];
    drive
        .open(&Task {
            program,
            parameters: &[],
            spans: &spans,
        })
        .unwrap()
}

/// Polls until the program has ended.
fn fetch(drive: &SmartSsd, session: SessionId) -> gannet::Result<Vec<u8>> {
    let mut results = Vec::new();
    loop {
        if let Poll::Results { bytes, more } = drive.get(session, 5)? {
            results.extend(bytes);
            if !more {
                return Ok(results);
            }
        }
    }
}

/// Runs a program while a good one is open beside it; gives what it ended with.
fn beside_a_neighbour(name: &str, code: &[u8]) -> String {
    let drive = drive();
    let neighbour = open(&drive, "good");
    let message = match drive.load("bad", code) {
        Err(error) => error.to_string(),
        Ok(()) => {
            let session = open(&drive, "bad");
            let error = fetch(&drive, session).expect_err(name).to_string();
            assert!(fetch(&drive, session).is_err(), "{name}: a failure stays");
            drive.close(session).unwrap();
            error
        }
    };
    let answer = fetch(&drive, neighbour).unwrap();
    assert_eq!(
        answer,
        [[1; 8], [2; 8]].concat(),
        "{name}: the neighbour's answer"
    );
    message
}

#[test]
fn hostile_programs_end_their_own_session_only() {
    let forever = "it executed more than 1000000 operators";
    let memory = "of its memory";
    let cases = [
        ("endless loop", "(loop $l (br $l)) unreachable", forever),
        (
            "endless loop of loads",
            "(loop $l (drop (i32.load (i32.const 8))) (br $l)) unreachable",
            forever,
        ),
        (
            "endless loop of stores",
            "(loop $l (i64.store (i32.const 40000) (i64.const 1)) (br $l)) unreachable",
            forever,
        ),
        (
            "endless branch table",
            "(loop $l (br_table $l $l (i32.const 0))) unreachable",
            forever,
        ),
        (
            "endless condition",
            "(loop $l (br_if $l (i32.const 1))) (i32.const 0)",
            forever,
        ),
        (
            "endless calls out",
            "(loop $l (drop (call $sram)) (br $l)) unreachable",
            forever,
        ),
        (
            "endless parameters",
            "(loop $l (drop (call $parameters (i32.const 0) (i32.const 9))) (br $l)) unreachable",
            forever,
        ),
        (
            "endless empty results",
            "(loop $l (call $emit (i32.const 0) (i32.const 0)) (br $l)) unreachable",
            forever,
        ),
        (
            "endless growth",
            "(loop $l (drop (memory.grow (i32.const 1))) (br $l)) unreachable",
            forever,
        ),
        ("unreachable", "unreachable", "unreachable"),
        (
            "division by zero",
            "(i32.div_u (i32.const 1) (i32.const 0))",
            "divide by zero",
        ),
        (
            "remainder by zero",
            "(i32.wrap_i64 (i64.rem_s (i64.const 1) (i64.const 0)))",
            "divide by zero",
        ),
        (
            "overflow",
            "(i32.div_s (i32.const 0x80000000) (i32.const -1))",
            "overflow",
        ),
        (
            "load beyond memory",
            "(i32.load (i32.const 65533))",
            "out of bounds",
        ),
        (
            "load at the last address",
            "(i32.load offset=4294967295 (i32.const -1))",
            "out of bounds",
        ),
        (
            "store beyond memory",
            "(i64.store (i32.const 65536) (i64.const 1)) (i32.const 0)",
            "out of bounds",
        ),
        (
            "growth beyond the limit",
            "(if (i32.eq (memory.grow (i32.const 100)) (i32.const -1)) (then (return (i32.const 77)))) (i32.const 0)",
            "code 77",
        ),
        (
            "growth to all addresses",
            "(if (i32.eq (memory.grow (i32.const 65535)) (i32.const -1)) (then (return (i32.const 78)))) (i32.const 0)",
            "code 78",
        ),
        (
            "touching what did not grow",
            "(drop (memory.grow (i32.const 200))) (i32.load (i32.const 5000000))",
            "out of bounds",
        ),
        (
            "span of another session",
            "(call $read (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 32768)) (i32.const 0)",
            "span 1",
        ),
        (
            "span of a negative number",
            "(call $read (i32.const -1) (i32.const 0) (i32.const 1) (i32.const 32768)) (i32.const 0)",
            "does not have",
        ),
        (
            "page behind the span",
            "(call $read (i32.const 0) (i32.const 2) (i32.const 1) (i32.const 32768)) (i32.const 0)",
            "page 2 of span 0",
        ),
        (
            "pages that wrap around",
            "(call $read (i32.const 0) (i32.const -1) (i32.const 2) (i32.const 32768)) (i32.const 0)",
            "does not have",
        ),
        (
            "all pages",
            "(call $read (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 32768)) (i32.const 0)",
            "does not have",
        ),
        (
            "read into SRAM",
            "(call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0)) (i32.const 0)",
            "SRAM",
        ),
        (
            "read beyond memory",
            "(call $read (i32.const 0) (i32.const 0) (i32.const 2) (i32.const 61440)) (i32.const 0)",
            memory,
        ),
        (
            "read at the last address",
            "(call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const -4)) (i32.const 0)",
            memory,
        ),
        (
            "results beyond memory",
            "(call $emit (i32.const 65535) (i32.const 2)) (i32.const 0)",
            memory,
        ),
        (
            "results of all memory",
            "(call $emit (i32.const 0) (i32.const -1)) (i32.const 0)",
            memory,
        ),
        (
            "results that wrap around",
            "(call $emit (i32.const -8) (i32.const 16)) (i32.const 0)",
            memory,
        ),
        (
            "flood of results",
            "(loop $l (call $emit (i32.const 0) (i32.const 65536)) (br $l)) unreachable",
            "1048576 bytes of results",
        ),
        (
            "flood of reads",
            "(loop $l (call $read (i32.const 0) (i32.const 0) (i32.const 2) (i32.const 32768)) (br $l)) unreachable",
            "2000 ms",
        ),
        ("giving up", "(i32.const 5)", "code 5"),
        (
            "giving up with a negative code",
            "(i32.const -5)",
            "code -5",
        ),
    ];
    for (name, body, reason) in cases {
        let message = beside_a_neighbour(name, &program(body));
        assert!(message.contains(reason), "{name}: {message}");
    }
}

/// The limit of results is the last number of bytes that is allowed, in one piece and in many.
#[test]
fn results_up_to_the_limit_are_sent_and_one_byte_more_is_not() {
    let profile = SmartProfile::named("smart-ssd-2016").unwrap();
    let limits = Limits {
        result_bytes: 4_096,
        ..limits(&profile)
    };
    let drive = SmartSsd::new(&profile, limits).unwrap();
    drive.store(FILE, &[7; 2 * 4_096]).unwrap();
    let emit = |bytes: u32| format!("(call $emit (i32.const 32768) (i32.const {bytes}))");
    let pieces = emit(1_024).repeat(4);
    for (body, sent) in [
        (emit(4_095), Some(4_095)),
        (emit(4_096), Some(4_096)),
        (emit(4_097), None),
        (pieces.clone(), Some(4_096)),
        (pieces.clone() + &emit(0), Some(4_096)),
        (pieces + &emit(1), None),
    ] {
        drive
            .load("sends", &program(&format!("{body} (i32.const 0)")))
            .unwrap();
        let session = open(&drive, "sends");
        let results = fetch(&drive, session);
        drive.close(session).unwrap();
        match sent {
            Some(bytes) => assert_eq!(results.unwrap().len(), bytes, "{body}"),
            None => {
                let message = results.unwrap_err().to_string();
                assert!(message.contains("4096 bytes of results"), "{message}");
            }
        }
    }
}

#[test]
fn hostile_modules_are_rejected_or_end_their_session() {
    let run = "(func (export \"run\") (result i32) (i32.const 0))";
    let memory = "(memory (export \"memory\") 1)";
    let long = "(i32.const 0)(drop)".repeat(30_000);
    let deep = format!("{}{}", "block ".repeat(3_000), "end ".repeat(3_000));
    let with = |text: &str| format!("{memory} {run} {text}");
    let cases: Vec<(&str, String, &str)> = vec![
        (
            "recursion",
            format!("{memory} (func $f (export \"run\") (result i32) (call $f))"),
            "call stack",
        ),
        (
            "mutual recursion",
            format!(
                "{memory} (func $f (export \"run\") (result i32) (call $g)) (func $g (result i32) (call $f))"
            ),
            "call stack",
        ),
        (
            "a table's empty place",
            format!(
                "{memory} (table 1 funcref) (type $t (func (result i32))) (func (export \"run\") (result i32) (call_indirect (type $t) (i32.const 0)))"
            ),
            "uninitialized",
        ),
        (
            "behind a table",
            format!(
                "{memory} (table 1 funcref) (type $t (func (result i32))) (func (export \"run\") (result i32) (call_indirect (type $t) (i32.const 9)))"
            ),
            "table",
        ),
        (
            "a call of another type",
            format!(
                "{memory} (table 1 funcref) (elem (i32.const 0) $f) (func $f) (type $t (func (result i32))) (func (export \"run\") (result i32) (call_indirect (type $t) (i32.const 0)))"
            ),
            "mismatch",
        ),
        (
            "hiding its loop from counters",
            format!(
                "{memory} (global $g (mut i64) (i64.const 0)) (func (export \"run\") (result i32) (loop $l (global.set $g (i64.const -1)) (br $l)) unreachable)"
            ),
            "1000000 operators",
        ),
        (
            "exporting a counter",
            with("(global (export \"gannet.operators\") (mut i64) (i64.const 0))"),
            "rejected",
        ),
        (
            "atomics",
            with("(func (drop (i32.atomic.load (i32.const 0))))"),
            "no WebAssembly that a drive runs",
        ),
        (
            "vectors",
            with("(func (drop (v128.const i64x2 0 0)))"),
            "no WebAssembly that a drive runs",
        ),
        (
            "two memories",
            with("(memory 1)"),
            "no WebAssembly that a drive runs",
        ),
        (
            "64-bit memory",
            format!("(memory (export \"memory\") i64 1) {run}"),
            "no WebAssembly that a drive runs",
        ),
        (
            "bulk copies",
            with("(func (memory.copy (i32.const 0) (i32.const 0) (i32.const 0)))"),
            "no WebAssembly that a drive runs",
        ),
        (
            "bulk fills",
            with("(func (memory.fill (i32.const 0) (i32.const 0) (i32.const 0)))"),
            "no WebAssembly that a drive runs",
        ),
        (
            "tail calls",
            with("(func $f (return_call $f))"),
            "no WebAssembly that a drive runs",
        ),
        (
            "references",
            with("(func (drop (ref.null func)))"),
            "no WebAssembly that a drive runs",
        ),
        (
            "atomics",
            format!("(memory (export \"memory\") 1 1 shared) {run}"),
            "no WebAssembly that a drive runs",
        ),
        (
            "exceptions",
            with("(tag)"),
            "no WebAssembly that a drive runs",
        ),
        (
            "a start function",
            with("(func $s) (start $s)"),
            "start function",
        ),
        (
            "system calls",
            format!(
                "(import \"wasi_snapshot_preview1\" \"fd_write\" (func)) {}",
                with("")
            ),
            "wasi_snapshot_preview1.fd_write",
        ),
        (
            "a memory from outside",
            format!("(import \"gannet\" \"read\" (memory 1)) {run}"),
            "gannet.read",
        ),
        (
            "an unknown call",
            format!("(import \"gannet\" \"write\" (func)) {}", with("")),
            "gannet.write",
        ),
        (
            "a call of another form",
            format!(
                "(import \"gannet\" \"read\" (func (param i64))) {}",
                with("")
            ),
            "read",
        ),
        ("no memory", run.to_owned(), "no memory"),
        ("a hidden memory", format!("(memory 1) {run}"), "no memory"),
        ("no run", memory.to_owned(), "`run`"),
        (
            "run is no function",
            format!("{memory} (global (export \"run\") i32 (i32.const 0))"),
            "`run`",
        ),
        (
            "run takes something",
            format!("{memory} (func (export \"run\") (param i32) (result i32) (i32.const 0))"),
            "`run` must",
        ),
        (
            "run gives nothing",
            format!("{memory} (func (export \"run\"))"),
            "`run` must",
        ),
        (
            "more memory than there is",
            format!("(memory (export \"memory\") 1000) {run}"),
            "memory",
        ),
        (
            "data outside memory",
            with("(data (i32.const 70000) \"x\")"),
            "out of bounds",
        ),
        ("a table of all", with("(table 100000000 funcref)"), "table"),
        (
            "a large program",
            with(&format!("(func {long})")),
            "at most 65536",
        ),
        (
            "deep blocks that never return",
            format!(
                "{memory} (func (export \"run\") (result i32) {deep} (loop $l (br $l)) unreachable)"
            ),
            "1000000 operators",
        ),
    ];
    for (name, text, reason) in &cases {
        let message = beside_a_neighbour(name, &module(text));
        assert!(message.contains(reason), "{name}: {message}");
    }
}

#[test]
fn bytes_that_are_no_module_are_rejected() {
    let good = program(GOOD);
    let mut wrong_version = good.clone();
    wrong_version[4] = 9;
    let mut component = good.clone();
    component[6] = 1;
    // The last operator of the body, a constant of 32 bits, becomes one of 64.
    let mut wrong_type = good.clone();
    let body_end = [0x41, 0x00, 0x0B];
    let at = good.windows(3).rposition(|bytes| bytes == body_end);
    wrong_type[at.unwrap()] = 0x42;
    let cases: [(&str, &[u8]); 7] = [
        ("nothing", &[]),
        ("text", b"(module)"),
        ("the magic only", &good[..4]),
        ("half a module", &good[..good.len() / 2]),
        ("another version", &wrong_version),
        ("a component", &component),
        ("a wrong type", &wrong_type),
    ];
    for (name, code) in cases {
        let message = beside_a_neighbour(name, code);
        assert!(
            message.contains("no WebAssembly that a drive runs"),
            "{name}: {message}"
        );
    }
    // Whatever byte is changed, nothing but an error or an answer comes of it.
    for at in 0..good.len() {
        for change in [0x01, 0x80, 0xFF] {
            let mut code = good.clone();
            code[at] ^= change;
            let drive = drive();
            if drive.load("bad", &code).is_ok() {
                let session = open(&drive, "bad");
                let _ = fetch(&drive, session);
            }
            assert_eq!(fetch(&drive, open(&drive, "good")).unwrap().len(), 16);
        }
    }
}

#[test]
fn malformed_calls_say_what_was_expected() {
    let drive = drive();
    let rejected = |result: gannet::Result<SessionId>, reason: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    };
    let ask = |program: &str, parameters: usize, spans: &[PageSpan]| {
        drive.open(&Task {
            program,
            parameters: &vec![0; parameters],
            spans,
        })
    };
    rejected(ask("none", 0, &[]), "no program none: expected one of good");
    rejected(
        ask(
            "good",
            0,
            &[PageSpan {
                file: FileId::Zone(8),
                ..span(0, 1)
            }],
        ),
        "no file zone-00000008",
    );
    rejected(ask("good", 0, &[span(3, 1)]), "which has 3");
    rejected(ask("good", 0, &[span(u32::MAX, u32::MAX)]), "which has 3");
    rejected(ask("good", 0, &[span(0, 1); 65]), "at most 64");
    rejected(ask("good", 4097, &[]), "at most 4096");

    let session = open(&drive, "good");
    let put = |span, page, bytes: usize| drive.put(session, span, page, &vec![9; bytes]);
    for (result, reason) in [
        (put(1, 0, 4096), "span 1"),
        (put(0, 2, 4096), "whole pages"),
        (put(0, u32::MAX, 4096), "whole pages"),
        (put(0, 0, 100), "whole pages"),
        (put(0, 0, 0), "whole pages"),
    ] {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    }
    put(0, 1, 4096).unwrap();
    assert_eq!(drive.get(session, 0).unwrap(), Poll::Running);
    assert!(
        put(0, 0, 4096)
            .unwrap_err()
            .to_string()
            .contains("before the first GET")
    );
    assert_eq!(fetch(&drive, session).unwrap(), [[1; 8], [9; 8]].concat());
    assert_eq!(
        fetch(&drive, session).unwrap(),
        [0_u8; 0],
        "results are fetched once"
    );

    drive.close(session).unwrap();
    let closed = format!("session {} is not open", session.0);
    for message in [
        drive.get(session, 1).unwrap_err().to_string(),
        drive
            .put(session, 0, 0, &[0; 4096])
            .unwrap_err()
            .to_string(),
        drive.close(session).unwrap_err().to_string(),
        drive.report(session).unwrap_err().to_string(),
        drive.get(SessionId(u64::MAX), 1).unwrap_err().to_string(),
    ] {
        assert!(message.contains("is not open"), "{message}, not {closed}");
    }
    // All sessions taken, then one is free again.
    let sessions: Vec<SessionId> = (0..4).map(|_| open(&drive, "good")).collect();
    rejected(ask("good", 0, &[]), "all 4 sessions");
    drive.close(sessions[2]).unwrap();
    open(&drive, "good");
    for number in 0..31 {
        drive
            .load(&format!("program {number}"), &program(GOOD))
            .unwrap();
    }
    let message = drive
        .load("one more", &program(GOOD))
        .unwrap_err()
        .to_string();
    assert!(message.contains("32 programs"), "{message}");
}
