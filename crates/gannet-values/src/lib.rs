//! Values of columns: their types, their order, their text, dates, and the codec of a piece.
//!
//! A value of a type has a *key* of 64 bits, and keys of one type are ordered as its values are.
//! A column stores keys only, in *pieces* of at most 1,024 consecutive documents. Long and double
//! are compared exactly by [`Number`], so a field can have both.
//!
//! The crate knows no files, no documents and no JSON. Whatever it decodes may be damaged: it
//! answers with [`Damaged`], and never panics.
//!
//! ```
//! use gannet_values::{Bits, Number, NumberRange, Piece, ValueType, encode, key_of_long};
//! use std::ops::Bound;
//!
//! // Three documents, of which the second has no value.
//! let values = [(0, key_of_long(7)), (2, key_of_long(-1)), (2, key_of_long(20))];
//! let coded = encode(&values, 3, 1_024).ok_or("one document always fits")?;
//! let piece = Piece::parse(&coded.bytes, coded.documents)?;
//!
//! let range = NumberRange {
//!     lower: Bound::Excluded(Number::Double(7.5)),
//!     upper: Bound::Unbounded,
//! };
//! let mut found = Bits::EMPTY;
//! if let Some(keys) = range.keys(ValueType::Long) {
//!     piece.select(keys, &mut found);
//! }
//! assert_eq!(found.iter().collect::<Vec<_>>(), [2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod bits;
mod dates;
mod keys;
pub mod lanes;
mod number;
mod piece;
mod range;
mod types;

pub use address::{Address, AddressRange};
pub use bits::Bits;
pub use dates::arithmetic::{DateError, Rounding, add_date_terms, date_arithmetic};
pub use dates::format::format_date;
pub use dates::formats::{DateFormats, FormatError, ReadDate};
pub use dates::parse::{DateRange, parse_date, parse_full_date};
pub use dates::{DATE_MAX_MS, DATE_MIN_MS};
pub use keys::{
    boolean_of_key, date_of_key, double_of_key, key_of_boolean, key_of_date, key_of_double,
    key_of_long, long_of_key,
};
pub use number::Number;
pub use piece::encode::{Encoded, encode};
pub use piece::view::Piece;
pub use piece::{Damaged, Summary};
pub use range::NumberRange;
pub use types::{Value, ValueType};

/// The most documents of a piece.
pub const PIECE_DOCUMENTS: usize = 1_024;

/// The most values that a document has in one column.
pub const DOCUMENT_VALUES: usize = 100;

/// So many bytes are enough for a piece of one document, whatever its values.
pub const PIECE_BYTES_LEAST: usize = 1_024;
