//! Routes of Elasticsearch that are not there, so that a request for one is told so by its name.

/// Parts of paths by which they are known.
const ABSENT: [&str; 40] = [
    "_async_search",
    "_block",
    "_cache",
    "_ccr",
    "_clone",
    "_close",
    "_data_stream",
    "_disk_usage",
    "_eql",
    "_esql",
    "_graph",
    "_ilm",
    "_inference",
    "_ingest",
    "_knn_search",
    "_migration",
    "_ml",
    "_monitoring",
    "_msearch/template",
    "_open",
    "_query",
    "_rank_eval",
    "_recovery",
    "_render",
    "_rollover",
    "_rollup",
    "_script",
    "_scripts",
    "_search/template",
    "_search_shards",
    "_security",
    "_segments",
    "_shard_stores",
    "_shrink",
    "_slm",
    "_snapshot",
    "_split",
    "_sql",
    "_terms_enum",
    "_watcher",
];

/// The route of Elasticsearch that a path is of, if it is one that is not there.
pub fn absent(path: &str) -> Option<&'static str> {
    let path = format!("{path}/");
    let mut absent = ABSENT.into_iter();
    absent.find(|route| path.contains(&format!("/{route}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_known_by_a_part_of_their_path() {
        assert_eq!(absent("/books/_segments/1"), Some("_segments"));
        assert_eq!(absent("/_watcher/watch/a"), Some("_watcher"));
        assert_eq!(absent("/books/_segmentsx"), None);
        assert!(ABSENT.is_sorted());
    }
}
