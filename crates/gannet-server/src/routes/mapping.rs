//! Mappings of indexes that are there.

use serde_json::{Map, Value, json};

use super::index::each;
use super::place::Where;
use crate::fault::Outcome;
use crate::http::{Answer, Call};
use crate::indexes::Mapping;
use crate::json::fits;
use crate::service::Service;

/// `GET /{index}/_mapping`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    each(
        call,
        service,
        |_, metadata, _| json!({ "mappings": metadata.mapping.json() }),
    )
}

/// `GET /{index}/_mapping/field/{fields}`.
pub fn fields(call: &Call, service: &Service) -> Outcome<Answer> {
    each(call, service, |call, metadata, _| {
        let patterns: Vec<&str> = call.part("fields").split(',').collect();
        let all = metadata.mapping.all();
        let asked = all.filter(|(name, _)| patterns.iter().any(|pattern| fits(pattern, name)));
        let told = asked.map(|(name, field)| {
            let last = name.rsplit('.').next().unwrap_or_default().to_owned();
            let mapping = Map::from_iter([(last, field.json())]);
            (
                name.clone(),
                json!({ "full_name": name, "mapping": mapping }),
            )
        });
        json!({ "mappings": told.collect::<Map<String, Value>>() })
    })
}

/// `PUT /{index}/_mapping`.
pub fn put(call: &Call, service: &Service) -> Outcome<Answer> {
    let more = Mapping::parse(&call.json()?)?;
    for name in Where::of_call(call)?.names(service)? {
        let open = service.indexes.get(&name, &call.caller)?;
        let turn = open.wait_to_write()?;
        let mut mapping = Mapping::clone(&open.metadata().mapping);
        mapping
            .merge(&more)
            .map_err(|fault| fault.of_index(&name))?;
        open.set_mapping(mapping, &turn)?;
    }
    Ok(Answer::of(&json!({ "acknowledged": true })))
}
