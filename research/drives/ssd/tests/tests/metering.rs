//! Counters against programs whose operators and accesses can be counted by hand.

use gannet::device::{FileId, Offload, Poll, Task};
use gannet_ssd::smart::{Limits, SmartProfile, SmartSsd, Work};

fn run(functions: &str) -> Work {
    let profile = SmartProfile::named("smart-ssd-2016").unwrap();
    let drive = SmartSsd::new(&profile, Limits::of(&profile)).unwrap();
    let span = drive.store(FileId::Zone(0), &[0; 8192]).unwrap();
    let text = format!(
        "(module (import \"gannet\" \"read\" (func $read (param i32 i32 i32 i32)))
           (import \"gannet\" \"emit\" (func $emit (param i32 i32)))
           (memory (export \"memory\") 1) {functions})"
    );
    drive
        .load("program", &wat::parse_str(text).unwrap())
        .unwrap();
    let task = Task {
        program: "program",
        parameters: &[1, 2, 3],
        spans: &[span],
    };
    let session = drive.open(&task).unwrap();
    while drive.get(session, 1 << 20).unwrap() == Poll::Running {}
    drive.report(session).unwrap().work
}

/// Operators and accesses to DRAM and SRAM of a body of `run`.
fn counts(body: &str) -> (u64, u64, u64) {
    let work = run(&format!(
        "(func (export \"run\") (result i32) (local i32 i64) {body})"
    ));
    (work.operators, work.dram_accesses, work.sram_accesses)
}

#[test]
fn operators_are_those_that_were_executed() {
    assert_eq!(counts("(i32.const 0)").0, 1);
    assert_eq!(
        counts("nop (block) (i32.const 0)").0,
        1,
        "markers count nothing"
    );
    assert_eq!(counts("(i32.sub (i32.const 4) (i32.const 4))").0, 3);
    let branch = "(if (result i32) (i32.const 1) (then (i32.const 0)) (else (i32.const 0) (drop) (i32.const 0)))";
    assert_eq!(counts(branch).0, 3);
    assert_eq!(
        counts(&branch.replacen("(i32.const 1)", "(i32.const 0)", 1)).0,
        5
    );
    // Seven operators of each turn: get, const, add, tee, const, compare, jump.
    let turns = "(loop $l (br_if $l (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 10)))) (i32.const 0)";
    assert_eq!(counts(turns).0, 10 * 7 + 1);
    let table = "(block $a (block $b (br_table $a $b (i32.const 1))) (return (i32.const 0))) (i32.const 1) (drop) (i32.const 0)";
    assert_eq!(counts(table).0, 4);
    let call = run(
        "(func $f (param i32) (result i32) (local.get 0)) (func (export \"run\") (result i32) (call $f (i32.const 0)))",
    );
    assert_eq!(call.operators, 3);
}

#[test]
fn accesses_are_told_apart_by_their_address() {
    let drops = |load: &str| counts(&format!("(drop ({load})) (i32.const 0)"));
    assert_eq!(drops("i32.load (i32.const 32764)"), (4, 0, 1));
    assert_eq!(drops("i32.load (i32.const 32768)"), (4, 1, 0));
    assert_eq!(drops("i64.load8_u offset=32767 (i32.const 0)"), (4, 0, 1));
    assert_eq!(drops("i64.load16_s offset=32767 (i32.const 1)"), (4, 1, 0));
    assert_eq!(drops("i64.load32_u offset=40000 (i32.const 0)"), (4, 1, 0));
    let store = |store: &str| counts(&format!("({store}) (i32.const 0)"));
    assert_eq!(store("i32.store8 (i32.const 5) (i32.const 1)"), (4, 0, 1));
    assert_eq!(
        store("i64.store offset=32000 (i32.const 768) (i64.const 1)"),
        (4, 1, 0)
    );
    assert_eq!(
        store("i64.store16 (i32.const 65534) (i64.const 1)"),
        (4, 1, 0)
    );
}

/// A division counts as sixteen operators, any other operator of floats as one.
#[test]
fn floats_are_counted() {
    let sum = "(f64.add (f64.const 1) (f64.const 2))";
    assert_eq!(counts(&format!("(drop {sum}) (i32.const 0)")).0, 5);
    let quotient = sum.replace("add", "div");
    assert_eq!(counts(&format!("(drop {quotient}) (i32.const 0)")).0, 20);
    let drops = |load: &str| counts(&format!("(drop ({load})) (i32.const 0)"));
    assert_eq!(drops("f32.load (i32.const 32768)"), (4, 1, 0));
    assert_eq!(drops("f64.load (i32.const 32760)"), (4, 0, 1));
    let store = |store: &str| counts(&format!("({store}) (i32.const 0)"));
    assert_eq!(
        store("f32.store offset=32768 (i32.const 0) (f32.const 1)"),
        (4, 1, 0)
    );
    assert_eq!(store("f64.store (i32.const 16) (f64.const 1)"), (4, 0, 1));
}

#[test]
fn what_is_stored_stays_what_it_was() {
    let body = "(i64.store offset=8 (i32.const 40000) (i64.const 0x1122334455667788))
      (i32.store (i32.const 16) (i32.const -2))
      (f32.store (i32.const 20) (f32.const 0.5)) (f64.store (i32.const 24) (f64.const -2))
      (call $emit (i32.const 40008) (i32.const 8)) (call $emit (i32.const 16) (i32.const 16)) (i32.const 0)";
    let profile = SmartProfile::named("smart-ssd-2016").unwrap();
    let drive = SmartSsd::new(&profile, Limits::of(&profile)).unwrap();
    let text = format!(
        "(module (import \"gannet\" \"emit\" (func $emit (param i32 i32))) (memory (export \"memory\") 1)
         (func (export \"run\") (result i32) {body}))"
    );
    drive
        .load("program", &wat::parse_str(text).unwrap())
        .unwrap();
    let session = drive
        .open(&Task {
            program: "program",
            parameters: &[],
            spans: &[],
        })
        .unwrap();
    let bytes = loop {
        if let Poll::Results { bytes, .. } = drive.get(session, 100).unwrap() {
            break bytes;
        }
    };
    assert_eq!(
        bytes,
        [
            0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xFE, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x3F,
            0, 0, 0, 0, 0, 0, 0, 0xC0
        ]
    );
}

#[test]
fn pages_bursts_and_bytes_of_the_link_are_counted() {
    let body = "(call $read (i32.const 0) (i32.const 0) (i32.const 2) (i32.const 32768))
      (call $emit (i32.const 32768) (i32.const 64)) (call $emit (i32.const 0) (i32.const 33)) (i32.const 0)";
    let work = run(&format!("(func (export \"run\") (result i32) {body})"));
    assert_eq!((work.flash_pages, work.result_bytes), (2, 97));
    assert_eq!(
        work.dram_accesses,
        2 + 2 + 2,
        "bursts are read and written, from SRAM only written"
    );
    assert_eq!(work.link_bytes, 3 + 12 + 97);
    assert!(work.flash_nanos > 50_000 && work.polls >= 1);
}
