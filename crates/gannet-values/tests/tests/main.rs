//! Tests of values, dates and pieces against plain models.

mod arithmetic;
mod dates;
mod formats;
mod numbers;
mod pieces;
