//! Parts that tests of Gannet share.
//!
//! - [`oracle`] is a naive search engine, against which answers are compared.
//! - [`random`] has documents and queries from a seed.
//! - [`devices`] record, fail and lose power; [`conformance`] has what every device must pass.
//! - [`fuzz`] has the decoders that read what others wrote, for `fuzz/` and for tests.
//!
//! Devices and decoders stand in the engine, whose unit tests use them too; they are named here.

pub mod oracle;
pub mod random;

/// Devices in memory that record requests, fail on command and lose what was not synced.
pub mod devices {
    pub use gannet::testing::{
        BoundedDevice, CrashImage, Fault, FaultKind, MemoryDevice, MemoryPage, RecordingDevice,
    };
}

/// Suites that a device passes, whoever wrote it.
pub mod conformance {
    pub use gannet::testing::{conformance, rewriting_conformance, sealed_conformance};
}

/// Decoders of everything that is read from a file or a user, each on any bytes.
pub mod fuzz {
    pub use gannet::testing::{FuzzTarget, TARGETS};
}

/// Phases of the writer, which a test can wait for.
pub use gannet::testing::Phase;
