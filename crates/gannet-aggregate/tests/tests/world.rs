//! Documents in memory, and a driver that gives a run what it wants of them.

use std::collections::BTreeMap;

use gannet_aggregate::{
    Aggregations, Batch, ColumnValues, Error, FilterDocuments, FilterId, Run, Scope, State, Want,
};
use gannet_values::{Number, ValueType, key_of_boolean, key_of_double, key_of_long};

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Own {
    Number(Number),
    Term(String),
}

/// A document.
#[derive(Clone, Debug)]
pub struct Document {
    pub id: u32,
    pub matches: bool,
    /// If it is in a piece of a double field that has longs alone.
    pub in_long_piece: bool,
    /// Values ascend; keywords are a set.
    pub values: BTreeMap<&'static str, Vec<Own>>,
}

pub const FIELDS: [(&str, ValueType); 7] = [
    ("flag", ValueType::Boolean),
    ("date", ValueType::Date),
    ("price", ValueType::Double),
    ("tag", ValueType::Keyword),
    ("url", ValueType::Keyword),
    ("size", ValueType::Long),
    ("none", ValueType::Long),
];

pub fn type_of(field: &str) -> Option<ValueType> {
    let mut fields = FIELDS.iter();
    fields.find(|(name, _)| *name == field).map(|own| own.1)
}

/// Numbers of which each gives the next (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 5 ^ self.0
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Returns documents with ascending IDs.
pub fn documents(count: usize, seed: u64) -> Vec<Document> {
    let mut random = Random(seed | 1);
    let mut id = 0;
    let mut documents = Vec::new();
    for at in 0..count {
        id += 1 + random.below(3) as u32;
        let mut values = BTreeMap::new();
        for (field, value_type) in FIELDS {
            let present = match field {
                "none" => 0,
                "url" => 14,
                _ => 13,
            };
            if random.below(15) < present {
                values.insert(
                    field,
                    some_values(field, value_type, at as u64, &mut random),
                );
            }
        }
        documents.push(Document {
            id,
            matches: random.below(5) > 0,
            in_long_piece: in_long_piece(at as u64),
            values,
        });
    }
    documents
}

fn in_long_piece(at: u64) -> bool {
    (at / 300).is_multiple_of(2)
}

fn some_values(field: &str, value_type: ValueType, at: u64, random: &mut Random) -> Vec<Own> {
    let count = if random.below(4) == 0 {
        1 + random.below(4)
    } else {
        1
    };
    let mut values = Vec::new();
    for _ in 0..count {
        let long = |long: i64| Own::Number(Number::Long(long));
        values.push(match (field, value_type) {
            ("flag", _) => long(random.below(2) as i64),
            // Years around 2020, mostly rising, some before 1970.
            ("date", _) if random.below(20) == 0 => long(-(random.below(1 << 40) as i64)),
            ("date", _) => {
                let days = 18_200 + at as i64 + random.below(40) as i64;
                long(days * 86_400_000 + random.below(86_400_000) as i64)
            }
            ("price", _) if in_long_piece(at) => match random.below(6) {
                0 => long((1 << 53) + random.below(3) as i64),
                _ => long(random.below(20) as i64),
            },
            ("price", _) => match random.below(12) {
                0 => Own::Number(Number::Double(9_007_199_254_740_992.0)),
                _ => Own::Number(Number::Double(random.below(80) as f64 / 4.0)),
            },
            ("tag", _) => Own::Term(format!("t{}", random.below(1 + random.0 % 9))),
            ("url", _) => Own::Term(format!("/{}", random.below(400))),
            _ => long(random.below(30) as i64 - 10),
        });
    }
    values.sort_by(|one, other| match (one, other) {
        (Own::Number(one), Own::Number(other)) => one.cmp(other),
        (Own::Term(one), Own::Term(other)) => one.cmp(other),
        _ => unreachable!("a field has one type"),
    });
    if value_type == ValueType::Keyword {
        values.dedup();
    }
    values
}

/// Returns if a document has a filter.
pub fn has_filter(filter: FilterId, document: &Document) -> bool {
    match filter {
        0 => document.id.is_multiple_of(3),
        1 => document.values.contains_key("tag"),
        _ => document.id % 7 < 3,
    }
}

/// One shard: documents, and the numbers of its keywords.
pub struct Shard<'a> {
    documents: Vec<&'a Document>,
    terms: BTreeMap<&'static str, Vec<String>>,
}

/// The work of a run.
pub struct Outcome {
    pub state: State,
    pub passes: u64,
    pub most_bytes: usize,
}

/// Values in the form that a run reads.
struct Column {
    field: &'static str,
    value_type: ValueType,
    documents: Vec<u32>,
    keys: Vec<u64>,
}

