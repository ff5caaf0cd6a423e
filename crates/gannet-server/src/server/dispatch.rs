//! From a request of HTTP to its handler, and back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{
    ACCEPT, ALLOW, AUTHORIZATION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    RETRY_AFTER as RETRY_AFTER_HEADER, WARNING, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::any;
use http_body_util::BodyExt;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tower_http::compression::CompressionLayer;
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::timeout::TimeoutLayer;
use tracing::{debug, error, warn};

use super::lanes::Lanes;
use crate::fault::{Fault, Outcome, RETRY_AFTER};
use crate::http::{
    Answer, AnswerMedia, BodyKind, BodyMemory, Call, Caller, Grants, answer_media,
    check_body_media, check_origin, media_name, parse_parameters, read_body, wants_json,
};
use crate::json::{FilterPaths, pretty};
use crate::metrics::Metrics;
use crate::routes::{Route, absent, is_own, routes};
use crate::service::Service;

/// By this header Elasticsearch's clients know whom they talk to.
const PRODUCT: HeaderName = HeaderName::from_static("x-elastic-product");

/// A page loads its own script and style, and asks its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The path of the route of a request that has none.
const NO_ROUTE: &str = "none";

/// The time in which a request must be answered, its body included.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// A request that took so long is told of.
const SLOW: Duration = Duration::from_secs(1);

/// The state that every request needs.
#[derive(Clone)]
pub struct Shared {
    pub service: Arc<Service>,
    pub lanes: Lanes,
    pub bodies: BodyMemory,
}

