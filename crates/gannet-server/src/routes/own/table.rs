//! The table of Gannet's own routes.

use super::{document, documents, fields, indexes, multi, openapi, search, statistics, tokens};
use crate::fault::Outcome;
use crate::http::{Answer, Call, Right};
use crate::routes::route::{Route, route};
use crate::routes::{cluster, metrics, page};
use crate::service::Service;
use Right::{Manage, Monitor, Read, Write};

/// Gannet's own routes.
pub const ROUTES: &[Route] = &[
    route("GET", "/health/live", Monitor, cluster::live).with("the server runs"),
    route("GET", "/health/ready", Monitor, cluster::ready).with("its folder can be read"),
    route("GET", "/metrics", Monitor, metrics::metrics).with("figures for Prometheus"),
    route("GET", "/_ui", Monitor, page::document)
        .takes(&page::STATE)
        .with("the page"),
    route("GET", "/_ui/{file}", Monitor, page::file).with("a part of the page"),
    route("GET", "/v1/openapi.json", Monitor, describe).with("describes this API as OpenAPI"),
    route("GET", "/v1/indexes", Read, indexes::list)
        .with("lists indexes, with figures of open ones"),
    route("PUT", "/v1/indexes/{index}", Manage, indexes::create)
        .json()
        .with("makes an index"),
    route("GET", "/v1/indexes/{index}", Read, indexes::get)
        .with("describes an index: analyzer, fields, documents"),
    route("DELETE", "/v1/indexes/{index}", Manage, indexes::delete)
        .with("deletes an index with its documents"),
    route("GET", "/v1/indexes/{index}/fields", Read, fields::fields)
        .takes(&["distinct"])
        .with("lists fields: analyzer, types of values, documents, on request distinct values"),
    route(
        "GET",
        "/v1/indexes/{index}/stats",
        Read,
        statistics::statistics,
    )
    .with("tells bytes by part, memory, what was written and read"),
    route(
        "POST",
        "/v1/indexes/{index}/documents",
        Write,
        documents::write,
    )
    .documents()
    .takes(&["if_exists"])
    .with("writes documents: lines of JSON, a JSON array, one JSON object, or CSV"),
    route(
        "GET",
        "/v1/indexes/{index}/documents/{id}",
        Read,
        document::get,
    )
    .with("returns a document with its version"),
    route(
        "PUT",
        "/v1/indexes/{index}/documents/{id}",
        Write,
        document::put,
    )
    .json()
    .takes(&["version"])
    .with("writes a document, on request only over a version"),
    route(
        "DELETE",
        "/v1/indexes/{index}/documents/{id}",
        Write,
        document::delete,
    )
    .takes(&["version"])
    .with("deletes a document, on request only of a version"),
    route("POST", "/v1/indexes/{index}/search", Read, search::search)
        .json()
        .with("searches"),
    route("POST", "/v1/multi", Read, multi::multi)
        .json()
        .with("carries several searches out"),
    route("POST", "/v1/indexes/{index}/analyze", Read, tokens::analyze)
        .json()
        .with("returns the tokens that an analyzer or a field makes of a text"),
];

/// `GET /v1/openapi.json`.
fn describe(_: &Call, service: &Service) -> Outcome<Answer> {
    openapi::described(ROUTES, service)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::super::is_own;
    use super::super::openapi::{SCHEMAS, name_of};
    use super::*;
    use crate::http::BodyKind;

    #[test]
    fn every_route_has_its_schemas_and_every_schema_its_use() {
        let schemas: Map<String, Value> = serde_json::from_str(SCHEMAS).unwrap();
        let mut used = vec!["Error".to_owned()];
        for route in ROUTES.iter().filter(|route| is_own(route.path)) {
            used.push(format!("{}Answer", name_of(route)));
            if matches!(route.body, BodyKind::Json | BodyKind::Documents) {
                used.push(format!("{}Body", name_of(route)));
            }
        }
        for name in &used {
            assert!(
                schemas.contains_key(name),
                "{name} is missing in schemas.json"
            );
        }
        let text = SCHEMAS.to_owned();
        for name in schemas.keys().filter(|name| !used.contains(name)) {
            let reference = format!("\"#/components/schemas/{name}\"");
            assert!(text.contains(&reference), "{name} is not used");
        }
    }
}
