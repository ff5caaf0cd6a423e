//! Builds or opens an index and runs some queries: `smoke DIR FILE|- MEMORY_MB [LIMIT [QUERY...]]`.

use gannet::*;
use std::io::BufRead;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let dir = &args[1];
    let t = std::time::Instant::now();
    let index = Index::options()
        .memory(args[3].parse::<usize>().unwrap() << 20)
        .open(dir)
        .unwrap();
    println!("open {:?} backend {:?}", t.elapsed(), index.backend());
    if args[2] != "-" {
        let file =
            std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(&args[2]).unwrap());
        let limit: usize = args.get(4).map_or(usize::MAX, |s| s.parse().unwrap());
        let mut batch = Vec::new();
        let mut n = 0;
        let mut bytes = 0;
        let mut bench = Workbench::default();
        let t = std::time::Instant::now();
        for line in file.lines().take(limit) {
            let line = line.unwrap();
            bytes += line.len();
            n += 1;
            batch.push(Document::parse(line.as_bytes()).unwrap());
            if batch.len() == 1000 {
                let p = index
                    .prepare(&mut bench, std::mem::take(&mut batch))
                    .unwrap();
                index.write_prepared(p).unwrap();
            }
        }
        index.write(batch).unwrap();
        println!("written {n} docs {bytes} bytes {:?}", t.elapsed());
        index.checkpoint().unwrap();
        println!(
            "checkpoint {:?} {:.1} MB/s {:?}",
            t.elapsed(),
            bytes as f64 / 1e6 / t.elapsed().as_secs_f64(),
            index.counters()
        );
    }
    let s = index.snapshot();
    let queries: Vec<&str> = args.iter().skip(5).map(String::as_str).collect();
    let standard = [
        "body:whale",
        "body:anarchism",
        "+body:united +body:states",
        "body:\"united states\"",
        "body:of body:the",
        "free software",
        "body:anarch*",
        "whale -ship",
    ];
    for q in if queries.is_empty() {
        &standard[..]
    } else {
        &queries
    } {
        let query = s.parse(q, Operator::Or).unwrap();
        let t = std::time::Instant::now();
        let r = s.search(&query).top(3).run().unwrap();
        let cold = t.elapsed();
        let mut hot = Vec::new();
        for _ in 0..201 {
            let t = std::time::Instant::now();
            let _ = s.search(&query).top(3).run().unwrap();
            hot.push(t.elapsed());
        }
        hot.sort();
        println!(
            "{q}: total {} exact {}; cold {} rounds {} reads {} bytes {cold:?}; hot {:?} least {:?}",
            r.total, r.total_is_exact, r.io.rounds, r.io.reads, r.io.bytes, hot[100], hot[0]
        );
        for h in &r.hits {
            println!("   {} {} ", h.id, h.score);
        }
    }
    if !queries.is_empty() {
        return index.close().unwrap();
    }
    println!("{:?}", index.stats().unwrap());
    let mut by: std::collections::BTreeMap<String, (u64, u64, u64)> = Default::default();
    for z in index.zones() {
        let e = by.entry(format!("{:?}", z.kind)).or_default();
        e.0 += 1;
        e.1 += z.pages as u64 * 4088;
        e.2 += z.live_bytes;
    }
    println!("{by:#?}");
    println!("{:?}", index.check(&|_, _| ()).unwrap());
    index.close().unwrap();
}
