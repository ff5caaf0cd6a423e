//! What scores take from a field.

/// Sums over the documents of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStatistics {
    /// Documents that have the field.
    pub documents: u64,
    /// Tokens in the field over all documents.
    pub total_length: u64,
}

impl FieldStatistics {
    /// The mean length of the field in the documents that have it.
    pub fn average_length(&self) -> f32 {
        (self.total_length as f64 / self.documents.max(1) as f64) as f32
    }
}
