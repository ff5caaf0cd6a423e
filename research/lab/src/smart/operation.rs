//! The operations of the paper, and the programs that a drive has for them.

/// An operation on lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Documents of all lists.
    Intersection,
    /// Documents of the first list that the second does not have.
    Difference,
    /// Documents of any list.
    Union,
    /// The best of them, with early termination; it ranks always.
    EarlyUnion,
}

/// An operation with or without ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// What is done with the lists.
    pub operation: Operation,
    /// How many of the best are wanted; all results, in order, where there is nothing.
    pub top: Option<usize>,
}

/// The programs by name, made from `programs/*.c` by `build.py` of `gannet-offload`.
pub const PROGRAMS: [(&str, &[u8]); 7] = [
    ("intersection", include_bytes!("programs/intersection.wasm")),
    (
        "ranked-intersection",
        include_bytes!("programs/ranked-intersection.wasm"),
    ),
    ("difference", include_bytes!("programs/difference.wasm")),
    (
        "ranked-difference",
        include_bytes!("programs/ranked-difference.wasm"),
    ),
    ("union", include_bytes!("programs/union.wasm")),
    ("ranked-union", include_bytes!("programs/ranked-union.wasm")),
    ("early-union", include_bytes!("programs/early-union.wasm")),
];

impl Query {
    /// Its program, which is also what it is called.
    pub fn program(&self) -> &'static str {
        let ranked = usize::from(self.top.is_some());
        let number = match self.operation {
            Operation::Intersection => ranked,
            Operation::Difference => 2 + ranked,
            Operation::Union => 4 + ranked,
            Operation::EarlyUnion => 6,
        };
        PROGRAMS[number].0
    }

    /// The parameters of its program.
    pub fn parameters(&self, sizes: &[usize]) -> Vec<u8> {
        let top = self.top.unwrap_or(0) as u32;
        let numbers = [sizes.len() as u32, top];
        let sizes = sizes.iter().map(|size| *size as u32);
        numbers
            .into_iter()
            .chain(sizes)
            .flat_map(u32::to_le_bytes)
            .collect()
    }
}
