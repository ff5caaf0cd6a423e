//! The routes as `docs/compatibility.md` and `docs/server.md` list them.

use std::fmt::Write as _;

use super::own;
use super::route::Route;
use super::table::ROUTES;
use crate::indexes::type_names;
use crate::query::kinds;

/// The table of `docs/compatibility.md`: paths with their methods.
pub fn compatibility() -> String {
    let mut out = table(ROUTES);
    let named = |names: Vec<&str>| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let _ = writeln!(out, "\nQueries: {}.", named(kinds().collect()));
    let _ = writeln!(out, "\nTypes of fields: {}.", named(type_names().collect()));
    out
}

/// The table of `docs/server.md`: Gannet's own routes.
pub fn own_routes() -> String {
    let mut out = String::from("| path | method | key | what it does |\n|---|---|---|---|\n");
    for route in own::ROUTES {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            route.path,
            route.method,
            route.key.name(),
            route.extent
        );
    }
    out
}

fn table(routes: &[Route]) -> String {
    let mut out = String::from("| path | methods | key | of it |\n|---|---|---|---|\n");
    let mut done: Vec<&str> = Vec::new();
    for route in routes {
        if done.contains(&route.path) {
            continue;
        }
        done.push(route.path);
        let rows = || routes.iter().filter(|row| row.path == route.path);
        let methods: Vec<&str> = rows().map(|row| row.method).collect();
        let mut keys: Vec<&str> = rows().map(|row| row.key.name()).collect();
        keys.dedup();
        let extent = rows()
            .map(|row| row.extent)
            .find(|extent| !extent.is_empty());
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            route.path,
            methods.join(", "),
            keys.join(", "),
            extent.unwrap_or("all")
        );
    }
    out
}
