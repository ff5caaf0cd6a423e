//! Aggregations over columns: counts by value, by range, by time, and metrics of them.
//!
//! A request is a tree of aggregations ([`Aggregations`]), built or read from Elasticsearch's JSON.
//! A [`Run`] evaluates it on the documents of one index. It reads nothing by itself: it says what
//! it wants, and the caller gives it values of columns in batches. What it found is a [`State`],
//! which is stored, merged over shards, and answered as JSON.
//!
//! Counts are exact always. Where the buckets of terms or composites, or distinct values, do not
//! fit in memory, further passes take a part of the keys each, at most 64. Where even that does
//! not suffice, the error says how much is expected to.
//!
//! - Buckets of terms and composites are chosen first. What is below them is collected in the next
//!   pass, for the chosen ones alone.
//! - Distinct values are counted exactly. Over shards they are hashes of 128 bits.
//! - Percentiles are those of the sorted values, interpolated between neighbours.
//! - Keywords are numbers until an answer needs their terms.
//!
//! ```
//! use gannet_aggregate::{Aggregations, Batch, ColumnValues, Run, Scope, Want};
//! use gannet_values::{ValueType, key_of_long};
//! use serde_json::json;
//!
//! let request = json!({ "sizes": { "histogram": { "field": "size", "interval": 10 } } });
//! let no_filters = &mut |_: &serde_json::Value| Err("no filters here".to_owned());
//! let tree = Aggregations::from_json(&request, 0, no_filters)?;
//!
//! let type_of = |field: &str| (field == "size").then_some(ValueType::Long);
//! let reserve = Box::new(|bytes| bytes <= 1 << 20);
//! let mut run = Run::new(&tree, Scope::Alone, &type_of, reserve)?;
//! while let Want::Pass(pass) = run.wants() {
//!     assert_eq!(pass.fields, ["size"]);
//!     run.feed(&Batch {
//!         documents: &[3, 4, 9],
//!         columns: &[ColumnValues {
//!             field: "size",
//!             value_type: ValueType::Long,
//!             documents: &[3, 9],
//!             keys: &[key_of_long(7), key_of_long(12)],
//!         }],
//!         ..Batch::default()
//!     })?;
//!     run.end_of_pass()?;
//! }
//! let answer = tree.answer(&run.into_state()?)?;
//! let buckets = json!([{ "key": 0.0, "doc_count": 1 }, { "key": 10.0, "doc_count": 1 }]);
//! assert_eq!(answer, json!({ "sizes": { "buckets": buckets } }));
//! # Ok::<(), gannet_aggregate::Error>(())
//! ```

mod answer;
mod batch;
mod dates;
mod error;
mod memory;
mod percentiles;
mod run;
mod state;
mod stats;
mod table;
mod tree;
mod values;

pub use batch::{Batch, ColumnValues, FilterDocuments};
pub use dates::format::DateFormat;
pub use dates::rounding::{Interval, Step, Unit};
pub use dates::zone::Zone;
pub use error::{Error, Result};
pub use memory::Reserve;
pub use run::{Pass, Run, Scope, Want};
pub use state::State;
pub use stats::Stats;
pub use tree::*;
