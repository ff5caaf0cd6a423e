//! The paper's postings, lists of them, and lists that are made up.
//!
//! A posting has 32 bytes: the document, its score (precomputed, in place of a frequency), and 24
//! bytes that stand for frequency and positions. A list is in the order of documents, which differ.

use gannet_ssd::random::Random;

/// Bytes of a posting.
pub const POSTING_BYTES: usize = 32;
/// Words of it; the first has the document in its lower half and the score in its upper one.
pub const WORDS: usize = POSTING_BYTES / 8;
/// Postings of a page of flash.
pub const POSTINGS_OF_PAGE: usize = 4096 / POSTING_BYTES;
/// Documents of the collection, as in the paper.
pub const DOCUMENTS: usize = 10_000_000;
/// Scores are below this, so that no sum of a query reaches the largest number.
const SCORES: usize = 1 << 20;

/// A posting as words.
pub type Posting = [u64; WORDS];

/// A list.
pub type List = Vec<Posting>;

/// The document of a head.
pub fn document(head: u64) -> u32 {
    head as u32
}

/// The score of a head.
pub fn score(head: u64) -> u32 {
    (head >> 32) as u32
}

/// A head with another score.
pub fn with_score(head: u64, score: u32) -> u64 {
    u64::from(document(head)) | u64::from(score) << 32
}

/// A list as it stands on flash.
pub fn bytes(list: &[Posting]) -> Vec<u8> {
    list.iter()
        .flatten()
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

/// Pages of a list.
pub fn pages(postings: usize) -> usize {
    postings.div_ceil(POSTINGS_OF_PAGE)
}

/// For each page of a list a head: its last document, its largest score.
pub fn table(list: &[Posting]) -> Vec<u64> {
    let entry = |page: &[Posting]| {
        let most = page.iter().map(|posting| score(posting[0])).max();
        let last = page.last().map_or(0, |posting| posting[0]);
        with_score(last, most.unwrap_or(0))
    };
    list.chunks(POSTINGS_OF_PAGE).map(entry).collect()
}

/// The list of documents, with scores and what stands for positions at random.
pub fn list(documents: &[u32], random: &mut Random) -> List {
    let posting = |document: &u32| {
        let score = random.below(SCORES) as u32;
        let head = with_score(u64::from(*document), score);
        [head, random.draw(), random.draw(), random.draw()]
    };
    documents.iter().map(posting).collect()
}

/// Lists of these sizes whose common documents are `common`, or a few more where there are more
/// than two lists: of two lists the others differ, further ones are drawn without regard to them.
pub fn lists(sizes: &[usize], common: usize, seed: u64) -> Vec<List> {
    let mut random = Random::new(seed, "lists");
    let mut owner = vec![0_u8; DOCUMENTS];
    let core = draw(common, &mut owner, u8::MAX, |taken| taken == 0, &mut random);
    let mut lists = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        let mine = at as u8 + 1;
        let is_free = |taken: u8| match sizes.len() {
            2 => taken == 0,
            _ => taken != u8::MAX && taken != mine,
        };
        let own = draw(
            size.saturating_sub(common),
            &mut owner,
            mine,
            is_free,
            &mut random,
        );
        let mut documents = [core.as_slice(), &own].concat();
        documents.sort_unstable();
        lists.push(list(&documents, &mut random));
    }
    lists
}

/// Draws documents that differ and marks them.
fn draw(
    count: usize,
    owner: &mut [u8],
    mark: u8,
    is_free: impl Fn(u8) -> bool,
    random: &mut Random,
) -> Vec<u32> {
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let document = random.below(owner.len());
        if is_free(owner[document]) {
            owner[document] = mark;
            drawn.push(document as u32);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_have_as_much_in_common_as_is_asked_for() {
        let made = lists(&[500, 3_000], 70, 1);
        let documents: Vec<Vec<u32>> = made
            .iter()
            .map(|list| list.iter().map(|posting| document(posting[0])).collect())
            .collect();
        for (list, size) in documents.iter().zip([500, 3_000]) {
            assert_eq!(list.len(), size);
            assert!(list.is_sorted_by(|one, other| one < other));
        }
        let common = documents[0]
            .iter()
            .filter(|one| documents[1].binary_search(one).is_ok());
        assert_eq!(common.count(), 70);
    }
}
