//! Answers as bytes, for those that are kept on flash.
//!
//! The version of the bytes is a part of the question ([`question_of`]). Bytes that cannot be an
//! answer are [`Error::Damaged`](crate::base::Error::Damaged), and memory is bounded by the
//! bytes that are read.

use std::borrow::Cow;

use gannet_values::{Address, Value};

use crate::analysis::VERSION as ANALYSIS_VERSION;
use crate::base::{ByteReader, Result, put_bytes, put_u32, put_u64, put_varint};
use crate::cache::IoCounts;
use crate::search::results::{
    CutExpansion, Hit, PatternReport, PlanReport, PlanStep, SearchResults, TermReport,
};
use crate::search::scoring::explanation::Explanation;
use crate::search::values::SortValue;
use crate::storage::IndexIdentity;
use crate::storage::roots::FORMAT_VERSION;

/// The version of these bytes, and of what is asked and answered: to be raised when a question of
/// before has another answer now.
const VERSION: u32 = 2;

/// The bytes of an answer in memory for one on flash, at most.
const EXPANDS: usize = 64;

/// Explanations are nested less deep than this.
const DEPTH_MAX: usize = 512;

/// The names of the phases of a plan.
const STEPS: [&str; 8] = [
    "look up terms",
    "match and rank",
    "find equal scores",
    "order equal scores",
    "order by values",
    "aggregate values",
    "fetch documents",
    "explain scores",
];

/// All that an answer depends on, but for the state: the versions of program, format and analysis,
/// the index, and the key of the question.
pub fn question_of(key: &str, identity: IndexIdentity) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len() + 64);
    put_u32(&mut bytes, VERSION);
    put_u32(&mut bytes, FORMAT_VERSION);
    put_bytes(&mut bytes, env!("CARGO_PKG_VERSION").as_bytes());
    put_bytes(&mut bytes, ANALYSIS_VERSION.as_bytes());
    put_u64(&mut bytes, identity);
    put_bytes(&mut bytes, key.as_bytes());
    bytes
}

/// An answer as bytes. Nothing if it has what is never kept: a report of a device, pages,
/// aggregations, a step of no known name, or a hit that is not whole.
pub fn encode_answer(results: &SearchResults) -> Option<Vec<u8>> {
    let offloads = results
        .plan
        .as_ref()
        .is_some_and(|plan| plan.offload.is_some());
    let is_whole = results.hits.iter().all(|hit| hit.error.is_none());
    if offloads || !is_whole || results.aggregations.is_some() || !results.pages.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    put_varint(&mut out, results.heap_bytes() as u64);
    put_varint(&mut out, results.total);
    put_flags(
        &mut out,
        [
            results.total_is_exact,
            results.has_no_terms,
            results.plan.is_some(),
        ],
    );
    put_all(&mut out, &results.cut_expansions, put_cut);
    put_all(&mut out, &results.unmatched_patterns, put_text);
    put_all(&mut out, &results.notes, put_text);
    put_all(&mut out, &results.hits, put_hit);
    if let Some(plan) = &results.plan {
        put_plan(&mut out, plan)?;
    }
    Some(out)
}

/// Bytes of memory that an answer takes beside itself once it is decoded.
pub fn decoded_bytes(bytes: &[u8]) -> Result<usize> {
    let mut reader = ByteReader::new(bytes, "an answer on flash");
    reader.length(bytes.len().saturating_mul(EXPANDS))
}

/// Reads what [`encode_answer`] wrote.
pub fn decode_answer(bytes: &[u8]) -> Result<SearchResults> {
    let mut reader = ByteReader::new(bytes, "an answer on flash");
    let heap_bytes = reader.length(bytes.len().saturating_mul(EXPANDS))?;
    let total = reader.varint()?;
    let [total_is_exact, has_no_terms, has_plan] = flags(&mut reader)?;
    let results = SearchResults {
        total,
        total_is_exact,
        has_no_terms,
        cut_expansions: all(&mut reader, cut)?,
        unmatched_patterns: all(&mut reader, text)?,
        notes: all(&mut reader, text)?,
        hits: all(&mut reader, hit)?,
        plan: has_plan.then(|| plan(&mut reader)).transpose()?,
        ..SearchResults::default()
    };
    if reader.is_empty() && results.heap_bytes() <= heap_bytes {
        Ok(results)
    } else {
        Err(reader.damaged(
            "the end of the answer, of as many bytes as it says",
            "more bytes",
        ))
    }
}

