//! The workspaces of product and research have the same lints, profiles and versions of crates, so
//! that a dependency is compiled once for both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).expect("a file of the project is readable")
}

#[test]
fn lints_and_profiles_are_those_of_the_product() {
    let product = sections(&read("Cargo.toml"));
    for (name, settings) in sections(&read("research/Cargo.toml")) {
        assert_eq!(product.get(&name), Some(&settings), "{name}");
    }
}

/// Tells the settings of each section of lints and profiles, without comments.
fn sections(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut name = String::new();
    for line in manifest
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if line.starts_with('[') {
            line.clone_into(&mut name);
        } else if name.contains("lints") || name.contains("profile") {
            found.entry(name.clone()).or_default().push(line.to_owned());
        }
    }
    assert!(found.len() > 4, "{found:?}");
    found
}

#[test]
fn crates_of_both_have_one_version() {
    let [product, research] = ["Cargo.lock", "research/Cargo.lock"].map(|name| {
        let text = read(name);
        let packages = text
            .split("[[package]]")
            .skip(1)
            .filter_map(name_and_version);
        packages.collect::<BTreeSet<_>>()
    });
    let known: BTreeSet<&str> = product.iter().map(|(name, _)| name.as_str()).collect();
    let is_of_both = |package: &&(String, String)| known.contains(package.0.as_str());
    // The product may have another version beside it, for a crate that research lacks.
    let missing: Vec<_> = research
        .iter()
        .filter(is_of_both)
        .filter(|package| !product.contains(package))
        .collect();
    assert!(
        missing.is_empty(),
        "run `cargo update --package NAME --precise VERSION` in one of the workspaces: {missing:?}"
    );
}

/// Tells name and version of a package of a registry.
fn name_and_version(package: &str) -> Option<(String, String)> {
    let value = |key: &str| {
        let start = format!("{key} = \"");
        let line = package.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    value("source")?;
    Some((value("name")?, value("version")?))
}
