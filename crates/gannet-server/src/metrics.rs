//! Figures of requests, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Upper bounds of the times that requests took, in seconds.
const BOUNDS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Figures of requests.
#[derive(Default)]
pub struct Metrics {
    routes: Mutex<BTreeMap<(&'static str, &'static str), RouteFigures>>,
    /// Requests that are being answered.
    pub running: AtomicUsize,
    /// Open connections.
    pub connections: AtomicUsize,
}

/// Figures of a method of a route.
#[derive(Default)]
struct RouteFigures {
    statuses: BTreeMap<u16, u64>,
    /// Requests that took no longer than each bound, and longer than the one before.
    times: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

/// The text of metrics that is being written.
#[derive(Default)]
pub struct MetricsText(String);

impl Metrics {
    /// Counts a request of a route.
    pub fn count(&self, method: &str, route: &'static str, status: u16, took: Duration) {
        let seconds = took.as_secs_f64();
        let mut routes = self.lock();
        let figures = routes.entry((known_method(method), route)).or_default();
        *figures.statuses.entry(status).or_default() += 1;
        let place = BOUNDS.iter().position(|bound| seconds <= *bound);
        figures.times[place.unwrap_or(BOUNDS.len())] += 1;
        figures.seconds += seconds;
    }

    /// Writes all.
    pub fn write(&self, text: &mut MetricsText) {
        let routes = self.lock();
        text.begin(
            "gannet_requests_total",
            "counter",
            "Requests by route and status.",
        );
        for ((method, route), figures) in routes.iter() {
            for (status, count) in &figures.statuses {
                let labels = [
                    ("method", *method),
                    ("route", route),
                    ("status", &status.to_string()),
                ];
                text.value("gannet_requests_total", &labels, *count as f64);
            }
        }
        let name = "gannet_request_duration_seconds";
        text.begin(
            name,
            "histogram",
            "Time from the head of a request to its answer.",
        );
        for ((method, route), figures) in routes.iter() {
            let mut sum = 0;
            for (at, count) in figures.times.iter().enumerate() {
                sum += count;
                let bound = BOUNDS
                    .get(at)
                    .map_or_else(|| "+Inf".to_owned(), f64::to_string);
                let labels = [("method", *method), ("route", route), ("le", &bound)];
                text.value(&format!("{name}_bucket"), &labels, sum as f64);
            }
            let labels = [("method", *method), ("route", *route)];
            text.value(&format!("{name}_sum"), &labels, figures.seconds);
            text.value(&format!("{name}_count"), &labels, sum as f64);
        }
        drop(routes);
        let load = |count: &AtomicUsize| count.load(Ordering::Relaxed) as f64;
        text.gauge(
            "gannet_requests_running",
            "Requests being answered.",
            load(&self.running),
        );
        text.gauge(
            "gannet_connections_open",
            "Open connections.",
            load(&self.connections),
        );
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(&'static str, &'static str), RouteFigures>> {
        let locked = self.routes.lock();
        locked.unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl MetricsText {
    /// Begins a metric.
    pub fn begin(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a value.
    pub fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|(name, value)| {
            let value = value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            format!("{name}=\"{value}\"")
        });
        let labels = labels.collect::<Vec<_>>().join(",");
        let labels = match labels.as_str() {
            "" => String::new(),
            labels => format!("{{{labels}}}"),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// Adds a metric of one value.
    pub fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.begin(name, "gauge", help);
        self.value(name, &[], value);
    }

    /// The text.
    pub fn end(self) -> String {
        self.0
    }
}

/// Methods are labels, so those that clients make up are one.
fn known_method(method: &str) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE"];
    known
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_up_to_their_bounds() {
        let metrics = Metrics::default();
        for milliseconds in [0, 1, 2, 700, 90_000] {
            metrics.count("GET", "/{index}", 200, Duration::from_millis(milliseconds));
        }
        metrics.count("MADE-UP", "none", 400, Duration::ZERO);
        let mut text = MetricsText::default();
        metrics.write(&mut text);
        let text = text.end();
        for line in [
            r#"gannet_requests_total{method="GET",route="/{index}",status="200"} 5"#,
            r#"gannet_requests_total{method="other",route="none",status="400"} 1"#,
            r#"gannet_request_duration_seconds_bucket{method="GET",route="/{index}",le="0.001"} 2"#,
            r#"gannet_request_duration_seconds_bucket{method="GET",route="/{index}",le="0.0025"} 3"#,
            r#"gannet_request_duration_seconds_bucket{method="GET",route="/{index}",le="1"} 4"#,
            r#"gannet_request_duration_seconds_bucket{method="GET",route="/{index}",le="+Inf"} 5"#,
            r#"gannet_request_duration_seconds_count{method="GET",route="/{index}"} 5"#,
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
        }
    }
}
