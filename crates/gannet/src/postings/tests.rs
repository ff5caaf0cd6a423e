//! The room against a plain oracle: a list is a vector of docs with their positions.
