//! The routes of Elasticsearch.

use super::parameters::{
    BY_QUERY, CAT, COUNTS, EXPLAINS, FIELD_CAPS, FLUSHES, GETS, HEALTH, MANAGES, MERGES, MSEARCHES,
    NAMES, NODES, PITS, SCROLLS, TASKS, TEMPLATES, TERM_VECTORS, VALIDATES, WRITES,
};
use super::route::{Route, route};
use super::{
    alias, analysis, bulk, by_query, cat, cluster, contexts, data_stream, document, index, inspect,
    legacy_template, lists, mapping, nodes, search, statistics, task, template, termvectors,
};
use crate::http::Right;
use crate::searching::SEARCH_PARAMETERS;
use Right::{Manage, Monitor, Read, Write};

const PARTS: &str = "no vectors, no suggesters, no scripts";

/// The routes of Elasticsearch. A request that has none is answered as Elasticsearch answers it.
pub const ROUTES: &[Route] = &[
    route("GET", "/", Monitor, cluster::about),
    route("HEAD", "/", Monitor, cluster::about),
    route("GET", "/_cluster/health", Monitor, cluster::health).takes(&HEALTH),
    route("GET", "/_cluster/health/{index}", Monitor, cluster::health).takes(&HEALTH),
    route("GET", "/_license", Monitor, cluster::license).takes(&["accept_enterprise", "local"]),
    route("GET", "/_xpack", Monitor, cluster::xpack)
        .takes(&["categories", "accept_enterprise"])
        .with("says that there are no such features"),
    route("GET", "/_nodes", Monitor, cluster::nodes).takes(&NODES),
    route("GET", "/_nodes/http", Monitor, cluster::nodes).takes(&NODES),
    route("GET", "/_nodes/{node_id}", Monitor, cluster::nodes).takes(&NODES),
    route("GET", "/_nodes/{node_id}/{metric}", Monitor, cluster::nodes).takes(&NODES),
    route("GET", "/_nodes/stats", Monitor, nodes::stats).takes(&NODES),
    route("GET", "/_nodes/stats/{metric}", Monitor, nodes::stats).takes(&NODES),
    route("GET", "/_nodes/{node_id}/stats", Monitor, nodes::stats)
        .takes(&NODES)
        .with("documents, bytes, requests and memory of this server"),
    route("GET", "/_cluster/stats", Monitor, nodes::cluster_stats)
        .takes(&NODES)
        .with("indexes, documents and bytes"),
    route(
        "GET",
        "/_cluster/settings",
        Monitor,
        nodes::cluster_settings,
    )
    .takes(&NAMES)
    .with("there are none"),
    route("GET", "/_cat/nodes", Monitor, cat::nodes).takes(&CAT),
    route("GET", "/_cat/health", Monitor, cat::health).takes(&CAT),
    route("GET", "/_cat/indices", Read, cat::indices).takes(&CAT),
    route("GET", "/_cat/indices/{index}", Read, cat::indices).takes(&CAT),
    route("PUT", "/{index}", Manage, index::create)
        .json()
        .takes(&MANAGES)
        .with("no analyzers of its own"),
    route("GET", "/{index}", Read, index::get).takes(&NAMES),
    route("HEAD", "/{index}", Read, index::exists).takes(&NAMES),
    route("DELETE", "/{index}", Manage, index::delete).takes(&MANAGES),
    route("POST", "/_aliases", Manage, alias::change)
        .json()
        .takes(&MANAGES)
        .with("add, remove, remove_index, all at once; no routing"),
    route("GET", "/_alias", Read, alias::get).takes(&NAMES),
    route("GET", "/_alias/{name}", Read, alias::get).takes(&NAMES),
    route("HEAD", "/_alias/{name}", Read, alias::exists).takes(&NAMES),
    route("GET", "/{index}/_alias", Read, alias::get).takes(&NAMES),
    route("GET", "/{index}/_alias/{name}", Read, alias::get).takes(&NAMES),
    route("HEAD", "/{index}/_alias/{name}", Read, alias::exists).takes(&NAMES),
    route("PUT", "/{index}/_alias/{name}", Manage, alias::put)
        .json()
        .takes(&MANAGES),
    route("POST", "/{index}/_alias/{name}", Manage, alias::put)
        .json()
        .takes(&MANAGES),
    route("DELETE", "/{index}/_alias/{name}", Manage, alias::delete).takes(&MANAGES),
    route("GET", "/_aliases", Read, alias::get).takes(&NAMES),
    route("GET", "/{index}/_aliases", Read, alias::get).takes(&NAMES),
    route("PUT", "/{index}/_aliases/{name}", Manage, alias::put)
        .json()
        .takes(&MANAGES),
    route("POST", "/{index}/_aliases/{name}", Manage, alias::put)
        .json()
        .takes(&MANAGES),
    route("DELETE", "/{index}/_aliases/{name}", Manage, alias::delete)
        .takes(&MANAGES)
        .with("another name of `_alias`"),
    route("GET", "/_cat/aliases", Read, cat::aliases).takes(&CAT),
    route("GET", "/_cat/aliases/{name}", Read, cat::aliases).takes(&CAT),
    route("GET", "/_resolve/index/{index}", Read, alias::resolve).takes(&NAMES),
    route("GET", "/_index_template", Monitor, template::get).takes(&TEMPLATES),
    route("GET", "/_index_template/{name}", Monitor, template::get).takes(&TEMPLATES),
    route("HEAD", "/_index_template/{name}", Monitor, template::exists).takes(&TEMPLATES),
    route("PUT", "/_index_template/{name}", Manage, template::put)
        .json()
        .takes(&TEMPLATES)
        .with("a data stream is an ordinary index"),
    route("POST", "/_index_template/{name}", Manage, template::put)
        .json()
        .takes(&TEMPLATES),
    route(
        "DELETE",
        "/_index_template/{name}",
        Manage,
        template::delete,
    )
    .takes(&TEMPLATES),
    route(
        "POST",
        "/_index_template/_simulate_index/{name}",
        Monitor,
        template::simulate,
    )
    .takes(&TEMPLATES)
    .with("by its name alone"),
    route("GET", "/_template", Monitor, legacy_template::get).takes(&TEMPLATES),
    route("GET", "/_template/{name}", Monitor, legacy_template::get).takes(&TEMPLATES),
    route(
        "HEAD",
        "/_template/{name}",
        Monitor,
        legacy_template::exists,
    )
    .takes(&TEMPLATES),
    route("PUT", "/_template/{name}", Manage, legacy_template::put)
        .json()
        .takes(&TEMPLATES)
        .with("merged by their order, where no `_index_template` fits"),
    route("POST", "/_template/{name}", Manage, legacy_template::put)
        .json()
        .takes(&TEMPLATES),
    route(
        "DELETE",
        "/_template/{name}",
        Manage,
        legacy_template::delete,
    )
    .takes(&TEMPLATES),
    route(
        "GET",
        "/_component_template",
        Monitor,
        template::get_component,
    )
    .takes(&TEMPLATES),
    route(
        "GET",
        "/_component_template/{name}",
        Monitor,
        template::get_component,
    )
    .takes(&TEMPLATES),
    route(
        "HEAD",
        "/_component_template/{name}",
        Monitor,
        template::component_exists,
    )
    .takes(&TEMPLATES),
    route(
        "PUT",
        "/_component_template/{name}",
        Manage,
        template::put_component,
    )
    .json()
    .takes(&TEMPLATES),
    route(
        "POST",
        "/_component_template/{name}",
        Manage,
        template::put_component,
    )
    .json()
    .takes(&TEMPLATES),
    route(
        "DELETE",
        "/_component_template/{name}",
        Manage,
        template::delete_component,
    )
    .takes(&TEMPLATES),
    route("PUT", "/_data_stream/{name}", Manage, data_stream::create)
        .takes(&MANAGES)
        .with("an ordinary index, by the template of its name"),
    route("GET", "/_data_stream", Read, data_stream::get).takes(&NAMES),
    route("GET", "/_data_stream/{name}", Read, data_stream::get).takes(&NAMES),
    route(
        "DELETE",
        "/_data_stream/{name}",
        Manage,
        data_stream::delete,
    )
    .takes(&MANAGES),
    route("GET", "/_mapping", Read, mapping::get).takes(&NAMES),
    route("GET", "/_mapping/field/{fields}", Read, mapping::fields).takes(&NAMES),
    route(
        "GET",
        "/{index}/_mapping/field/{fields}",
        Read,
        mapping::fields,
    )
    .takes(&NAMES),
    route("GET", "/_settings", Read, index::settings).takes(&NAMES),
    route("GET", "/{index}/_mapping", Read, mapping::get).takes(&NAMES),
    route("PUT", "/{index}/_mapping", Manage, mapping::put)
        .json()
        .takes(&MANAGES)
        .with("text, keyword, numbers, booleans, dates, multi-fields"),
    route("POST", "/{index}/_mapping", Manage, mapping::put)
        .json()
        .takes(&MANAGES)
        .with("text, keyword, numbers, booleans, dates, multi-fields"),
    route("GET", "/{index}/_settings", Read, index::settings).takes(&NAMES),
    route("PUT", "/{index}/_settings", Manage, index::put_settings)
        .json()
        .takes(&MANAGES)
        .with("number_of_replicas and refresh_interval change, and do nothing"),
    route("POST", "/{index}/_forcemerge", Manage, index::merge)
        .takes(&MERGES)
        .with("a vacuum, where that is worth what it writes"),
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
        .with("in all indexes"),
    route("POST", "/_search", Read, search::search)
        .json()
        .takes(&SEARCH_PARAMETERS)
        .with("in all indexes"),
    route("GET", "/{index}/_search", Read, search::search)
        .json()
        .takes(&SEARCH_PARAMETERS)
        .with(PARTS),
    route("POST", "/{index}/_search", Read, search::search)
        .json()
        .takes(&SEARCH_PARAMETERS)
        .with(PARTS),
    route("GET", "/_search/scroll", Read, contexts::scroll)
        .json()
        .takes(&SCROLLS),
    route("POST", "/_search/scroll", Read, contexts::scroll)
        .json()
        .takes(&SCROLLS),
    route("DELETE", "/_search/scroll", Read, contexts::end_scroll).json(),
    route("GET", "/_search/scroll/{scroll_id}", Read, contexts::scroll)
        .json()
        .takes(&SCROLLS),
    route(
        "POST",
        "/_search/scroll/{scroll_id}",
        Read,
        contexts::scroll,
    )
    .json()
    .takes(&SCROLLS),
    route(
        "DELETE",
        "/_search/scroll/{scroll_id}",
        Read,
        contexts::end_scroll,
    )
    .json(),
    route("POST", "/{index}/_pit", Read, contexts::open_pit)
        .json()
        .takes(&PITS)
        .with("no index_filter"),
    route("DELETE", "/_pit", Read, contexts::close_pit).json(),
    route("POST", "/{index}/_delete_by_query", Write, by_query::delete)
        .json()
        .takes(&BY_QUERY)
        .with("all"),
    route("POST", "/{index}/_update_by_query", Write, by_query::update)
        .json()
        .takes(&BY_QUERY)
        .with("writes documents as they are; no scripts"),
    route("POST", "/_reindex", Write, by_query::reindex)
        .json()
        .takes(&BY_QUERY)
        .with("of indexes of this server; no scripts, no slices"),
    route("GET", "/_tasks", Write, task::list).takes(&TASKS),
    route("POST", "/_tasks/_cancel", Write, task::cancel).takes(&TASKS),
    route("GET", "/_tasks/{task_id}", Write, task::get)
        .takes(&TASKS)
        .with("changes by query, as long as the server runs"),
    route("POST", "/_tasks/{task_id}/_cancel", Write, task::cancel).takes(&TASKS),
    route("GET", "/_validate/query", Read, inspect::validate)
        .json()
        .takes(&VALIDATES),
    route("POST", "/_validate/query", Read, inspect::validate)
        .json()
        .takes(&VALIDATES),
    route("GET", "/{index}/_validate/query", Read, inspect::validate)
        .json()
        .takes(&VALIDATES),
    route("POST", "/{index}/_validate/query", Read, inspect::validate)
        .json()
        .takes(&VALIDATES),
    route("GET", "/{index}/_explain/{id}", Read, inspect::explain)
        .json()
        .takes(&EXPLAINS),
    route("POST", "/{index}/_explain/{id}", Read, inspect::explain)
        .json()
        .takes(&EXPLAINS),
    route(
        "GET",
        "/{index}/_termvectors/{id}",
        Read,
        termvectors::termvectors,
    )
    .json()
    .takes(&TERM_VECTORS)
    .with("of the source; no documents of the request, no filters"),
    route(
        "POST",
        "/{index}/_termvectors/{id}",
        Read,
        termvectors::termvectors,
    )
    .json()
    .takes(&TERM_VECTORS),
    route("GET", "/_mtermvectors", Read, termvectors::several)
        .json()
        .takes(&TERM_VECTORS),
    route("POST", "/_mtermvectors", Read, termvectors::several)
        .json()
        .takes(&TERM_VECTORS),
    route("GET", "/{index}/_mtermvectors", Read, termvectors::several)
        .json()
        .takes(&TERM_VECTORS),
    route("POST", "/{index}/_mtermvectors", Read, termvectors::several)
        .json()
        .takes(&TERM_VECTORS)
        .with("the same of several documents"),
    route("GET", "/_field_caps", Read, inspect::field_caps)
        .json()
        .takes(&FIELD_CAPS),
    route("POST", "/_field_caps", Read, inspect::field_caps)
        .json()
        .takes(&FIELD_CAPS),
    route("GET", "/{index}/_field_caps", Read, inspect::field_caps)
        .json()
        .takes(&FIELD_CAPS)
        .with("fields of documents"),
    route("POST", "/{index}/_field_caps", Read, inspect::field_caps)
        .json()
        .takes(&FIELD_CAPS),
    route(
        "POST",
        "/{index}/_search/point_in_time",
        Read,
        contexts::open_point_in_time,
    )
    .takes(&PITS)
    .with("the same as OpenSearch has it"),
    route(
        "DELETE",
        "/_search/point_in_time",
        Read,
        contexts::close_points_in_time,
    )
    .json()
    .with("the same as OpenSearch has it"),
    route("GET", "/_cat/count", Read, cat::count).takes(&CAT),
    route("POST", "/_cat/count", Read, cat::count).takes(&CAT),
    route("GET", "/_cat/count/{index}", Read, cat::count).takes(&CAT),
    route("POST", "/_cat/count/{index}", Read, cat::count).takes(&CAT),
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
