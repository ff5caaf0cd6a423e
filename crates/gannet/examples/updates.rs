//! Documents that change: some members, a document that nobody else may have changed meanwhile, and
//! a snapshot that stays as it was.
//!
//! ```text
//! cargo run --release --example updates
//! ```

use gannet::{Document, Error, Expected, Index, Operator};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let index = Index::options()
        .memory(64 << 20)
        .open(folder.path().join("tickets.gnt"))?;
    index.add(ticket("open", "The pump leaks.")?)?;
    let before = index.snapshot();

    // Only the members that are given change.
    index.merge("t1", br#"{"status": "closed"}"#, None)?;

    // Written only if the document still is the one that was read.
    let read = index.get("t1")?.ok_or("the ticket is gone")?;
    index.merge("t1", br#"{"status": "open again"}"#, None)?;
    let late = ticket("closed for good", "The pump leaks.")?;
    match index.add(late.expecting(Expected::Sequence(read.sequence))) {
        Err(Error::Conflict { .. }) => println!("somebody changed the ticket meanwhile"),
        other => println!("not expected: {other:?}"),
    }

    // A snapshot does not change; durable is what was written before `sync`.
    index.sync()?;
    for (name, snapshot) in [("before", &before), ("now", &index.snapshot())] {
        let query = snapshot.parse("status:closed", Operator::Or)?;
        let results = snapshot.search(&query).top(10).run()?;
        println!("{name}: {} closed", results.total);
    }
    drop(before);
    index.close()?;
    Ok(())
}

fn ticket(status: &str, text: &str) -> gannet::Result<Document> {
    let source = format!(r#"{{"id": "t1", "status": "{status}", "text": "{text}"}}"#);
    Document::parse(source.as_bytes())
}
