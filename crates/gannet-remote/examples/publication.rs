//! An index that is published to a URL and searched where it is. A folder stands for the bucket
//! here; `s3://bucket/prefix` works alike.
//!
//! ```text
//! cargo run --release --package gannet-remote --example publication
//! ```

use gannet::{Document, Index, Operator};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let index = Index::options()
        .memory(128 << 20)
        .open(folder.path().join("books.gnt"))?;
    index.add(Document::parse(
        br#"{"id": "1", "body": "Call me Ishmael."}"#,
    )?)?;

    let url = format!("file://{}", folder.path().join("published").display());
    gannet_remote::publish(&index, &url, &Default::default(), &mut |_, _| ())?;
    index.close()?;

    let (published, _) = gannet_remote::open(&url, Default::default())?;
    let snapshot = published.snapshot();
    let query = snapshot.parse("ishmael", Operator::Or)?;
    let results = snapshot.search(&query).top(10).run()?;
    println!("{} found at {url}", results.total);
    Ok(())
}
