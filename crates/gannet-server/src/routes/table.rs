//! The table of routes.

use std::fmt::Write as _;

use super::route::{KeyKind, Route, route};
use super::{
    analysis, bulk, cat, cluster, document, index, lists, mapping, page, search, statistics,
};
use crate::indexes::type_names;
use crate::query::kinds;
use crate::searching::SEARCH_PARAMETERS;
use KeyKind::{Manage, Monitor, Read, Write};

/// Parameters of the health, which is never worse than yellow and green at once.
const HEALTH: [&str; 11] = [
    "level",
    "local",
    "master_timeout",
    "timeout",
    "wait_for_status",
    "wait_for_active_shards",
    "wait_for_nodes",
    "wait_for_events",
    "wait_for_no_initializing_shards",
    "wait_for_no_relocating_shards",
    "expand_wildcards",
];

/// Parameters of names with wildcards.
const NAMES: [&str; 7] = [
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "local",
    "master_timeout",
    "flat_settings",
    "include_defaults",
];

const MANAGES: [&str; 6] = [
    "timeout",
    "master_timeout",
    "wait_for_active_shards",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
];

const CAT: [&str; 9] = [
    "v",
    "h",
    "s",
    "help",
    "local",
    "bytes",
    "time",
    "expand_wildcards",
    "health",
];

const GETS: [&str; 7] = [
    "_source",
    "_source_includes",
    "_source_excludes",
    "realtime",
    "refresh",
    "preference",
    "routing",
];

const WRITES: [&str; 10] = [
    "refresh",
    "timeout",
    "routing",
    "wait_for_active_shards",
    "if_seq_no",
    "if_primary_term",
    "op_type",
    "pipeline",
    "require_alias",
    "retry_on_conflict",
];

const FLUSHES: [&str; 6] = [
    "force",
    "wait_if_ongoing",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "op",
];

const COUNTS: [&str; 10] = [
    "q",
    "df",
    "default_operator",
    "preference",
    "routing",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "timeout",
    "ignore_throttled",
];

const MSEARCHES: [&str; 10] = [
    "rest_total_hits_as_int",
    "typed_keys",
    "search_type",
    "max_concurrent_searches",
    "max_concurrent_shard_requests",
    "pre_filter_shard_size",
    "ccs_minimize_roundtrips",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
];

const ONE_INDEX: &str = "of one index; no sorting by fields, no aggregations, no vectors";

