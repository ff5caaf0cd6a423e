//! The workspaces of product and research have the same lints, profiles and versions of crates, so
//! that a dependency is compiled once for both.

use std::collections::BTreeMap;
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
    let [product, research] =
        ["Cargo.lock", "research/Cargo.lock"].map(|name| versions(&read(name)));
    let apart: Vec<_> = product
        .iter()
        .filter(|(series, version)| {
            let other = research.get(*series);
            other.is_some_and(|other| other != *version)
        })
        .collect();
    assert!(
        apart.is_empty(),
        "run `cargo update --package NAME --precise VERSION` in research/: {apart:?}"
    );
}

/// Tells the version of each package of a registry, by its name and the part of the version within
/// which Cargo lets only one stand.
fn versions(lock: &str) -> BTreeMap<(String, String), String> {
    let packages = lock.split("[[package]]").skip(1);
    packages
        .filter_map(name_and_version)
        .map(|(name, version)| ((name, series(&version)), version))
        .collect()
}

fn series(version: &str) -> String {
    let parts: Vec<&str> = version.split('.').collect();
    let kept = parts.iter().take_while(|part| **part == "0").count() + 1;
    parts[..kept.min(parts.len())].join(".")
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
