//! The names of columns, and which column a name means for some use.

use gannet_values::ValueType;

use super::column::{Column, ColumnId, Columns};
use crate::analysis::Schema;
use crate::base::{Error, Result};

/// The end of the name of the whole strings of a field of words.
pub const KEYWORD_SUFFIX: &str = ".keyword";

/// All types, those first that a name means if its field has columns of several: dates that are
/// written as strings before the strings.
pub const VALUES_FIRST: [ValueType; 6] = [
    ValueType::Date,
    ValueType::Long,
    ValueType::Double,
    ValueType::Boolean,
    ValueType::Ip,
    ValueType::Keyword,
];

impl Columns {
    /// The name of a column: that of its field, with `.keyword` for the whole strings of a field of
    /// words.
    pub fn name(&self, id: ColumnId, schema: &Schema) -> Option<String> {
        let column = self.get(id)?;
        let field = schema.field(column.field)?;
        let suffix = if column.beside_text {
            KEYWORD_SUFFIX
        } else {
            ""
        };
        Some(format!("{}{suffix}", field.name))
    }

    /// The columns that a name may mean: all of a field of this name, or the whole strings of a
    /// field whose name is followed by `.keyword`.
    pub fn named(&self, name: &str, schema: &Schema) -> Vec<ColumnId> {
        if let Some(field) = schema.named(name) {
            return self.of_field(field.id).to_vec();
        }
        let base = name.strip_suffix(KEYWORD_SUFFIX);
        let Some(field) = base.and_then(|base| schema.named(base)) else {
            return Vec::new();
        };
        let mut columns = self.of_field(field.id).to_vec();
        columns.retain(|id| {
            let column = self.get(*id);
            column.is_some_and(|column| column.value_type == ValueType::Keyword)
        });
        columns
    }

    /// The column that a name means for a use that takes values of these types; of several the
    /// first type counts.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the name has no column, one of another type, or one that was given up.
    pub fn find(&self, name: &str, schema: &Schema, types: &[ValueType]) -> Result<ColumnId> {
        let named = self.named(name, schema);
        let mut rejected = None;
        for value_type in types {
            for id in &named {
                match self.get(*id) {
                    Some(column) if column.value_type != *value_type => {}
                    Some(column) if column.closed => rejected = Some(column),
                    Some(_) => return Ok(*id),
                    None => {}
                }
            }
        }
        Err(match rejected {
            Some(column) => given_up(name, column),
            None => self.lacking(name, &named, types),
        })
    }

    fn lacking(&self, name: &str, named: &[ColumnId], types: &[ValueType]) -> Error {
        let wanted: Vec<&str> = types.iter().map(|wanted| wanted.name()).collect();
        let wanted = wanted.join(", ");
        let has = named.iter().filter_map(|id| self.get(*id));
        let has: Vec<&str> = has.map(|column| column.value_type.name()).collect();
        Error::invalid(if has.is_empty() {
            format!(
                "the field {name:?} has no column of values: declare its type as one of {wanted}, and index the \
                 documents again"
            )
        } else {
            format!(
                "the field {name:?} has values of type {}, and {wanted} are needed here",
                has.join(" and ")
            )
        })
    }
}

fn given_up(name: &str, column: &Column) -> Error {
    let reason = match column.value_type {
        _ if column.declared && column.beside_text => "was declared as text",
        _ if column.declared => "is not kept, as \"column\": false in its mapping says",
        ValueType::Date => "was given up, since most of its first values are no dates",
        _ => "was given up, since most of its first values differ",
    };
    let type_name = column.value_type.name();
    Error::invalid(format!(
        "the column of {name:?} {reason}: declare the field as {type_name} with a column, and index the documents again"
    ))
}
