//! The plan of a new index: what a request says of it, over what templates say.

use serde_json::{Map, Value, json};

use super::aliases::AliasOptions;
use super::catalog::Catalog;
use super::mapping::Mapping;
use super::metadata::IndexSettings;
use crate::fault::Outcome;
use crate::json::{Members, fits};

/// The plan of a new index.
#[derive(Clone, Debug)]
pub struct IndexPlan {
    /// Its settings.
    pub settings: IndexSettings,
    /// Its fields.
    pub mapping: Mapping,
    /// Its aliases.
    pub aliases: Vec<(String, AliasOptions)>,
}

impl Catalog {
    /// The template of an index of this name: of those whose patterns fit, the one of the highest
    /// priority.
    pub fn template_for(&self, name: &str) -> Option<(&String, &Value)> {
        let fitting = self
            .templates
            .iter()
            .filter(|(_, template)| patterns(template).any(|pattern| fits(pattern, name)));
        fitting.max_by_key(|(_, template)| priority(template))
    }

    /// The parts of the legacy templates of an index of this name, those of the lowest order first.
    fn legacy_parts(&self, name: &str) -> Vec<&Value> {
        let fits = |template: &&Value| patterns(template).any(|pattern| fits(pattern, name));
        let mut fitting: Vec<&Value> = self.legacy.values().filter(fits).collect();
        fitting.sort_by_key(|template| template.get("order").and_then(Value::as_i64));
        let parts = fitting.into_iter();
        parts
            .filter_map(|template| template.get("template"))
            .collect()
    }

    /// The parts of a template, those that count more behind the others.
    pub fn parts<'a>(&'a self, template: &'a Value) -> Vec<&'a Value> {
        let composed = template.get("composed_of").and_then(Value::as_array);
        let components = composed.into_iter().flatten().filter_map(Value::as_str);
        let components = components.filter_map(|name| self.components.get(name));
        let all = components.chain([template]);
        all.filter_map(|part| part.get("template")).collect()
    }
}

/// The patterns of a template.
pub fn patterns(template: &Value) -> impl Iterator<Item = &str> {
    let patterns = match template.get("index_patterns") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    patterns.iter().filter_map(Value::as_str)
}

/// The priority of a template.
pub fn priority(template: &Value) -> u64 {
    let priority = template.get("priority");
    priority.and_then(Value::as_u64).unwrap_or(0)
}

impl IndexPlan {
    /// Of an index of this name, for which a request gave `body`.
    pub fn new(catalog: &Catalog, name: &str, body: &Value) -> Outcome<IndexPlan> {
        let mut parts = match catalog.template_for(name) {
            Some((_, template)) => catalog.parts(template),
            None => catalog.legacy_parts(name),
        };
        parts.push(body);
        IndexPlan::of(&parts)
    }

    /// Of objects with settings, mappings and aliases, of which later ones count more.
    pub fn of(parts: &[&Value]) -> Outcome<IndexPlan> {
        let mut settings = Map::new();
        let mut mappings = json!({});
        let mut aliases: Vec<(String, AliasOptions)> = Vec::new();
        for part in parts {
            let members = Members::of("template", part)?;
            members.check(&["settings", "mappings", "aliases"], &["lifecycle"])?;
            if let Some(given) = members.get("settings") {
                settings.extend(IndexSettings::parse(given)?.0);
            }
            if let Some(given) = members.get("mappings") {
                // Each part must be one by itself, too.
                Mapping::parse(given)?;
                merge_mappings(&mut mappings, given);
            }
            if let Some(given) = members.get("aliases") {
                for (alias, options) in Members::of("aliases", given)?.iter() {
                    let options = AliasOptions::parse(&Members::of(alias, options)?, &[])?;
                    aliases.retain(|(other, _)| other != alias);
                    aliases.push((alias.to_owned(), options));
                }
            }
        }
        Ok(IndexPlan {
            settings: IndexSettings(settings),
            mapping: Mapping::parse(&mappings)?,
            aliases,
        })
    }
}

