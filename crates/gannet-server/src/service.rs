//! The state that all requests share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use crate::fault::{Fault, Outcome};
use crate::indexes::{Indexes, random_name};
use crate::keys::Keys;
use crate::metrics::Metrics;
use crate::searching::Contexts;
use crate::settings::Settings;
use crate::tasks::Tasks;

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
    /// Scrolls and points in time.
    pub contexts: Contexts,
    /// Changes that go on behind their requests.
    pub tasks: Arc<Tasks>,
    /// The keys, if only those who have one may ask.
    pub keys: Option<Keys>,
    /// Set if only this machine can ask.
    pub is_local: bool,
    /// Figures of requests.
    pub metrics: Arc<Metrics>,
    ends: Arc<AtomicBool>,
    /// Holds what requests share, for those that go on behind theirs.
    own: OnceLock<Weak<Service>>,
}

impl Service {
    /// Of a server that listens at `address`.
    pub fn new(settings: Settings, address: SocketAddr) -> Outcome<Service> {
        let keys = settings.keys.as_deref().map(Keys::read).transpose()?;
        let indexes = Indexes::new(&settings.folder, settings.index_memory(), settings.max_open)?;
        Ok(Service {
            indexes,
            contexts: Contexts::new(settings.max_open),
            tasks: Arc::default(),
            own: OnceLock::new(),
            node: random_name()?,
            is_local: address.ip().is_loopback(),
            address: address.to_string(),
            keys,
            settings,
            metrics: Arc::default(),
            ends: Arc::default(),
        })
    }

    /// Has searches end, and gives up what is kept between them.
    pub fn end(&self) {
        self.contexts.clear();
        self.tasks.cancel_all();
        self.ends.store(true, Ordering::SeqCst);
    }

    /// Makes it one that tasks can share.
    pub fn shared(self) -> Arc<Service> {
        let service = Arc::new(self);
        // It is new, so nothing was set before.
        let _ = service.own.set(Arc::downgrade(&service));
        service
    }

    /// The state for a task, which outlives its request.
    pub fn of_task(&self) -> Outcome<Arc<Service>> {
        let own = self.own.get().and_then(Weak::upgrade);
        own.ok_or_else(|| Fault::internal("the server does not run"))
    }

    /// Returns true if the server ends.
    pub fn is_ending(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }

    /// Tells whether searches are to end.
    pub fn ends(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.ends)
    }
}
