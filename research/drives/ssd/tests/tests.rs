//! The model held against what is known of drives.

#[path = "tests/amplification.rs"]
mod amplification;
#[path = "tests/determinism.rs"]
mod determinism;
#[path = "tests/device.rs"]
mod device;
#[path = "tests/hostile.rs"]
mod hostile;
#[path = "tests/metering.rs"]
mod metering;
#[path = "tests/timing.rs"]
mod timing;