/// Puts a mapping over another: fields are replaced, objects keep the fields of both.
fn merge_mappings(under: &mut Value, over: &Value) {
    let (Some(members), Some(others)) = (under.as_object_mut(), over.as_object()) else {
        return;
    };
    for (name, value) in others {
        match members.get_mut(name) {
            Some(properties) if name == "properties" => merge_properties(properties, value),
            _ => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
}

fn merge_properties(under: &mut Value, over: &Value) {
    let (Some(fields), Some(others)) = (under.as_object_mut(), over.as_object()) else {
        return;
    };
    for (name, value) in others {
        match fields.get_mut(name) {
            Some(field)
                if field.get("properties").is_some() && value.get("properties").is_some() =>
            {
                merge_mappings(field, value);
            }
            _ => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_parts_count_more_field_by_field() {
        let one = json!({
            "settings": { "number_of_shards": 3, "index": { "refresh_interval": "5s" } },
            "mappings": { "dynamic": "strict", "properties": {
                "a": { "type": "text", "analyzer": "english" },
                "o": { "properties": { "x": { "type": "long" }, "y": { "type": "long" } } },
            }},
            "aliases": { "all": {}, "w": { "is_write_index": true } },
        });
        let other = json!({
            "settings": { "number_of_shards": 1 },
            "mappings": { "properties": {
                "a": { "type": "keyword" },
                "o": { "properties": { "y": { "type": "keyword" } } },
            }},
            "aliases": { "w": {} },
        });
        let plan = IndexPlan::of(&[&one, &other]).unwrap();
        assert_eq!(
            plan.mapping.json(),
            json!({ "dynamic": "strict", "properties": {
                "a": { "type": "keyword" },
                "o": { "properties": { "x": { "type": "long" }, "y": { "type": "keyword" } } },
            }})
        );
        assert_eq!(plan.settings.0["number_of_shards"], 1);
        assert_eq!(plan.settings.0["refresh_interval"], "5s");
        let aliases: Vec<_> = plan.aliases.iter().map(|(alias, _)| alias).collect();
        assert_eq!(aliases, ["all", "w"]);
        assert!(IndexPlan::of(&[&json!({ "mapping": {} })]).is_err());
    }

    #[test]
    fn legacy_templates_count_in_their_order_where_no_other_fits() {
        let mut catalog = Catalog::default();
        for (name, pattern, order, shards) in [("a", "x-*", 5, 1), ("b", "*", -1, 2)] {
            let settings = json!({ "number_of_shards": shards, "refresh_interval": name });
            let template = json!({
                "index_patterns": [pattern], "order": order, "template": { "settings": settings },
            });
            catalog.legacy.insert(name.to_owned(), template);
        }
        let shards = |catalog: &Catalog, name: &str| {
            let plan = IndexPlan::new(catalog, name, &json!({})).unwrap();
            plan.settings.0.get("number_of_shards").cloned()
        };
        assert_eq!(shards(&catalog, "x-1"), Some(json!(1)));
        assert_eq!(shards(&catalog, "y"), Some(json!(2)));
        let template = json!({ "index_patterns": ["x-*"] });
        catalog.templates.insert("c".to_owned(), template);
        assert_eq!(shards(&catalog, "x-1"), None);
    }

    #[test]
    fn the_template_of_the_highest_priority_counts() {
        let mut catalog = Catalog::default();
        for (name, pattern, priority) in [("a", "logs-*", 1), ("b", "logs-x*", 5), ("c", "*", 0)] {
            let template = json!({ "index_patterns": [pattern], "priority": priority });
            catalog.templates.insert(name.to_owned(), template);
        }
        let of = |name: &str| catalog.template_for(name).unwrap().0.clone();
        assert_eq!(
            (of("logs-x1"), of("logs-y"), of("other")),
            ("b".into(), "a".into(), "c".into())
        );
    }
}