impl<'a> Shard<'a> {
    pub fn of(documents: Vec<&'a Document>) -> Shard<'a> {
        let mut terms: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        // Numbers are given in the order of first flushes, not of terms.
        for document in documents.iter().rev() {
            for (field, values) in &document.values {
                for value in values {
                    if let Own::Term(term) = value {
                        let known = terms.entry(field).or_default();
                        if !known.contains(term) {
                            known.push(term.clone());
                        }
                    }
                }
            }
        }
        Shard { documents, terms }
    }

    /// Runs a tree with so many bytes of memory, in batches of random sizes.
    pub fn run(
        &self,
        tree: &Aggregations,
        scope: Scope,
        bytes: usize,
        seed: u64,
    ) -> Result<Outcome, Error> {
        let mut random = Random(seed | 1);
        let mut run = Run::new(
            tree,
            scope,
            &type_of,
            Box::new(move |wanted| wanted <= bytes),
        )?;
        loop {
            match run.wants() {
                Want::Nothing => break,
                Want::Numbers { field, terms } => {
                    assert!(terms.is_sorted());
                    let known = self.terms.get(&*field);
                    let number = |term: &String| {
                        let place = known?.iter().position(|own| own == term)?;
                        Some(place as u32)
                    };
                    run.give_numbers(&terms.iter().map(number).collect::<Vec<_>>())?;
                }
                Want::Terms { field, numbers } => {
                    assert!(numbers.is_sorted_by(|one, other| one < other));
                    let known = &self.terms[&*field];
                    let term = |number: &u32| known[*number as usize].clone();
                    run.give_terms(&numbers.iter().map(term).collect::<Vec<_>>())?;
                }
                Want::Pass(pass) => {
                    let mut rest = self.documents.as_slice();
                    while !rest.is_empty() {
                        let count = 1 + random.below(1 + random.0 % 3_000) as usize;
                        let is_long = rest[0].in_long_piece;
                        let same = rest.iter().take_while(|own| own.in_long_piece == is_long);
                        let (now, later) = rest.split_at(count.min(same.count()));
                        self.feed(&mut run, now, &pass, &mut random)?;
                        rest = later;
                    }
                    run.end_of_pass()?;
                }
            }
        }
        let (passes, most_bytes) = (run.passes(), run.most_bytes());
        Ok(Outcome {
            state: run.into_state()?,
            passes,
            most_bytes,
        })
    }

    fn feed(
        &self,
        run: &mut Run<'_>,
        now: &[&Document],
        pass: &gannet_aggregate::Pass,
        random: &mut Random,
    ) -> Result<(), Error> {
        let ids = |is_in: &dyn Fn(&Document) -> bool| {
            let own = now.iter().filter(|document| is_in(document));
            own.map(|document| document.id).collect::<Vec<u32>>()
        };
        let (all, matching) = (ids(&|_| true), ids(&|own| own.matches));
        // Values may be given of documents that are not asked for.
        let with_others = random.below(2) == 0;
        let values_of: Vec<&Document> = now
            .iter()
            .filter(|own| with_others || pass.all_documents || own.matches)
            .copied()
            .collect();
        let columns: Vec<Column> = pass
            .fields
            .iter()
            .map(|field| self.column(field, &values_of))
            .collect();
        let columns: Vec<ColumnValues<'_>> = columns
            .iter()
            .map(|own| ColumnValues {
                field: own.field,
                value_type: own.value_type,
                documents: &own.documents,
                keys: &own.keys,
            })
            .collect();
        let filters: Vec<(FilterId, Vec<u32>)> = pass
            .filters
            .iter()
            .map(|filter| (*filter, ids(&|own| has_filter(*filter, own))))
            .collect();
        let filters: Vec<FilterDocuments<'_>> = filters
            .iter()
            .map(|(filter, documents)| FilterDocuments {
                filter: *filter,
                documents,
            })
            .collect();
        let (documents, matching) = if pass.all_documents {
            (&all, Some(matching.as_slice()))
        } else {
            (&matching, None)
        };
        run.feed(&Batch {
            documents,
            matching,
            columns: &columns,
            filters: &filters,
        })
    }

    fn column(&self, field: &str, documents: &[&Document]) -> Column {
        let (field, mut value_type) = *FIELDS
            .iter()
            .find(|(name, _)| *name == field)
            .expect("a known field");
        let own = || {
            documents
                .iter()
                .filter_map(|own| Some((own.id, own.values.get(field)?)))
        };
        if value_type == ValueType::Double && documents.iter().all(|own| own.in_long_piece) {
            value_type = ValueType::Long;
        }
        let (mut ids, mut keys) = (Vec::new(), Vec::new());
        for (id, values) in own() {
            for value in values {
                ids.push(id);
                keys.push(self.key(field, value_type, value));
            }
        }
        Column {
            field,
            value_type,
            documents: ids,
            keys,
        }
    }

    fn key(&self, field: &str, value_type: ValueType, value: &Own) -> u64 {
        match (value, value_type) {
            (Own::Term(term), _) => {
                let known = self.terms[field].iter();
                known
                    .clone()
                    .position(|own| own == term)
                    .expect("a known term") as u64
            }
            (Own::Number(number), ValueType::Double) => {
                key_of_double(number.nearest_double()).expect("a number")
            }
            (Own::Number(number), ValueType::Boolean) => {
                key_of_boolean(number.exact_long() == Some(1))
            }
            (Own::Number(number), _) => key_of_long(number.exact_long().expect("a long")),
        }
    }
}
