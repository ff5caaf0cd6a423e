//! The structure of the engine: an arrow between rooms points down the list of ARCHITECTURE.md,
//! and no arrows inside a room form a cycle.
//!
//! An arrow goes from a file to the file that defines what it imports, through whatever modules
//! hand the name on. A folder is asked as a whole: its files and the folders in it, each taken as
//! one, must form no cycle. So the contents of every folder can be put in an order in which all
//! arrows point down.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// From top to bottom, as in ARCHITECTURE.md.
const ROOMS: [&str; 14] = [
    "fuzz",
    "lab",
    "index",
    "search",
    "documents",
    "postings",
    "runs",
    "columns",
    "btree",
    "cache",
    "storage",
    "device",
    "analysis",
    "base",
];

#[test]
fn arrows_between_rooms_point_down() {
    let code = Code::read(&source());
    let height = |file: &str| {
        let room = file.split('/').next().unwrap_or_default();
        ROOMS.iter().position(|name| *name == room)
    };
    let mut wrong = String::new();
    for (from, to) in code.arrows.keys() {
        if let (Some(from_height), Some(to_height)) = (height(from), height(to))
            && from_height > to_height
        {
            let _ = writeln!(wrong, "{from} imports {to}");
        }
    }
    assert!(wrong.is_empty(), "arrows that point up:\n{wrong}");
}

#[test]
fn nothing_inside_a_room_forms_a_cycle() {
    let mut wrong = String::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for krate in [
        "crates/gannet",
        "crates/gannet-aggregate",
        "crates/gannet-cli",
        "crates/gannet-input",
        "crates/gannet-python",
        "crates/gannet-remote",
        "crates/gannet-server",
        "crates/gannet-values",
        "research/drives/ssd",
        "research/drives/offload",
        "research/lab",
    ] {
        let source = root.join(krate).join("src");
        note_cycles(&Code::read(&source), &mut wrong);
    }
    assert!(wrong.is_empty(), "cycles:\n{wrong}");
}

fn note_cycles(code: &Code, wrong: &mut String) {
    for (folder, arrows) in code.arrows_by_folder() {
        for cycle in cycles(&arrows) {
            let _ = writeln!(wrong, "in {folder}: {}", names(&cycle));
            for ((from, to), taken) in &code.arrows {
                let ends = entry(&folder, from).zip(entry(&folder, to));
                if ends.is_some_and(|(a, b)| a != b && cycle.contains(a) && cycle.contains(b)) {
                    let _ = writeln!(wrong, "    {from} -> {to}: {}", names(taken));
                }
            }
        }
    }
}

#[test]
fn every_folder_is_a_room() {
    for entry in fs::read_dir(source()).expect("the source folder is readable") {
        let path = entry.expect("an entry is readable").path();
        if path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let known = ROOMS.contains(&name.as_ref());
            assert!(known, "{name} is not in the table of rooms");
        }
    }
}

#[test]
fn the_types_of_the_engine_have_names_of_their_own() {
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in &Code::read(&source()).texts {
        for name in types(text) {
            homes.entry(name).or_default().push(file.clone());
        }
    }
    homes.retain(|_, files| files.len() > 1);
    assert!(homes.is_empty(), "names of several types:\n{homes:#?}");
}

#[test]
fn the_architecture_names_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the map is readable");
    let named = text.split('`').skip(1).step_by(2);
    let paths = named.filter(|name| name.contains('/') && !name.contains([' ', '<', '*']));
    let (rooms, crates) = (source(), root.join("crates"));
    let exists = |name: &str| [&rooms, &crates, &root].map(|at| at.join(name).exists());
    let missing: Vec<_> = paths.filter(|name| !exists(name).contains(&true)).collect();
    assert!(missing.is_empty(), "not there: {missing:#?}");
}

/// A file is named by its path below the source folder, a module by its path with `/` between.
struct Code {
    texts: BTreeMap<String, String>,
    modules: BTreeMap<String, String>,
    imports: BTreeMap<String, Vec<Import>>,
    /// From a file to a file, with the names that the first takes from the second.
    arrows: BTreeMap<(String, String), BTreeSet<String>>,
}

/// One name that a file brings in.
struct Import {
    path: Vec<String>,
    name: String,
    handed_on: bool,
}

