//! The settings of a server.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use gannet::MEMORY_MIN;

use crate::fault::{Fault, Outcome};
use crate::indexes::Indexes;

/// The version of Elasticsearch that clients are told.
pub const ES_VERSION: &str = "8.19.0";

/// The part of the memory that bodies of requests may take.
const BODIES_ONE_OF: usize = 8;

/// The longest body, as Elasticsearch has it.
const BODY_BYTES_MAX: usize = 100 << 20;

/// Open connections. Each is a file descriptor, of which many systems allow 1,024 in all.
pub const CONNECTIONS_MAX: usize = 512;

/// Clients keep connections for about a minute, and ask again when one is closed.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// The files of a certificate and of its private key, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, with those that lead to its root behind it.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder of the indexes, one subfolder each.
    pub folder: PathBuf,
    /// The memory budget, for all open indexes and for the bodies of requests.
    pub memory: usize,
    /// The address to listen at, with a port.
    pub listen: String,
    /// The most indexes that are open at once.
    pub max_open: usize,
    /// The version of Elasticsearch that clients are told.
    pub es_version: String,
    /// The most connections that are open at once.
    pub max_connections: usize,
    /// The time for the head of a request, also the first or the next one of a connection.
    pub idle_time: Duration,
    /// The file of keys; without one everybody may do everything.
    pub keys: Option<PathBuf>,
    /// The files for TLS; without them requests are read by whoever is on their way.
    pub tls: Option<TlsFiles>,
    /// Set if other machines may ask without keys or without TLS.
    pub insecure: bool,
}

impl Settings {
    /// Those of a server that listens at port 9200 of this machine.
    pub fn new(folder: impl Into<PathBuf>) -> Settings {
        Settings {
            folder: folder.into(),
            memory: 1 << 30,
            listen: "127.0.0.1:9200".to_owned(),
            max_open: 8,
            es_version: ES_VERSION.to_owned(),
            max_connections: CONNECTIONS_MAX,
            idle_time: IDLE_TIME,
            keys: None,
            tls: None,
            insecure: false,
        }
    }

    /// The memory for the bodies of requests.
    pub fn body_memory(&self) -> usize {
        self.memory / BODIES_ONE_OF
    }

    /// The longest body.
    pub fn body_most(&self) -> usize {
        BODY_BYTES_MAX.min(self.body_memory())
    }

    /// The memory budget of each open index.
    pub fn index_memory(&self) -> usize {
        (self.memory - self.body_memory()) / self.max_open.max(1)
    }

    /// Fails if a server cannot be started so.
    pub fn check(&self) -> Outcome<()> {
        if self.max_open == 0 {
            return Err(Fault::illegal(
                "--max-open 0 lets no index be open: give at least 1",
            ));
        }
        if self.max_connections == 0 {
            return Err(Fault::illegal(
                "--max-connections 0 lets nobody ask: give at least 1",
            ));
        }
        if self.index_memory() < MEMORY_MIN {
            let least = (MEMORY_MIN * self.max_open).div_ceil(BODIES_ONE_OF - 1) * BODIES_ONE_OF;
            return Err(Fault::illegal(format!(
                "{} bytes of memory are too few for {} open indexes, of which each needs 16 MiB: give at least {}MiB, or a \
                 smaller --max-open",
                self.memory,
                self.max_open,
                least.div_ceil(1 << 20)
            )));
        }
        if self.folder.exists() && !self.folder.is_dir() {
            return Err(Fault::illegal(format!(
                "{} is a file: give the folder of indexes",
                self.folder.display()
            )));
        }
        if Indexes::is_index(&self.folder) {
            let parent = self
                .folder
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            let parent =
                parent.map_or_else(|| ".".to_owned(), |parent| parent.display().to_string());
            return Err(Fault::illegal(format!(
                "{} is an index, and a server serves a folder of indexes: give the folder around it, {parent}",
                self.folder.display()
            )));
        }
        check_version(&self.es_version)
    }

    /// The address to listen at: of this machine alone, unless there are keys and TLS.
    pub fn address(&self) -> Outcome<SocketAddr> {
        let mut addresses = self.listen.to_socket_addrs().map_err(|error| {
            Fault::illegal(format!(
                "--listen {} is no address with a port, such as 127.0.0.1:9200: {error}",
                self.listen
            ))
        })?;
        let is_safe = self.insecure || self.keys.is_some() && self.tls.is_some();
        let address = addresses.next();
        match address.filter(|address| is_safe || address.ip().is_loopback()) {
            Some(address) => Ok(address),
            None => Err(Fault::illegal(format!(
                "--listen {} can be reached from other machines, which needs keys and TLS: give --keys, --tls-cert and \
                 --tls-key, or listen at 127.0.0.1, or say --insecure where nobody else is in the network",
                self.listen
            ))),
        }
    }
}

fn check_version(version: &str) -> Outcome<()> {
    let parts: Vec<&str> = version.split('.').collect();
    let is_number = |part: &&str| part.parse::<u16>().is_ok();
    if parts.len() == 3 && parts.iter().all(is_number) {
        return Ok(());
    }
    Err(Fault::illegal(format!(
        "--es-version {version} is no version such as {ES_VERSION}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = Settings::new("/nowhere");
        change(&mut settings);
        settings
    }

    #[test]
    fn only_loopback_is_listened_at() {
        for listen in ["127.0.0.1:0", "[::1]:9200", "127.8.0.1:1", "localhost:9200"] {
            let address = with(|settings| settings.listen = listen.to_owned()).address();
            assert!(address.unwrap().ip().is_loopback(), "{listen}");
        }
        for (listen, part) in [
            ("0.0.0.0:9200", "needs keys and TLS"),
            ("192.168.1.1:9200", "keys and TLS"),
            ("[::]:9200", "keys and TLS"),
            ("127.0.0.1", "no address with a port"),
            ("9200", "no address with a port"),
        ] {
            let fault = with(|settings| settings.listen = listen.to_owned()).address();
            let reason = fault.unwrap_err().reason;
            assert!(reason.contains(part), "{listen}: {reason}");
        }
        let elsewhere = |change: fn(&mut Settings)| {
            let settings = with(|settings| {
                settings.listen = "0.0.0.0:9200".to_owned();
                change(settings);
            });
            settings.address().is_ok()
        };
        assert!(!elsewhere(|settings| settings.keys = Some("keys".into())));
        assert!(elsewhere(|settings| settings.insecure = true));
        assert!(elsewhere(|settings| {
            settings.keys = Some("keys".into());
            settings.tls = Some(TlsFiles {
                cert: "cert".into(),
                key: "key".into(),
            });
        }));
    }

    #[test]
    fn memory_is_enough_for_the_indexes_that_may_be_open() {
        with(|_| ()).check().unwrap();
        let reason = with(|settings| settings.memory = 64 << 20)
            .check()
            .unwrap_err()
            .reason;
        assert!(reason.contains("at least 147MiB"), "{reason}");
        with(|settings| settings.memory = 147 << 20)
            .check()
            .unwrap();
        assert!(with(|settings| settings.max_open = 0).check().is_err());
        assert!(
            with(|settings| settings.es_version = "8".to_owned())
                .check()
                .is_err()
        );
    }
}
