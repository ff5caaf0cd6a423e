//! The answers of many queries: IDs and scores.
//!
//! The IDs of a query stand in one buffer. So an answer of a thousand documents takes about twenty
//! bytes for each, and becomes an Arrow array without a detour through Python objects.

/// The answer of one query, best first.
#[derive(Default)]
pub struct Ranking {
    ids: String,
    /// The end of each ID.
    ends: Vec<usize>,
    pub scores: Vec<f32>,
}

impl Ranking {
    /// Of an answer whose documents were fetched.
    pub fn of(results: gannet::SearchResults) -> gannet::Result<Ranking> {
        let mut ranking = Ranking::default();
        for hit in results.hits {
            if let Some(error) = hit.error {
                return Err(error);
            }
            ranking.push(&hit.id, hit.score);
        }
        Ok(ranking)
    }

    /// Adds the next hit.
    pub fn push(&mut self, id: &str, score: f32) {
        self.ids.push_str(id);
        self.ends.push(self.ids.len());
        self.scores.push(score);
    }

    /// Returns the number of hits.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The ID at a place, which there must be.
    pub fn id(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start..self.ends[place]]
    }

    /// IDs with their scores.
    pub fn hits(&self) -> impl Iterator<Item = (&str, f32)> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let ids = starts
            .zip(&self.ends)
            .map(|(start, end)| &self.ids[*start..*end]);
        ids.zip(self.scores.iter().copied())
    }
}

/// The answers of many queries, in their order.
pub struct Answers {
    pub queries: Vec<String>,
    pub rankings: Vec<Ranking>,
}