/// All routes. A request that has none is answered as Elasticsearch answers it.
pub const ROUTES: &[Route] = &[
    route("GET", "/", Monitor, cluster::about),
    route("HEAD", "/", Monitor, cluster::about),
    route("GET", "/health/live", Monitor, cluster::live).with("Gannet's own: the server runs"),
    route("GET", "/health/ready", Monitor, cluster::ready)
        .with("Gannet's own: its folder can be read"),
    route("GET", "/_ui", Monitor, page::document).with("Gannet's own: a page to search with"),
    route("GET", "/_ui/page.css", Monitor, page::style).with("a part of it"),
    route("GET", "/_ui/page.js", Monitor, page::script).with("a part of it"),
    route("GET", "/_cluster/health", Monitor, cluster::health).takes(&HEALTH),
    route("GET", "/_cluster/health/{index}", Monitor, cluster::health).takes(&HEALTH),
    route("GET", "/_license", Monitor, cluster::license).takes(&["accept_enterprise", "local"]),
    route("GET", "/_xpack", Monitor, cluster::xpack)
        .takes(&["categories", "accept_enterprise"])
        .with("says that there are no such features"),
    route("GET", "/_nodes", Monitor, cluster::nodes).takes(&["timeout", "flat_settings"]),
    route("GET", "/_nodes/http", Monitor, cluster::nodes).takes(&["timeout", "flat_settings"]),
    route("GET", "/_cat/health", Monitor, cat::health).takes(&CAT),
    route("GET", "/_cat/indices", Read, cat::indices).takes(&CAT),
    route("GET", "/_cat/indices/{index}", Read, cat::indices).takes(&CAT),
    route("PUT", "/{index}", Manage, index::create)
        .json()
        .takes(&MANAGES)
        .with("no aliases, no analyzers of its own"),
    route("GET", "/{index}", Read, index::get).takes(&NAMES),
    route("HEAD", "/{index}", Read, index::exists).takes(&NAMES),
    route("DELETE", "/{index}", Manage, index::delete).takes(&MANAGES),
    route("GET", "/_mapping", Read, mapping::get).takes(&NAMES),
    route("GET", "/{index}/_mapping", Read, mapping::get).takes(&NAMES),
    route("PUT", "/{index}/_mapping", Manage, mapping::put)
        .json()
        .takes(&MANAGES)
        .with("text, keyword, numbers and booleans"),
    route("POST", "/{index}/_mapping", Manage, mapping::put)
        .json()
        .takes(&MANAGES)
        .with("text, keyword, numbers and booleans"),
    route("GET", "/{index}/_settings", Read, index::settings).takes(&NAMES),
    route("POST", "/_refresh", Write, index::refresh).takes(&FLUSHES),
    route("GET", "/_refresh", Write, index::refresh).takes(&FLUSHES),
    route("POST", "/{index}/_refresh", Write, index::refresh)
        .takes(&FLUSHES)
        .with("does nothing: every search finds what was written before it"),
    route("GET", "/{index}/_refresh", Write, index::refresh).takes(&FLUSHES),
    route("POST", "/_flush", Write, index::flush).takes(&FLUSHES),
    route("POST", "/{index}/_flush", Write, index::flush)
        .takes(&FLUSHES)
        .with("a checkpoint"),
    route("GET", "/_stats", Read, statistics::stats).takes(&NAMES),
    route("GET", "/{index}/_stats", Read, statistics::stats)
        .takes(&NAMES)
        .with("documents and bytes"),
    route("GET", "/_analyze", Read, analysis::analyze).json(),
    route("POST", "/_analyze", Read, analysis::analyze).json(),
    route("GET", "/{index}/_analyze", Read, analysis::analyze).json(),
    route("POST", "/{index}/_analyze", Read, analysis::analyze)
        .json()
        .with("by the name of an analyzer or by a field"),
    route("POST", "/{index}/_doc", Write, document::index)
        .json()
        .takes(&WRITES),
    route("PUT", "/{index}/_doc/{id}", Write, document::index)
        .json()
        .takes(&WRITES),
    route("POST", "/{index}/_doc/{id}", Write, document::index)
        .json()
        .takes(&WRITES),
    route("GET", "/{index}/_doc/{id}", Read, document::get).takes(&GETS),
    route("HEAD", "/{index}/_doc/{id}", Read, document::exists).takes(&GETS),
    route("DELETE", "/{index}/_doc/{id}", Write, document::delete).takes(&WRITES),
    route("GET", "/{index}/_source/{id}", Read, document::source).takes(&GETS),
    route("HEAD", "/{index}/_source/{id}", Read, document::exists).takes(&GETS),
    route("PUT", "/{index}/_create/{id}", Write, document::create)
        .json()
        .takes(&WRITES),
    route("POST", "/{index}/_create/{id}", Write, document::create)
        .json()
        .takes(&WRITES),
    route("POST", "/{index}/_update/{id}", Write, document::update)
        .json()
        .takes(&WRITES)
        .with("doc, upsert, doc_as_upsert, detect_noop; no scripts"),
    route("POST", "/_bulk", Write, bulk::bulk)
        .lines()
        .takes(&WRITES),
    route("PUT", "/_bulk", Write, bulk::bulk)
        .lines()
        .takes(&WRITES),
    route("POST", "/{index}/_bulk", Write, bulk::bulk)
        .lines()
        .takes(&WRITES),
    route("PUT", "/{index}/_bulk", Write, bulk::bulk)
        .lines()
        .takes(&WRITES),
    route("GET", "/_mget", Read, lists::mget)
        .json()
        .takes(&GETS),
    route("POST", "/_mget", Read, lists::mget)
        .json()
        .takes(&GETS),
    route("GET", "/{index}/_mget", Read, lists::mget)
        .json()
        .takes(&GETS),
    route("POST", "/{index}/_mget", Read, lists::mget)
        .json()
        .takes(&GETS),
    route("GET", "/_search", Read, search::search)
        .json()
        .takes(&SEARCH_PARAMETERS)
        .with("where there is one index"),
    route("POST", "/_search", Read, search::search)
        .json()
        .takes(&SEARCH_PARAMETERS)
        .with("where there is one index"),
    route("GET", "/{index}/_search", Read, search::search)
        .json()
        .takes(&SEARCH_PARAMETERS)
        .with(ONE_INDEX),
    route("POST", "/{index}/_search", Read, search::search)
        .json()
        .takes(&SEARCH_PARAMETERS)
        .with(ONE_INDEX),
    route("GET", "/_count", Read, search::count)
        .json()
        .takes(&COUNTS),
    route("POST", "/_count", Read, search::count)
        .json()
        .takes(&COUNTS),
    route("GET", "/{index}/_count", Read, search::count)
        .json()
        .takes(&COUNTS),
    route("POST", "/{index}/_count", Read, search::count)
        .json()
        .takes(&COUNTS),
    route("GET", "/_msearch", Read, search::msearch)
        .lines()
        .takes(&MSEARCHES),
    route("POST", "/_msearch", Read, search::msearch)
        .lines()
        .takes(&MSEARCHES),
    route("GET", "/{index}/_msearch", Read, search::msearch)
        .lines()
        .takes(&MSEARCHES),
    route("POST", "/{index}/_msearch", Read, search::msearch)
        .lines()
        .takes(&MSEARCHES),
];

/// The table of `docs/compatibility.md`: paths with their methods.
pub fn compatibility() -> String {
    let mut out = String::from("| path | methods | key | of it |\n|---|---|---|---|\n");
    let mut done: Vec<&str> = Vec::new();
    for route in ROUTES {
        if done.contains(&route.path) {
            continue;
        }
        done.push(route.path);
        let rows = || ROUTES.iter().filter(|row| row.path == route.path);
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
    let named = |names: Vec<&str>| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let _ = writeln!(out, "\nQueries: {}.", named(kinds().collect()));
    let _ = writeln!(out, "\nTypes of fields: {}.", named(type_names().collect()));
    out
}
