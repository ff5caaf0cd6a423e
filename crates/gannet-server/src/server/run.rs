//! From listening to the end.
//!
//! A server that is to end stops accepting, lets requests finish for a while, stops what still
//! runs, and closes its indexes with a checkpoint. Whatever was acknowledged is durable all the
//! same.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;
use tracing::{info, warn};

use super::connections::Connections;
use super::dispatch::{Shared, router};
use super::lanes::Lanes;
use super::listen::{Listening, listen};
use super::tls::acceptor;
use crate::fault::{Fault, Outcome};
use crate::http::BodyMemory;
use crate::service::Service;
use crate::settings::Settings;

/// The time for requests to finish, once the server is to end.
const GRACE: Duration = Duration::from_secs(4);

/// The time until the indexes must be closed.
const CLOSED_WITHIN: Duration = Duration::from_secs(9);

/// The time between two looks for scrolls whose time is over.
const CONTEXTS_PAUSE: Duration = Duration::from_secs(1);

/// Threads that read and write connections.
const CONNECTION_THREADS: usize = 2;

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    service: Arc<Service>,
    runtime: Runtime,
    stop: Stopper,
    tls: Option<TlsAcceptor>,
}

/// Has a server end.
#[derive(Clone, Default)]
pub struct Stopper(Arc<Notify>);

/// The end of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Indexes that were in use until the last moment, and are not closed. They are opened from
    /// their logs.
    pub left_open: usize,
}

impl Stopper {
    /// Begins the end.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// For settings that cannot be, and where another program listens.
    pub fn bind(settings: Settings) -> Outcome<Server> {
        settings.check()?;
        let wanted = settings.address()?;
        let tls = settings.tls.as_ref().map(acceptor).transpose()?;
        let listener = TcpListener::bind(wanted).map_err(|error| not_bound(wanted, &error))?;
        let address = listener
            .local_addr()
            .map_err(|error| not_bound(wanted, &error))?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(CONNECTION_THREADS)
            .max_blocking_threads(Lanes::threads(cores) + 1)
            .thread_name("gannet-server")
            .enable_all()
            .build()
            .map_err(|error| Fault::internal(format!("threads cannot be started: {error}")))?;
        let service = Service::new(settings, address)?.shared();
        Ok(Server {
            listener,
            address,
            service,
            runtime,
            tls,
            stop: Stopper::default(),
        })
    }

    /// The URL at which it listens.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// The number of indexes in its folder.
    pub fn indexes(&self) -> Outcome<usize> {
        Ok(self.service.indexes.names()?.len())
    }

    /// Returns the handle that ends it.
    pub fn stopper(&self) -> Stopper {
        self.stop.clone()
    }

    /// Has SIGINT and SIGTERM end it.
    pub fn end_on_signals(&self) -> Outcome<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let _runtime = self.runtime.enter();
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            let mut signals = signal(kind)
                .map_err(|error| Fault::internal(format!("cannot wait for signals: {error}")))?;
            let stop = self.stopper();
            self.runtime.spawn(async move {
                signals.recv().await;
                stop.stop();
            });
        }
        Ok(())
    }

    /// Answers requests until it is to end.
    pub fn run(self) -> Outcome<Ended> {
        let Server {
            listener,
            service,
            runtime,
            stop,
            tls,
            ..
        } = self;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let settings = &service.settings;
        let shared = Shared {
            service: Arc::clone(&service),
            lanes: Lanes::new(cores),
            bodies: BodyMemory::new(
                settings.body_memory(),
                settings.body_most(),
                settings.idle_time,
            ),
        };
        info!(address = service.address, "listens");
        let listening = Listening {
            router: router(&shared),
            connections: Connections::new(settings.max_connections, Arc::clone(&service.metrics)),
            idle_time: settings.idle_time,
            tls,
        };
        runtime.spawn(give_up_old(Arc::clone(&service)));
        let served = runtime.block_on(listen(listener, listening, stop.0, GRACE));
        let end = Instant::now();
        service.end();
        let left_open = service.indexes.close_all(end + CLOSED_WITHIN - GRACE);
        runtime.shutdown_timeout(Duration::from_millis(500));
        if left_open > 0 {
            warn!(left_open, "ended with indexes in use");
        }
        info!("ended");
        served.map(|()| Ended { left_open })
    }
}

/// Gives up scrolls and points in time whose time is over, so that their indexes can be closed.
async fn give_up_old(service: Arc<Service>) {
    loop {
        tokio::time::sleep(CONTEXTS_PAUSE).await;
        service.contexts.purge();
    }
}

fn not_bound(address: SocketAddr, error: &std::io::Error) -> Fault {
    Fault::illegal(match error.kind() {
        ErrorKind::AddrInUse => format!(
            "{address} is in use by another program: end that, or choose another port with --listen {}:PORT",
            address.ip()
        ),
        _ => format!("cannot listen at {address}: {error}"),
    })
}
