//! Keys: who may ask, for what.
//!
//! A key is an identifier and a random secret. Of secrets only their SHA-256 is kept, in a file
//! that its owner alone may read. They are 256 random bits, so nobody guesses one from its digest.

mod check;
mod file;

pub use check::Keys;
pub use file::{KeyFile, KeyListing, NewKey};
