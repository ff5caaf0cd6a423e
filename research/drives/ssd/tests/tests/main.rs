//! The model held against what is known of drives.

mod amplification;
mod determinism;
mod device;
mod hostile;
mod metering;
mod timing;
