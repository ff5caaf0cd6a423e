//! Memory for what is read of the tokens of one document or block: a document may have a word
//! millions of times.

use crate::base::{Budget, Reservation, Result};

/// Bytes that a token takes while it is read: a position, or neighbours and whether they fit, in
/// buffers that double.
const TOKEN_BYTES: usize = 24;

/// Tokens of a word that are not worth reserving for: what is reserved for cursors covers them.
const FEW: usize = 128;

/// Room for the tokens of some words. Their buffers are used again and again, so it is that for the
/// most there were.
#[derive(Debug)]
pub struct TokenRoom {
    most: Vec<usize>,
    reserved: Reservation,
}

impl TokenRoom {
    /// No room yet for tokens of so many words.
    pub fn new(words: usize, budget: &Budget) -> Result<TokenRoom> {
        Ok(TokenRoom {
            most: vec![FEW; words],
            reserved: budget.reserve("the positions of a phrase", 0)?,
        })
    }

    /// Makes room for so many tokens of a word.
    #[inline]
    pub fn reserve(&mut self, word: usize, tokens: usize) -> Result<()> {
        if tokens > self.most[word] {
            self.grow(word, tokens)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn grow(&mut self, word: usize, tokens: usize) -> Result<()> {
        let more = tokens - self.most[word];
        let bytes = self.reserved.bytes() + more * TOKEN_BYTES;
        self.reserved.grow_to(bytes)?;
        self.most[word] = tokens;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_for_the_most_tokens_of_each_word() {
        let budget = Budget::new(TOKEN_BYTES * 2000);
        let mut room = TokenRoom::new(2, &budget).unwrap();
        room.reserve(0, FEW).unwrap();
        assert_eq!(budget.used(), 0);
        room.reserve(1, FEW + 1000).unwrap();
        room.reserve(1, FEW + 500).unwrap();
        assert_eq!(budget.used(), TOKEN_BYTES * 1000);
        assert!(room.reserve(0, FEW + 1001).is_err());
        room.reserve(0, FEW + 1000).unwrap();
    }
}