impl Code {
    fn read(source: &Path) -> Code {
        let mut code = Code {
            texts: BTreeMap::new(),
            modules: BTreeMap::new(),
            imports: BTreeMap::new(),
            arrows: BTreeMap::new(),
        };
        for path in rust_files(source) {
            let below = path.strip_prefix(source).expect("it is below the source");
            let file = below.to_string_lossy().into_owned();
            let text = without_tests_and_comments(&fs::read_to_string(&path).expect("readable"));
            code.imports.insert(file.clone(), imports(&text));
            code.modules.insert(module_of(&file), file.clone());
            code.texts.insert(file, text);
        }
        code.arrows = code.resolved();
        code
    }

    fn resolved(&self) -> BTreeMap<(String, String), BTreeSet<String>> {
        let mut arrows: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for (file, imports) in &self.imports {
            if file == "lib.rs" || file == "main.rs" {
                continue;
            }
            for import in imports.iter().filter(|import| !import.handed_on) {
                let home = self.home(&module_of(file), &import.path, 0);
                if let Some(to) = home.filter(|to| to != file) {
                    let taken = arrows.entry((file.clone(), to)).or_default();
                    taken.extend(import.path.last().cloned());
                }
            }
        }
        arrows
    }

    /// The file that defines what a path names, as seen from a module.
    fn home(&self, module: &str, path: &[String], depth: usize) -> Option<String> {
        let mut at = module.to_string();
        for (number, part) in path.iter().enumerate() {
            match part.as_str() {
                "crate" => at = String::new(),
                "self" => {}
                "super" => at = parent(&at),
                name if self.modules.contains_key(&below(&at, name)) => at = below(&at, name),
                name => {
                    let relative = number > 0 && path[..number].iter().all(|part| part == "self");
                    let begins = number == 0 || relative;
                    return self.definition(&at, name, begins, depth);
                }
            }
        }
        self.modules.get(&at).cloned()
    }

    /// The file where a name of a module is defined. A path that begins with a name that the
    /// module does not have names something outside of the crate.
    fn definition(&self, module: &str, name: &str, begins: bool, depth: usize) -> Option<String> {
        let file = self.modules.get(module)?;
        let import = self.imports[file].iter().find(|import| import.name == name);
        match import {
            Some(import) if depth < 8 => self.home(module, &import.path, depth + 1),
            _ => (!begins).then(|| file.clone()),
        }
    }

    /// For each folder the arrows between the files and folders in it.
    fn arrows_by_folder(&self) -> BTreeMap<String, BTreeSet<(String, String)>> {
        let mut folders: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
        for (from, to) in self.arrows.keys() {
            let folder = shared_folder(from, to);
            if let Some((a, b)) = entry(&folder, from).zip(entry(&folder, to)) {
                let arrows = folders.entry(folder.clone()).or_default();
                arrows.insert((a.to_string(), b.to_string()));
            }
        }
        folders
    }
}

/// The entry of a folder that a file is, or is in.
fn entry<'a>(folder: &str, file: &'a str) -> Option<&'a str> {
    let below = file.strip_prefix(folder)?;
    below.split('/').find(|part| !part.is_empty())
}

fn shared_folder(one: &str, other: &str) -> String {
    let pairs = one.split('/').zip(other.split('/'));
    let same = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a);
    same.map(|part| format!("{part}/")).collect()
}

fn names(cycle: &BTreeSet<String>) -> String {
    let names: Vec<_> = cycle.iter().map(String::as_str).collect();
    names.join(", ")
}

/// The groups of two or more that reach each other.
fn cycles(arrows: &BTreeSet<(String, String)>) -> Vec<BTreeSet<String>> {
    let nodes: BTreeSet<&String> = arrows.iter().flat_map(|(a, b)| [a, b]).collect();
    let reached: BTreeMap<_, _> = nodes.iter().map(|n| (*n, reach(arrows, n))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for node in nodes {
        let others = reached[node].iter();
        let cycle: BTreeSet<String> = others
            .filter(|other| reached[*other].contains(node))
            .cloned()
            .collect();
        if cycle.len() > 1 && !found.contains(&cycle) {
            found.push(cycle);
        }
    }
    found
}

fn reach(arrows: &BTreeSet<(String, String)>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_string()];
    while let Some(node) = open.pop() {
        for (_, to) in arrows.iter().filter(|(a, _)| *a == node) {
            if reached.insert(to.clone()) {
                open.push(to.clone());
            }
        }
    }
    reached
}

