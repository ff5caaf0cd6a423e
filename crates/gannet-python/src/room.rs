//! The state that handles of one index share for their results: the texts that are held, and the
//! columns of tables.

use std::sync::{Arc, Mutex};

use gannet::Snapshot;

use crate::texts::Shelf;

/// The fields of an index, with the names of their analyzers.
pub type Columns = Arc<Vec<(String, String)>>;

/// The state that results of one index share.
pub struct Room {
    /// The texts that are held.
    pub texts: Arc<Shelf>,
    columns: Mutex<Columns>,
}

impl Room {
    /// Of an index with this memory budget.
    pub fn new(memory: usize) -> Arc<Room> {
        Arc::new(Room {
            texts: Shelf::new(memory),
            columns: Mutex::default(),
        })
    }

    /// The fields of a state of the index. Fields are only ever added, so their number tells
    /// whether they are known.
    pub fn columns(&self, snapshot: &Snapshot) -> Columns {
        let fields = snapshot.schema().fields();
        let mut columns = self.columns.lock().unwrap_or_else(|e| e.into_inner());
        if columns.len() != fields.len() {
            let named = fields
                .iter()
                .map(|field| (field.name.clone(), field.analyzer.name().to_string()));
            *columns = Arc::new(named.collect());
        }
        Arc::clone(&columns)
    }
}
