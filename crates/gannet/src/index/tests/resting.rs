//! Idle maintenance ends, whatever the lists look like.

use std::path::Path;
use std::sync::Arc;

use crate::base::PhraseFilters;
use crate::device::MemoryDevice;
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options};

/// Steps that are more than enough.
const STEPS_MAX: usize = 40;

/// A document of a few words that come very often, and of some of its own.
fn document(number: usize) -> Document {
    let mut text = String::new();
    for at in 0..40_000 {
        text.push_str(["a ", "b ", "c ", "d "][(at * at / 7 + at) % 4]);
    }
    for own in 0..200 {
        text.push_str(&format!("n{number}x{own} "));
    }
    Document::new(number.to_string(), [("body", text)]).expect("a document")
}

/// With little memory a chunk of long documents is complete while its documents take less than a
/// page. To join such chunks gives as many again.
#[test]
fn idle_maintenance_ends_with_little_memory_and_long_documents() {
    let limits = Limits {
        upkeep_after: None,
        ..Limits::default()
    };
    let options = Options::default().memory(MEMORY_MIN).limits(limits);
    let options = options.phrase_filters(PhraseFilters::Fingerprints);
    let device = Arc::new(MemoryDevice::new());
    let index = Index::open_on(device, Path::new("test"), options).expect("opens");
    for number in 0..16 {
        index.write(vec![document(number)]).expect("written");
        index.checkpoint().expect("a checkpoint");
    }
    let steps = (0..STEPS_MAX).find(|_| !index.upkeep().expect("a step"));
    assert!(steps.is_some_and(|steps| steps > 0), "{steps:?}");
    let steps = (0..STEPS_MAX).find(|_| !index.clean().expect("a cleaning"));
    assert!(steps.is_some(), "the cleaning does not end");
    let snapshot = index.snapshot();
    assert_eq!(snapshot.documents(), 16);
}
