//! The words of the Unicode standard (UAX #29) as a tokenizer, so that an index can have the very
//! terms that Gannet's has. Exceptions are emoji, and words that Gannet brings to NFC or gives
//! another apostrophe.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

/// The tokenizer; it has no state between texts but the token's buffer.
#[derive(Clone, Default)]
pub struct UnicodeWords {
    token: Token,
}

/// The words of one text.
pub struct WordStream<'a> {
    words: UnicodeWordIndices<'a>,
    token: &'a mut Token,
}

impl Tokenizer for UnicodeWords {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream {
            words: text.unicode_word_indices(),
            token: &mut self.token,
        }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((start, word)) = self.words.next() else {
            return false;
        };
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = start;
        self.token.offset_to = start + word.len();
        self.token.text.clear();
        self.token.text.push_str(word);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