fn put_all<T>(out: &mut Vec<u8>, all: &[T], put: fn(&mut Vec<u8>, &T)) {
    put_varint(out, all.len() as u64);
    all.iter().for_each(|one| put(out, one));
}

/// Reads all of a list. Each takes a byte at least, so memory is bounded by the bytes.
fn all<'a, T>(
    reader: &mut ByteReader<'a>,
    one: impl Fn(&mut ByteReader<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let count = reader.length(reader.rest().len())?;
    (0..count).map(|_| one(reader)).collect()
}

fn put_flags<const N: usize>(out: &mut Vec<u8>, flags: [bool; N]) {
    let bits = flags.iter().rev();
    out.push(bits.fold(0, |bits, flag| bits << 1 | u8::from(*flag)));
}

fn flags<const N: usize>(reader: &mut ByteReader<'_>) -> Result<[bool; N]> {
    let bits = reader.u8()?;
    if u32::from(bits) >> N != 0 {
        return Err(reader.damaged("flags", bits));
    }
    Ok(std::array::from_fn(|at| bits >> at & 1 == 1))
}

fn put_text(out: &mut Vec<u8>, text: &String) {
    put_bytes(out, text.as_bytes());
}

fn text(reader: &mut ByteReader<'_>) -> Result<String> {
    reader.text().map(str::to_owned)
}

fn put_cut(out: &mut Vec<u8>, cut: &CutExpansion) {
    put_text(out, &cut.field);
    put_text(out, &cut.pattern);
    put_varint(out, cut.searched as u64);
    put_flags(out, [cut.by_similarity]);
}

fn cut(reader: &mut ByteReader<'_>) -> Result<CutExpansion> {
    Ok(CutExpansion {
        field: text(reader)?,
        pattern: text(reader)?,
        searched: reader.length(u32::MAX as usize)?,
        by_similarity: flags::<1>(reader)?[0],
    })
}

fn put_hit(out: &mut Vec<u8>, hit: &Hit) {
    put_u32(out, hit.doc);
    put_u32(out, hit.score.to_bits());
    put_flags(
        out,
        [
            hit.source.is_some(),
            hit.explanation.is_some(),
            hit.group.is_some(),
        ],
    );
    put_text(out, &hit.id);
    put_all(out, &hit.sort, put_value);
    if hit.group.is_some() {
        put_value(out, &hit.group);
    }
    if let Some(source) = &hit.source {
        put_bytes(out, source);
    }
    put_all(out, &hit.snippets, |out, (field, texts)| {
        put_text(out, field);
        put_all(out, texts, put_text);
    });
    if let Some(explanation) = &hit.explanation {
        put_explanation(out, explanation);
    }
}

fn hit(reader: &mut ByteReader<'_>) -> Result<Hit> {
    let (doc, score) = (reader.u32()?, f32::from_bits(reader.u32()?));
    let [has_source, is_explained, has_group] = flags(reader)?;
    let (id, sort) = (text(reader)?, all(reader, value)?);
    let group = if has_group { value(reader)? } else { None };
    let source = has_source.then(|| reader.bytes().map(<[u8]>::to_vec));
    Ok(Hit {
        doc,
        id,
        score,
        sort,
        group,
        source: source.transpose()?,
        snippets: all(reader, |reader| Ok((text(reader)?, all(reader, text)?)))?,
        explanation: is_explained
            .then(|| explanation(reader, 0).map(Box::new))
            .transpose()?,
        error: None,
    })
}

fn put_value(out: &mut Vec<u8>, value: &SortValue) {
    match value {
        None => out.push(0),
        Some(Value::Long(value)) => put_number(out, 1, *value as u64),
        Some(Value::Double(value)) => put_number(out, 2, value.to_bits()),
        Some(Value::Boolean(value)) => put_number(out, 3, u64::from(*value)),
        Some(Value::Date(value)) => put_number(out, 4, *value as u64),
        Some(Value::Ip(value)) => {
            out.push(6);
            put_u64(out, (value.to_bits() >> 64) as u64);
            put_u64(out, value.to_bits() as u64);
        }
        Some(Value::Keyword(value)) => {
            out.push(5);
            put_bytes(out, value.as_bytes());
        }
    }
}

fn put_number(out: &mut Vec<u8>, kind: u8, number: u64) {
    out.push(kind);
    put_u64(out, number);
}

