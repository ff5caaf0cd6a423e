//! What a replay must read as it was read the first time.

use std::sync::Arc;

use super::world::open;
use crate::device::{Device, MemoryDevice};
use crate::documents::Document;
use crate::search::Operator;

/// The source's member `id` is a field of a document that came with an ID of its own, even with the
/// same one.
#[test]
fn a_member_that_says_the_same_as_the_id_stays_a_field() {
    let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
    let source = br#"{"id":"7","body":"all"}"#;
    let index = open(Arc::clone(&device)).unwrap();
    let named = Document::parse_as(Some("7".to_owned()), source).unwrap();
    index.add(named).unwrap();
    index
        .add(Document::parse(br#"{"id":"8","body":"all"}"#).unwrap())
        .unwrap();
    index.sync().unwrap();
    drop(index);
    let snapshot = open(device).unwrap().snapshot();
    let found = |text: &str| {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let hits = snapshot.search(&query).run().unwrap().hits;
        hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>()
    };
    assert_eq!(found("id:7"), ["7"]);
    assert!(found("id:8").is_empty());
    assert_eq!(found("body:all").len(), 2);
}
