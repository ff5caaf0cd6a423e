//! The answers of many queries as a stream of Arrow batches.

use std::sync::Arc;

use arrow_array::builder::{Float32Builder, StringBuilder, UInt32Builder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::answers::Answers;

/// Rows with which a batch ends.
const ROWS: usize = 64 << 10;

/// Makes one batch after the other.
pub struct RankingBatches {
    answers: Arc<Answers>,
    schema: SchemaRef,
    next: usize,
}

impl RankingBatches {
    /// Of all answers.
    pub fn new(answers: Arc<Answers>) -> RankingBatches {
        let column = |name: &str, kind| Field::new(name, kind, false);
        let schema = Schema::new(vec![
            column("query", DataType::Utf8),
            column("rank", DataType::UInt32),
            column("id", DataType::Utf8),
            column("score", DataType::Float32),
        ]);
        RankingBatches {
            answers,
            schema: Arc::new(schema),
            next: 0,
        }
    }

    fn batch(&mut self) -> Result<RecordBatch, ArrowError> {
        let (mut queries, mut ids) = (StringBuilder::new(), StringBuilder::new());
        let (mut ranks, mut scores) = (UInt32Builder::new(), Float32Builder::new());
        let answers = self.answers.queries.iter().zip(&self.answers.rankings);
        let mut rows = 0;
        for (query, ranking) in answers.skip(self.next) {
            for (rank, (id, score)) in (1..).zip(ranking.hits()) {
                queries.append_value(query);
                ranks.append_value(rank);
                ids.append_value(id);
                scores.append_value(score);
            }
            rows += ranking.scores.len();
            self.next += 1;
            if rows >= ROWS {
                break;
            }
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(queries.finish()),
            Arc::new(ranks.finish()),
            Arc::new(ids.finish()),
            Arc::new(scores.finish()),
        ];
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Iterator for RankingBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.next < self.answers.queries.len()).then(|| self.batch())
    }
}

impl RecordBatchReader for RankingBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
