//! `/v1/openapi.json`: the API for programs, made of the table of routes. Bodies and answers are in
//! `schemas.json`, since the language of a search is no type of this program.

use serde_json::{Map, Value, json};

use super::is_own;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, BodyKind, CSV};
use crate::routes::route::Route;
use crate::service::Service;

/// The schemas of bodies and answers, by name.
pub const SCHEMAS: &str = include_str!("schemas.json");

/// Describes routes.
pub fn described(routes: &[Route], service: &Service) -> Outcome<Answer> {
    let schemas: Value = serde_json::from_str(SCHEMAS)
        .map_err(|error| Fault::internal(format!("schemas.json: {error}")))?;
    let mut paths = Map::new();
    for route in routes.iter().filter(|route| is_own(route.path)) {
        let path = paths
            .entry(route.path)
            .or_insert_with(|| Value::Object(Map::new()));
        path[route.method.to_ascii_lowercase()] = operation(route);
    }
    let mut told = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Gannet",
            "description": "Full-text search on flash. docs/server.md describes each route.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": { "schemas": schemas },
    });
    if service.keys.is_some() {
        let key = json!({ "type": "apiKey", "in": "header", "name": "Authorization" });
        told["components"]["securitySchemes"] = json!({ "key": key });
        told["security"] = json!([{ "key": [] }]);
    }
    Ok(Answer::of(&told))
}

fn operation(route: &Route) -> Value {
    let parameters = parts(route.path).map(|name| {
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
    });
    let mut parameters: Vec<Value> = parameters.collect();
    parameters.extend(
        route
            .parameters
            .iter()
            .map(|name| json!({ "name": name, "in": "query", "schema": parameter(name) })),
    );
    let media = |name: &str, schema: Value| (name.to_owned(), json!({ "schema": schema }));
    let body = match route.body {
        BodyKind::Json => Map::from_iter([media("application/json", sent(route))]),
        BodyKind::Documents => Map::from_iter([
            media("application/x-ndjson", json!({ "type": "string" })),
            media("application/json", sent(route)),
            media(CSV, json!({ "type": "string" })),
        ]),
        BodyKind::None | BodyKind::Lines => Map::new(),
    };
    let json_of = |name: &str| json!({ "application/json": { "schema": reference(name) } });
    let mut operation = json!({
        "summary": route.extent,
        "operationId": name_of(route),
        "parameters": parameters,
        "responses": {
            "200": { "description": "done", "content": json_of(&format!("{}Answer", name_of(route))) },
            "default": { "description": "an error", "content": json_of("Error") },
        },
    });
    if !body.is_empty() {
        operation["requestBody"] = json!({ "content": body });
    }
    operation
}

/// The names in braces of a path.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split('/');
    parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// A parameter of a URL.
fn parameter(name: &str) -> Value {
    match name {
        "version" => json!({ "type": "integer", "minimum": 0 }),
        "distinct" => json!({ "type": "boolean" }),
        _ => json!({ "type": "string", "enum": ["replace", "reject"] }),
    }
}

/// The schema of the body of a route.
fn sent(route: &Route) -> Value {
    reference(&format!("{}Body", name_of(route)))
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The name of a route: its method, and the parts of its path that are fixed.
pub fn name_of(route: &Route) -> String {
    let mut name = route.method.to_ascii_lowercase();
    for part in route.path.trim_start_matches("/v1/").split('/') {
        let part = part.trim_end_matches(".json");
        let part = part.strip_prefix('{').map_or_else(
            || capitalized(part),
            |part| format!("By{}", capitalized(part.trim_end_matches('}'))),
        );
        name.push_str(&part);
    }
    name
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1.min(word.len()));
    first.to_ascii_uppercase() + rest
}
