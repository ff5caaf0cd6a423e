//! Accepts connections, and carries each one's requests to the router.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::connections::{AnswerBody, Connections, Place};
use crate::fault::{Fault, Outcome, RETRY_AFTER};

/// The time in which a connection that is to be closed must end what it does.
const LAST_REQUEST: Duration = Duration::from_secs(5);

/// The same for what is left of its last answer.
const LAST_BYTES: Duration = Duration::from_millis(50);

/// A request and its answer take so many times as long as a connection may be idle. It is longer
/// than the time in which a request must be answered.
const STUCK_TIMES: u32 = 10;

/// Bytes that are read or written ahead, and so of the longest head of a request.
const BUFFER_BYTES: usize = 64 << 10;

/// The time for the beginning of TLS.
const GREETING: Duration = Duration::from_secs(10);

/// The pause behind a connection that cannot be accepted, as where no file descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// The parts that every connection needs.
#[derive(Clone)]
pub struct Listening {
    pub router: Router,
    pub connections: Connections,
    pub idle_time: Duration,
    pub tls: Option<TlsAcceptor>,
}

/// Accepts connections until `stop`, then lets them end for `grace`.
pub async fn listen(
    listener: TcpListener,
    listening: Listening,
    stop: Arc<Notify>,
    grace: Duration,
) -> Outcome<()> {
    let failed = |error: std::io::Error| Fault::internal(format!("cannot listen: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
    let (ends, ended) = watch::channel(false);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.notified() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                debug!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        match listening.connections.admit().await {
            Some(place) => {
                let (listening, ended) = (listening.clone(), ended.clone());
                tokio::spawn(async move { open(stream, place, &listening, ended).await });
            }
            None => turn_away(stream).await,
        }
    }
    drop(listener);
    // It fails only where no connection is left.
    let _ = ends.send(true);
    let _ = timeout(grace, listening.connections.closed()).await;
    Ok(())
}

/// Answers a connection for which there is no place, as far as its buffer takes that.
async fn turn_away(stream: TcpStream) {
    let fault = Fault::busy("all connections that may be open are in use (--max-connections)");
    let body = fault.json(false).to_string();
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\nX-Elastic-Product: Elasticsearch\r\nContent-Type: application/json\r\n\
         Retry-After: {RETRY_AFTER}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = stream;
    // A client that is gone needs no answer.
    let _ = timeout(ACCEPT_PAUSE, stream.write_all(answer.as_bytes())).await;
    let _ = timeout(ACCEPT_PAUSE, stream.shutdown()).await;
}

async fn open(
    stream: TcpStream,
    place: Place,
    listening: &Listening,
    ended: watch::Receiver<bool>,
) {
    // Answers are small, and are to leave at once.
    let _ = stream.set_nodelay(true);
    let Some(tls) = &listening.tls else {
        serve(stream, place, listening, ended).await;
        return;
    };
    let greeted = tokio::select! {
        greeted = timeout(listening.idle_time.min(GREETING), tls.accept(stream)) => greeted,
        () = place.is_needed() => return,
    };
    match greeted {
        Ok(Ok(stream)) => serve(stream, place, listening, ended).await,
        Ok(Err(error)) => debug!(%error, "a connection did not begin TLS"),
        Err(_) => debug!("a connection was too slow to begin TLS"),
    }
}

/// Answers the requests of a connection until it is closed, by whomever.
async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    place: Place,
    listening: &Listening,
    mut ended: watch::Receiver<bool>,
) {
    let place = Arc::new(place);
    let (router, own) = (
        TowerToHyperService::new(listening.router.clone()),
        Arc::clone(&place),
    );
    let service = service_fn(move |request| {
        own.works();
        let (answer, own) = (router.call(request), Arc::clone(&own));
        async move {
            let answered = answer.await?;
            Ok::<_, Infallible>(answered.map(|body| AnswerBody::new(body, own)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(listening.idle_time)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = &mut connection => return,
        // Whoever does not read an answer keeps its memory.
        () = place.is_stuck(STUCK_TIMES * listening.idle_time) => return,
        () = place.is_needed() => {}
        _ = ended.wait_for(|is_end| *is_end) => {}
    }
    connection.as_mut().graceful_shutdown();
    let last = if place.is_working() {
        LAST_REQUEST
    } else {
        LAST_BYTES
    };
    let _ = timeout(last, connection).await;
}
