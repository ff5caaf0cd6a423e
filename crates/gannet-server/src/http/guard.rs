//! From where a server may be asked.
//!
//! A page in a browser of this machine can send requests to it, too. Where a name of the page's own
//! leads to 127.0.0.1 (DNS rebinding), its requests have that name in `Host`; others have `Origin`.
//! A server that others can reach has a name that is not known here, so there the two must agree.

use axum::http::HeaderMap;

use crate::fault::{Fault, Outcome};

/// Fails unless the names by which the server was asked are those of this machine, or if it is not
/// `is_local`, unless a page that asks came from the name that it asks.
pub fn check_origin(headers: &HeaderMap, is_local: bool) -> Outcome<()> {
    let host = headers.get("host").map(|host| host.to_str());
    match host {
        Some(Ok(host)) if is_loopback(host) || !is_local => {}
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
    let is_own = |place: &str| match (&host, is_local) {
        (Some(Ok(host)), false) => place.eq_ignore_ascii_case(host),
        _ => is_loopback(place),
    };
    if place.is_some_and(is_own) {
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
    fn pages_ask_the_server_that_they_came_from() {
        let headers = |host: &str, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("host", host.parse().unwrap());
            headers.insert("origin", origin.parse().unwrap());
            headers
        };
        let own = headers("search.example:9200", "https://search.example:9200");
        assert!(check_origin(&own, false).is_ok() && check_origin(&own, true).is_err());
        let other = headers("search.example:9200", "https://evil.example");
        assert!(check_origin(&other, false).is_err());
        let local = headers("localhost:9200", "http://localhost:5601");
        assert!(check_origin(&local, true).is_ok() && check_origin(&local, false).is_err());
    }

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
