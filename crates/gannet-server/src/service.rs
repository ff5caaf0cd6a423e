//! The state that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fault::Outcome;
use crate::indexes::{Indexes, random_name};
use crate::settings::Settings;

/// The state of a server.
pub struct Service {
    /// The settings that it was started with.
    pub settings: Settings,
    /// Its indexes.
    pub indexes: Indexes,
    /// The identifier of this run of it.
    pub node: String,
    /// The address at which it listens.
    pub address: String,
    ends: Arc<AtomicBool>,
}

impl Service {
    /// Of a server that listens at `address`.
    pub fn new(settings: Settings, address: String) -> Outcome<Service> {
        let indexes = Indexes::new(&settings.folder, settings.index_memory(), settings.max_open)?;
        Ok(Service {
            indexes,
            node: random_name()?,
            address,
            settings,
            ends: Arc::default(),
        })
    }

    /// Has searches end.
    pub fn end(&self) {
        self.ends.store(true, Ordering::SeqCst);
    }

    /// Tells whether searches are to end.
    pub fn ends(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.ends)
    }
}