/// The rows of one path, and what every request needs.
#[derive(Clone)]
struct Rows {
    rows: Arc<[&'static Route]>,
    shared: Shared,
}

/// Makes the router of the table of routes.
pub fn router(shared: &Shared) -> Router {
    let mut router = Router::new();
    let mut done: Vec<&str> = Vec::new();
    for route in routes() {
        if done.contains(&route.path) {
            continue;
        }
        done.push(route.path);
        let rows = routes().filter(|row| row.path == route.path);
        let rows = Rows {
            rows: rows.collect(),
            shared: shared.clone(),
        };
        let answers = any(answer_route).with_state(rows);
        if !route.path.ends_with('/') {
            // Some clients end paths with a slash.
            router = router.route(&format!("{}/", route.path), answers.clone());
        }
        router = router.route(route.path, answers);
    }
    router
        .fallback(any(answer_nothing).with_state(shared.clone()))
        .layer(RequestDecompressionLayer::new())
        .layer(CompressionLayer::new())
        .layer(TimeoutLayer::with_status_code(
            StatusCode::REQUEST_TIMEOUT,
            TIME_LIMIT,
        ))
}

async fn answer_route(
    State(rows): State<Rows>,
    parts: RawPathParams,
    request: Request,
) -> Response {
    let parts = parts.iter();
    let parts = parts.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let parts: Vec<(String, String)> = parts.collect();
    let asked = Asked::of(
        &request,
        rows.rows.first().map_or("", |row| row.path),
        &rows.shared,
    );
    let answered = carry_out(&rows, parts, request, &asked).await;
    finish(answered, &asked, &rows.shared)
}

async fn answer_nothing(State(shared): State<Shared>, request: Request) -> Response {
    let asked = Asked::of(&request, NO_ROUTE, &shared);
    let checked = admit(request.headers(), &asked.path, &shared.service);
    let fault = checked.err().unwrap_or_else(|| {
        if is_own(&asked.path) {
            return Fault::new(
                404,
                "exception",
                format!(
                    "there is nothing at {} for {}: /v1/openapi.json lists what there is",
                    asked.path, asked.method
                ),
            );
        }
        if let Some(route) = absent(&asked.path) {
            return Fault::not_there(&format!("[{route}]"));
        }
        Fault::plain(
            400,
            format!(
                "no handler found for uri [{}] and method [{}]: docs/compatibility.md lists what Gannet has",
                asked.path, asked.method
            ),
        )
    });
    finish(Err(fault), &asked, &shared)
}

/// The parts of a request that its answer needs.
struct Asked {
    method: String,
    path: String,
    parameters: Outcome<Vec<(String, String)>>,
    media: Outcome<AnswerMedia>,
    start: Instant,
    /// The path of the route.
    route: &'static str,
    _running: Running,
}

/// Counts a request as long as it is answered.
struct Running(Arc<Metrics>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Asked {
    fn of(request: &Request, route: &'static str, shared: &Shared) -> Asked {
        let metrics = Arc::clone(&shared.service.metrics);
        metrics.running.fetch_add(1, Ordering::Relaxed);
        let accept = text_of(request.headers(), &ACCEPT);
        Asked {
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            parameters: parse_parameters(request.uri().query().unwrap_or_default()),
            media: answer_media(accept),
            start: Instant::now(),
            route,
            _running: Running(metrics),
        }
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter().flatten();
        let found = parameters.find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns true if the route is one of Gannet's own, or could only be.
    fn is_own(&self) -> bool {
        match self.route {
            NO_ROUTE => is_own(&self.path),
            route => is_own(route),
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.parameter(name).is_some_and(|value| value != "false")
    }
}

async fn carry_out(
    rows: &Rows,
    parts: Vec<(String, String)>,
    request: Request,
    asked: &Asked,
) -> Outcome<Answer> {
    let grants = admit(request.headers(), &asked.path, &rows.shared.service)?;
    let route = row(&rows.rows, asked)?;
    let parameters = asked.parameters.clone()?;
    let media = asked.media.clone()?;
    let es_version = &rows.shared.service.settings.es_version;
    let mut call = Call {
        path: asked.path.clone(),
        parts,
        parameters,
        body: Bytes::new(),
        media: media_name(text_of(request.headers(), &CONTENT_TYPE).unwrap_or_default()),
        wants_json: text_of(request.headers(), &ACCEPT).is_some_and(wants_json),
        is_version_7: media.0.ends_with("compatible-with=7") || es_version.starts_with("7."),
        caller: Caller::new(grants, route.key),
    };
    call.check_parameters(route.parameters)?;
    let place = rows.shared.lanes.admit(route.lane)?;
    let (headers, body) = request.into_parts();
    let (body, memory) = read(route, asked, &headers.headers, body, &rows.shared).await?;
    call.body = body;
    let running = place.turn().await?;
    let (handler, service) = (route.handler, Arc::clone(&rows.shared.service));
    let carried = spawn_blocking(move || {
        let answered = handler(&call, &service);
        // The body is gone before others may have its memory.
        drop(call);
        drop((memory, running, place));
        answered
    });
    carried.await.unwrap_or_else(|_| {
        Err(Fault::internal(
            "the request failed in a way that is a bug of gannet: please report it",
        ))
    })
}

/// Returns the rights of the caller; nothing if there are no keys.
fn admit(headers: &HeaderMap, path: &str, service: &Service) -> Outcome<Option<Arc<Grants>>> {
    check_origin(headers, service.is_local)?;
    match &service.keys {
        // Whoever watches over the server needs no key to see that it runs.
        Some(keys) if !path.starts_with("/health/") => {
            keys.check(text_of(headers, &AUTHORIZATION)).map(Some)
        }
        _ => Ok(None),
    }
}

/// The row of a method. What can be read can be asked for without its body.
fn row(rows: &[&'static Route], asked: &Asked) -> Outcome<&'static Route> {
    let of = |method: &str| rows.iter().find(|row| row.method == method).copied();
    let found = of(&asked.method).or_else(|| {
        let is_head = asked.method == "HEAD";
        is_head.then(|| of("GET")).flatten()
    });
    found.ok_or_else(|| {
        let methods: Vec<&str> = rows.iter().map(|row| row.method).collect();
        Fault::plain(
            405,
            format!(
                "Incorrect HTTP method for uri [{}] and method [{}], allowed: [{}]",
                asked.path,
                asked.method,
                methods.join(", ")
            ),
        )
    })
}

async fn read(
    route: &Route,
    asked: &Asked,
    headers: &HeaderMap,
    body: Body,
    shared: &Shared,
) -> Outcome<(Bytes, Vec<tokio::sync::OwnedSemaphorePermit>)> {
    if route.body == BodyKind::None {
        let mut body = body;
        let frame = timeout(shared.service.settings.idle_time, body.frame()).await;
        let has_body = frame.unwrap_or_default().is_some_and(|frame| {
            frame.is_ok_and(|frame| frame.data_ref().is_some_and(|data| !data.is_empty()))
        });
        if has_body {
            return Err(Fault::illegal(format!(
                "request [{} {}] does not support having a body",
                asked.method, asked.path
            )));
        }
        return Ok((Bytes::new(), Vec::new()));
    }
    let (body, mut memory) = read_body(body, &shared.bodies).await?;
    if !body.is_empty() {
        check_body_media(text_of(headers, &CONTENT_TYPE), route.body)?;
        // Of lines no more than one is a tree at a time, and documents never are.
        let longest = match route.body {
            BodyKind::Documents => None,
            BodyKind::Lines => body.split(|byte| *byte == b'\n').max_by_key(|l| l.len()),
            _ => Some(&body[..]),
        };
        memory.push(shared.bodies.take_tree(longest.unwrap_or_default())?);
    }
    Ok((body, memory))
}

fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The answer as one of HTTP.
fn finish(answered: Outcome<Answer>, asked: &Asked, shared: &Shared) -> Response {
    let fault = answered.as_ref().err().cloned();
    let mut answer = answered.unwrap_or_else(|fault| {
        if asked.is_own() {
            Answer::of_own_fault(&fault)
        } else {
            Answer::of_fault(&fault, asked.flag("error_trace"))
        }
    });
    if answer.media.is_none() {
        // An error stays whole.
        if let Some(paths) = asked.parameter("filter_path").filter(|_| fault.is_none()) {
            answer.body = FilterPaths::parse(paths).apply(&answer.body);
        }
        if asked.flag("pretty") {
            answer.body = pretty(&answer.body);
        }
    }
    tell(asked, answer.status, fault.as_ref());
    let took = asked.start.elapsed();
    let metrics = &shared.service.metrics;
    metrics.count(&asked.method, asked.route, answer.status, took);
    let media = match (answer.media, &asked.media) {
        (Some(media), _) => media,
        (None, Ok(media)) => media.0.as_str(),
        (None, Err(_)) => "application/json",
    };
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(PRODUCT, HeaderValue::from_static("Elasticsearch"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if answer.media.is_some() {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    if let Ok(media) = HeaderValue::from_str(media) {
        headers.insert(CONTENT_TYPE, media);
    }
    if answer.status == 429 {
        headers.insert(RETRY_AFTER_HEADER, HeaderValue::from(RETRY_AFTER));
    }
    if answer.status == 401 {
        for scheme in ["Basic realm=\"gannet\", charset=\"UTF-8\"", "ApiKey"] {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
        }
    }
    if answer.status == 405
        && let Some((_, methods)) = fault
            .as_ref()
            .and_then(|f| f.reason.split_once("allowed: ["))
        && let Ok(methods) = HeaderValue::from_str(methods.trim_end_matches(']'))
    {
        headers.insert(ALLOW, methods);
    }
    for warning in &answer.warnings {
        if let Some(warning) = warning_header(warning, &shared.service.settings.es_version) {
            headers.append(WARNING, warning);
        }
    }
    response
}

fn warning_header(text: &str, version: &str) -> Option<HeaderValue> {
    let plain = |c: char| {
        if c.is_ascii_graphic() || c == ' ' {
            c
        } else {
            '?'
        }
    };
    let text: String = text.chars().map(plain).collect();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::from_str(&format!("299 Elasticsearch-{version}-gannet \"{text}\"")).ok()
}

/// Logs a request: at length where it was slow or the server is at fault.
fn tell(asked: &Asked, status: u16, fault: Option<&Fault>) {
    let took = asked.start.elapsed();
    let (method, path, ms) = (&asked.method, &asked.path, took.as_millis() as u64);
    let reason = fault.map_or_else(String::new, ToString::to_string);
    if status >= 500 {
        error!(method, path, status, ms, reason, "failed");
    } else if took >= SLOW {
        warn!(method, path, status, ms, reason, "slow");
    } else {
        debug!(method, path, status, ms, reason, "answered");
    }
}
