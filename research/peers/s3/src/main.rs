//! An S3 server in memory, for measurements and tests on one machine.
//!
//! It speaks real HTTP on loopback. Each request waits for a declared delay, all bodies together
//! pass at a declared bandwidth, and requests are counted. `/_control/counts` gives the counts as
//! JSON and sets them to zero; pages of zones that were sent before count as repeated, until
//! `/_control/forget`. `/_control/pages` gives the pages that were sent since then, in their order,
//! as pairs of the number of the object and of the page.
//! `/_control/fault?kind=KIND&after=N&count=M` harms the M requests after the next N: `403`, `404`,
//! `500`, `503`, `stall`, `short` or `wrong` (a byte in each 4 KiB of the body).
//! `/_control/link?delay_ms=D&bandwidth=B` changes the link.
//!
//! Usage: s3-server [--delay-ms 20] [--bandwidth 100000000] [--port 0] [--key K --secret S]
//! The address is the first line on standard output.

mod link;
mod objects;

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use tokio::net::TcpListener;

use link::{Fault, Link};
use objects::Objects;

type Body = BoxBody<Bytes, std::io::Error>;

/// Bytes of a body that pass at a time.
const CHUNK: usize = 64 << 10;

fn main() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(serve());
}

async fn serve() {
    let argument = |name: &str, default: &str| {
        let mut words = std::env::args().skip_while(|word| word != name);
        words.nth(1).unwrap_or_else(|| default.to_owned())
    };
    let number = |name: &str, default: &str| -> u64 {
        let text = argument(name, default);
        text.parse()
            .unwrap_or_else(|_| panic!("{name} wants a number, found {text}"))
    };
    let link = Arc::new(Link::new(
        number("--delay-ms", "20"),
        number("--bandwidth", "100000000"),
    ));
    let mut builder = S3ServiceBuilder::new(Objects::default());
    builder.set_auth(SimpleAuth::from_single(
        argument("--key", "test"),
        argument("--secret", "test"),
    ));
    let service = builder.build();
    let address = ("127.0.0.1", number("--port", "0") as u16);
    let listener = TcpListener::bind(address).await.expect("a free port");
    println!("http://{}", listener.local_addr().expect("an address"));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (service, link) = (service.clone(), Arc::clone(&link));
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let (service, link) = (service.clone(), Arc::clone(&link));
                async move { Ok::<_, Infallible>(answer(request, service, link).await) }
            });
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

async fn answer(request: Request<Incoming>, service: S3Service, link: Arc<Link>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    if let Some(what) = path.strip_prefix("/_control/") {
        return control(what, request.uri().query().unwrap_or_default(), &link);
    }
    let is_put = request.method() == Method::PUT || request.method() == Method::POST;
    let length = request
        .headers()
        .get("content-length")
        .and_then(|text| text.to_str().ok());
    let length: u64 = length.and_then(|text| text.parse().ok()).unwrap_or(0);
    let fault = link.ask(request.method().as_str());
    if let Some(pages) = pages_of(&request) {
        link.count_pages(&path, pages);
    }
    link.delay().await;
    if is_put {
        link.pass(length).await;
        link.count_sent(length);
    }
    match fault {
        Some(Fault::Status(code)) => {
            let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let named = match code {
                403 => "AccessDenied",
                404 => "NoSuchKey",
                503 => "SlowDown",
                _ => "InternalError",
            };
            let text = format!("<Error><Code>{named}</Code><Message>injected</Message></Error>");
            return plain(status, text);
        }
        Some(Fault::Stall) => std::future::pending::<()>().await,
        _ => {}
    }
    let Ok(response) = service.call(request.map(s3s::Body::from)).await else {
        return plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the service failed".to_owned(),
        );
    };
    let (head, body) = response.into_parts();
    let Ok(collected) = BodyExt::collect(body).await else {
        return plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the body failed".to_owned(),
        );
    };
    let bytes = harmed(collected.to_bytes(), fault);
    link.count_received(bytes.len() as u64);
    let is_short = fault == Some(Fault::Short);
    Response::from_parts(head, throttled(bytes, link, is_short))
}

/// The pages that a request asks of a zone's object.
fn pages_of(request: &Request<Incoming>) -> Option<std::ops::Range<u64>> {
    const PAGE: u64 = 4 << 10;
    if request.method() != Method::GET || !request.uri().path().contains("/zone-") {
        return None;
    }
    let range = request.headers().get("range")?.to_str().ok()?;
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    Some(first / PAGE..last / PAGE + 1)
}

fn harmed(bytes: Bytes, fault: Option<Fault>) -> Bytes {
    let mut bytes = bytes.to_vec();
    match fault {
        Some(Fault::Short) => bytes.truncate(bytes.len() / 2),
        Some(Fault::Wrong) => (100..bytes.len())
            .step_by(4_096)
            .for_each(|at| bytes[at] ^= 1),
        _ => {}
    }
    bytes.into()
}

/// A body whose chunks pass one after the other at the bandwidth of the link.
fn throttled(bytes: Bytes, link: Arc<Link>, is_short: bool) -> Body {
    let chunks: Vec<Bytes> = (0..bytes.len())
        .step_by(CHUNK)
        .map(|at| bytes.slice(at..bytes.len().min(at + CHUNK)))
        .collect();
    let passed = futures_util::stream::iter(chunks).then(move |chunk| {
        let link = Arc::clone(&link);
        async move {
            link.pass(chunk.len() as u64).await;
            Ok(Frame::data(chunk))
        }
    });
    let cut = || Err(std::io::Error::other("cut short"));
    let end = futures_util::stream::iter(is_short.then(cut));
    BodyExt::boxed(StreamBody::new(passed.chain(end)))
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let body = Full::new(Bytes::from(text)).map_err(|never: Infallible| match never {});
    let mut response = Response::new(body.boxed());
    *response.status_mut() = status;
    response
}

fn control(what: &str, query: &str, link: &Link) -> Response<Body> {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
    };
    let number = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok());
    match what {
        "counts" => plain(StatusCode::OK, link.take_counts().to_string()),
        "fault" => match value("kind").and_then(Fault::named) {
            Some(fault) => {
                link.harm(
                    fault,
                    number("after").unwrap_or(0),
                    number("count").unwrap_or(u64::MAX),
                );
                plain(StatusCode::OK, "{}".to_owned())
            }
            None => {
                link.heal();
                plain(StatusCode::OK, "{}".to_owned())
            }
        },
        "pages" => plain(StatusCode::OK, link.pages().to_string()),
        "forget" => {
            link.forget_pages();
            plain(StatusCode::OK, "{}".to_owned())
        }
        "link" => {
            link.set(number("delay_ms"), number("bandwidth"));
            plain(StatusCode::OK, "{}".to_owned())
        }
        _ => plain(StatusCode::NOT_FOUND, "unknown".to_owned()),
    }
}
