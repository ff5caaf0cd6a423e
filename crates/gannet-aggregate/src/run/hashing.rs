//! Distinct values of a shard as hashes of 128 bits, which are equal wherever the values are.

use gannet_values::Number;

use super::metric::MetricNode;
use super::request::{Request, TERMS_AT_ONCE};
use crate::memory::{Full, Ledger};
use crate::state::MetricState;
use crate::values::{NO_NUMBER, number_of, scalar_string};

/// Keywords whose terms are asked for, and the hashes so far.
pub(crate) struct Hashing {
    column: usize,
    /// Numbers with their buckets, ascending.
    keywords: Vec<(u32, u32)>,
    at: usize,
    /// For each bucket above.
    pub(crate) found: Vec<MetricState>,
}

impl Hashing {
    pub(crate) fn of(
        metric: &MetricNode,
        buckets: usize,
        ledger: &mut Ledger<'_>,
    ) -> Result<Hashing, Full> {
        let mut hashing = Hashing {
            column: metric.column,
            keywords: Vec::new(),
            at: 0,
            found: vec![MetricState::Hashes(Vec::new()); buckets],
        };
        for key in metric.distinct_values() {
            let hash = match metric.field_type {
                own if own.has_strings() && key.key < NO_NUMBER => {
                    let keyword = (key.key as u32, key.parent);
                    ledger.push(&mut hashing.keywords, keyword)?;
                    continue;
                }
                own if own.has_strings() => {
                    let missing = metric.missing_text.as_ref();
                    let text = missing.and_then(|missing| scalar_string(own, missing));
                    hash_of_term(text.as_deref().unwrap_or_default())
                }
                field => match number_of(field, (key.class, key.key)) {
                    Some(number) => hash_of_number(number),
                    None => continue,
                },
            };
            hashing.add(key.parent, hash, ledger)?;
        }
        hashing.keywords.sort_unstable();
        hashing.sort();
        Ok(hashing)
    }

    fn add(&mut self, bucket: u32, hash: (u64, u64), ledger: &mut Ledger<'_>) -> Result<(), Full> {
        match self.found.get_mut(bucket as usize) {
            Some(MetricState::Hashes(hashes)) => ledger.push(hashes, hash),
            _ => Ok(()),
        }
    }

    fn sort(&mut self) {
        for found in &mut self.found {
            if let MetricState::Hashes(hashes) = found {
                hashes.sort_unstable();
            }
        }
    }

    pub(crate) fn request(&self) -> Option<Request> {
        let rest = self.keywords.get(self.at..)?;
        let mut numbers: Vec<u32> = rest.iter().take(TERMS_AT_ONCE).map(|own| own.0).collect();
        numbers.dedup();
        (!numbers.is_empty()).then_some(Request {
            column: self.column,
            numbers,
        })
    }

    pub(crate) fn give(&mut self, terms: &[String], ledger: &mut Ledger<'_>) -> Result<(), Full> {
        let Some(request) = self.request() else {
            return Ok(());
        };
        for _ in 0..TERMS_AT_ONCE {
            let Some((number, bucket)) = self.keywords.get(self.at).copied() else {
                break;
            };
            let at = request.numbers.binary_search(&number);
            let term = at.ok().and_then(|at| terms.get(at));
            let hash = hash_of_term(term.map_or("", String::as_str));
            self.add(bucket, hash, ledger)?;
            self.at += 1;
        }
        if self.request().is_none() {
            ledger.release(&mut self.keywords);
            self.sort();
        }
        Ok(())
    }
}

/// Returns the hash of a term: FNV-1a of 128 bits, which needs no table and never changes.
fn hash_of_term(term: &str) -> (u64, u64) {
    hash(0, term.as_bytes())
}

/// Returns the hash of a number, the same for a long and a double that are equal.
fn hash_of_number(number: Number) -> (u64, u64) {
    match number.exact_long() {
        Some(long) => hash(1, &long.to_le_bytes()),
        None => hash(2, &number.nearest_double().to_bits().to_le_bytes()),
    }
}

fn hash(kind: u8, bytes: &[u8]) -> (u64, u64) {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let all = std::iter::once(&kind).chain(bytes);
    let hash = all.fold(BASIS, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    });
    ((hash >> 64) as u64, hash as u64)
}
