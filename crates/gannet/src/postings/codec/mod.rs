//! Codes postings, blocks, heads, entries and filters.

pub(crate) mod block;
pub(crate) mod common_code;
pub(crate) mod dead;
pub(crate) mod docs_page;
pub(crate) mod entry;
pub(crate) mod fragment;
pub(crate) mod head;
pub(crate) mod impacts;
pub(crate) mod places;
pub(crate) mod position_page;
pub(crate) mod short;
pub(crate) mod tokens;
