//! Accepted documents can be returned, highlighted, replaced and checked, even if all their words
//! are different.

use std::path::Path;
use std::sync::Arc;

use super::random::Random;
use crate::device::MemoryDevice;
use crate::index::{Index, MEMORY_MIN, Options};
use crate::search::Operator;

/// A document as long as one may be: of short words that hardly come again, or of one word.
fn line(id: &str, length: usize, distinct: bool, random: &mut Random) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut line = format!("{{\"id\":\"{id}\",\"body\":\"all");
    while line.len() + 9 < length {
        line.push(' ');
        for _ in 0..if distinct { 5 } else { 0 } {
            let letter = random.below(LETTERS.len());
            line.push(char::from(LETTERS[letter]));
        }
        line.push_str(if distinct { "" } else { "aa" });
    }
    line.push_str("\"}");
    line
}

fn judge(memory: usize, distinct: bool) {
    let device = Arc::new(MemoryDevice::new());
    let options = Options::default().memory(memory);
    let open = |options| Index::open_on(device.clone(), Path::new("test"), options).unwrap();
    let index = open(options.clone());
    let (length, mut random) = (index.document_bytes_max(), Random::new(7));
    let mut lines: Vec<String> = (0..6)
        .map(|id| line(&id.to_string(), length, distinct, &mut random))
        .collect();
    lines.push(line("0", length, distinct, &mut random));
    for line in &lines {
        let told = |error| panic!("{memory} bytes, {} of a line: {error}", line.len());
        index.write_line(line.as_bytes()).unwrap_or_else(told);
    }
    lines.swap_remove(0);
    let check = |index: &Index| {
        let report = index.check(&|_, _| {}).unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        assert_eq!(report.documents, 6);
    };
    // Beside its posting buffers an open writer has less for documents of different words.
    if !distinct {
        check(&index);
    }
    index.close().unwrap();
    check(&open(options.clone().read_only().to_check()));
    let index = open(options.read_only());
    let snapshot = index.snapshot();
    for (number, line) in lines.iter().enumerate() {
        let id = number.to_string();
        let stored = index.get(&id).unwrap().unwrap();
        assert!(stored.source == line.as_bytes(), "document {id}");
        let query = snapshot.parse(&format!("all AND id:{id}"), Operator::Or);
        let results = snapshot.search(&query.unwrap()).highlight("body").run();
        let hit = &results.unwrap().hits[0];
        assert!(
            hit.error.is_none() && hit.source.is_some(),
            "{:?}",
            hit.error
        );
        assert!(!hit.snippets.is_empty());
    }
}

#[test]
fn the_longest_documents_are_returned_highlighted_replaced_and_checked() {
    for memory in [MEMORY_MIN, 4 * MEMORY_MIN] {
        for distinct in [false, true] {
            judge(memory, distinct);
        }
    }
}
