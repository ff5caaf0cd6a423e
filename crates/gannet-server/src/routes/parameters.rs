//! The parameters of URLs that routes take, beside those that all take. Many change nothing here:
//! an index has one shard, and nothing waits for another machine.

/// Parameters of the health, which is never worse than yellow and green at once.
pub const HEALTH: [&str; 11] = [
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
pub const NAMES: [&str; 14] = [
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "local",
    "master_timeout",
    "flat_settings",
    "include_defaults",
    "include_type_name",
    "level",
    "human",
    "forbid_closed_indices",
    "include_segment_file_sizes",
    "metric",
    "features",
];

/// Parameters of changes of indexes.
pub const MANAGES: [&str; 10] = [
    "timeout",
    "master_timeout",
    "wait_for_active_shards",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "include_type_name",
    "update_all_types",
    "write_index_only",
    "preserve_existing",
];

/// Parameters of tasks.
pub const TASKS: [&str; 8] = [
    "wait_for_completion",
    "timeout",
    "detailed",
    "group_by",
    "actions",
    "nodes",
    "parent_task_id",
    "master_timeout",
];

/// Parameters of tables.
pub const CAT: [&str; 13] = [
    "v",
    "h",
    "s",
    "help",
    "local",
    "bytes",
    "time",
    "expand_wildcards",
    "health",
    "master_timeout",
    "include_unloaded_segments",
    "pri",
    "full_id",
];

/// Parameters of reads of documents.
pub const GETS: [&str; 9] = [
    "_source",
    "_source_includes",
    "_source_excludes",
    "realtime",
    "refresh",
    "preference",
    "routing",
    "version",
    "version_type",
];

/// Parameters of writes of documents.
pub const WRITES: [&str; 15] = [
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
    "include_source_on_error",
    "list_executed_pipelines",
    "require_data_stream",
    "version",
    "version_type",
];

/// Parameters of refresh and flush.
pub const FLUSHES: [&str; 6] = [
    "force",
    "wait_if_ongoing",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "op",
];

/// Parameters of counts.
pub const COUNTS: [&str; 12] = [
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
    "lenient",
    "analyze_wildcard",
];

/// Parameters of several searches.
pub const MSEARCHES: [&str; 11] = [
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
    "ignore_throttled",
];

/// Parameters of merges.
pub const MERGES: [&str; 7] = [
    "max_num_segments",
    "only_expunge_deletes",
    "flush",
    "wait_for_completion",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
];

/// Parameters of scrolls.
pub const SCROLLS: [&str; 4] = [
    "scroll",
    "scroll_id",
    "rest_total_hits_as_int",
    "typed_keys",
];

/// Parameters of points in time.
pub const PITS: [&str; 6] = [
    "keep_alive",
    "ignore_unavailable",
    "expand_wildcards",
    "preference",
    "routing",
    "allow_partial_search_results",
];

/// Parameters of changes by query.
pub const BY_QUERY: [&str; 19] = [
    "q",
    "df",
    "default_operator",
    "conflicts",
    "refresh",
    "timeout",
    "routing",
    "preference",
    "pipeline",
    "wait_for_active_shards",
    "wait_for_completion",
    "requests_per_second",
    "scroll",
    "scroll_size",
    "search_timeout",
    "search_type",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
];

/// Parameters of the validation of a query.
pub const VALIDATES: [&str; 12] = [
    "q",
    "df",
    "default_operator",
    "explain",
    "rewrite",
    "all_shards",
    "lenient",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "ignore_throttled",
    "analyze_wildcard",
];

/// Parameters of explanations.
pub const EXPLAINS: [&str; 9] = [
    "q",
    "df",
    "default_operator",
    "routing",
    "preference",
    "lenient",
    "analyze_wildcard",
    "_source",
    "stored_fields",
];

/// Parameters of the terms of a document.
pub const TERM_VECTORS: [&str; 9] = [
    "fields",
    "offsets",
    "positions",
    "payloads",
    "term_statistics",
    "field_statistics",
    "realtime",
    "preference",
    "routing",
];

/// Parameters of questions about fields.
pub const FIELD_CAPS: [&str; 6] = [
    "fields",
    "include_unmapped",
    "include_empty_fields",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
];

/// Parameters of templates.
pub const TEMPLATES: [&str; 8] = [
    "create",
    "master_timeout",
    "cause",
    "local",
    "flat_settings",
    "include_defaults",
    "include_type_name",
    "order",
];

/// Parameters of nodes.
pub const NODES: [&str; 6] = [
    "timeout",
    "flat_settings",
    "level",
    "types",
    "include_segment_file_sizes",
    "include_remotes",
];
