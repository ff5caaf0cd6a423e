//! Who may ask a server that listens on loopback.
//!
//! A page in a browser of this machine can send requests to it, too. Where a name of the page's own
//! leads to 127.0.0.1 (DNS rebinding), its requests have that name in `Host`; others have `Origin`.

use axum::http::HeaderMap;

use crate::fault::{Fault, Outcome};

/// Fails unless the names by which the server was asked are those of this machine.
pub fn check_origin(headers: &HeaderMap) -> Outcome<()> {
    let host = headers.get("host").map(|host| host.to_str());
    match host {
        Some(Ok(host)) if is_loopback(host) => {}
        Some(Ok(host)) => {
            return Err(rejected(format!(
                "the Host header [{host}] is not a name of this machine: ask for localhost or 127.0.0.1"
            )));
        }
        _ => return Err(rejected("a request needs one Host header".to_owned())),
    }
    let Some(origin) = headers.get("origin") else {
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or_default();
    let place = origin.split_once("://").map(|(_, place)| place);
    if place.is_some_and(is_loopback) {
        Ok(())
    } else {
        Err(rejected(format!(
            "pages of [{origin}] may not ask this server: only those of this machine may"
        )))
    }
}

fn rejected(reason: String) -> Fault {
    Fault::new(403, "security_exception", reason)
}

/// Returns true if a host, with or without a port, is this machine by its loopback address.
fn is_loopback(written: &str) -> bool {
    let (host, port) = match written.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (written, None),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    if !port.is_none_or(is_port) {
        return false;
    }
    if host.eq_ignore_ascii_case("localhost") || host == "[::1]" {
        return true;
    }
    let address = host.parse::<std::net::Ipv4Addr>();
    address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_loopback_are_served() {
        for host in [
            "localhost",
            "LOCALHOST:9200",
            "127.0.0.1:9200",
            "[::1]",
            "[::1]:9200",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:9200",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1:9200",
            "localhost:9200:1",
            "localhost:x",
            "user@localhost",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