fn module_of(file: &str) -> String {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" || path == "main" {
        ""
    } else {
        path
    }
    .to_string()
}

fn below(module: &str, name: &str) -> String {
    if module.is_empty() {
        name.to_string()
    } else {
        format!("{module}/{name}")
    }
}

fn parent(module: &str) -> String {
    let end = module.rfind('/').unwrap_or(0);
    module[..end].to_string()
}

/// All names that a file imports, and all paths in its code that begin at the crate or above.
fn imports(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = next_use(rest) {
        let (before, from) = rest.split_at(at);
        code.push_str(before);
        let end = from.find(';').unwrap_or(from.len());
        let (visible, tree) = from[..end].split_once("use ").unwrap_or(("", ""));
        let tree: String = tree.split_whitespace().collect::<Vec<_>>().join(" ");
        expand(&tree, &[], visible.contains("pub"), &mut found);
        rest = &from[end..];
    }
    code.push_str(rest);
    found.extend(paths(&code));
    found
}

/// Finds the beginning of the next `use`, with its visibility.
fn next_use(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim_start();
        let visible = code.strip_prefix("pub").unwrap_or(code);
        let inner = if visible.starts_with('(') {
            visible
                .find(") ")
                .map_or(visible, |end| &visible[end + 1..])
        } else {
            visible
        };
        if inner.trim_start().starts_with("use ") {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Adds what a tree of imports names.
fn expand(tree: &str, prefix: &[String], handed_on: bool, found: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some(list) = tree.strip_prefix('{') {
        for one in split_list(list.strip_suffix('}').unwrap_or(list)) {
            expand(&one, prefix, handed_on, found);
        }
        return;
    }
    if let Some((first, rest)) = tree.split_once("::") {
        let mut prefix = prefix.to_vec();
        prefix.push(first.trim().to_string());
        return expand(rest, &prefix, handed_on, found);
    }
    let (item, name) = tree.split_once(" as ").unwrap_or((tree, tree));
    let mut path = prefix.to_vec();
    let mut name = name.trim().to_string();
    if item == "self" {
        name = path.last().cloned().unwrap_or_default();
    } else {
        path.push(item.trim().to_string());
    }
    if !name.is_empty() {
        found.push(Import {
            path,
            name,
            handed_on,
        });
    }
}

fn split_list(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in list.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().expect("there is one").push(c),
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Paths outside of imports: `crate::index::Writer`, `super::Writer`.
fn paths(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let path = code[at..].split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            let path = path.take(1).flat_map(|path| path.split("::"));
            let path: Vec<String> = path.filter(|p| !p.is_empty()).map(str::to_string).collect();
            found.push(Import {
                path,
                name: String::new(),
                handed_on: false,
            });
        }
    }
    found
}

/// Names of the structs, enums, traits and aliases that a file defines outside of functions.
fn types(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let code = line.strip_prefix("pub").unwrap_or(line);
        let code = match code.strip_prefix('(') {
            Some(rest) => rest.split_once(") ").map_or("", |(_, rest)| rest),
            None => code.trim_start(),
        };
        if line.starts_with(' ') {
            continue;
        }
        let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
        let name = kinds.iter().find_map(|kind| code.strip_prefix(kind));
        if let Some(name) = name {
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            found.push(name[..end.unwrap_or(name.len())].to_string());
        }
    }
    found
}

/// Modules of tests stand last in a file.
fn without_tests_and_comments(text: &str) -> String {
    let modules = ["#[cfg(test)]\nmod tests {", "#[cfg(test)]\npub mod tests {"];
    let ends = modules.iter().filter_map(|module| text.find(module));
    let end = ends.min().unwrap_or(text.len());
    let lines = text[..end].lines();
    let mut code = String::new();
    let mut of_tests = false;
    for line in lines {
        let bare = line.trim_start();
        if bare.starts_with("//") {
            continue;
        }
        if bare == "#[cfg(test)]" {
            of_tests = true;
            continue;
        }
        if !of_tests {
            code.push_str(line);
            code.push('\n');
        }
        of_tests &= !(bare.ends_with(';') || bare.ends_with('}'));
    }
    code
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All files of code but tests.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a room is readable") {
        let path = entry.expect("an entry is readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "tests" {
            files.extend(rust_files(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
    files
}
