//! Searches from an async program: a search is a blocking call and belongs on a blocking thread.
//!
//! ```text
//! cargo run --release --example tokio
//! ```

use std::sync::Arc;
use std::time::Duration;

use gannet::{Document, Error, Index, Operator};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let index = Index::options()
        .memory(64 << 20)
        .open(folder.path().join("tokio.gnt"))?;
    index.write(vec![
        Document::parse(br#"{"id": "1", "body": "Call me Ishmael."}"#)?,
        Document::parse(br#"{"id": "2", "body": "It was the best of times."}"#)?,
    ])?;
    let index = Arc::new(index);

    let queries = ["body:ishmael", "body:best", "body:(times OR ishmael)"];
    let tasks = queries.map(|query| tokio::spawn(search(Arc::clone(&index), query)));
    for (query, task) in queries.iter().zip(tasks) {
        println!("{query}: {:?}", task.await??);
    }
    Ok(())
}

/// The IDs of the ten best documents, or an error after a second.
async fn search(index: Arc<Index>, query: &'static str) -> Result<Vec<String>, Failure> {
    let found = tokio::task::spawn_blocking(move || {
        let snapshot = index.snapshot();
        let query = snapshot.parse(query, Operator::Or)?;
        let results = snapshot
            .search(&query)
            .top(10)
            .timeout(Duration::from_secs(1))
            .run()?;
        Ok::<_, Error>(results.hits.into_iter().map(|hit| hit.id).collect())
    });
    Ok(found.await??)
}