fn value(reader: &mut ByteReader<'_>) -> Result<SortValue> {
    Ok(match reader.u8()? {
        0 => None,
        1 => Some(Value::Long(reader.u64()? as i64)),
        2 => Some(Value::Double(f64::from_bits(reader.u64()?))),
        3 => Some(Value::Boolean(reader.u64()? == 1)),
        4 => Some(Value::Date(reader.u64()? as i64)),
        5 => Some(Value::Keyword(Cow::Owned(text(reader)?))),
        6 => {
            let [high, low] = [reader.u64()?, reader.u64()?];
            Some(Value::Ip(Address::of_bits(
                u128::from(high) << 64 | u128::from(low),
            )))
        }
        other => return Err(reader.damaged("a type of a value", other)),
    })
}

fn put_explanation(out: &mut Vec<u8>, explanation: &Explanation) {
    put_u32(out, explanation.value.to_bits());
    put_text(out, &explanation.description);
    put_all(out, &explanation.details, put_explanation);
}

fn explanation(reader: &mut ByteReader<'_>, depth: usize) -> Result<Explanation> {
    if depth >= DEPTH_MAX {
        return Err(reader.damaged("an explanation less nested", depth));
    }
    Ok(Explanation {
        value: f32::from_bits(reader.u32()?),
        description: text(reader)?,
        details: all(reader, |reader| explanation(reader, depth + 1))?,
    })
}

fn put_plan(out: &mut Vec<u8>, plan: &PlanReport) -> Option<()> {
    put_varint(out, plan.steps.len() as u64);
    for step in &plan.steps {
        let name = STEPS.iter().position(|name| *name == step.name)?;
        out.push(name as u8);
        put_counts(out, &step.io);
    }
    put_all(out, &plan.terms, put_term);
    put_all(out, &plan.patterns, put_pattern);
    put_varint(out, plan.windows_skipped);
    put_varint(out, plan.windows_searched);
    Some(())
}

fn plan(reader: &mut ByteReader<'_>) -> Result<PlanReport> {
    Ok(PlanReport {
        steps: all(reader, step)?,
        terms: all(reader, term)?,
        patterns: all(reader, pattern)?,
        offload: None,
        windows_skipped: reader.varint()?,
        windows_searched: reader.varint()?,
    })
}

fn step(reader: &mut ByteReader<'_>) -> Result<PlanStep> {
    let number = reader.u8()?;
    let name = STEPS.get(number as usize).copied();
    Ok(PlanStep {
        name: name.ok_or_else(|| reader.damaged("a step of a plan", number))?,
        io: counts(reader)?,
    })
}

fn put_counts(out: &mut Vec<u8>, io: &IoCounts) {
    let counts = [io.rounds, io.reads, io.frames_hit, io.tier_hits];
    counts
        .iter()
        .for_each(|count| put_varint(out, (*count).into()));
    put_varint(out, io.bytes);
}

fn counts(reader: &mut ByteReader<'_>) -> Result<IoCounts> {
    Ok(IoCounts {
        rounds: reader.varint_u32()?,
        reads: reader.varint_u32()?,
        frames_hit: reader.varint_u32()?,
        tier_hits: reader.varint_u32()?,
        bytes: reader.varint()?,
    })
}

fn put_term(out: &mut Vec<u8>, term: &TermReport) {
    put_text(out, &term.field);
    put_text(out, &term.term);
    let counts = [
        term.document_frequency,
        term.chunks_in_list,
        term.pages_in_list,
    ];
    counts.iter().for_each(|count| put_varint(out, *count));
}

fn term(reader: &mut ByteReader<'_>) -> Result<TermReport> {
    Ok(TermReport {
        field: text(reader)?,
        term: text(reader)?,
        document_frequency: reader.varint()?,
        chunks_in_list: reader.varint()?,
        pages_in_list: reader.varint()?,
    })
}

fn put_pattern(out: &mut Vec<u8>, pattern: &PatternReport) {
    put_text(out, &pattern.field);
    put_text(out, &pattern.pattern);
    let counts = [
        pattern.terms,
        pattern.documents,
        pattern.lists,
        pattern.pages,
    ];
    counts.iter().for_each(|count| put_varint(out, *count));
}

fn pattern(reader: &mut ByteReader<'_>) -> Result<PatternReport> {
    Ok(PatternReport {
        field: text(reader)?,
        pattern: text(reader)?,
        terms: reader.varint()?,
        documents: reader.varint()?,
        lists: reader.varint()?,
        pages: reader.varint()?,
    })
}
