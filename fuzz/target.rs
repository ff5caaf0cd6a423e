//! The target that GANNET_FUZZ names, run by libFuzzer.

#![no_main]

use std::env;
use std::sync::LazyLock;

use gannet_testkit::fuzz::{FuzzTarget, TARGETS};
use libfuzzer_sys::fuzz_target;

static CHOSEN: LazyLock<&FuzzTarget> = LazyLock::new(|| {
    let name = env::var("GANNET_FUZZ").unwrap_or_default();
    FuzzTarget::named(&name).unwrap_or_else(|| {
        let names = TARGETS.each_ref().map(|target| target.name).join(", ");
        panic!("GANNET_FUZZ must name one of {names}")
    })
});

fuzz_target!(|bytes: &[u8]| CHOSEN.run(bytes));
